# STAGED SOURCE LIST SHELL ./NAME: copies one large file past the page cache, for any POSIX shell.
#
# Content and time are those of one plain file in one folder, which is where its name says. Whoever
# puts another file, a link or a device in its place changes the time of its last change, and it is
# copied again; a folder that is swapped for another one leaves no file with the content of one and
# the time of the other. Files with holes or several names are for rsync. If the target's disk has
# gone, nothing is made on the one below. It gives up if LIST is gone, or the shell that waits.
to=$1/$5 staged=$1 within=${5%/*} path=$2/${5#./} list=$3 shell=$4
folder=${path%/*} name=./${path##*/}

is_plain() { cd "$folder" && [ "$(pwd -P)" = "$folder" ] && [ -f "$name" ] && [ ! -L "$name" ]; }
is_plain || exit 0
read -r size blocks links <<EOF
$(stat -c '%s %b %h' "$name")
EOF
is_whole() { [ "$((blocks * 512))" -ge "$size" ] && [ "$links" -eq 1 ]; }
{ is_whole && (cd "$staged" && mkdir -p "$within"); } || exit 0

mib=1
[ "$size" -lt 67108864 ] || mib=8
blocks=$((size / mib / 1048576)) copied=0
copy() {
  dd if="$name" of="$to" bs="$mib"M skip="$copied" seek="$copied" count="$1" \
    iflag="$2"nofollow,nonblock oflag="$2"nofollow conv=notrunc
}
while [ "$copied" -lt "$blocks" ]; do
  { [ -e "$list" ] && kill -0 "$shell"; } || exit 255
  count=$((blocks - copied))
  [ "$count" -le 64 ] || count=64
  copy "$count" direct, || exit 0
  copied=$((copied + count))
done
copy 1 "" && cp -L --preserve=all --attributes-only "$name" "$to"
