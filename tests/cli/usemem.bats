#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# usemem's command line, as every tool of ours keeps it. Makes nothing on the host.

bats_require_minimum_version 1.5.0
load helpers.bash

usemem=$bin/usemem

setup() { before=$(traces); }
teardown() { [ "$before" = "$(traces)" ]; }

@test "--help goes to stdout, exit 0, and names every option group" {
	run --separate-stderr "$usemem" --help
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	for word in --threads --memcg --swap --format --scenario "Exit status" "The load:" "The run:" "Output:"; do
		[[ $output == *"$word"* ]]
	done
	run "$usemem" -h
	[ "$status" -eq 0 ]
}

@test "--version names the tool and the suite" {
	run --separate-stderr "$usemem" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^usemem\ \(squeeze\)\ [0-9]+\.[0-9]+ ]]
}

@test "--usage goes to stdout, exit 0" {
	run --separate-stderr "$usemem" --usage
	[ "$status" -eq 0 ]
	[[ $output == *"--threads"* ]]
}

@test "every long option of --help is in the man page, and the other way round" {
	man=$BATS_TEST_DIRNAME/../../man/usemem.1
	from_help=$("$usemem" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u)
	from_man=$(grep -oE -- 'Fl Fl [a-z][a-z-]+' "$man" | sed 's/Fl Fl /--/' | sort -u)
	diff <(echo "$from_help") <(echo "$from_man")
}

@test "bad values are refused by name, value and hint" {
	assert_usage "--memcg: '16Q' is not a size" "$usemem" --memcg 16Q
	assert_usage "--memcg: 4k is too small" "$usemem" --memcg 4k
	assert_usage "--threads: 'many' is not a whole number" "$usemem" --threads many
	assert_usage "--threads: 0 is out of range" "$usemem" --threads 0
	assert_usage "--threads: 4097 is out of range" "$usemem" --threads=4097
	assert_usage "--time: '5 parsecs' is not a duration" "$usemem" --time "5 parsecs"
	assert_usage "--time: '0s' is too short" "$usemem" --time 0s
	assert_usage "--swap: 'floppy' is not" "$usemem" --swap floppy
	assert_usage "--lru: 'new' is not keep, classic or mglru" "$usemem" --lru new
	assert_usage "--format: 'xml' is not" "$usemem" --format xml
	assert_usage "--probe: 'eyes' is not" "$usemem" --probe eyes
	assert_usage "--time-scale: 0.5 is out of range" "$usemem" --time-scale 0.5
	assert_usage "--runs: 0 is out of range" "$usemem" --runs 0
	assert_usage "--cpus: '3-1' is not a list" "$usemem" --cpus 3-1
	assert_usage "--cpus: CPU 8000 does not exist" "$usemem" --cpus 8000
	assert_usage "--thp: 'always' is not never or keep" "$usemem" --thp always
	assert_usage "--set: 'lots' is not a size or a percentage" "$usemem" --set lots
	assert_usage "--scenario: 'nosuch' is not one of usemem's" "$usemem" --scenario nosuch
}

@test "unknown options and missing values are told apart" {
	assert_usage "unknown option '--treads'" "$usemem" --treads 4
	assert_usage "--memcg: needs a value" "$usemem" --memcg
}

@test "a set that cannot fit shows the sum" {
	assert_usage "usable swap 0 B = 16 MiB: an OOM kill would be legitimate" \
		"$usemem" --threads 4 --memcg 16M --swap none
	assert_usage "usable swap 8 MiB = 24 MiB" "$usemem" --threads 4 --memcg 16M --swap zram:8M
}

@test "threads that take more than half of the limit are refused" {
	assert_usage "--threads: 1024 threads take" "$usemem" --threads 1024 --memcg 16M
}

@test "a result file that cannot be written is refused before the run" {
	assert_usage "--json: /nonexistent/r.json: No such file" "$usemem" --json /nonexistent/r.json
}

@test "--list and --explain" {
	run --separate-stderr "$usemem" --list
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == over-isolation* ]]
	run --separate-stderr "$usemem" --explain
	[ "$status" -eq 0 ]
	[[ $output == *"FAIL means"* && $output == *"seeds/000"* ]]
	run --separate-stderr "$usemem" --explain=over-isolation
	[ "$status" -eq 0 ]
}

@test "--dry-run says what would be made and changes nothing" {
	run --separate-stderr "$usemem" --dry-run --threads 8
	[ "$status" -eq 0 ]
	[[ $output == *"1 x 8"* && $output == *"16 MiB"* ]]
}

@test "a full disk on standard output is an error, not silence" {
	[ -e /dev/full ] || skip "no /dev/full"
	run bash -c "'$usemem' --list >/dev/full"
	[ "$status" -eq 2 ]
	[[ $output == *"No space left"* ]]
	run bash -c "'$usemem' --help >/dev/full"
	[ "$status" -ne 0 ]
}

@test "as an unprivileged user: SKIP that names what is missing" {
	need_root
	command -v setpriv >/dev/null || skip "no setpriv"
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$usemem" --threads 4 --time 1s
	[ "$status" -eq 4 ]
	[[ $output == *SKIP* ]]
	[[ $output == *"cgroup"* || $output == *"CAP_"* ]]
}
