#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ccstorm's soft-limit and over-scan inside a guest that lab/run has booted: all cases of one set in one
# boot.  TAP on standard output; exit 0, 1, or 4 (skipped).
#
#   ccstorm.sh mglru|classic   6.12, cgroup v2: siblings, and a duel with memory.low
#   ccstorm.sh v1              6.1, cgroup v1: the three duels, and over-scan
set -euo pipefail

readonly SET=${1-}
readonly CCSTORM=${SQUEEZE_CCSTORM:-build/bin/ccstorm}
readonly OUT=${SQUEEZE_GUEST_OUT:-build/guest}/ccstorm-$SET
# Emulation stretches time bounds; it does not stretch counts.
readonly COMMON=(--time-scale 5 --quiet)

cases=0
failures=0

# outcome ok|"not ok" NAME TEXT
outcome() {
	cases=$((cases + 1))
	[[ $1 == ok ]] || failures=$((failures + 1))
	echo "$1 $cases - $2: $3"
}

# expect NAME VERDICTS OPTION...: the verdict is one of those (a|b).
expect() {
	local name=$1 want=$2 code=0 verdict reason
	shift 2
	"$CCSTORM" "${COMMON[@]}" "$@" --json "$OUT/$name.json" >"$OUT/$name.txt" 2>&1 || code=$?
	verdict=$(jq -r '.verdict // "none"' "$OUT/$name.json" 2>/dev/null) || verdict="exit $code"
	reason=$(jq -r '.reason // ""' "$OUT/$name.json" 2>/dev/null) || reason=$(tail -n 1 "$OUT/$name.txt")
	if [[ "|$want|" == *"|$verdict|"* ]]; then
		outcome ok "$name" "$verdict: $reason"
	else
		outcome 'not ok' "$name" "$verdict, not $want: $reason"
	fi
}

# says NAME FILTER: the jq filter holds for the document of case NAME.
says() {
	if jq -e "$2" "$OUT/$1.json" >/dev/null 2>&1; then
		outcome ok "$1 says" "$2"
	else
		outcome 'not ok' "$1 says" "$2"
	fi
}

set_mglru() {
	expect siblings fail --scenario soft-limit
	says siblings '.host.lru == "mglru" and .runs[0].metrics.sibling_margin_bytes.value < 1048576'
	expect stream-eater 'pass|fail|inconclusive' --scenario soft-limit --case stream-eater --memcg 256M --time 60s
	says stream-eater '.runs[0].notes | any(startswith("with protection"))'
}

set_classic() {
	expect siblings pass --scenario soft-limit
	says siblings '.host.lru == "classic" and .runs[0].metrics.sibling_margin_bytes.value > 2621440'
	# A limit that leaves room for all: nobody is pressed, and that is no verdict on the kernel.
	expect stream-eater 'pass|fail|inconclusive' --scenario soft-limit --case stream-eater --memcg 256M --time 60s
	says stream-eater '.runs[0].notes | any(startswith("with protection"))'
}

set_v1() {
	local name
	for name in build-build stream-eater build-eater; do
		expect "$name" 'pass|fail|inconclusive' --scenario soft-limit --case "$name" --allow-global --time 60s
		says "$name" '.runs[0].notes | any(startswith("soft limit in force"))'
	done
}

main() {
	case $SET in
	mglru | classic | v1) ;;
	*) echo "usage: $0 mglru|classic|v1" >&2; exit 64 ;;
	esac
	if [[ -z ${SQUEEZE_LAB_KERNEL:-} ]]; then
		echo '1..0 # SKIP not in a guest of lab/run'
		exit 4
	fi
	if [[ ! -x $CCSTORM ]]; then
		echo "1..0 # SKIP $CCSTORM is not built"
		exit 4
	fi
	rm -rf "$OUT"
	mkdir -p "$OUT"
	echo "# $(uname -r), $SET, up $(cut -d' ' -f1 /proc/uptime) s"
	"set_$SET"
	echo "1..$cases"
	echo "# $((cases - failures)) passed, $failures failed, up $(cut -d' ' -f1 /proc/uptime) s"
	((failures == 0))
}

main
