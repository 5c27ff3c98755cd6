#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The reclaim probe inside a guest that lab/run has booted with an empty disk (--disk 1G).  TAP on
# standard output; exit 0, 1, or 4 (skipped).
#
#   probe.sh equal      native_probe: all back ends hold the same load to be the same
#   probe.sh fallback   that, and what usemem falls back to where something is taken away
#   probe.sh locked     booted with lockdown=confidentiality: what usemem falls back to
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

readonly SET=${1-}
readonly NATIVE=${SQUEEZE_NATIVE_PROBE:-build/bin/native_probe}
readonly USEMEM=${SQUEEZE_USEMEM:-build/bin/usemem}
readonly OUT=${SQUEEZE_GUEST_OUT:-build/guest}/probe-${SQUEEZE_LAB_KERNEL:-none}-$SET
readonly DIR=/mnt/squeeze-probe
# usemem is root all the same: it may make its memcg, and read its files.
readonly WITHOUT_BPF=(setpriv --bounding-set '-bpf,-perfmon,-sys_admin')
readonly WITHOUT_ADMIN=(setpriv --bounding-set '-sys_admin')

# hiding PATH… -- COMMAND…: with nothing to be seen in these folders, in a mount namespace of its own.
hiding() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount bash -c '
		while [[ $1 != -- ]]; do mount -t tmpfs none "$1" || exit 125; shift; done
		shift
		exec "$@"' bash "$@"
}

# observe NAME COMMAND…: a file of four times the memcg read through it, so that there is reclaim;
# sets CODE. COMMAND… is what is put before usemem, and options after "usemem".
observe() {
	local name=$1 before=()
	shift
	while [[ $1 != usemem ]]; do before+=("$1"); shift; done
	shift
	rm -f "$OUT/$name".*
	# What is cached is charged already, to whoever read it.
	echo 1 >/proc/sys/vm/drop_caches
	CODE=0
	"${before[@]}" "$USEMEM" -n 1 -q -o -j 4096 -f "$DIR/file" --memcg 16M --json "$OUT/$name.json" "$@" 64M \
		>"$OUT/$name.out" 2>"$OUT/$name.err" || CODE=$?
}

# expect NAME PROBE WORDS COMMAND…: that back end is taken, with these words as the reason ('': with no
# reason given), it counts what it can see and nothing else, and nobody sees a line of libbpf's.
expect() {
	local name=$1 probe=$2 words=$3 file=$OUT/$1.json why
	shift 3
	observe "$name" "$@"
	why=$(jq -r '.runs[0].notes | map(select(startswith("probe: "))) | join("; ")' "$file" 2>/dev/null) || true
	if ((CODE != 0)); then
		outcome 'not ok' "$name" "exit $CODE: $(tail -n 1 "$OUT/$name.err")"
	elif [[ $(jq -r .host.probe "$file") != "$probe" ]]; then
		outcome 'not ok' "$name" "$(jq -r .host.probe "$file"), not $probe ($why)"
	elif [[ -z $words && -n $why ]] || [[ $why != *"$words"* ]]; then
		outcome 'not ok' "$name" "the reason is '$why', not '$words'"
	elif ! jq -e --arg probe "$probe" '.runs[0] as $r
		| ($probe == "files") == ($r.metrics | has("reclaim_passes") | not)
		and ($probe == "bpf") == ($r.histograms | has("reclaim_latency"))
		and ($probe == "files" or $r.metrics.reclaim_passes.value > 100)
		and ($probe == "perf" or $r.metrics.pages_reclaimed.value > 3000)' "$file" >/dev/null; then
		outcome 'not ok' "$name" "$probe does not count as it should: $(jq -c '.runs[0].metrics
			| {reclaim_passes, pages_reclaimed}' "$file")"
	elif grep -q libbpf "$OUT/$name.err" "$OUT/$name.out"; then
		outcome 'not ok' "$name" "says without --verbose: $(grep -m 1 -h libbpf "$OUT/$name.err" "$OUT/$name.out")"
	else
		outcome ok "$name" "$probe${why:+, $why}"
	fi
}

