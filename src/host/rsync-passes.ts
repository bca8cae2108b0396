/**
 * The passes of a copy, for any POSIX shell: PASS SOURCE COPY MARKER BYTES PROGRESS NODE LISTER rsync OPTION…
 *
 *  - live: what is dirty in the source is written out first, so that pages that a container has mapped are marked clean and its next write to
 *    them changes the file's time. rsync waits for the disk with every small file: before the first copy, where memory holds everything, these are
 *    read ahead of it, by several readers where xargs knows how. What is copied is flushed in one go, with the engine still running, so that the
 *    last flush is short.
 *  - changed: files that changed after the copy began are copied again whatever their size and time say (a program can set a file's time back, but
 *    not the time of that), and folders that changed lose what is no longer in them. Nothing else is looked at: the engine is stopped.
 *  - differing: all that differs, where a comparison has found something.
 *  - compare: lists what a pass would still do, and counts the copy, while that is flushed to the disk.
 *
 * rsync writes a line of progress for every file: of those one a per cent reaches the log, and of messages and differences the first ones. It
 * ends with rsync's exit code. What works beside it ends by itself where the shell was killed.
 */
export const PASSES = String.raw`
pass=$1 source=$2 copy=$3 marker=$4 total=$5 progress=$6 node=$7 lister=$8; shift 8
flush() { sync -f "$1" 2>/dev/null || sync; }
case "$(awk -W version 2>/dev/null </dev/null)" in mawk*) interactive='-W interactive' ;; esac
command -v stdbuf >/dev/null && unbuffered='stdbuf -oL'

digest() {
  $unbuffered tr '\r' '\n' | awk $interactive -v total="$total" -v pass="$pass" '
    /^ *[0-9]+ +[0-9]+% / {
      percent = total > 0 ? int($1 * 100 / total) : int($2)
      if (percent > 99) percent = 99
      if (percent > last) { last = percent; print "copied " percent " %"; fflush() }
      next
    }
    /^[<>ch.][fdLDS][^ ]* / || /^\*deleting/ { differences++; if (differences <= 20) print; next }
    /^Number of files:|^Total file size:/ { print; next }
    /^(Number of|Total|Literal|Matched|File list|sent|total size)[ a-z]/ || /^$/ { next }
    { messages++; if (messages <= 40) print }
    END {
      if (messages > 40) print "and " messages - 40 " messages more"
      if (pass == "compare") print "differences: " differences + 0
    }'
}

digested() {
  exec 4>&1
  code=$({ { "$@" 2>&1 3>&- 4>&-; echo "$?" >&3; } | digest >&4 3>&-; } 3>&1)
  return "$code"
}

readAhead() {
  available=$(awk '/^MemAvailable:/ { kib = $2 } END { print kib + 0 }' /proc/meminfo)
  [ "$((total / 1024))" -lt "$((available / 2))" ] || return 0
  xargs -P 4 true </dev/null 2>/dev/null && several='-P 4'
  find "$source" -xdev -type f -size -256 -print0 2>/dev/null | xargs -0 -n 200 $several cat >/dev/null 2>&1 & readers=$!
}

changed() {
  if ! find "$marker" -cnewer "$marker" -print0 >/dev/null 2>&1; then "$node" -e "$lister" "$marker" "$1"
  elif [ "$1" = files ]; then find . -xdev -cnewer "$marker" ! -type d -print0
  else find . -xdev -cnewer "$marker" -type d -exec sh -c 'printf "%s/\0" "$@"' sh {} +; fi
}

case $pass in
live)
  flush "$source"
  [ -n "$(ls -A "$copy")" ] || readAhead
  digested "$@" --delete --stats $progress "$source/" "$copy/"; code=$?
  [ -z "$readers" ] || kill "$readers" 2>/dev/null
  flush "$copy"
  ;;
changed)
  cd "$source" && changed files | "$@" --ignore-times --from0 --files-from=- ./ "$copy/" || exit $?
  changed folders | "$@" --delete --from0 --files-from=- ./ "$copy/"; code=$?
  ;;
differing)
  digested "$@" --delete --stats "$source/" "$copy/"; code=$?
  ;;
compare)
  flush "$copy" & flusher=$!
  { find "$copy" -print0 | tr -dc '\0' | wc -c | sed 's/^ */copied things: /' >&5; } 5>&1 & counter=$!
  digested "$@" --delete --stats --dry-run --itemize-changes "$source/" "$copy/"; code=$?
  wait "$counter" "$flusher"
  ;;
esac
exit "$code"
`;

/** Where find cannot ask for the time of the last change of anything (busybox): lists files or folders that are newer than a file, below the working folder and on its disk. */
export const LISTER = `'use strict';
const { lstatSync, readdirSync, statSync, writeSync } = require('node:fs');
const [, marker, kind] = process.argv;
const since = statSync(marker, { bigint: true }).mtimeNs;
const tell = (path, end) => writeSync(1, Buffer.concat([path, Buffer.from(end)]));
const { dev } = lstatSync('.', { bigint: true });
const walk = (folder) => {
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const path = Buffer.concat([folder, Buffer.from('/'), name]);
    const entry = lstatSync(path, { bigint: true });
    if (entry.dev !== dev) continue;
    if (entry.isDirectory()) walk(path);
    else if (kind === 'files' && entry.ctimeNs > since) tell(path, '\\0');
  }
  if (kind === 'folders' && lstatSync(folder, { bigint: true }).ctimeNs > since) tell(folder, '/\\0');
};
walk(Buffer.from('.'));
`;
