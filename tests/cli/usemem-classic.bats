#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# vm-scalability's command lines: the lines that LKP parses, and honesty about killed tasks.

bats_require_minimum_version 1.5.0
load helpers.bash

usemem=$bin/usemem

setup() { export PYTHONDONTWRITEBYTECODE=1; }

# Other tools may be at work on this machine.
ours() { traces | grep usemem || true; }

# What makes a memcg must take it away again; without --memcg nothing is made at all.
teardown() {
	[ "${before-none}" = none ] || [ "$before" = "$(ours)" ] ||
		{ diff <(echo "$before") <(ours); return 1; }
}

# says SPEEDS BYTES FREES INITS ARG…: runs usemem ARG…; nothing on stderr, exit 0, just these lines.
says() {
	local speeds=$1 bytes=$2 frees=$3 inits=$4
	shift 4
	run --separate-stderr timeout -k 1 60 "$usemem" "$@"
	[ "$status" -eq 0 ] || { echo "$*: exit $status: $stderr"; return 1; }
	[ -z "$stderr" ] || { echo "$*: stderr: $stderr"; return 1; }
	echo "$output" | "$check/check_lkp" "$speeds" "$bytes" "$frees" "$inits" ||
		{ echo "$*:"; echo "$output"; return 1; }
}

need_memcg() {
	need_root
	run "$usemem" --memcg 64M --swap none --dry-run 1m
	[[ $output == *"nothing is missing"* ]] || skip "no memory cgroup: $output"
	before=$(ours)
}

# A page and its allocation: 1 + 1/8 of the size, as the original counts.
mib=$((1024 * 1024))

@test "command lines of public posts, scaled down" {
	says 5 $((4 * mib * 9 / 8)) 5 1 --init-time -O -y -x -n 5 4M
	says 7 $((mib * 9 / 8)) 7 1 --init-time -w -O -s 1 -n 7 1m
	says 4 $((8 * mib * 3 + mib)) 4 0 -t 4 -R -r 3 8m
}

@test "a file that is only read, one word a page" {
	truncate -s 64M "$BATS_TEST_TMPDIR/file"
	says 1 $((64 * mib / 8 + 64 * mib * 8 / 4096)) 1 0 -f "$BATS_TEST_TMPDIR/file" --readonly -j 4096 64m
	says 2 $((64 * mib / 8 + 64 * mib * 8 / 4096)) 2 0 -n 2 -f "$BATS_TEST_TMPDIR/file" -o -R -j 4096 64m
}

@test "a file that is written keeps what the last pass wrote" {
	truncate -s 1M "$BATS_TEST_TMPDIR/file"
	says 1 $((mib * 9 / 8)) 0 0 -S -f "$BATS_TEST_TMPDIR/file" -F -P -w 1m
	# Word 512 holds its index.
	[ "$(od -An -tu8 -j4096 -N8 "$BATS_TEST_TMPDIR/file" | tr -d ' ')" -eq 512 ]
}

@test "cases of vm-scalability" {
	says 2 $((4 * mib * 9 / 8)) 0 0 -n 2 --prealloc --prefault --random 4m # anon-cow-rand
	says 2 $((4 * mib * 9 / 8)) 0 0 -t 2 --prealloc 4m                    # anon-wx-seq-mt
	says 2 $((4 * mib * 9 / 8)) 2 0 --runtime 300 -y -x -b 1 -r 1 -n 2 $((4 * mib))
	says 2 $((mib * 9 / 8)) 0 0 -n 2 --readonly --unit 4k 1m              # small-allocs
	says 1 $((mib * 9 / 8)) 1 0 -a -u 256k 1m
	says 1 $((mib * 9 / 8)) 1 0 --mlock 1m
	says 0 0 100 0 -n 100 0                                               # fork
}

@test "dots for repetitions, none with -q" {
	run --separate-stderr "$usemem" -r 5 1m
	[[ ${lines[0]} == ....[0-9]* ]]
	run --separate-stderr "$usemem" -q -r 5 1m
	[[ ${lines[0]} == [0-9]* ]]
}

@test "-T ends the accesses, not the task" {
	says 1 0 1 0 -q -T 1 -r 1000000000 1m
}

@test "the same lines from within a memcg" {
	need_memcg
	says 5 $((4 * mib * 9 / 8)) 5 1 --memcg 8M --init-time -O -y -x -n 5 4M
	says 4 $((3 * 8 * mib * 8 / 4096 + mib)) 4 0 --memcg 16M -t 4 -R -r 3 -j 4096 8m
	truncate -s 64M "$BATS_TEST_TMPDIR/file"
	says 1 0 1 0 --memcg 16M --swap none -f "$BATS_TEST_TMPDIR/file" --readonly -j 4096 64m
}

@test "an OOM-killed task: exit 1 within 5 s and a sentence, whatever waits for it" {
	need_memcg
	for options in "-y -x" "-y" "-x" "" "-t 2 -y -x" "-M -x" "-P -F -x" "-s 1 -x"; do
		# shellcheck disable=SC2086
		run --separate-stderr timeout -k 1 5 "$usemem" --memcg 16M --swap none -n 2 $options 64m
		[ "$status" -eq 1 ] || { echo "'$options': exit $status: $stderr"; return 1; }
		[[ $stderr == *"was OOM-killed in its memory cgroup of 16 MiB"* ]] ||
			{ echo "'$options': $stderr"; return 1; }
		[[ $stderr == *"usemem: fail: "*" of 2 tasks were killed"* ]]
	done
}

