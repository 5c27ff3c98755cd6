# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# One QEMU guest: its initramfs, its command line, its life.

readonly LAB_RUNS=$LAB_CACHE/run
# shellcheck disable=SC2034  # lab/run reads it
readonly LAB_BOOT_LIMIT=${SQUEEZE_LAB_BOOT_LIMIT:-240}
readonly LAB_PROBE_LIMIT=30
# shellcheck disable=SC2034  # lab/run reads it
readonly LAB_BOOTS=3

# Loaded before the root is there; the rest is loaded by name when it is wanted.
readonly LAB_BOOT_MODULES="virtio_pci virtio_blk virtio_console virtio_rng \
9pnet_virtio 9p overlay ext4 crc32c_generic loop zram lzo_rle lz4 zstd \
dm_mod dm_delay"

# sq TEXT: quoted for a POSIX shell.
sq() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# --- initramfs -----------------------------------------------------------

# module_closure KERNEL_DIR RELEASE: files of the boot modules and all they need, from modules.dep.
module_closure() {
	local dep=$1/modules/lib/modules/$2/modules.dep
	[[ -e $dep ]] || return 0
	awk -v want="$LAB_BOOT_MODULES" '
		function key(path) { sub(/.*\//, "", path); sub(/\.ko.*/, "", path); gsub(/-/, "_", path); return path }
		{
			sub(/:/, "", $1)
			file[key($1)] = $1
			for (i = 2; i <= NF; i++) needs[$1] = needs[$1] " " $i
		}
		function take(path,  part, n, i) {
			if (path in taken) return
			taken[path] = 1
			print path
			n = split(needs[path], part, " ")
			for (i = 1; i <= n; i++) take(part[i])
		}
		END { n = split(want, w, /[ \t\n]+/); for (j = 1; j <= n; j++) if (w[j] in file) take(file[w[j]]) }
	' "$dep"
}

# initramfs_of KERNEL_DIR RELEASE: its path; made when the cache lacks this very one.
initramfs_of() {
	local dir=$1 release=$2 busybox key file
	busybox=$(readlink -f "$(command -v busybox)")
	key=$(cat "$LAB_DIR/lib/guest-init.sh" "$busybox" <(echo "$LAB_BOOT_MODULES") | sha256sum | cut -c1-16)
	file=$dir/initramfs-$key.cpio
	[[ -e $file ]] || initramfs_build "$dir" "$release" "$busybox" "$file"
	echo "$file"
}

initramfs_build() (
	dir=$1 release=$2 busybox=$3 file=$4
	root=$(mktemp -d "$dir/.initramfs.XXXXXX")
	trap 'rm -rf "$root" "$file.$$"' EXIT
	mkdir -p "$root"/{bin,dev,proc,sys,lab} "$root/lib/modules/$release"
	cp "$busybox" "$root/bin/busybox"
	install -m 755 "$LAB_DIR/lib/guest-init.sh" "$root/init"
	ln -s busybox "$root/bin/sh"
	module_closure "$dir" "$release" | while read -r module; do
		install -D "$dir/modules/lib/modules/$release/$module" "$root/lib/modules/$release/$module"
	done
	busybox depmod -b "$root" "$release"
	(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc) >"$file.$$"
	rm -f "$dir"/initramfs-*.cpio
	mv "$file.$$" "$file"
)

# --- folders of running guests ---------------------------------------------

# A folder whose lock is free belongs to a run that was killed.
sweep_runs() {
	local dir fd
	for dir in "$LAB_RUNS"/*/; do
		[[ -e $dir/lock ]] || continue
		exec {fd}>"$dir/lock"
		if flock -n "$fd"; then
			rm -rf "$dir"
		fi
		exec {fd}>&-
	done
}

# make_run_dir: sets RUN_DIR and holds its lock; QEMU inherits the lock.
make_run_dir() {
	local fd
	make_dir "$LAB_RUNS"
	# So that nobody sweeps between the making of the folder and its lock.
	exec {fd}>"$LAB_RUNS/.lock"
	flock "$fd"
	sweep_runs
	RUN_DIR=$(mktemp -d "$LAB_RUNS/XXXXXX") || die "$LAB_EX_SPACE" "cannot make a folder in $LAB_RUNS"
	exec {RUN_LOCK}>"$RUN_DIR/lock"
	flock "$RUN_LOCK"
	exec {fd}>&-
	mkdir "$RUN_DIR/lab"
}

remove_run_dir() {
	[[ -z ${RUN_DIR:-} ]] || rm -rf "$RUN_DIR"
}

# --- QEMU --------------------------------------------------------------------

# qemu_machine ACCEL: sets QEMU to the part of the command line that all guests share.
qemu_machine() {
	local accel=(-accel 'tcg,thread=multi' -cpu max)
	[[ $1 != kvm ]] || accel=(-accel kvm -cpu host)
	# shellcheck disable=SC2054  # these commas are QEMU's
	QEMU=(qemu-system-x86_64 -no-user-config -nodefaults -display none -no-reboot
		-machine q35 "${accel[@]}"
		-kernel "$KERNEL_DIR/vmlinuz" -initrd "$RUN_DIR/initrd"
		-serial "file:$RUN_DIR/console"
		-device virtio-serial-pci,max_ports=4)
	qemu_port status
}

# qemu_port NAME: a byte stream from the guest, read from the fifo of that name.
qemu_port() {
	mkfifo "$RUN_DIR/$1"
	QEMU+=(-chardev "file,id=$1,path=$RUN_DIR/$1"
		-device "virtserialport,chardev=$1,name=$1")
}

# start_guest: runs QEMU and sets QEMU_PID and STATUS_FD.  Whatever is started
# here dies with this shell, even when that is killed.
start_guest() {
	exec {STATUS_FD}< <(exec setpriv --pdeathsig KILL cat "$RUN_DIR/status")
	setpriv --pdeathsig KILL "${QEMU[@]}" </dev/null >"$RUN_DIR/qemu.log" 2>&1 &
	QEMU_PID=$!
}

stop_guest() {
	[[ -n ${QEMU_PID:-} ]] || return 0
	kill -KILL "$QEMU_PID" 2>/dev/null || true
	wait "$QEMU_PID" 2>/dev/null || true
	QEMU_PID=
}

# --- KVM ---------------------------------------------------------------------

# What a probe's answer depends on besides the kernel.
kvm_key() {
	{ uname -rv; qemu-system-x86_64 --version; grep -m 1 '^model name' /proc/cpuinfo; } | sha256sum | cut -c1-16
}

# choose_accel: "kvm" only when a probe boot of this kernel has reached its user space with it.
choose_accel() {
	local answer
	case ${SQUEEZE_LAB_ACCEL:-} in
	tcg | kvm) echo "$SQUEEZE_LAB_ACCEL"; return ;;
	'') ;;
	*) die "$LAB_EX_USAGE" "SQUEEZE_LAB_ACCEL: '$SQUEEZE_LAB_ACCEL' is neither tcg nor kvm" ;;
	esac
	if [[ ! -w /dev/kvm ]]; then
		echo tcg
		return
	fi
	answer=$KERNEL_DIR/kvm-$(kvm_key)
	if [[ ! -e $answer ]]; then
		detail 'probing KVM with this kernel, once'
		if kvm_probe 2>/dev/null; then echo kvm >"$answer"; else echo tcg >"$answer"; fi
	fi
	cat "$answer"
}

kvm_probe() (
	make_run_dir
	trap 'stop_guest; remove_run_dir' EXIT
	printf 'LAB_PROBE=1\nLAB_BOOT_MODULES=%s\n' "$(sq "$LAB_BOOT_MODULES")" >"$RUN_DIR/lab/params"
	assemble_initrd
	qemu_machine kvm
	QEMU+=(-m 512 -smp 2 -append "$(kernel_command_line kvm '')")
	start_guest
	read -r -t "$LAB_PROBE_LIMIT" -u "$STATUS_FD" word && [[ $word == ready ]]
)

# --- one guest's files ---------------------------------------------------------

# assemble_initrd: the kernel's initramfs and after it this run's own files.
assemble_initrd() {
	local base
	base=$(initramfs_of "$KERNEL_DIR" "$KERNEL_RELEASE")
	{
		cat "$base"
		cd "$RUN_DIR" && find lab | cpio --quiet -o -H newc
	} >"$RUN_DIR/initrd"
}

# tsc_khz: the rate of this machine's TSC, measured once a boot; nothing without a compiler.
tsc_khz() {
	local file
	file=$LAB_CACHE/tsc-khz-$(</proc/sys/kernel/random/boot_id)
	if [[ ! -s $file ]]; then
		rm -f "$LAB_CACHE"/tsc-khz-*
		cc -O2 -o "$file.program" "$LAB_DIR/lib/tsc-khz.c" 2>/dev/null && "$file.program" >"$file"
		rm -f "$file.program"
	fi
	cat "$file" 2>/dev/null || true
}

# kernel_command_line ACCEL MORE
# Quiet unless asked, since a serial line is slow; a panic or an oops raises the
# level by itself.  An emulated TSC is steady, but older kernels distrust it and
# take the HPET, whose every reading leaves the guest; and on a busy host a guest
# finds out a wrong rate (seen: a clock six times too fast), so it is told.
kernel_command_line() {
	local level=4 khz clock=
	[[ $LAB_VERBOSE == 0 ]] || level=6
	khz=$(tsc_khz)
	[[ $1 == kvm || -z $khz ]] || clock="tsc=reliable tsc_early_khz=$khz"
	echo "console=ttyS0 panic=-1 oops=panic loglevel=$level $clock $2"
}
