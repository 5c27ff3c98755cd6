#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# First process of the guest after the change of root: cgroups, the ballast, the
# command, and its output and exit code to the host.  Runs in busybox ash.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
lab=/run/squeeze-lab
# shellcheck disable=SC1090,SC1091  # written by lab/run
. $lab/params

port() {
	for p in /sys/class/virtio-ports/*; do
		[ "$(cat "$p/name" 2>/dev/null)" != "$1" ] || echo "/dev/${p##*/}"
	done
}

# say WORD TEXT: one line to lab/run.
say() { echo "$*" >&3; }

end_guest() {
	# lab/run ends QEMU when it has read the line; this is for when it cannot.
	sleep 5
	"$LAB_BUSYBOX" reboot -f -n
	while :; do sleep 60; done
}

fail() {
	say fail "$*"
	end_guest
}

mount_cgroup_v2() {
	mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup 2>/dev/null ||
		mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup ||
		fail 'cannot mount cgroup2'
	for controller in memory io pids cpuset; do
		echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
	done
	grep -qw memory /sys/fs/cgroup/cgroup.subtree_control ||
		fail 'this kernel has no v2 memory controller'
}

# As a host does that has all controllers on v1 and an empty v2 hierarchy beside them.
mount_cgroup_v1() {
	mount -t tmpfs -o size=1m,mode=755 cgroup /sys/fs/cgroup
	for controller in memory cpu cpuacct cpuset blkio devices freezer pids; do
		mkdir /sys/fs/cgroup/$controller
		mount -t cgroup -o $controller cgroup /sys/fs/cgroup/$controller 2>/dev/null ||
			rmdir /sys/fs/cgroup/$controller
	done
	[ -d /sys/fs/cgroup/memory ] || fail 'this kernel has no v1 memory controller'
	mkdir /sys/fs/cgroup/unified
	mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup/unified
}

# A machine without kmod has no modprobe; the kernel and the tools want one.  And kmod's finds no module
# without modules.dep.bin, which the cache lacks, since busybox indexes it.
provide_modprobe() {
	mkdir $lab/bin
	for applet in modprobe insmod lsmod rmmod; do
		# Not "command -v": to this shell every applet of busybox is a command.
		[ -x /sbin/$applet ] || ln -s "$LAB_BUSYBOX" $lab/bin/$applet
	done
	[ -e "/lib/modules/$(uname -r)/modules.dep.bin" ] ||
		ln -sf "$LAB_BUSYBOX" $lab/bin/modprobe
	[ ! -e $lab/bin/modprobe ] || echo $lab/bin/modprobe >/proc/sys/kernel/modprobe
}

# Inactive anonymous pages of the node: what the classic LRU's isolation check compares with.
make_ballast() {
	[ "$LAB_BALLAST_MIB" -gt 0 ] || return 0
	mkdir $lab/ballast
	mount -t tmpfs -o "size=${LAB_BALLAST_MIB}m" ballast $lab/ballast
	dd if=/dev/zero of=$lab/ballast/pages bs=1M count="$LAB_BALLAST_MIB" 2>/dev/null ||
		fail "cannot fill the ballast of $LAB_BALLAST_MIB MiB"
}

report() {
	shmem=$(awk '/^Shmem:/ { print $2 }' /proc/meminfo)
	say info "kernel $(uname -r), cgroup $LAB_CGROUP, lru_gen $(cat /sys/kernel/mm/lru_gen/enabled 2>/dev/null || echo none), clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
	say info "tmpfs $shmem KiB at start (ballast $LAB_BALLAST_MIB MiB), up after $(cut -d' ' -f1 /proc/uptime) s"
}

# Everything but this process, the kernel's threads and the two that carry the output.
kill_rest() {
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		case $pid in 1 | "$out_pid" | "$err_pid") continue ;; esac
		[ -n "$(tr -d '\0' 2>/dev/null <"$dir/cmdline")" ] && kill -9 "$pid" 2>/dev/null
	done
}

run_command() {
	mkfifo $lab/out $lab/err
	cat <$lab/out >"$(port stdout)" 3>&- &
	out_pid=$!
	cat <$lab/err >"$(port stderr)" 3>&- &
	err_pid=$!
	echo -1000 >/proc/$out_pid/oom_score_adj
	echo -1000 >/proc/$err_pid/oom_score_adj
	say ready
	# Pipes, not the ports themselves: a port can be opened only once.
	setsid /bin/sh $lab/command.sh </dev/null >$lab/out 2>$lab/err 3>&-
	code=$?
	kill_rest
	# A process that cannot be killed may hold a pipe open for ever.
	(sleep 10; kill -9 $out_pid $err_pid) >/dev/null 2>&1 3>&- &
	wait $out_pid $err_pid
	sync_shares
}

# Only what is shared: a slow disk of the guest's own would hold up a full sync.
sync_shares() {
	while read -r dir; do
		sync -f "$dir"
	done <$lab/shares
}

cd /
exec 3>"$(port status)"
hostname squeeze-guest
ip link set lo up 2>/dev/null || "$LAB_BUSYBOX" ip link set lo up
case $LAB_CGROUP in
v1) mount_cgroup_v1 ;;
*) mount_cgroup_v2 ;;
esac
provide_modprobe
make_ballast
report
run_command
say exit $code
end_guest
