#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmapread's readahead-livelock scenario, inside a guest that lab/run has booted with an empty disk
# (--disk 6G).  TAP on standard output; exit 0, 1, or 4 (skipped).
#
#   readahead.sh short          the failure, its control, an I/O error, left-overs (ctest)
#   readahead.sh full           and btrfs
#   readahead.sh matrix FS...   measures seq and rand on each FS and prints a table; judges nothing
#
# No case depends on chance: on a kernel without the fix every run has 17 passes and more to a
# window, and without readahead none has more than one.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

readonly MMAPREAD=${SQUEEZE_MMAPREAD:-build/bin/mmapread}
readonly SET=${1:-full}
readonly TIME=${SQUEEZE_GUEST_TIME:-15s}
readonly RUNS=${SQUEEZE_GUEST_RUNS:-3}
readonly OUT=${SQUEEZE_GUEST_OUT:-build/guest}/readahead
readonly DIR=/mnt/squeeze-data
readonly COMMON=(--dir "$DIR" --procs 104 --memcg 256M --time "$TIME" --quiet)

# expect NAME VERDICT FILTER OPTION...: one run with that verdict, of whose document the filter holds.
expect() {
	local name=$1 want=$2 filter=$3 file=$OUT/$1.json code=0 got
	shift 3
	rm -f "$file"
	"$MMAPREAD" "${COMMON[@]}" "$@" --json "$file" >"${file%.json}.txt" 2>&1 || code=$?
	got=$(jq -r '.verdict // "none"' "$file" 2>/dev/null) || got="exit $code"
	if [[ $got != "$want" ]]; then
		outcome 'not ok' "$name" "$got, not $want: $(jq -r .reason "$file" 2>/dev/null || tail -n 1 "${file%.json}.txt")"
	elif ! jq -e "$filter" "$file" >/dev/null; then
		outcome 'not ok' "$name" "not so: $filter"
	else
		outcome ok "$name" "$(jq -r .reason "$file")"
	fi
}

# An I/O error from the device: everything behind the image's start is gone from under it.
io_error() {
	local file=$OUT/io-error.json pid
	"$MMAPREAD" "${COMMON[@]}" --time 60s --fs ext4 --json "$file" >"${file%.json}.txt" 2>&1 &
	pid=$!
	# No <(…): a guest has no /dev/fd.
	until [[ -n $(find /sys/fs/cgroup -maxdepth 2 -name "squeeze-mmapread-$pid-r0") ]]; do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.2
	done
	sleep 2
	truncate -s 0 "$DIR/squeeze-mmapread-$pid.img"
	wait "$pid" || true
	if jq -e '.verdict == "error" and (.reason | contains("I/O error"))' "$file" >/dev/null; then
		outcome ok io-error "$(jq -r .reason "$file")"
	else
		outcome 'not ok' io-error "$(jq -r '.verdict + ": " + .reason' "$file")"
	fi
}

# matrix FS...: one line a run, for docs/evidence/readahead.md.
matrix() {
	local fs pattern file
	echo "kernel fs pattern run verdict passes/fault passes/window pages-read worst-stall-s livelock"
	for fs; do
		for pattern in seq rand; do
			file=$OUT/$(uname -r)-${fs//:/-}-$pattern.json
			rm -f "$file"
			"$MMAPREAD" "${COMMON[@]}" --fs "$fs" --compress 3.0 --pattern "$pattern" \
				--runs "$RUNS" --json "$file" >"${file%.json}.txt" 2>&1 || true
			jq -r --arg at "$(uname -r) $fs $pattern" '
				# Absent where nobody has read a page.
				def round1: if . == null then "-" else . * 10 | round / 10 end;
				.runs | to_entries[] | .key as $i | .value | .metrics as $m |
				"\($at) \($i + 1) \(.verdict) " +
				"\($m.passes_per_major_fault.value | round1) " +
				"\($m.passes_per_window.value | round1) \($m.pages_read.value // "-") " +
				"\($m.longest_stall_ns.value | if . then . / 1e9 else . end | round1) " +
				(.checks | map(select(.name == "livelock") | .outcome) | join(","))
			' "$file" || tail -n 1 "${file%.json}.txt"
		done
	done
}

have_btrfs() {
	command -v mkfs.btrfs >/dev/null &&
		[[ -e /lib/modules/$(uname -r)/kernel/fs/btrfs || -e /sys/fs/btrfs ]]
}

judge() {
	expect ext4-seq fail '.runs[0].metrics.passes_per_window.value > 4 and .host.memcg_version == 2'
	# Page by page an emulated disk does not fill 256 MiB in time.
	expect no-readahead pass '.runs[0].metrics.passes_per_window.value <= 1.5' \
		--advice random --memcg 32M
	if [[ $SET == full ]] && have_btrfs; then
		expect btrfs-3 fail '.params.mount_options == "compress-force=zstd:3"' \
			--fs btrfs:zstd:3 --compress 3.0
		expect btrfs-incompressible fail '.runs[0].metrics.passes_per_window.value > 4' \
			--fs btrfs:zstd:3
	elif [[ $SET == full ]]; then
		echo '# no btrfs (kernel module, Debian package btrfs-progs): its cases are left out'
	fi
	io_error
}

main() {
	local disk
	begin_set '' "$MMAPREAD"
	read -r disk _ <<<"${SQUEEZE_LAB_DISKS:-}"
	if [[ -z $disk ]]; then
		echo '1..0 # SKIP no disk: lab/run --disk 6G'
		exit 4
	fi
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$disk"
	mkdir -p "$DIR" "$OUT"
	mount "$disk" "$DIR"
	case $SET in
	short | full) judge ;;
	matrix)
		shift
		matrix "$@"
		;;
	*)
		echo "Bail out! '$SET' is not short, full or matrix"
		exit 1
		;;
	esac
	umount "$DIR"
	# Nothing may be left: the disk could be unmounted, so no file, loop or mount of ours was on it.
	if [ -n "$(find /sys/fs/cgroup -name 'squeeze-mmapread-*' -print -quit)" ]; then
		outcome 'not ok' left-overs "$(find /sys/fs/cgroup -name 'squeeze-mmapread-*')"
	else
		outcome ok left-overs "none"
	fi
	end_set
}

main "$@"
