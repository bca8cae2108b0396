# PLACE EXIT_FILE COMMAND…: runs a command of a job once the daemon has said `go`, and leaves how it
# ended in EXIT_FILE: its exit code, or `not-run` if the daemon died before that, and the process
# id of this shell. The file's bytes are written before the command runs: a full disk loses none.
# They are overwritten at once and in place; whoever reads dots reads no code. If the disk was full
# before, the daemon has the code as this shell's own.
# The daemon says a line ahead of that, once this shell is in its control group. In the place
# `terminal` the command is script(1), which starts then: the shell on its terminal waits for the
# `go`, and leaves the code, since script(1) goes on for 10 ms in case more is printed.
# DEPOTD_SYNC has paths, one a line, whose file systems are written down behind the command; the
# exit file says `written` then, in its third line.
trap : INT TERM HUP QUIT
place=$1 exit_file=$2 paths=$DEPOTD_SYNC written=
unset DEPOTD_SYNC
shift 2
printf '................................\n' >"$exit_file"
code=not-run
if read -r _; then
  if [ "$place" = terminal ]; then
    DEPOTD_HOLDER=$$ DEPOTD_EXIT_FILE=$exit_file DEPOTD_SYNC=$paths "$@" 3<&0 </dev/null
    code=$?
    # Unless that shell was ended first.
    { read -r left <"$exit_file"; } 2>/dev/null
    [ -n "${left##.*}" ] && exit "$code"
  elif read -r _; then
    exec </dev/null
    "$@"
    code=$?
    IFS='
'
    # shellcheck disable=SC2086 # a word a line is wanted
    [ -z "$paths" ] || { set -f && sync -f $paths >/dev/null 2>&1 && written='written
'; }
  fi
fi
printf '%s\n%s\n%s' "$code" $$ "$written" 1<>"$exit_file"
[ "$code" = not-run ] || exit "$code"
exit 1
