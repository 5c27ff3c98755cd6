#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# no-progress on the kernel that runs the tests, which must do well; bounds stretched for busy machines.

bats_require_minimum_version 1.5.0
load helpers.bash

usemem=$bin/usemem

setup() {
	before=$(traces)
	export PYTHONDONTWRITEBYTECODE=1
}
teardown() { [ "$before" = "$(traces)" ]; }

need_host() {
	need_root
	run "$usemem" --scenario no-progress --swap zram --dry-run
	[[ $output == *"nothing is missing"* ]] || skip "$output"
}

@test "PASS here, every phase reached, nothing left behind" {
	need_host
	run --separate-stderr "$usemem" --scenario no-progress --swap zram --time-scale 5 --format json
	[ "$status" -eq 0 ] || { echo "exit $status: $stderr"; echo "$output" | head -n 20; return 1; }
	echo "$output" | "$check/check_json"
	for metric in dirty_ns mlock_ns swapoff_ns kill_latency_ns swap_latency_ns; do
		[[ $output == *"\"$metric\""* ]] || { echo "no $metric"; return 1; }
	done
	[[ $output == *"mlock: "* && $output == *"swapoff: "* ]]
}

@test "interrupted in the middle: INCONCLUSIVE, and nothing left behind" {
	need_host
	run timeout -s INT 3 "$usemem" --scenario no-progress --swap zram --time-scale 5 --runs 20
	[[ $output == *interrupted* ]]
}

@test "kill -9 in the middle: the guard gives the swap device back" {
	need_host
	for moment in 0.3 0.6 1; do
		"$usemem" --scenario no-progress --swap zram --quiet >/dev/null 2>&1 &
		tool=$!
		sleep "$moment"
		kill -9 $tool
		wait $tool || true
		for _ in $(seq 100); do
			[ "$before" = "$(traces)" ] && break
			sleep 0.1
		done
	done
}

@test "what it cannot work with is refused" {
	assert_usage "--swap: no-progress needs a swap device of its own" \
		"$usemem" --scenario no-progress --swap none
	assert_usage "--swap: no-progress needs a swap device of its own" \
		"$usemem" --scenario no-progress --swap existing
	assert_usage "--set: '110%' is less than 125%" "$usemem" --scenario no-progress --set 110%
	assert_usage "--threads and --thp are not for" "$usemem" --scenario no-progress --threads 4
	assert_usage "are for --scenario classic" "$usemem" --scenario no-progress 16m
}
