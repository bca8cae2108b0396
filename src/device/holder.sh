# EXIT_FILE COMMAND…: runs a command of a job once the daemon has said `go`, and leaves how it
# ended in EXIT_FILE: its exit code, or `not-run` if the daemon died before that, and the process
# id of this shell. The file's bytes are written before the command runs: a full disk loses none.
# They are overwritten at once and in place; whoever reads dots reads no code.
trap : INT TERM HUP QUIT
exit_file=$1
shift
printf '................................\n' >"$exit_file"
if read -r _; then
  exec </dev/null
  "$@"
  code=$?
else
  code=not-run
fi
printf '%s\n%s\n' "$code" $$ 1<>"$exit_file"
