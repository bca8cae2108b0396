# apk's half of self-upgrade/watch.sh, which sets `package`, `old`, `root` and `folder`. apk records
# nothing until all is done: an upgrade that was cut off leaves the old version on record, with
# files of either. A package file goes over whatever is there, and pins the package to itself in
# world; its line there is put back as it was, without a pin.
: "${package=}" "${old=}" "${root=}" "${folder=}"

read_manager_settings() {
  read -r installed
  read -r world
  read -r empty
}

# The working folder has no files: an argument with a dot that names one there is taken for it.
run_apk() {
  mkdir -p "$empty" && cd "$empty" || return 1
  if [ -n "$root" ]; then set -- --root "$root" "$@"; fi
  APK_CONFIG=/dev/null apk --no-interactive --no-progress --wait 600 "$@"
}

# Only the new package's scripts run in an upgrade, and what they start is what runs already.
restart() {
  if [ -z "$root" ] && [ -x "/etc/init.d/$package" ]; then "/etc/init.d/$package" restart; fi
}

upgrade() {
  run_apk --cache-predownload --cache-max-age 525600 --force-missing-repositories \
    upgrade -- "$package"
  restart
}

version() {
  awk -v name="$package" '
    /^P:/ { is = (substr($0, 3) == name) }
    is && /^V:/ { print substr($0, 3) }' "$installed"
}

# The package's files on record, but for those that go when they have run.
own_files() {
  awk -v name="$package" '
    /^P:/ { is = (substr($0, 3) == name) }
    is && /^F:/ { home = substr($0, 3) }
    is && /^R:/ { print home "/" substr($0, 3) }' "$installed" | grep -v '^etc/uci-defaults/'
}

# audit sees no missing file if its folder is gone with it.
is_whole() {
  own_files >"$folder/own"
  while read -r path; do
    [ -e "$root/$path" ] || [ -L "$root/$path" ] || return 1
  done <"$folder/own"
  ! run_apk audit --system | sed 's/^[^ ]* //' | grep -Fqxf "$folder/own"
}

has_zeros() { [ -s "$1" ] && [ -z "$(head -c 1 "$1" | tr -d '\0')" ]; }

# apk renames new records into place, and a power cut may leave them as zeros, which apk refuses.
# The daemon keeps them as they were before.
mend_database() {
  has_zeros "$installed" || has_zeros "$world" || return 0
  for name in world scripts.tar scripts.tar.gz triggers installed; do
    file=${installed%/*}/$name
    [ "$name" != world ] || file=$world
    copy=${empty%/*}/before/$name
    if [ -s "$copy" ]; then cp "$copy" "$file.new" && mv "$file.new" "$file"; fi
  done
}

install_old() {
  run_apk --allow-untrusted --no-network add -- "$folder/old.apk"
  awk -v name="$package" '
    index($0, name "><") == 1 || index($0, name "=") == 1 { print name; next }
    { print }' "$world" >"$world.new" && [ -s "$world.new" ] && mv "$world.new" "$world"
  restart
}

# apk waits for its lock.
put_files_back() { install_old || :; }
downgrade() { install_old; }
