# PLACE EXIT_FILE COMMAND…: runs a command of a job once the daemon has said `go`, and leaves how it
# ended in EXIT_FILE: its exit code, or `not-run` if the daemon died before that, and the process
# id of this shell. The file's bytes are written before the command runs: a full disk loses none.
# They are overwritten at once and in place; whoever reads dots reads no code.
# The daemon says a line ahead of that, once this shell is in its control group. In the place
# `terminal` the command is script(1), which starts then: the shell on its terminal waits for the
# `go`, and leaves the code, since script(1) goes on for 10 ms in case more is printed.
trap : INT TERM HUP QUIT
place=$1 exit_file=$2
shift 2
printf '................................\n' >"$exit_file"
code=not-run
if read -r _; then
  if [ "$place" = terminal ]; then
    DEPOTD_HOLDER=$$ DEPOTD_EXIT_FILE=$exit_file "$@" 3<&0 </dev/null
    code=$?
    # Unless that shell was ended first.
    { read -r left <"$exit_file"; } 2>/dev/null
    [ -n "${left##.*}" ] && exit
  elif read -r _; then
    exec </dev/null
    "$@"
    code=$?
  fi
fi
printf '%s\n%s\n' "$code" $$ 1<>"$exit_file"
