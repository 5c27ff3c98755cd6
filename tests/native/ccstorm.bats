#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# ccstorm on this machine's own kernel: what the levels promise, and that storms leave nothing.

bats_require_minimum_version 1.5.0
load ../cli/helpers.bash

ccstorm=$bin/ccstorm
# Small jobs, so that the test is quick and modest; the levels scale with them.
small=(--jobs 6 --job-memory 20% --objects 60 --quiet)

own_traces() { traces | grep ccstorm || true; }

setup() {
	need_root
	"$ccstorm" --dry-run "${small[@]}" | grep -q "nothing is missing" ||
		skip "$("$ccstorm" --dry-run "${small[@]}" | grep missing)"
	before=$(own_traces)
	out=$BATS_TEST_TMPDIR/result.json
}

teardown() {
	[ "$before" = "$(own_traces)" ]
	! pgrep -x ccstorm-job
}

# value NAME: a metric of the first run.
value() { jq -r ".runs[0].metrics.$1.value" "$out"; }

need_jq() { command -v jq >/dev/null || skip "no jq"; }

@test "light: builds, and reclaim has nothing to do" {
	need_jq
	run "$ccstorm" "${small[@]}" --level light --time 8s --json "$out"
	[ "$status" -eq 0 ]
	[ "$(value objects_compiled)" -gt 0 ]
	[ "$(value oom_kills)" -eq 0 ]
	# Far under one refault an object, where extreme has hundreds.
	[ "$(value refault_anon)" -lt "$(value objects_compiled)" ]
}

@test "extreme: futile scanning shows in scan efficiency and refaults" {
	need_jq
	run "$ccstorm" "${small[@]}" --level extreme --time 8s --json "$out"
	[ "$status" -eq 0 ]
	[ "$(value objects_compiled)" -gt 0 ]
	[ "$(value limit_hits)" -ge 100 ]
	[ "$(($(value refault_anon) + $(value refault_file)))" -gt "$((10 * $(value objects_compiled)))" ]
	efficiency=$(value scan_efficiency)
	[ "$efficiency" = null ] || jq -ne "$efficiency < 0.8"
}

@test "without swap, kills are reported by the round and are no failure" {
	need_jq
	run "$ccstorm" --jobs 6 --job-memory 40% --memcg 40M --swap none --time 20s --quiet --json "$out"
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	[ "$(jq -r '.runs[0].checks[] | select(.name == "no_oom_kill") | .outcome' "$out")" = skip ]
	# Before a kill the image of the compilers goes in circles for seconds.
	[ "$(value oom_kills)" -gt 0 ]
}

@test "1,000 jobs leave no process, file or group" {
	need_jq
	run "$ccstorm" --jobs 8 --job-memory 10% --objects 50 --memcg 512M --pods 8 --quiet \
		--time "${SQUEEZE_STORM_TIME:-60s}" --json "$out"
	[ "$status" -eq 0 ]
	echo "$(value objects_compiled) objects"
	[ "$(value objects_compiled)" -ge 1000 ]
}

@test "a command is run in the group, and its objects are counted" {
	need_jq
	dir=$BATS_TEST_TMPDIR/obj
	mkdir "$dir"
	echo old >"$dir/old.o"
	touch -d '1 hour ago' "$dir/old.o"
	run "$ccstorm" --memcg 64M --time 2s --quiet --count '*.o' --in "$dir" --json "$out" -- \
		sh -c "[ -e $dir/done ] || { for i in 1 2 3; do echo x >$dir/\$i.o; done; echo x >$dir/x.c; }
			touch $dir/done; sleep 1"
	[ "$status" -eq 0 ]
	[ "$(value objects_compiled)" -eq 3 ]
	# The command must have been born in the memcg.
	[ "$(value memcg_peak_bytes)" -gt 0 ]
}

@test "a command that cannot be executed is an error" {
	run "$ccstorm" --memcg 64M --time 2s --quiet --count '*.o' -- /nonexistent/cc
	[ "$status" -eq 2 ]
	[[ ${output//$'\n'/ } == *"/nonexistent/cc could not be"* ]]
}

@test "kill -9 in the middle of a storm leaves nothing" {
	"$ccstorm" "${small[@]}" --pods 16 --level heavy --time 60s >/dev/null 2>&1 &
	local pid=$! deadline=$((SECONDS + 20))
	until pgrep -x ccstorm-job >/dev/null || [ $SECONDS -gt $deadline ]; do :; done
	pgrep -x ccstorm-job
	kill -9 $pid
	wait $pid || true
	until [ "$before" = "$(own_traces)" ] && ! pgrep -x ccstorm-job >/dev/null; do
		[ $SECONDS -lt $((deadline + 20)) ] || break
	done
}
