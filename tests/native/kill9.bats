#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What is left after kill -9 at a random moment: nothing, every time. Of the supervisor, of a worker,
# of both at once; with a second instance running, which must not be disturbed.

bats_require_minimum_version 1.5.0
load ../cli/helpers.bash

usemem=$bin/usemem
rounds=${SQUEEZE_KILL_ROUNDS:-50}
# The promise is 2 s; what takes longer than this is not slow but left behind.
patience_s=20

setup() {
	need_root
	"$usemem" --clean >/dev/null
	"$usemem" --dry-run --threads 4 | grep -q "nothing is missing" ||
		skip "$("$usemem" --dry-run --threads 4 | grep missing)"
	before=$(traces)
	# The seed is printed by bats when a test fails, so that the moments can be had again.
	RANDOM=${SQUEEZE_TEST_SEED:-$$}
	echo "seed ${SQUEEZE_TEST_SEED:-$$}"
}

children() { pgrep -P "$1" -x usemem || true; }

# Waits for the guard to have undone everything; its end is the event, a poll of traces the proof.
wait_clean() {
	local deadline=$((SECONDS + patience_s))
	until [ "$before" = "$(traces)" ] && ! pgrep -x squeeze-guard >/dev/null; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			diff <(echo "$before") <(traces) || true
			return 1
		fi
		sleep 0.05
	done
}

# kill_round WHOM: starts a run, kills at a random moment of its first 2 s.
kill_round() {
	local pid worker
	"$usemem" --threads 8 --memcg 16M --time 4s --quiet >/dev/null 2>&1 &
	pid=$!
	sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
	worker=$(children "$pid")
	# shellcheck disable=SC2086  # no worker yet: nothing to kill
	case $1 in
	supervisor) kill -9 "$pid" ;;
	worker) kill -9 $worker 2>/dev/null || true ;;
	both) kill -9 $worker "$pid" 2>/dev/null || true ;;
	esac
	wait "$pid" 2>/dev/null || true
	wait_clean
	[ -z "$worker" ] || ! kill -0 "$worker" 2>/dev/null
}

@test "kill -9 of the supervisor, $rounds times" {
	for ((i = 0; i < rounds; i++)); do
		kill_round supervisor || { echo "round $i"; return 1; }
	done
}

@test "kill -9 of a worker, and of both at once" {
	for ((i = 0; i < rounds / 5; i++)); do
		kill_round worker || { echo "round $i (worker)"; return 1; }
		kill_round both || { echo "round $i (both)"; return 1; }
	done
}

@test "a killed instance does not disturb another" {
	local other code=0
	"$usemem" --threads 4 --memcg 16M --time 6s --quiet --json "$BATS_TEST_TMPDIR/other.json" \
		--swap-shared-ok >/dev/null 2>&1 &
	other=$!
	for _ in 1 2 3; do
		"$usemem" --threads 4 --memcg 16M --time 3s --quiet --swap file --swap-shared-ok \
			>/dev/null 2>&1 &
		local victim=$!
		sleep "1.$((RANDOM % 10))"
		kill -9 "$victim" || true
		wait "$victim" 2>/dev/null || true
	done
	wait "$other" || code=$?
	[ "$code" -eq 0 ] || [ "$code" -eq 1 ]
	"$check/check_json" <"$BATS_TEST_TMPDIR/other.json"
	wait_clean
}

@test "SIGINT ends within seconds, says so, and leaves nothing" {
	local pid code=0
	"$usemem" --threads 8 --memcg 16M --time 60s --quiet >"$BATS_TEST_TMPDIR/out" 2>&1 &
	pid=$!
	until grep -q r0 <(find /sys/fs/cgroup -name "squeeze-usemem-$pid-r0" 2>/dev/null); do
		kill -0 "$pid" || break
		sleep 0.05
	done
	sleep 1
	kill -TERM "$pid"
	wait "$pid" || code=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$code" -eq 4 ] || [ "$code" -eq 1 ]
	[ "$code" -eq 1 ] || grep -q "interrupted after" "$BATS_TEST_TMPDIR/out"
	wait_clean
}

@test "what a run left that died with its guard is removed by the next one" {
	local pid guard
	"$usemem" --threads 4 --memcg 16M --time 20s --quiet >/dev/null 2>&1 &
	pid=$!
	until [ -n "$(children "$pid")" ]; do sleep 0.05; done
	guard=$(pgrep -P "$pid" -x squeeze-guard)
	[ -n "$guard" ]
	kill -9 "$guard" "$pid"
	wait "$pid" 2>/dev/null || true
	[ "$before" != "$(traces)" ]
	run "$usemem" --clean
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$before" = "$(traces)" ]
}
