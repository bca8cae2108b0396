#!/bin/sh
# watch.sh now|boot: takes the daemon's package from one version to the next and watches over it,
# in a shell of its own, since the daemon is what is replaced. It stands beside the kept package,
# so that it can be run again after a power cut, or if it was killed: an init script and the daemon
# call `sh watch.sh boot` while `pending` is there; of two, one waits. Every value is read from the
# file `settings`, one a line.
#
# An upgrade that was cut off may leave the old version on record, with files of either: the old
# package then goes over whatever is there; its configuration is the owner's, as it was before. If
# one of the two answers in the end, nothing is left of the folder; else the old package stays for
# its owner. A daemon counts as the new one if it has run for less time than the upgrade, and as
# healthy if it answers three times in a row.
#
# `manager.sh` is the package manager's half. It may use `package`, `old` (a version), `root` (empty
# for `/`) and `folder`, and has the functions `read_manager_settings` (reads the lines of
# `SelfUpgradeSupport.settings`), `upgrade`, `version` (prints the one on record), `is_whole`
# (whether the old version's records are all there), `mend_database`, `put_files_back` (of the old
# version, over whatever is there; false if somebody else has the manager's lock) and `downgrade`.
trap : INT TERM HUP
folder=${0%/*}

# Whose turn it is: a link takes no room for its text, and a full disk has none. A file system
# without links, or without room for a name, lets nobody in: who has seen nobody for 20 s goes on.
failures=0
until ln -s $$ "$folder/watcher" 2>/dev/null; do
  [ -e "$folder/pending" ] || exit 0
  # Left by one that the power went under, it may have the number of this one. busybox' grep ends a
  # line at its first NUL.
  {
    other=$(readlink "$folder/watcher") && [ "$other" != $$ ] &&
      tr '\0' ' ' 2>/dev/null <"/proc/$other/cmdline" | grep -Fq "$0"
  } || {
    rm -f "$folder/watcher"
    failures=$((failures + 1))
  }
  [ "$failures" -lt 20 ] || break
  sleep 1
done
# The watcher before may have come to its end since.
if [ ! -e "$folder/pending" ]; then
  rm -f "$folder/watcher"
  rmdir "$folder" 2>/dev/null
  exit 0
fi
. "$folder/manager.sh"
{
  read -r package
  read -r old
  read -r limit
  read -r pause
  read -r node
  read -r address
  read -r root
  # For manager.sh.
  : "$root"
  read_manager_settings
} <"$folder/settings" || exit 1

now() {
  read -r up _ </proc/uptime
  echo "${up%%.*}"
}

finish() {
  rm -f "$folder/pending" "$folder/watcher"
  [ "$1" = 5 ] || rm -rf "$folder"
  echo "depotd: $2"
  exit "$1"
}

healthy() {
  deadline=$(($(now) + limit)) good=0
  while [ "$(now)" -lt "$deadline" ]; do
    if "$node" "$folder/probe.cjs" "$address" $(($(now) - $1)); then
      good=$((good + 1))
    else
      good=0
    fi
    [ "$good" -lt 3 ] || return 0
    sleep "$pause"
  done
  return 1
}

boot_id=$(cat /proc/sys/kernel/random/boot_id)
if [ "$1" = boot ]; then
  # A daemon that has run since before the upgrade is not the new one, unless the device has not.
  { read -r upgrade_boot began <"$folder/began" && [ "$upgrade_boot" = "$boot_id" ]; } || began=0
else
  began=$(now)
  echo "$boot_id $began" >"$folder/began"
  upgrade
fi
mend_database
# Neither manager has its files written down, and the daemon that answers ends the upgrade.
sync
if [ "$(version)" = "$old" ]; then
  if is_whole && healthy 0; then finish 3 "$package stays at $old"; fi
  echo "depotd: $package $old is not whole or does not answer: its files are put back"
  # Somebody else may have the package manager's lock, and nobody comes after this.
  end=$(($(now) + 120))
  until put_files_back || [ "$(now)" -ge "$end" ]; do sleep 3; done
  sync
  if healthy 0; then finish 3 "$package stays at $old"; fi
  finish 5 "$package $old does not answer"
fi
if healthy "$began"; then finish 0 "$package $(version) answers"; fi
echo "depotd: $package $(version) has not answered for $limit s: $old is put back"
began=$(now)
downgrade
# As above.
until [ "$(version)" = "$old" ] || [ $(($(now) - began)) -ge 120 ]; do
  sleep 3
  downgrade
done
sync
[ "$(version)" = "$old" ] || finish 5 "$package $old could not be put back"
if healthy "$began"; then finish 4 "$package $old is back and answers"; fi
finish 5 "$package $old is back, but does not answer either"
