#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One entry of each harness, inside a guest that lab/run has booted: run as that harness runs it, from an
# installed tree, and what it prints checked against the harness's contract. The verdict may be any but
# ERROR: whether the kernel fails is what the other guest tests are for. TAP on standard output; exit 0,
# 1, or 4 (skipped).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

readonly BUILD=${SQUEEZE_BUILD:-build}
# Emulation stretches time bounds; it does not stretch counts. The dialects are on trial here, not the
# kernel: less time than the entries' own is enough.
readonly SLOW="--time-scale 5 --time 3s"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly CHECK=$here/../check
export PYTHONDONTWRITEBYTECODE=1

# verify NAME FILE CODE CHECKER…: that output, which came with that exit code, keeps to its format.
verify() {
	local name=$1 file=$2 code=$3 said
	shift 3
	if said=$("$@" <"$file" 2>&1); then
		outcome ok "$name" "exit $code, $(wc -l <"$file") lines"
	else
		outcome 'not ok' "$name" "exit $code: $said"
		sed 's/^/# /' "$file"
	fi
}

# kirk: the words after the name, through a shell, in testcases/bin.
run_ltp() {
	local entry=squeeze_over_isolation_control command code=0
	command=$(awk -v name="$entry" '$1 == name { sub(/^[^ ]+ /, ""); print }' "$SHARE/ltp/runtest/squeeze")
	(cd "$SHARE/ltp/testcases/bin" && PATH=$PATH:$PWD sh -c "$command $SLOW") >"$OUT/ltp" 2>"$OUT/err" || code=$?
	verify ltp "$OUT/ltp" "$code" "$CHECK/check_ltp" --exit "$code"
	[[ $code == 0 || $code == 1 || $code == 32 ]] || outcome 'not ok' ltp-verdict "exit $code: $(tail -n 1 "$OUT/err")"
}

# runner.sh: in the collection's folder, arguments from the environment, within its time. This one needs
# cgroup v2, which the machines that build Squeeze may not have.
run_kselftest() {
	local code=0 seconds
	seconds=$(sed -n 's/^timeout=//p' "$SHARE/kselftest/squeeze/settings")
	# shellcheck disable=SC2086 # words, as the runner splits them
	(cd "$SHARE/kselftest/squeeze" && timeout "$seconds" ./soft_limit.sh $SLOW) >"$OUT/ktap" 2>"$OUT/err" || code=$?
	verify kselftest "$OUT/ktap" "$code" "$CHECK/check_ktap" --exit "$code"
	if grep -q '^Bail out!' "$OUT/ktap" || ((code > 1 && code != 4)); then
		outcome 'not ok' kselftest-verdict "exit $code: $(tail -n 1 "$OUT/err")"
	fi
}

# The benchmark's one sample, and what the reports would read of it.
run_mmtests() {
	local src=$SHARE/mmtests/shellpack_src/src code=0
	mkdir "$OUT/logs"
	# shellcheck disable=SC2086
	"$src/squeezebuild/run-one" "$OUT/logs" 8 1 "$PREFIX/bin/usemem" --threads 8 --memcg 16M $SLOW \
		>"$OUT/err" 2>&1 || code=$?
	verify mmtests-csv "$OUT/logs/squeeze-8-1.csv" "$code" "$CHECK/check_csv"
	"$src/squeeze-usemem/parse-results" "$OUT/logs" >"$OUT/tsv"
	# shellcheck disable=SC2016 # awk's own
	verify mmtests "$OUT/tsv" "$code" awk -F '\t' '
		NF != 6 || $5 !~ /^[0-9]+(\.[0-9]+)?$/ || $2 != 8 { print "bad line: " $0; bad = 1 }
		{ seen[$1] = 1 }
		END { exit bad || !("unmeasured" in seen && "touch" in seen && "reclaim_latency" in seen) }'
	((code == 0)) || outcome 'not ok' mmtests-verdict "exit $code: $(tail -n 1 "$OUT/err")"
}

# The step of the test definition.
run_lava() {
	local entry=squeeze_over_isolation_control code=0
	"$SHARE/lava/squeeze.sh" -e "$entry" -x "$SLOW" -b "$PREFIX/bin" -o "$OUT/results" >"$OUT/lava" 2>"$OUT/err" || code=$?
	if [[ $(head -n 1 "$OUT/lava") != "<LAVA_SIGNAL_TESTSET START $entry>" ||
		$(tail -n 1 "$OUT/lava") != "<LAVA_SIGNAL_TESTSET STOP>" ]]; then
		outcome 'not ok' lava-set "no test set of its own"
	fi
	sed '/^<LAVA_SIGNAL_TESTSET /d' "$OUT/lava" >"$OUT/signals"
	verify lava "$OUT/signals" "$code" "$CHECK/check_lava"
	verify lava-document "$OUT/results/$entry.json" "$code" "$CHECK/check_json"
	((code == 0)) || outcome 'not ok' lava-verdict "exit $code: $(tail -n 1 "$OUT/err")"
}

# What bears our name. /var/tmp is the host's in a guest, so it may hold other things of that name, a
# checkout among them; what Squeeze makes there lies directly in it.
traces() {
	find /sys/fs/cgroup -type d -name 'squeeze-*'
	tail -n +2 /proc/swaps
	find /var/tmp -maxdepth 1 -name 'squeeze-*'
	find /run/squeeze -type f -not -name '.*' 2>/dev/null || true
}

nothing_left() {
	local left
	traces >"$OUT/after"
	left=$(grep -vxF -f "$OUT/before" "$OUT/after" || true)
	if [[ -z $left ]]; then
		outcome ok nothing-left "no cgroup, swap or file of ours"
	else
		outcome 'not ok' nothing-left "${left//$'\n'/, }"
	fi
}

begin_set '' "$BUILD/bin/usemem"
OUT=$(mktemp -d)
readonly OUT PREFIX=$OUT/prefix
readonly SHARE=$PREFIX/share/squeeze
cmake --install "$BUILD" --prefix "$PREFIX" >"$OUT/install"
traces >"$OUT/before"
for dialect in ltp kselftest mmtests lava; do
	"run_$dialect"
	echo "# $dialect done, up $(cut -d' ' -f1 /proc/uptime) s"
done
nothing_left
end_set
