import { KEPT_OUT, LIST_NAME } from './move-layout.ts';

/**
 * One large file, past the page cache: COPY SOURCE ./NAME, for any POSIX shell and within single quotes. Content and time are those of one plain
 * file in one folder, which is where its name says. Whoever puts another file, a link or a device in its place changes the time of its last
 * change, and it is copied again; a folder that is swapped for another one leaves no file with the content of one and the time of the other.
 */
const COPY_ONE = `
to=$1/$3 path=$2/\${3#./}
folder=\${path%/*} name=./\${path##*/}
cd "$folder" && [ "$(pwd -P)" = "$folder" ] && [ -f "$name" ] && [ ! -L "$name" ] || exit 0
set -- $(stat -c "%s %b" "$name")
[ "$(($2 * 512))" -ge "$1" ] || exit 0
mib=1
[ "$1" -lt 67108864 ] || mib=8
blocks=$(($1 / mib / 1048576))
dd if="$name" of="$to" bs="$mib"M count="$blocks" iflag=direct,nofollow,nonblock oflag=direct,nofollow conv=notrunc,nocreat &&
dd if="$name" of="$to" bs="$mib"M count=1 skip="$blocks" seek="$blocks" iflag=nofollow,nonblock oflag=nofollow conv=notrunc,nocreat &&
cp -L --preserve=all --attributes-only "$name" "$to"
`;

/**
 * The passes of a copy, for any POSIX shell: PASS SOURCE COPY MARKER BYTES NODE LISTER rsync OPTION…
 *
 *  - live: what is dirty in the source is written out first, so that pages that a container has mapped are marked clean and its next write to
 *    them changes the file's time. A first copy begins with the large files, past the page cache: rsync hands each byte of them from process to
 *    process, and the cache holds the device's own programs. rsync then finds them as the source has them, or copies them again; those with holes
 *    are its own to copy. Where there are no GNU tools for that, small files are read ahead instead: rsync waits for the disk with each of them. All
 *    that is copied is flushed with the engine still running, so that the last flush is short.
 *  - changed: files that changed after the copy began are copied again whatever their size and time say (a program can set a file's time back, but
 *    not the time of that), and folders that changed lose what is no longer in them. Nothing else is looked at: the engine is stopped.
 *  - differing: all that differs, where a comparison has found something.
 *  - compare: lists what a pass would still do, and counts the copy, while that is flushed to the disk.
 *
 * How far the first copy is comes from what its file system holds: rsync itself would tell it with every file, at a tenth of its time. Of messages
 * and differences the first ones reach the log. It ends with rsync's exit code. What works beside it ends by itself where the shell was killed.
 */
export const PASSES = String.raw`
pass=$1 source=$2 copy=$3 marker=$4 total=$5 node=$6 lister=$7; shift 7
flush() { sync -f "$1" 2>/dev/null || sync; }
case "$(awk -W version 2>/dev/null </dev/null)" in mawk*) interactive='-W interactive' ;; esac

digest() {
  awk $interactive -v total="$total" -v pass="$pass" '
    /^held -?[0-9]+$/ {
      percent = total > 0 ? int($2 * 102400 / total) : 0
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

held() { df -kP "$copy" | awk 'NR == 2 { print $3 }'; }
tellHeld() { echo "held $(($(held) - before))"; }

readAhead() {
  available=$(awk '/^MemAvailable:/ { kib = $2 } END { print kib + 0 }' /proc/meminfo)
  [ "$((total / 1024))" -lt "$((available / 2))" ] || return 0
  xargs -P 4 true </dev/null 2>/dev/null && several='-P 4'
  find "$source" -xdev -type f -size -256 -print0 2>/dev/null | xargs -0 -n 200 $several cat >/dev/null 2>&1 & readers=$!
}

# Into an empty copy, where there is no link yet: nothing that a container puts in the way meanwhile leads out of it.
copyLarge() {
  cp --version 2>/dev/null | grep -q coreutils || return
  xargs -P 2 true </dev/null 2>/dev/null && several='-P 2'
  list=$(dirname "$copy")/${LIST_NAME}
  (
    cd "$source" || exit
    find . -xdev \( ${KEPT_OUT.map((name) => `-path './${name}'`).join(' -o ')} \) -prune -o -type f -links 1 -size +4096 -print0 >"$list"
    xargs -0 cp -L --preserve=all --attributes-only --parents -t "$copy" -- <"$list"
    xargs -0 -n 1 $several sh -c '${COPY_ONE}' sh "$copy" "$(pwd -P)" <"$list"
  ) >/dev/null 2>&1
  rm -f "$list"
  flush "$copy" & flusher=$!
}

copyAll() {
  before=$(held)
  while sleep 1 >/dev/null && kill -0 "$$"; do tellHeld; done 2>/dev/null & teller=$!
  [ -n "$(ls -A "$copy")" ] || copyLarge || readAhead
  "$@" --delete --stats "$source/" "$copy/"; code=$?
  kill "$teller" $readers 2>/dev/null
  [ -z "$flusher" ] || wait "$flusher"
  tellHeld
  return "$code"
}

changed() {
  if ! find "$marker" -cnewer "$marker" -print0 >/dev/null 2>&1; then "$node" -e "$lister" "$marker" "$1"
  elif [ "$1" = files ]; then find . -xdev -cnewer "$marker" ! -type d -print0
  else find . -xdev -cnewer "$marker" -type d -exec sh -c 'printf "%s/\0" "$@"' sh {} +; fi
}

case $pass in
live)
  flush "$source"
  digested copyAll "$@"; code=$?
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
