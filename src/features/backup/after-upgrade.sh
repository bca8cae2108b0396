#!/bin/sh
# Brings depotd back after a firmware upgrade and hands over to it. It needs neither Node nor
# depotd: sysupgrade keeps this file and the folder below, which depotd writes while
# backup.after_upgrade is 1. It waits for the network without limit, and goes on after a reboot.
root=${DEPOTD_ROOT:-}
state=$root/etc/depotd
dir=$state/after-upgrade
lock=$root/var/run/depotd-restore
banner=$root/etc/banner
said=
include=$root/www/luci-static/resources/view/status/include
PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

# A file from standard input: whenever the power goes, it is the old one or the whole new one.
put() { cat >"$1.new" && sync && mv "$1.new" "$1"; }

# In the system log, in the greeting of a log-in and in LuCI's status: never silent, and no write
# for what was said already.
say() {
	[ "$said" != "$1" ] || return 0
	said=$1
	logger -t depotd-restore "$1"
	[ "$(cat "$dir/state" 2>/dev/null)" != "$1" ] || return 0
	[ ! -e "$banner" ] || { greeting && printf ' depotd: %s\n' "$1"; } | put "$banner"
	[ ! -d "$include" ] || {
		echo "'use strict';"
		echo "'require baseclass';"
		echo "return baseclass.extend({ title: 'depotd', render: function () {"
		echo "var isChinese = document.documentElement.lang.indexOf('zh') === 0;"
		echo "return E('p', {}, isChinese ? '$2' : '$1');"
		echo "} });"
	} | put "$include/05_depotd_restore.js"
	printf '%s\n' "$1" | put "$dir/state"
}

greeting() { sed '/^ depotd: /d' "$banner"; }

unsay() {
	rm -f "$include/05_depotd_restore.js"
	[ ! -e "$banner" ] || greeting | put "$banner"
}

is_due() {
	[ -s "$dir/set" ] || return 1
	[ ! -e "$dir/due" ] || return 0
	[ -x "$root/usr/sbin/depotd" ] || return 0
	[ "$(cat "$dir/release")" != "$(cat "$root/etc/openwrt_release")" ]
}

is_there() {
	[ -x "$root/usr/sbin/depotd" ] || return 1
	[ -x "$root/usr/lib/depotd/node" ] || command -v node >/dev/null
}

# The package manager of this firmware.
if [ -e "$root/lib/apk/db/installed" ]; then manager=apk; else manager=opkg; fi
case $manager in
apk) record=$root/lib/apk/db/installed ;;
*) record=$root/usr/lib/opkg/status ;;
esac
before=$record.depotd
is_same_manager() { [ "$(cat "$dir/manager")" = "$manager" ]; }

# A package's script that reads its input would take the names that are still to come.
opkg_() { opkg ${root:+--offline-root "$root"} "$@" </dev/null; }
apk_() { apk ${root:+--root "$root"} --no-interactive "$@" </dev/null; }

put_feeds() {
	is_same_manager || return 0
	case $manager in
	apk) feeds=$root/etc/apk/repositories.d/customfeeds.list ;;
	*) feeds=$root/etc/opkg/customfeeds.conf ;;
	esac
	# A last line without a line break would become one with the first that is added.
	[ -z "$(tail -c 1 "$feeds" 2>/dev/null)" ] || echo >>"$feeds"
	while read -r line; do
		grep -qxF "$line" "$feeds" 2>/dev/null || printf '%s\n' "$line" >>"$feeds"
	done <"$dir/feeds"
	# A key of that name may have come with this firmware.
	for key in "$dir"/keys/*; do
		to=$root/etc/$manager/keys/${key##*/}
		[ ! -f "$key" ] || [ -e "$to" ] || { mkdir -p "${to%/*}" && cp "$key" "$to"; }
	done
}

# What another firmware left in world keeps apk from doing anything: a hash names a file that no
# feed has, a name may be of no package any more. What this firmware asks for stays, and of the
# rest what is there; the others come back by the restore.
trim_world() {
	world=$root/etc/apk/world
	[ "$manager" = apk ] && [ -s "$world" ] || return 0
	awk 'FILENAME ~ /installed$/ {
			if (/^P:/) have[substr($0, 3)] = 1
			if (/^p:/) {
				n = split(substr($0, 3), all, " ")
				for (i = 1; i <= n; i++) {
					sub(/[<>=~].*/, "", all[i])
					have[all[i]] = 1
				}
			}
			next
		}
		/^!/ { if (!($0 in done)) print; done[$0] = 1; next }
		{
			line = $0; name = $0; sub(/[@<>=~].*/, "", name)
			if (line ~ /></) line = name
			if (name in have && !(name in done)) print line
			done[name] = 1
		}' "$root/lib/apk/db/installed" "$world" >"$dir/world.new"
	if [ -s "$root/rom/etc/apk/world" ]; then
		cat "$root/rom/etc/apk/world" "$dir/world.new" | sort -u >"$dir/world.all"
		mv "$dir/world.all" "$dir/world.new"
	fi
	if [ -s "$dir/world.new" ] && ! cmp -s "$dir/world.new" "$world"; then
		put "$world" <"$dir/world.new"
	fi
	rm -f "$dir/world.new"
}

