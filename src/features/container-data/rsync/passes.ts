import { KEPT_OUT, LIST_NAME, STAGED_NAME } from '../target-layout.ts';

/**
 * One large file, past the page cache: STAGED SOURCE LIST SHELL ./NAME, for any POSIX shell and
 * within single quotes. Content and time are those of one plain file in one folder, which is where
 * its name says. Whoever puts another file, a link or a device in its place changes the time of its
 * last change, and it is copied again; a folder that is swapped for another one leaves no file with
 * the content of one and the time of the other. Files with holes or several names are for rsync.
 * Where the target's disk has gone nothing is made on the one below. It gives up where the list is
 * gone, or the shell that waits for it.
 */
const STAGE_ONE = `
to=$1/$5 staged=$1 within=\${5%/*} path=$2/\${5#./} list=$3 shell=$4
folder=\${path%/*} name=./\${path##*/}
cd "$folder" && [ "$(pwd -P)" = "$folder" ] && [ -f "$name" ] && [ ! -L "$name" ] || exit 0
set -- $(stat -c "%s %b %h" "$name")
[ "$(($2 * 512))" -ge "$1" ] && [ "$3" -eq 1 ] && (cd "$staged" && mkdir -p "$within") || exit 0
mib=1
[ "$1" -lt 67108864 ] || mib=8
blocks=$(($1 / mib / 1048576)) copied=0
copy() { dd if="$name" of="$to" bs="$mib"M skip="$copied" seek="$copied" count="$1" iflag="$2"nofollow,nonblock oflag="$2"nofollow conv=notrunc; }
while [ "$copied" -lt "$blocks" ]; do
  [ -e "$list" ] && kill -0 "$shell" || exit 255
  count=$((blocks - copied))
  [ "$count" -le 64 ] || count=64
  copy "$count" direct, || exit 0
  copied=$((copied + count))
done
copy 1 "" && cp -L --preserve=all --attributes-only "$name" "$to"
`;

/**
 * The passes of a copy, for any POSIX shell: PASS SOURCE COPY MARKER BYTES NODE LISTER ATTRIBUTES
 * rsync OPTION…; ATTRIBUTES are the options that bring ACLs and extended attributes over, with
 * spaces between them.
 *
 *  - live: what is dirty in the source is written out first, so that pages that a container has
 *    mapped are marked clean and its next write to them changes the file's time. In a first copy
 *    large files go past the page cache, while rsync copies the small ones: rsync hands each byte
 *    from process to process, and the cache holds the device's own programs. rsync then links the
 *    large ones in where they are still what the source has, and copies the others. Where there are
 *    no GNU tools for that, small files are read ahead instead: rsync waits for the disk with each
 *    of them. While all that is flushed, everything is gone through a second time, so that the
 *    engine is stopped for as little as possible.
 *  - changed: files that changed after the copy began are copied again whatever their size and time
 *    say (a program can set a file's time back, but not the time of that), and folders that changed
 *    lose what is no longer in them. A folder of the copy makes way for what is no folder any more
 *    (a whiteout, a link). Nothing else is looked at: the engine is stopped.
 *  - differing: all that differs, where a comparison has found something.
 *  - compare: lists what a pass would still do, and counts the copy, while that is flushed to the
 *    disk. It asks for no attributes, which take it half of its time: one that changes gives its
 *    file a new time of change, and so was copied before; the others were gone through in the live
 *    pass.
 *
 * How far the first copy is comes from what its file system holds: rsync itself would tell it with
 * every file, at a tenth of its time. Of messages and differences the first ones reach the log. It
 * ends with rsync's exit code. What works beside it ends by itself where the shell was killed.
 */
