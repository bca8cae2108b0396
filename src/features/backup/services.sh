# Services that the owner had switched off stay so; what is configured anew is read again.
# Arguments: the device root, names.
root=${1%/}
shift
for name in "$@"; do
	[ -x "$root/etc/init.d/$name" ] || continue
	echo "$name stays switched off"
	if [ -z "$root" ]; then
		"/etc/init.d/$name" disable
		"/etc/init.d/$name" stop
	fi
	rm -f "$root"/etc/rc.d/[SK][0-9][0-9]"$name"
done
if [ -z "$root" ] && command -v reload_config >/dev/null; then
	reload_config
fi
exit 0
