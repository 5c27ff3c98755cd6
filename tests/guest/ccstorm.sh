#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ccstorm's soft-limit and over-scan inside a guest that lab/run has booted: all cases of one set in one
# boot.  TAP on standard output; exit 0, 1, or 4 (skipped).
#
#   ccstorm.sh siblings-mglru   6.12, cgroup v2: FAIL; for ctest, as the next
#   ccstorm.sh siblings-classic 6.12, cgroup v2: PASS
#   ccstorm.sh duels            cgroup v2: the document's three tests with memory.low
#   ccstorm.sh duels-v1         6.1, cgroup v1: the same with soft limits
#   ccstorm.sh over-scan        classic LRU, 1 GiB: FAIL, and a control without pressure
#   ccstorm.sh over-scan-cache  classic LRU, 4 GiB: FAIL by one long list
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

readonly SET=${1-}
readonly CCSTORM=${SQUEEZE_CCSTORM:-build/bin/ccstorm}
readonly OUT=${SQUEEZE_GUEST_OUT:-build/guest}/ccstorm-$SET
# Emulation stretches time bounds; it does not stretch counts.
readonly COMMON=(--time-scale 5 --quiet)

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

# One kernel, both verdicts.
set_siblings-mglru() {
	expect siblings fail --scenario soft-limit
	says siblings '.host.lru == "mglru" and .runs[0].metrics.sibling_margin_bytes.value < 1048576'
}

set_siblings-classic() {
	expect siblings pass --scenario soft-limit
	says siblings '.host.lru == "classic" and .runs[0].metrics.sibling_margin_bytes.value > 2621440'
}

# What a duel says is a finding; that both its acts were run and told of is the test.
duels() {
	local name
	for name in stream-eater build-eater build-build; do
		expect "$name" 'pass|fail|inconclusive' --scenario soft-limit --case "$name" --time 40s "$@"
		says "$name" '.runs[0].notes | any(startswith("with protection")) and any(startswith("without protection"))'
	done
}

set_duels() {
	duels --memcg 256M
}

set_duels-v1() {
	duels --allow-global
	says stream-eater '.runs[0].notes | any(startswith("soft limit in force"))'
}

set_over-scan() {
	expect over-scan fail --scenario over-scan --allow-global --time 25s
	says over-scan '.runs[0].metrics | .overshoot_share.value > 0.1 and .worst_overshoot.value > 8'
	says over-scan '.runs[0].notes | any(startswith("the 20 slowest passes"))'
	expect generous 'pass|inconclusive' --scenario over-scan --allow-global --pods 50 --demand 60% --time 10s
}

set_over-scan-cache() {
	expect cache fail --scenario over-scan --allow-global --load cache --time 60s
}

main() {
	case $SET in
	siblings-mglru | siblings-classic | duels | duels-v1 | over-scan | over-scan-cache) ;;
	*) echo "usage: $0 siblings-mglru|siblings-classic|duels|duels-v1|over-scan|over-scan-cache" >&2; exit 64 ;;
	esac
	begin_set "$SET" "$CCSTORM"
	rm -rf "$OUT"
	mkdir -p "$OUT"
	"set_$SET"
	end_set
}

main
