# PASS SOURCE COPY MARKER STAGED LIST BYTES NODE LISTER STAGE_ONE rsync OPTION…: the passes of a
# copy, for any POSIX shell. LISTER and STAGE_ONE are the texts of list-changed.script.cjs and
# stage-one.sh.
#
#  - live: what is dirty in the source is written out first, so that pages that a container has
#    mapped are marked clean and its next write to them changes the file's time. In a first copy
#    large files go past the page cache, while rsync copies the small ones: rsync hands each byte
#    from process to process, and the cache holds the device's own programs. rsync then links the
#    large ones in if they are still what the source has, and copies the others. Without GNU tools
#    for that, small files are read ahead instead: rsync waits for the disk with each of them. While
#    all that is flushed, everything is gone through a second time, so that the engine is stopped
#    for as little as possible.
#  - changed: files that changed after the copy began are copied again whatever their size and time
#    say (a program can set a file's time back, but not the time of that), and folders that changed
#    lose what is no longer in them. A folder of the copy makes way for what is no folder any more
#    (a whiteout, a link). Nothing else is looked at: the engine is stopped.
#  - differing: all that differs, if a comparison has found something.
#  - compare: lists what a pass would still do, and counts the copy, while that is flushed to the
#    disk. It is called without the options for attributes, which take it half of its time: one that
#    changes gives its file a new time of change, and so was copied before; the others were gone
#    through in the live pass.
#
# How far the first copy is comes from what its file system holds: rsync itself would report it with
# every file, at a tenth of its time. Of messages and differences the first ones reach the log. It
# ends with rsync's exit code. What works beside it ends by itself if the shell was killed.
pass=$1 source=$2 copy=$3 marker=$4 staged=$5 list=$6 total=$7 node=$8 lister=$9
shift 9
stage_one=$1
shift

flush() { sync -f "$1" 2>/dev/null || sync; }

digest() {
  # mawk waits for a whole block of its input.
  case "$(awk -W version 2>/dev/null </dev/null)" in
  mawk*) set -- -W interactive ;;
  *) set -- ;;
  esac
  awk "$@" -v total="$total" -v pass="$pass" '
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
report_held() { echo "held $(($(held) - before))"; }

read_ahead() {
  available=$(awk '/^MemAvailable:/ { kib = $2 } END { print kib + 0 }' /proc/meminfo)
  [ "$((total / 1024))" -lt "$((available / 2))" ] || return 0
  set --
  xargs -P 4 true </dev/null 2>/dev/null && set -- -P 4
  find "$source" -xdev -type f -size -256 -print0 2>/dev/null |
    xargs -0 -n 200 "$@" cat >/dev/null 2>&1 &
  readers=$!
}

# TEST… rsync OPTION…: what rsync leaves out is left out here, too.
find_kept() {
  is_test=1
  for word; do
    shift
    case $word in
    rsync) is_test= ;;
    --exclude=/*)
      name=./${word#--exclude=/}
      set -- "$@" ! -path "$name" ! -path "$name/*"
      ;;
    *) [ -z "$is_test" ] || set -- "$@" "$word" ;;
    esac
  done
  find . "$@" -print0
}

stage() (
  cd "$source" || exit
  find_kept -xdev -type f -size +4096 "$@" >"$list"
  xargs -0 -n 1 sh -c "$stage_one" sh "$staged" "$(pwd -P)" "$list" "$$" <"$list"
)

# Where large files are put first there is no link: nothing that a container puts in the way
# meanwhile leads out of it.
copy_first() {
  mkdir "$staged" || return
  {
    copy_whole "$@" --max-size=2M
    code=$?
    case $code in
    0 | 23 | 24) ;;
    *) rm -f "$list" ;;
    esac
    exit "$code"
  } &
  small=$!
  stage "$@" >/dev/null 2>&1
  flush "$staged" &
  flusher=$!
  wait "$small"
  code=$?
  if [ -e "$list" ]; then
    "$@" --force --link-dest="$staged" --from0 --files-from="$list" "$source/" "$copy/" || code=$?
  fi
  rm -rf "$staged" "$list"
  wait "$flusher"
  return "$code"
}

copy_whole() { "$@" --delete "$source/" "$copy/"; }

copy_all() {
  before=$(held) readers=
  while sleep 1 >/dev/null && kill -0 "$$"; do report_held; done 2>/dev/null &
  reporter=$!
  rm -rf "$staged" "$list"
  if [ -n "$(ls -A "$copy")" ]; then
    copy_whole "$@"
  elif cp --version 2>/dev/null | grep -q coreutils; then
    copy_first "$@"
  else
    read_ahead
    copy_whole "$@"
  fi
  code=$?
  kill "$reporter" 2>/dev/null
  [ -z "$readers" ] || kill "$readers" 2>/dev/null
  report_held
  return "$code"
}

changed() {
  if find "$marker" -ignore_readdir_race -cnewer "$marker" -print0 >/dev/null 2>&1; then
    find_kept -ignore_readdir_race -xdev -cnewer "$marker" "$@"
  else
    "$node" -e "$lister" "$marker" "$@"
  fi
}

# What is in a folder is looked at if its name ends with a stroke.
folders() {
  xargs -0 sh -c \
    'for name; do [ ! -d "$name" ] || [ -L "$name" ] || printf "%s/\0" "$name"; done' sh
}

case $pass in
live)
  flush "$source"
  digested copy_all "$@"
  code=$?
  flush "$copy" &
  flusher=$!
  case $code in
  0 | 23 | 24)
    digested copy_whole "$@"
    code=$?
    ;;
  esac
  wait "$flusher"
  ;;
changed)
  {
    cd "$source" && {
      # A list that is not whole is no list, be it of a folder that went meanwhile: as an rsync that
      # could not copy all, it leaves what changed to the pass over all.
      changed "$@" >"$list" || exit 23
      "$@" --force --ignore-times --from0 --files-from="$list" ./ "$copy/"
    }
  } || exit $?
  folders <"$list" | "$@" --delete --from0 --files-from=- ./ "$copy/"
  code=$?
  rm -f "$list"
  ;;
differing)
  digested copy_whole "$@"
  code=$?
  ;;
compare)
  flush "$copy" &
  flusher=$!
  digested copy_whole "$@" --stats --dry-run --itemize-changes &
  comparer=$!
  things=$(find "$copy" -print0 | tr -dc '\0' | wc -c)
  wait "$comparer"
  code=$?
  wait "$flusher"
  # Only now: mawk writes the end of a line by itself, and the count would come ahead of it.
  echo "copied things: $((things))"
  ;;
esac
exit "$code"