# What depotd wrote, and nothing else: a hash that it noted. The copy is what is looked at, since
# a stick may answer otherwise the second time.
is_own() {
	cp "$1" "$2" || return 1
	grep -qx "$(sha256sum <"$2" | cut -d ' ' -f 1)" "$dir/sets"
}

# A backup with package files on a disk or stick.
from_disk() {
	is_same_manager && [ -s "$dir/sets" ] || return 1
	work=$(mktemp -d -p "$root/tmp") || return 1
	find "$root/mnt" "$root/media" -maxdepth 3 -type f -name 'depotd-backup-*.tar.gz' 2>/dev/null |
		while read -r file; do
		mkdir "$work/set"
		if is_own "$file" "$work/set.tar.gz" && tar -xzf "$work/set.tar.gz" -C "$work/set"; then
			say 'bringing depotd back from a disk' '正在从磁盘恢复 depotd'
			case $manager in
			apk) apk_ --no-network --allow-untrusted add "$work"/set/packages/*.apk ;;
			*) opkg_ install "$work"/set/packages/*.ipk ;;
			esac
		fi
		rm -rf "$work/set" "$work/set.tar.gz"
		! is_there || break
	done
	rm -rf "$work"
	is_there
}

from_feeds() {
	case $manager in
	apk) apk_ update ;;
	*) opkg_ update ;;
	esac
	while read -r name; do
		case $manager in
		apk) apk_ add "$name" ;;
		*) opkg_ install "$name" ;;
		esac
	done <"$dir/first"
	is_there
}

# Neither manager waits for the disk: of what was installed as the power went there is a record, and
# the files may be empty. With the record of before all of it is installed anew.
note_record() {
	if [ -s "$before" ]; then
		[ ! -x "$root/etc/init.d/depotd" ] || "$root/etc/init.d/depotd" stop
		put "$record" <"$before"
		# What depotd knows of the record that is gone would have it say that packages are lost.
		rm -rf "$root/usr/sbin/depotd" "$state"/opkg-status.before* "$state/apk/before"
	elif ! is_there; then
		put "$before" <"$record"
	fi
}

# A second firmware upgrade ahead of the end finds what it has to keep.
keep() {
	list=$root/lib/upgrade/keep.d/depotd-restore
	[ -e "$list" ] || cp "$dir/keep" "$list"
}

run() {
	is_due || return 0
	mkdir -p "$root/var/run"
	mkdir "$lock" 2>/dev/null || return 0
	# The copy of a set holds passwords: it goes also if this is ended.
	work=
	trap 'rm -rf "$work"; rmdir "$lock"' EXIT
	trap 'exit 1' HUP INT TERM
	: >"$dir/due"
	# Read by the daemon as soon as it starts, which is within its own installation.
	if ! grep -qs "$(cat "$dir/set")" "$state/restore-due.json"; then
		printf '{"backup":"%s"}\n' "$(cat "$dir/set")" | put "$state/restore-due.json"
	fi
	say 'the firmware is another one: packages come back' '固件已更换：正在恢复软件包'
	keep
	note_record
	trim_world
	put_feeds
	until is_there || from_disk || from_feeds; do
		say 'waiting for the network, or a disk with a backup, to bring packages back' \
			'正在等待网络或带有备份的磁盘，以恢复软件包'
		sleep 30
	done
	unsay
	put "$dir/release" <"$root/etc/openwrt_release"
	rm -f "$before" "$dir/due" "$dir/state"
	logger -t depotd-restore 'depotd is back and brings the packages back: its page says which'
	[ -n "$root" ] || /etc/init.d/depotd enable
	# The one that its installation started may have looked before the note was there.
	"$root/etc/init.d/depotd" restart
}

case ${1:-} in
boot | start) "$0" run </dev/null >/dev/null 2>&1 & ;;
run) run ;;
esac
