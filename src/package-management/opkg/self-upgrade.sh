# opkg's half of self-upgrade/watch.sh, which sets `package`, `old`, `root` and `folder`. opkg
# writes its status file last: an upgrade cut off before that leaves the old version on record, with
# files of either version and its own list of them gone or new. `--force-reinstall` removes first,
# and only the kept file can follow.
: "${package=}" "${old=}" "${root=}" "${folder=}"

read_manager_settings() {
  read -r status
  read -r lock
  read -r first_copy
  read -r second_copy
  read -r plain_copy
  status_folders=$(cat)
  info=${status%/*}/info
}

# Whether what each path is, and what it leads to, is root's, and nobody else can rename what is in
# it: a folder that everybody may write must be sticky. With `may_be_renamed` the first will do.
are_trusted() {
  { ls -ldn "$@" && ls -ldLn "$@"; } 2>/dev/null | {
    count=0
    while read -r mode _ uid _; do
      [ "$uid" = 0 ] || [ "$uid" = "$(id -u)" ] || exit 1
      case $mode in
      d???????w[!tT]*) [ -n "${may_be_renamed-}" ] || exit 1 ;;
      esac
      count=$((count + 1))
    done
    [ "$count" -eq $((2 * $#)) ]
  }
}

is_path_trusted() {
  path=$1
  set -- /
  while [ -n "$path" ]; do
    set -- "$@" "$path"
    path=${path%/*}
  done
  are_trusted "$@"
}

is_folder_trusted() { is_path_trusted "$1" && is_path_trusted "$(cd -P "$1/" && pwd)"; }

# A file of root's with a hard link of that name would be emptied as well.
has_one_name() {
  ls -ldn "$1" 2>/dev/null | {
    read -r _ names _
    [ "$names" = 1 ]
  }
}

# Makes the lock file before opkg does, as lock.ts: opkg opens it with creat(2), which empties
# whatever a link of that name leads to, and on OpenWrt any user may write in its folder. Somebody
# may put theirs in its place again, in between.
own_lock_file() {
  home=${lock%/*}
  [ -d "$home" ] || (umask 022 && mkdir -p "$home")
  is_folder_trusted "$home" || return 1
  for _ in 1 2 3 4 5; do
    if [ -f "$lock" ] && [ ! -L "$lock" ] && has_one_name "$lock" && are_trusted "$lock"; then
      return 0
    fi
    rm -f "$lock" && (set -C && umask 027 && : >"$lock") && return 0
  done 2>/dev/null
  return 1
}

# opkg writes the status file of each destination anew, as that of `ram` in /tmp. Like opkg, it lets
# be what lies on a disk that nobody can write; a disk may be shared by its owner's wish.
own_status_folders() (
  may_be_renamed=1
  while IFS= read -r home; do
    part=$home next=
    until [ -e "$part/" ] || [ -L "$part" ]; do
      next=$part
      part=${part%/*}
    done
    is_folder_trusted "$part" || return 1
    [ -z "$next" ] || case $(umask 022 && LC_ALL=C mkdir "$next" 2>&1) in
    *'ead-only file system'*) continue ;;
    esac
    (umask 022 && mkdir -p "$home") && is_folder_trusted "$home" || return 1
  done <<EOF
$status_folders
EOF
)

run_opkg() {
  if ! own_lock_file; then
    echo "depotd: cannot run opkg: its lock file $lock is not root's" >&2
    return 1
  fi
  if ! own_status_folders; then
    echo "depotd: cannot run opkg: a folder of its status files is not root's" >&2
    return 1
  fi
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

# The newest copy that is whole: alternating-files.ts says where its number stands.
database_before() {
  cat "$plain_copy" 2>/dev/null && return
  newest='' highest=0
  for file in "$first_copy" "$second_copy"; do
    gzip -dc <"$file" >/dev/null 2>&1 || continue
    number=$(dd if="$file" bs=1 skip=12 count=16 2>/dev/null | tr -dc 0-9)
    [ "${#number}" -eq 16 ] || number=9999999999999999
    [ "$number" -le "$highest" ] || newest=$file highest=$number
  done
  [ -n "$newest" ] && gzip -dc <"$newest"
}

mend_database() {
  if [ -z "$(version)" ] && database_before >"$status.new"; then mv "$status.new" "$status"; fi
}

put_files_back() {
  run_opkg install --force-reinstall --force-overwrite --force-maintainer -- "$folder/old.ipk" \
    2>"$folder/complaints"
  cat "$folder/complaints" >&2
  ! grep -q '^ \* opkg_conf_load: Could not lock ' "$folder/complaints"
}

downgrade() { run_opkg install --force-downgrade -- "$folder/old.ipk"; }
