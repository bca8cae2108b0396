#!/bin/sh
# The first process of the virtual machine: the root is the host's, read-only, and the device's disk
# is mounted at /mnt. What is in memory on a real device is so here. REPOSITORY, TYPE, PHASE and
# the like come from the kernel's command line.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/tmp
export PATH HOME
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
ip link set lo up
if [ "$TYPE" = f2fs ]; then
	for module in crc32_generic lz4_compress lz4hc_compress f2fs; do
		find /usr/lib/uml/modules -name "$module.ko" -exec insmod {} \; 2>/dev/null
	done
fi
DISK=/dev/ubda
if [ -n "$LOG_DISK" ]; then
	# What is written goes to the second disk, too, with its order and the flushes.
	for module in dm-mod dm-log-writes; do
		find /usr/lib/uml/modules -name "$module.ko" -exec insmod {} \;
	done
	echo "0 $(cat /sys/block/ubda/size) log-writes /dev/ubda /dev/ubdb" |
		DM_DISABLE_UDEV=1 dmsetup create written || echo 'guest: {"failed":"cannot log writes"}'
	DISK=/dev/mapper/written
fi
mount -t "$TYPE" -o noatime "$DISK" /mnt || echo 'guest: {"failed":"cannot mount the disk"}'
mkdir -p /mnt/root/tmp
mount -t tmpfs tmp /mnt/root/tmp
# Node is not of the device: its packages find it here alone.
NODE=$(command -v node)
: >/run/node
mount --bind "$(readlink -f "$NODE")" /run/node
mount --bind /dev/null "$NODE"
cd "$REPOSITORY" || exit 1
/run/node "$GUEST" 2>&1
sync
echo o >/proc/sysrq-trigger
sleep 60
