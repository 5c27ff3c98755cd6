#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# First process of the guest, in the initramfs: puts the host's root under an
# overlay and goes there.  Runs in busybox ash; /lab/params is lab/run's.
export PATH=/bin

fail() {
	echo "squeeze-lab: $*" >/dev/console
	[ -z "$status" ] || echo "fail $*" >"/dev/$status"
	sleep 1
	reboot -f -n
	while :; do sleep 60; done
}

# port NAME: the device of the virtio port that QEMU calls so.
port() {
	for p in /sys/class/virtio-ports/*; do
		[ "$(cat "$p/name" 2>/dev/null)" != "$1" ] || basename "$p"
	done
}

# Once, and before anything else runs: switching it while other CPUs are busy
# can panic an emulated guest.
set_lru() {
	knob=/sys/kernel/mm/lru_gen/enabled
	case $LAB_LRU in
	classic) [ ! -e $knob ] || echo n >$knob ;;
	mglru)
		[ -e $knob ] || fail "this kernel has no MGLRU (no $knob)"
		echo y >$knob
		;;
	esac
}

scratch_disk() {
	for d in /sys/block/vd*; do
		[ "$(cat "$d/serial" 2>/dev/null)" != squeeze-scratch ] || echo "/dev/${d##*/}"
	done
}

mount_root() {
	mkdir -p /lower /upper /newroot
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,ro,cache=loose hostroot /lower ||
		fail "cannot mount the host's root (9p)"
	# Not on tmpfs: its pages count as anonymous memory and would change what is measured.
	mount -t ext4 -o noatime,nobarrier "$(scratch_disk)" /upper ||
		fail 'cannot mount the scratch disk (ext4)'
	mkdir /upper/up /upper/work
	mount -t overlay -o lowerdir=/lower,upperdir=/upper/up,workdir=/upper/work overlay /newroot ||
		fail 'cannot mount the overlay'
}

mount_shares() {
	n=0
	while read -r dir; do
		mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=mmap "share$n" "/newroot$dir" ||
			fail "cannot share $dir with the host (9p)"
		n=$((n + 1))
	done </lab/shares
}

mount_kernel_files() {
	cd /newroot || fail 'no new root'
	mount -t proc proc proc
	mount -t sysfs sys sys
	mount -t devtmpfs dev dev
	mkdir -p dev/pts dev/shm
	mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts dev/pts
	mount -t tmpfs -o size=64m,mode=1777 shm dev/shm
	mount -t tmpfs -o size=16m,mode=755 run run
	mount -t securityfs securityfs sys/kernel/security 2>/dev/null
	mount -t debugfs debugfs sys/kernel/debug 2>/dev/null
	mount -t tracefs tracefs sys/kernel/tracing 2>/dev/null
	mount -t bpf bpf sys/fs/bpf 2>/dev/null
	cd /
}

# The kernel and the tools load modules by name from here later.
mount_modules() {
	release=$(uname -r)
	[ -d "/newroot$LAB_MODULES/$release" ] || return 0
	mkdir -p "/newroot/lib/modules/$release"
	mount -o bind "/newroot$LAB_MODULES/$release" "/newroot/lib/modules/$release"
}

/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /sbin
ln -s /bin/busybox /sbin/modprobe
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
# shellcheck disable=SC1090,SC1091  # written by lab/run
. /lab/params
set_lru
for module in $LAB_BOOT_MODULES; do
	modprobe -q "$module" 2>/dev/null
done
status=$(port status)
[ -n "$status" ] || fail 'no status port (virtio_console)'
if [ -n "$LAB_PROBE" ]; then
	echo ready >"/dev/$status"
	sleep 1
	reboot -f -n
fi
mount_root
mount_kernel_files
mount_shares
mount_modules
mkdir /newroot/run/squeeze-lab
cp /lab/* /newroot/run/squeeze-lab/
umount /proc /sys
exec switch_root /newroot "$LAB_BUSYBOX" sh /run/squeeze-lab/guest-main.sh