# refuse NAME WORDS COMMAND…: a probe that was asked for by name and cannot be had is an error.
refuse() {
	local name=$1 words=$2
	shift 2
	observe "$name" "$@"
	if ((CODE == 2)) && grep -qF -- "$words" "$OUT/$name.err" && ! grep -q libbpf "$OUT/$name.err"; then
		outcome ok "$name" "$(tail -n 1 "$OUT/$name.err")"
	else
		outcome 'not ok' "$name" "exit $CODE, not 2 with '$words': $(tail -n 1 "$OUT/$name.err")"
	fi
}

# tell NAME COMMAND…: with --verbose the loader's own log comes on standard error.
tell() {
	local name=$1
	shift
	observe "$name" "$@" --verbose
	if ((CODE == 0)) && grep -q '^libbpf: ' "$OUT/$name.err"; then
		outcome ok "$name" "$(grep -c '^libbpf: ' "$OUT/$name.err") lines of libbpf's"
	else
		outcome 'not ok' "$name" "exit $CODE, no line of libbpf's: $(tail -n 1 "$OUT/$name.err")"
	fi
}

set_equal() {
	local code=0
	SQUEEZE_TEST_DIR=$DIR "$NATIVE" >"$OUT/native_probe" 2>&1 || code=$?
	sed 's/^/# /' "$OUT/native_probe"
	# A part that was skipped natively for want of something cannot be missing here.
	if ((code == 0)) && ! grep -q -i skipped "$OUT/native_probe"; then
		outcome ok native_probe "$(grep -c '\[       OK \]' "$OUT/native_probe") tests"
	else
		outcome 'not ok' native_probe "exit $code, $(grep -i -m 1 'skipped\|failed' "$OUT/native_probe" || true)"
	fi
}

set_fallback() {
	set_equal
	dd if=/dev/urandom of="$DIR/file" bs=1M count=64 oflag=direct status=none
	expect as-it-is bpf '' usemem
	expect by-perf perf '' usemem --probe perf
	expect by-files files '' usemem --probe files
	expect no-rights files 'no bpf probe: needs CAP_BPF and CAP_PERFMON; no perf probe: needs CAP_PERFMON' \
		"${WITHOUT_BPF[@]}" usemem
	tell no-rights-verbose "${WITHOUT_BPF[@]}" usemem
	refuse no-rights-forced 'needs CAP_BPF and CAP_PERFMON' "${WITHOUT_BPF[@]}" usemem --probe bpf
	expect no-btf perf 'no bpf probe: this kernel has no BTF (/sys/kernel/btf/vmlinux)' \
		hiding /sys/kernel/btf -- usemem
	expect no-tracefs bpf '' hiding /sys/kernel/tracing /sys/kernel/debug -- usemem
	expect no-tracefs-perf perf '' hiding /sys/kernel/tracing /sys/kernel/debug -- usemem --probe perf
	expect no-btf-no-tracefs files 'no BTF (/sys/kernel/btf/vmlinux); no perf probe: needs CAP_SYS_ADMIN to look into tracefs (not mounted)' \
		hiding /sys/kernel/btf /sys/kernel/tracing /sys/kernel/debug -- "${WITHOUT_ADMIN[@]}" usemem
}

set_locked() {
	local words='the kernel is locked down (confidentiality)'
	dd if=/dev/urandom of="$DIR/file" bs=1M count=64 oflag=direct status=none
	if ! grep -q '\[confidentiality\]' /sys/kernel/security/lockdown; then
		outcome 'not ok' lockdown "not in force: $(cat /sys/kernel/security/lockdown 2>&1)"
		return
	fi
	expect locked files "no bpf probe: $words; no perf probe: $words" usemem
	refuse locked-bpf "$words" usemem --probe bpf
	refuse locked-perf "$words" usemem --probe perf
}

main() {
	case $SET in
	equal | fallback | locked) ;;
	*) echo "usage: $0 equal|fallback|locked" >&2; exit 64 ;;
	esac
	begin_set "$SET" "$USEMEM" "$NATIVE"
	rm -rf "$OUT"
	mkdir -p "$OUT" "$DIR"
	mkfs.ext4 -q "${SQUEEZE_LAB_DISKS%% *}"
	mount "${SQUEEZE_LAB_DISKS%% *}" "$DIR"
	"set_$SET"
	end_set
}

main