export const PASSES = String.raw`
pass=$1 source=$2 copy=$3 marker=$4 total=$5 node=$6 lister=$7 attributes=$8; shift 8
[ "$pass" = compare ] || set -- "$@" $attributes
staged=$(dirname "$copy")/${STAGED_NAME} list=$(dirname "$copy")/${LIST_NAME}
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

stage() (
  cd "$source" || exit
  find . -xdev \( ${KEPT_OUT.map((name) => `-path './${name}'`).join(' -o ')} \) -prune -o -type f -size +4096 -print0 >"$list"
  xargs -0 -n 1 sh -c '${STAGE_ONE}' sh "$staged" "$(pwd -P)" "$list" "$$" <"$list"
)

# Where large files are put first there is no link: nothing that a container puts in the way meanwhile leads out of it.
copyFirst() {
  mkdir "$staged" || return
  {
    copyWhole "$@" --max-size=2M; code=$?
    case $code in 0 | 23 | 24) ;; *) rm -f "$list" ;; esac
    exit "$code"
  } & small=$!
  stage >/dev/null 2>&1
  flush "$staged" & flusher=$!
  wait "$small"; code=$?
  [ ! -e "$list" ] || "$@" --force --link-dest="$staged" --from0 --files-from="$list" "$source/" "$copy/" || code=$?
  rm -rf "$staged" "$list"
  wait "$flusher"
  return "$code"
}

copyWhole() { "$@" --delete "$source/" "$copy/"; }

copyAll() {
  before=$(held)
  while sleep 1 >/dev/null && kill -0 "$$"; do tellHeld; done 2>/dev/null & teller=$!
  rm -rf "$staged" "$list"
  if [ -n "$(ls -A "$copy")" ]; then copyWhole "$@"
  elif cp --version 2>/dev/null | grep -q coreutils; then copyFirst "$@"
  else readAhead; copyWhole "$@"; fi
  code=$?
  kill "$teller" $readers 2>/dev/null
  tellHeld
  return "$code"
}

changed() {
  if find "$marker" -cnewer "$marker" -print0 >/dev/null 2>&1; then find . -xdev -cnewer "$marker" -print0
  else "$node" -e "$lister" "$marker"; fi
}

# What is in a folder is looked at where its name ends with a stroke.
folders() { xargs -0 sh -c 'for name; do [ ! -d "$name" ] || [ -L "$name" ] || printf "%s/\0" "$name"; done' sh; }

case $pass in
live)
  flush "$source"
  digested copyAll "$@"; code=$?
  flush "$copy" & flusher=$!
  case $code in 0 | 23 | 24) digested copyWhole "$@"; code=$? ;; esac
  wait "$flusher"
  ;;
changed)
  cd "$source" && { changed >"$list"; "$@" --force --ignore-times --from0 --files-from="$list" ./ "$copy/"; } || exit $?
  folders <"$list" | "$@" --delete --from0 --files-from=- ./ "$copy/"; code=$?
  rm -f "$list"
  ;;
differing)
  digested copyWhole "$@"; code=$?
  ;;
compare)
  flush "$copy" & flusher=$!
  { find "$copy" -print0 | tr -dc '\0' | wc -c | sed 's/^ */copied things: /' >&5; } 5>&1 & counter=$!
  digested copyWhole "$@" --stats --dry-run --itemize-changes; code=$?
  wait "$counter" "$flusher"
  ;;
esac
exit "$code"
`;

/**
 * Where find cannot ask for the time of the last change of anything (busybox): lists what is newer
 * than a file, from the working folder down and on its disk.
 */
export const LISTER = `'use strict';
const { lstatSync, readdirSync, statSync, writeSync } = require('node:fs');
const [, marker] = process.argv;
const since = statSync(marker, { bigint: true }).mtimeNs;
const tell = (path) => writeSync(1, Buffer.concat([path, Buffer.from('\\0')]));
const { dev, ctimeNs } = lstatSync('.', { bigint: true });
if (ctimeNs > since) tell(Buffer.from('.'));
const walk = (folder) => {
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const path = Buffer.concat([folder, Buffer.from('/'), name]);
    const entry = lstatSync(path, { bigint: true });
    if (entry.dev !== dev) continue;
    if (entry.ctimeNs > since) tell(path);
    if (entry.isDirectory()) walk(path);
  }
};
walk(Buffer.from('.'));
`;
