#!/bin/sh
# Subscribes this device to depotd's packages: the key that they are signed with, the address of the feed, and that a firmware upgrade keeps both.
# Nothing is installed. What is signed with a key in these folders may bring any package by any name: it is trust in whoever holds it.

usage() {
	echo "usage: sh subscribe.sh [URL] | sh subscribe.sh --undo"
}

root=${IPKG_INSTROOT:-}
url='@URL@'
kept=/lib/upgrade/keep.d/depotd-feed

fail() {
	echo "depotd: $1" >&2
	exit 1
}

# Writes what comes in to a file on the device, whole or not at all.
put() {
	mkdir -p "$root${1%/*}" && cat >"$root$1.new" && mv "$root$1.new" "$root$1" || fail "cannot write $1"
	echo "$1" >>"$root$kept"
	echo "wrote $1"
}

put_opkg_keys() {
	@OPKG_KEYS@
}

put_apk_keys() {
	@APK_KEYS@
}

# What this script wrote, and nothing else.
undo() {
	[ -e "$root$kept" ] || return 0
	while read -r path; do
		case $path in
		*..*) ;;
		/etc/opkg/* | /etc/apk/keys/* | /etc/apk/repositories.d/* | "$kept") rm -f "$root$path" && echo "removed $path" ;;
		esac
	done <"$root$kept"
}

# A package that came as a file is pinned to it: no feed would ever bring another one.
unpin() {
	world=$root/etc/apk/world
	pinned='^\(depotd\|depotd-node\|luci-app-depotd\|luci-i18n-depotd-[a-z-]*\)><.*$'
	grep -q "$pinned" "$world" 2>/dev/null || return 0
	(
		flock 9 2>/dev/null
		sed "s/$pinned/\\1/" "$world" >"$world.new" && mv "$world.new" "$world"
	) 9>>"$root/lib/apk/db/lock" || fail "cannot write /etc/apk/world"
	echo "unpinned depotd in /etc/apk/world: upgrades come from the feed"
}

case ${1:-} in
--undo)
	undo
	echo "What is installed stays: $(if [ -e "$root/lib/apk/db" ]; then echo "apk del"; else echo "opkg remove"; fi) depotd-keyring luci-app-depotd depotd removes it."
	exit 0
	;;
http://* | https://*) url=${1%/} ;;
'') ;;
*)
	usage >&2
	exit 2
	;;
esac
[ -n "$url" ] || fail "cannot subscribe: give the address of the feed"

# shellcheck disable=SC1091
. "$root/etc/openwrt_release" 2>/dev/null || fail "cannot subscribe: this is no OpenWrt (no /etc/openwrt_release)"
release=$(echo "${DISTRIB_RELEASE:-}" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
architecture=${DISTRIB_ARCH:-unknown}
if [ -e "$root/lib/apk/db" ]; then
	manager=apk
	index=packages.adb
else
	manager=opkg
	index=Packages.gz
fi
feed=$url/$release/$architecture
echo "OpenWrt $release, $architecture, $manager: $feed"
wget -q -O /dev/null "$feed/$index" || fail "cannot subscribe: there is nothing for this release and architecture at $feed (or the address does not answer)"

undo >/dev/null
mkdir -p "$root${kept%/*}" && echo "$kept" >"$root$kept" || fail "cannot write $kept"
if [ "$manager" = apk ]; then
	put_apk_keys
	put /etc/apk/repositories.d/depotd.list <<-LIST
		$feed/$index
	LIST
	unpin
	echo "Now: apk update && apk add depotd-keyring luci-app-depotd"
else
	put_opkg_keys
	put /etc/opkg/depotd.conf <<-LIST
		src/gz depotd $feed
	LIST
	echo "Now: opkg update && opkg install depotd-keyring luci-app-depotd"
fi