@test "who is left goes on when another task is killed" {
	need_memcg
	# Four times 6 MiB do not fit into 16 MiB, twice do.
	run --separate-stderr timeout -k 1 10 "$usemem" --memcg 16M --swap none -n 4 -y -x 6m
	[ "$status" -eq 1 ]
	[[ $output == *"usecs to free memory"* ]]
}

@test "a task that somebody kills is no OOM kill, and no reason to hang" {
	"$usemem" -n 3 -s 100 -y -x 1m >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
	tool=$!
	for _ in $(seq 100); do
		[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 3 ] && break
		sleep 0.1
	done
	root=$(pgrep -P $tool)
	[ -n "$root" ]
	kill -9 "$(pgrep -P "$root" | head -n 1)"
	for _ in $(seq 50); do
		[ -s "$BATS_TEST_TMPDIR/err" ] && break
		sleep 0.1
	done
	grep -q "got a SIGKILL that is no OOM kill" "$BATS_TEST_TMPDIR/err"
	kill "$tool"
	code=0
	wait "$tool" || code=$?
	[ "$code" -ne 0 ]
	run ! kill -0 "$root"
}

@test "the tool's death is the tasks' end" {
	"$usemem" -n 2 -s 100 1m >"$BATS_TEST_TMPDIR/out" &
	tool=$!
	for _ in $(seq 100); do
		[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 2 ] && break
		sleep 0.1
	done
	root=$(pgrep -P $tool)
	tasks=$(pgrep -P "$root")
	kill -9 $tool
	wait $tool || true
	for _ in $(seq 50); do
		# shellcheck disable=SC2086
		kill -0 $root $tasks 2>/dev/null || return 0
		sleep 0.1
	done
	echo "still there: $root $tasks"
	return 1
}

@test "what cannot work is an error with a sentence" {
	truncate -s 1M "$BATS_TEST_TMPDIR/file"
	run --separate-stderr "$usemem" -f "$BATS_TEST_TMPDIR/file" 2m
	[ "$status" -eq 2 ]
	[[ $stderr == *"the file is shorter than SIZE"* ]]
	run --separate-stderr "$usemem" -f "$BATS_TEST_TMPDIR/none" 2m
	[ "$status" -eq 2 ]
	[[ $stderr == *"none: No such file or directory"* ]]
	run bash -c "'$usemem' 1m >/dev/full"
	[ "$status" -eq 2 ]
	[[ $output == *"No space left"* ]]
}

@test "without --memcg nothing is made on the host" {
	command -v strace >/dev/null || skip "no strace"
	run strace -f -e trace=openat,mkdir,mkdirat,swapon,mount -o "$BATS_TEST_TMPDIR/trace" "$usemem" -n 2 1m
	[ "$status" -eq 0 ]
	changed=$(grep -E 'O_WRONLY|O_RDWR|O_CREAT|mkdir|swapon|mount\(' "$BATS_TEST_TMPDIR/trace" |
		grep -vE '/proc/self/oom_score_adj|ENOENT') || true
	[ -z "$changed" ]
}

@test "more than the host can spare is refused, with both numbers" {
	run --separate-stderr "$usemem" -n 1000 1t
	[ "$status" -eq 4 ]
	[[ $stderr == *"needs "*" of memory, and the host can spare "* ]]
}

@test "--format brings the report, and keeps standard output for it" {
	run --separate-stderr "$usemem" --format json 1m
	[ "$status" -eq 0 ]
	echo "$output" | "$check/check_json"
	[[ $stderr == *"KB/s"* ]]
	run --separate-stderr "$usemem" --format text 1m
	[[ $output == *"KB/s"*PASS* ]]
	run --separate-stderr "$usemem" --json "$BATS_TEST_TMPDIR/r.json" 1m
	[[ $output == *"KB/s"* && $output != *PASS* ]]
	"$check/check_json" <"$BATS_TEST_TMPDIR/r.json"
}

@test "bad command lines" {
	assert_usage "SIZE is missing" "$usemem" -n 4
	assert_usage "SIZE: 'big' is not a size" "$usemem" big
	assert_usage "'2m': only one SIZE is taken" "$usemem" 1m 2m
	assert_usage "--nproc: 'many' is not a whole number" "$usemem" -n many 1m
	assert_usage "--bind: 8191 is not below the number of CPUs" "$usemem" -b 8191 1m
	assert_usage "--sync-rw:" "$usemem" -y -u 1m 2m
	assert_usage "--lru: without --memcg" "$usemem" --lru classic 1m
	assert_usage "--threads, --set and --thp are not for" "$usemem" --threads 4 1m
	assert_usage "are for --scenario classic" "$usemem" --scenario over-isolation 1m
	assert_usage "unknown option '-d'" "$usemem" -d 1m
}

@test "--help: the scenarios' options first, these under a heading of their own" {
	run --separate-stderr "$usemem" --help
	load_line=$(grep -n "The load:" <<<"$output" | cut -d: -f1)
	classic_line=$(grep -n "vm-scalability's command line" <<<"$output" | cut -d: -f1)
	[ "$load_line" -lt "$classic_line" ]
	[ "$(grep -n -- "--nproc" <<<"$output" | cut -d: -f1)" -gt "$classic_line" ]
}
