# COMMAND…: runs a command on the pseudo-terminal whose session this shell leads, once the holder's
# input (descriptor 3) says `go`, in a process group of its own (job control). The hang-up at this
# shell's end reaches this shell's group alone: what a package's script left in the background
# lives on, as after a log-in. A command that a signal ended ends its group, too, since nobody goes
# on with what it had under way. SIGHUP is not caught: if script(1) is killed, shell and command go
# as they would without this shell.
trap : INT TERM QUIT
holder=$DEPOTD_HOLDER exit_file=$DEPOTD_EXIT_FILE paths=$DEPOTD_SYNC written=
unset DEPOTD_HOLDER DEPOTD_EXIT_FILE DEPOTD_SYNC
leave() {
  printf '%s\n%s\n%s' "$1" "$holder" "$written" 1<>"$exit_file"
}
if ! read -r _ <&3; then
  leave not-run
  exit 1
fi
exec 3<&-
set -m
"$@"
code=$?
if [ "$code" -gt 128 ] && [ "$code" -le 192 ]; then
  for stat in /proc/[0-9]*/stat; do
    { read -r line <"$stat"; } 2>/dev/null || continue
    # proc(5): behind the name come state, parent, process group and session.
    # shellcheck disable=SC2086 # words are wanted
    set -- ${line##*)}
    [ "$4" != $$ ] || [ "$3" = $$ ] || kill -HUP "-$3"
  done
fi
IFS='
'
# shellcheck disable=SC2086 # a word a line is wanted
[ -z "$paths" ] || { set -f && sync -f $paths >/dev/null 2>&1 && written='written
'; }
leave "$code"
exit "$code"
