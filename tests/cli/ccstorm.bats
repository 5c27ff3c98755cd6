#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# ccstorm's command line. Makes nothing on the host.

bats_require_minimum_version 1.5.0
load helpers.bash

ccstorm=$bin/ccstorm

# Ours only: other tools' tests may be under way on this machine.
own_traces() { traces | grep ccstorm || true; }
setup() { before=$(own_traces); }
teardown() { [ "$before" = "$(own_traces)" ]; }

@test "--help goes to stdout, exit 0, and names every option group" {
	run --separate-stderr "$ccstorm" --help
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	for word in --jobs --level --pods --count --case --load "Exit status" "The compile jobs:" \
		"With a command:" "The run:" "Output:"; do
		[[ $output == *"$word"* ]]
	done
}

@test "--version and --usage" {
	run --separate-stderr "$ccstorm" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^ccstorm\ \(squeeze\)\ [0-9]+\.[0-9]+ ]]
	run --separate-stderr "$ccstorm" --usage
	[ "$status" -eq 0 ]
	[[ $output == *"--jobs"* ]]
}

@test "every long option of --help is in the man page, and the other way round" {
	man=$BATS_TEST_DIRNAME/../../man/ccstorm.1
	from_help=$("$ccstorm" --help | grep -oE -- '^ +(-., )?--[a-z][a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u)
	from_man=$(grep -oE -- 'Fl Fl [a-z][a-z-]+' "$man" | sed 's/Fl Fl /--/' | sort -u)
	diff <(echo "$from_help") <(echo "$from_man")
}

@test "bad values are refused by name, value and hint" {
	assert_usage "--jobs: 'many' is not a whole number" "$ccstorm" --jobs many
	assert_usage "--jobs: 0 is out of range" "$ccstorm" --jobs 0
	assert_usage "--jobs: 1025 is out of range" "$ccstorm" --jobs 1025
	assert_usage "--pods: 4097 is out of range" "$ccstorm" --pods 4097
	assert_usage "--level: 'medium' is not light, heavy or extreme" "$ccstorm" --level medium
	assert_usage "--job-memory: 'half' is not" "$ccstorm" --job-memory half
	assert_usage "--job-memory: 9 is out of range" "$ccstorm" --job-memory 9%
	assert_usage "--dir: 'here' is not an absolute path" "$ccstorm" --dir here
	assert_usage "--case: 'both' is not build-build, stream-eater, build-eater or siblings" \
		"$ccstorm" --case both
	assert_usage "--pressure: 'air' is not global or memcg" "$ccstorm" --pressure air
	assert_usage "--load: 'light' is not pods or cache" "$ccstorm" --load light
	assert_usage "--scenario: 'nosuch' is not one of ccstorm's" "$ccstorm" --scenario nosuch
	assert_usage "unknown option '--jobz'" "$ccstorm" --jobz 3
}

@test "options that exclude each other are refused" {
	assert_usage "--level: it sets the limit" "$ccstorm" --level light --memcg 1G
	assert_usage "--memcg: is needed with a command" "$ccstorm" --count '*.o' -- true
	assert_usage "--count: a command and the pattern" "$ccstorm" --memcg 64M -- true
	assert_usage "--count: a command and the pattern" "$ccstorm" --count '*.o'
	assert_usage "--level: what a command needs is not known" "$ccstorm" --level heavy --count '*.o' -- true
	assert_usage "'true': soft-limit runs loads of its own" "$ccstorm" --scenario soft-limit -- true
	assert_usage "'true': over-scan runs loads of its own" "$ccstorm" --scenario over-scan -- true
	assert_usage "--memcg: over-scan is about pressure on the whole machine" \
		"$ccstorm" --scenario over-scan --memcg 1G
}

@test "--list and --explain name the three scenarios" {
	run --separate-stderr "$ccstorm" --list
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == build-pod* && ${lines[1]} == soft-limit* && ${lines[2]} == over-scan* ]]
	for name in build-pod soft-limit over-scan; do
		run --separate-stderr "$ccstorm" --explain="$name"
		[ "$status" -eq 0 ]
		[[ $output == *"FAIL means"* && $output == *"seeds/00"* ]]
	done
}

@test "--dry-run shows the limit of a level and changes nothing" {
	# 20 x 154.5 MiB and 34 MiB shared, a third of it.
	run --separate-stderr "$ccstorm" --dry-run --level extreme
	[ "$status" -eq 0 ]
	[[ $output == *"1.01 GiB"* ]]
	run --separate-stderr "$ccstorm" --dry-run --jobs 2 --level light
	[ "$status" -eq 0 ]
	[[ $output == *"228 MiB"* ]]
}

@test "pressure on the whole machine is skipped without leave, by that reason" {
	need_root
	run --separate-stderr "$ccstorm" --scenario over-scan
	[ "$status" -eq 4 ]
	[[ $output == *"--allow-global"* || $output == *"cgroup"* ]]
	run --separate-stderr "$ccstorm" --scenario over-scan --pressure memcg
	[ "$status" -eq 4 ]
	[[ $output == *"--pressure global"* || $output == *"cgroup"* ]]
}
