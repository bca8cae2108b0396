# opkg's half of self-upgrade/watch.sh, which sets `package`, `old`, `root` and `folder`. opkg writes
# its status file last: an upgrade cut off before that leaves the old version on record, with files
# of either version and its own list of them gone or new. `--force-reinstall` removes first, and
# only the kept file can follow.
: "${package=}" "${old=}" "${root=}" "${folder=}"

read_manager_settings() {
  read -r status
  read -r copy
  read -r plain_copy
  info=${status%/*}/info
}

run_opkg() {
  if [ -z "$root" ]; then
    opkg "$@"
  else
    opkg --offline-root "$root" --force-postinstall "$@"
  fi
}

upgrade() { run_opkg upgrade -- "$package"; }

version() {
  awk -v name="$package" '
    $1 == "Package:" { is = ($2 == name) }
    is && $1 == "Version:" { print $2 }' "$status"
}

is_whole() {
  [ -f "$info/$package.list" ] && grep -Fqx "Version: $old" "$info/$package.control"
}

database_before() { cat "$plain_copy" 2>/dev/null || gzip -dc <"$copy"; }

mend_database() {
  if [ -z "$(version)" ] && database_before >"$status.new"; then mv "$status.new" "$status"; fi
}

put_files_back() {
  run_opkg install --force-reinstall --force-overwrite --force-maintainer -- "$folder/old.ipk"
}

downgrade() { run_opkg install --force-downgrade -- "$folder/old.ipk"; }
