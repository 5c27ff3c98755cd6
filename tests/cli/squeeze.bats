#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# squeeze's command line: every command, with fake tools in a prefix of its own. Makes nothing on the
# host.
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
# shellcheck disable=SC2154 # bin is from helpers.bash; output and stderr_lines are from run

bats_require_minimum_version 1.5.0
load helpers.bash

squeeze=$bin/squeeze
seeds=$BATS_TEST_DIRNAME/../data/seeds
results=$BATS_TEST_DIRNAME/../data/results

# A folder with squeeze in it and tools that behave as their contract says (design.md 4.1 to 4.3):
# FAKE_<tool> is the verdict, and what else it does.
make_prefix() {
	prefix=$BATS_TEST_TMPDIR/prefix
	mkdir -p "$prefix"
	cp "$squeeze" "$prefix/squeeze"
	local tool
	for tool in "$@"; do
		cat >"$prefix/$tool" <<-'END'
			#!/bin/bash
			me=${0##*/} json=
			args=("$@")
			while [ $# -gt 0 ]; do
				[ "$1" = --json ] && json=$2
				[ "$1" = --scenario ] && scenario=$2
				shift
			done
			declare -n what=FAKE_$me
			write() {
				printf '{"schema":"squeeze-result/1","tool":"%s","version":"0","scenario":"%s","verdict":"%s","reason":"it said %s","params":{"args":"%s"},"runs":[{"verdict":"%s","duration_ns":1000}]}\n' \
					"$me" "$scenario" "$1" "$1" "${args[*]/$json/X}" "$1" >"$json"
			}
			case ${what:-pass} in
			pass) write pass; exit 0 ;;
			fail) write fail; exit 1 ;;
			skip) write skip; exit 4 ;;
			inconclusive) write inconclusive; exit 4 ;;
			error) write error; exit 2 ;;
			usage) echo "$me: --scenario: '$scenario' is not one of $me's" >&2
			       echo "Try '$me --help' for more information." >&2; exit 64 ;;
			silent) exit 1 ;;
			crash) kill -SEGV $$ ;;
			cut) write pass; truncate -s 40 "$json"; exit 0 ;;
			wait) trap 'write inconclusive; exit 4' INT
			      : >"$FAKE_READY"; while :; do sleep 0.05; done ;;
			esac
		END
		chmod +x "$prefix/$tool"
	done
	out=$BATS_TEST_TMPDIR/out
}

@test "help of everything goes to stdout, exit 0" {
	local c
	for c in --help help -h; do
		run -0 --separate-stderr "$squeeze" $c
		[ -z "$stderr" ]
		[[ $output == *compare* ]]
	done
	for c in list run compare report; do
		run -0 --separate-stderr "$squeeze" $c --help
		[ -z "$stderr" ]
		[[ $output == *"Usage: squeeze $c"* ]]
		run -0 --separate-stderr "$squeeze" help $c
		[[ $output == *"Usage: squeeze $c"* ]]
		run -0 "$squeeze" $c --usage
	done
	run -0 "$squeeze" --version
	[[ $output =~ ^squeeze\ [0-9]+\.[0-9]+ ]]
}

@test "every option is in the man page, and the other way round" {
	local man=$BATS_TEST_DIRNAME/../../man/squeeze.1 c
	diff <(for c in list run compare report; do "$squeeze" $c --help; done |
		grep -oE -- '--[a-z][a-z-]+' | grep -vxE -- '--(help|usage)' | sort -u) \
		<(grep -oE -- 'Fl Fl [a-z][a-z-]+' "$man" | sed 's/Fl Fl /--/' |
		grep -vxE -- '--(help|usage|version)' | sort -u)
}

# As assert_usage, for a command of squeeze: the hint names it.
refused() {
	local words=$1 hint=$2
	shift 2
	run -64 --separate-stderr "$squeeze" "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	[[ ${stderr_lines[0]} == *"$words"* ]]
	[ "${stderr_lines[1]}" = "Try '$hint --help' for more information." ]
}

@test "a bad command line is one line that names it, a hint, exit 64" {
	refused "COMMAND is missing" squeeze
	refused "'frob'" squeeze frob
	refused "'--frob'" squeeze --frob
	refused "'frob'" squeeze help frob
	refused "--frob" "squeeze list" list --frob
	refused "'x'" "squeeze list" list x
	refused "--suite: 'big'" "squeeze list" list --suite big
	refused "--suite: 'big'" "squeeze run" run --suite=big
	refused "'nosuch'" "squeeze run" run nosuch
	refused "--runs: '-3'" "squeeze run" run --runs=-3
	refused "--runs: 0" "squeeze run" run --runs 0
	refused "--time-scale: '0.5'" "squeeze run" run --time-scale 0.5
	refused "--out: '/dev/null'" "squeeze run" run --out /dev/null
	refused "BASE" "squeeze compare" compare
	refused "--to" "squeeze compare" compare "$seeds/base"
	refused "BASE" "squeeze compare" compare --to "$seeds/new"
	refused "--format: 'xml'" "squeeze compare" compare --format xml
	refused "--alpha: '1.5'" "squeeze compare" compare --alpha 1.5
	refused "--fail-on: 'better'" "squeeze compare" compare --fail-on better
	refused "'--to' requires an argument" "squeeze compare" compare a --to
	refused "DIR" "squeeze report" report -o x
	refused "'o'" "squeeze report" report -o
}

@test "a full disk on standard output is exit 2" {
	local c
	for c in "help" "list" "--version" "compare --help" "compare $seeds/base --to $seeds/new" \
		"compare --format json $seeds/base --to $seeds/new" "report $results"; do
		run -2 bash -c "'$squeeze' $c >/dev/full"
		[[ $output == *"standard output"* ]]
	done
	run -2 "$squeeze" report "$results" -o /dev/full
	[[ $output == */dev/full* ]]
}

@test "list names every scenario, its tool and what is missing" {
	make_prefix usemem
	run -0 env PATH=/nonexistent "$prefix/squeeze" list
	[[ $output == *over-isolation*readahead-livelock*over-scan* ]]
	[[ $output == *"missing here: ccstorm"* ]]
	[[ $output != *"missing here: usemem"* ]]
	run -0 "$prefix/squeeze" list --suite quick
	[[ $output != *$'\n'full:* ]]
}

@test "run: a document for each scenario, a table, exit by the worst verdict" {
	make_prefix usemem mmapread ccstorm
	run -0 "$prefix/squeeze" run --quiet --out "$out"
	[ "$(find "$out" -name '*-1.json' | wc -l)" -eq 7 ]
	[ -f "$out/over-isolation-1.json" ]
	[[ $output == *"readahead-livelock"*PASS*"0 of 1"* ]]
	[[ $output == *"squeeze report $out"* ]]
	FAKE_mmapread=skip run -4 "$prefix/squeeze" run --quiet --out "$out"
	FAKE_mmapread=inconclusive run -4 "$prefix/squeeze" run --quiet --out "$out"
	FAKE_mmapread=error run -2 "$prefix/squeeze" run --quiet --out "$out"
	FAKE_mmapread=error FAKE_usemem=fail run -1 "$prefix/squeeze" run --quiet --out "$out"
	[[ $output == *"it said error"* ]]
	# Five times into one folder: nothing was replaced.
	[ "$(find "$out" -name 'over-isolation-[1-5].json' | wc -l)" -eq 5 ]
}

@test "run: chosen scenarios, several runs, arguments handed on" {
	make_prefix usemem mmapread ccstorm
	run -0 "$prefix/squeeze" run over-isolation-control --runs 3 --time-scale 5 --out "$out"
	[ "$(find "$out" -name '*.json' | wc -l)" -eq 3 ]
	grep -q -- '--threads 4 .*--time-scale 5' "$out/over-isolation-control-3.json"
	[[ $output == *"over-isolation-control, run 2 of 3: PASS"* ]]
	run -0 "$prefix/squeeze" run --quiet over-isolation-64 --suite full --out "$out"
	[ -f "$out/over-isolation-64-1.json" ]
	run -0 env -C "$BATS_TEST_TMPDIR" "$prefix/squeeze" run --quiet soft-limit
	[ -f "$(echo "$BATS_TEST_TMPDIR"/squeeze-"$(uname -r)"-*/soft-limit-1.json)" ]
}

@test "run: a tool that is missing is a SKIP that names it" {
	make_prefix usemem
	run -4 env PATH=/usr/bin:/bin "$prefix/squeeze" run --quiet over-isolation build-pod --out "$out"
	[[ $output == *build-pod*SKIP*"ccstorm is neither beside squeeze nor in PATH"* ]]
	[[ $output == *over-isolation*PASS* ]]
}

@test "run: a tool that leaves no result is an ERROR with its last words" {
	make_prefix usemem
	FAKE_usemem=usage run -2 "$prefix/squeeze" run --quiet over-isolation --out "$out"
	[[ $output == *ERROR*"exit 64 without a result"* ]]
	FAKE_usemem=silent run -2 "$prefix/squeeze" run --quiet over-isolation --out "$out"
	[[ $output == *"exit 1 without a result"* ]]
	FAKE_usemem=crash run -2 "$prefix/squeeze" run --quiet over-isolation --out "$out"
	[[ $output == *"died of signal 11"* ]]
	FAKE_usemem="cut" run -2 "$prefix/squeeze" run --quiet over-isolation --out "$out"
	[[ $output == *"without a result"*"cut short"* ]]
}

@test "run: an interrupt ends the tool, keeps what there is, exit 128 + N" {
	make_prefix usemem mmapread
	export FAKE_READY=$BATS_TEST_TMPDIR/ready
	FAKE_usemem="wait" "$prefix/squeeze" run --quiet over-isolation readahead-livelock \
		--out "$out" >"$BATS_TEST_TMPDIR/said" 3>&- &
	local pid=$! code=0
	while [ ! -e "$FAKE_READY" ]; do kill -0 "$pid"; done
	# Not SIGINT: a shell without job control lets its background jobs ignore that.
	kill -TERM "$pid"
	wait "$pid" || code=$?
	[ "$code" -eq 143 ]
	grep -q inconclusive "$out/over-isolation-1.json"
	grep -q 'Ended early by Terminated' "$BATS_TEST_TMPDIR/said"
	grep -q 'readahead-livelock *not run' "$BATS_TEST_TMPDIR/said"
	[ ! -e "$out/readahead-livelock-1.json" ]
}

@test "compare: the documents' own figures, to the printed digit" {
	run -0 "$squeeze" compare "$seeds/base" --to "$seeds/new"
	[[ $output == *"touches: +22%"* ]]
	[[ $output == *"pgscan_direct (pages): -23%"*"pgscan_direct (pages): -33%"* ]]
	[[ $output == *"workingset_refault: -30%"* ]]
	[[ $output == *"Welch t = 1.95, p = 0.11"* ]]
	[[ $output == *"min:  404.06 [30.9%] max:  465.94 [30.1%] avg:  434.81 [30.4%]"* ]]
	[[ $output == *"avg:   5627.33 [2.9%]"* ]]
	run -0 "$squeeze" compare --format markdown "$seeds/base" --to "$seeds/new"
	[[ $output == *"| touches | 246,499,132,369 | 301,456,426,692 (+22%) |"* ]]
	run -0 "$squeeze" compare --format json "$seeds/base" --to "$seeds/new"
	jq -e '.schema == "squeeze-compare/1" and (.comparisons | length) == 8' <<<"$output"
	jq -e '.comparisons[].metrics[] | select(.name == "throughput")
		| (.welch_t - 1.95 | fabs) < 0.005 and (.p - 0.11 | fabs) < 0.005' <<<"$output"
}

@test "compare: unlike things are refused by name, unless told" {
	local unlike=$BATS_TEST_TMPDIR/unlike.json
	jq '.params.threads = 4 | .host.memcg_version = 1 | .host.cpus = 3' \
		"$seeds/new/000-over-isolation-64.json" >"$unlike"
	run -2 --separate-stderr "$squeeze" compare "$seeds/base/000-over-isolation-64.json" --to "$unlike"
	[ -z "$output" ]
	[[ $stderr == *"threads differs: base 64, new 4"* ]]
	[[ $stderr == *"host memcg_version differs: base 2, new 1"* ]]
	[[ $stderr == *"host cpus differs: base 10, new 3"* ]]
	run -2 "$squeeze" compare --allow-unlike=threads,cpus "$seeds/base/000-over-isolation-64.json" --to "$unlike"
	[[ $output != *"threads differs"* ]]
	[[ $output == *"memcg_version differs"* ]]
	run -0 "$squeeze" compare --allow-unlike=threads,cpus,memcg_version \
		"$seeds/base/000-over-isolation-64.json" --to "$unlike"
	[[ $output == *"UNLIKE threads: base 64, new 4"* ]]
	run -0 "$squeeze" compare --force "$seeds/base/000-over-isolation-64.json" --to "$unlike"
	run -2 "$squeeze" compare "$seeds/base/000-over-isolation-64.json" --to "$seeds/new/000-redis-shards.json"
	[[ $output == *"no scenario in common"* ]]
}

@test "compare: --fail-on worse is for CI" {
	run -0 "$squeeze" compare --fail-on worse "$seeds/base/000-redis-shards.json" --to "$seeds/new/000-redis-shards.json"
	run -1 "$squeeze" compare --fail-on worse "$seeds/new/002-0-limit.json" --to "$seeds/base/002-0-limit.json"
	[[ $output == *"elapsed_time (s): +229%, worse"* ]]
	run -0 "$squeeze" compare --alpha 0.0000001 --fail-on worse "$seeds/new/002-0-limit.json" --to "$seeds/base/002-0-limit.json"
}

@test "a folder without results stands for the folders in it" {
	local d=$BATS_TEST_TMPDIR/matrix good=$results/over-isolation-pass.json
	mkdir -p "$d"/6.12/mglru/usemem "$d"/6.12/classic/usemem "$d"/.hidden
	echo '{"schema": "squeeze-matrix/1"}' >"$d/table.json"
	cp "$good" "$d/6.12/mglru/usemem/run-1.json"
	cp "$good" "$d/6.12/mglru/usemem/run-10.json"
	cp "$good" "$d/6.12/classic/usemem/run-1.json"
	cp "$good" "$d/.hidden"
	run -0 "$squeeze" compare --format json "$d" --to "$d/6.12/mglru"
	[ "$(jq -c '.comparisons[0] | [.base.files, .new.files | length]' <<<"$output")" = '[3,2]' ]
	run -2 "$squeeze" compare "$d/.hidden/.." --to "$d/6.12/none"
	[[ $output == *'6.12/none: No such file'* ]]
	mkdir "$d/empty"
	run -2 "$squeeze" report "$d/empty" -o "$d/r.html"
	[[ $output == *'no result documents (*.json) in this folder or below'* ]]
}

@test "damaged, foreign and hostile files: one clear line each" {
	local d=$BATS_TEST_TMPDIR/bad good=$results/over-isolation-pass.json
	mkdir "$d"
	head -c 3000 "$good" >"$d/cut.json"
	jq '.schema = "squeeze-result/2"' "$good" >"$d/newer.json"
	jq '.schema = "squeeze-result/0"' "$good" >"$d/older.json"
	truncate -s 200M "$d/huge.json"
	head -c 100000 /dev/zero | tr '\0' '[' >"$d/nested.json"
	: >"$d/empty.json"
	head -c 500 /dev/urandom >"$d/noise.json"
	run -2 --separate-stderr "$squeeze" compare "$d" --to "$d"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 14 ]
	for words in "cut.json: cut short" "newer.json: schema \"squeeze-result/2\" is newer" \
		"older.json: schema \"squeeze-result/0\" is older" "huge.json: 200 MiB" \
		"nested.json: damaged: line 1" "empty.json: empty" "noise.json: damaged"; do
		[[ $stderr == *"$words"* ]]
	done
	run -2 "$squeeze" compare /nonexistent --to "$d/.."
	[[ $output == *"/nonexistent: No such file"* ]]
	# The page is drawn of what can be read, names the rest, and says so by its exit code.
	cp "$good" "$d"
	run -2 "$squeeze" report "$d" -o "$d/r.html"
	grep -q 'Could not be read' "$d/r.html"
	[ "$(grep -c 'is newer' "$d/r.html")" -eq 1 ]
	run ! grep -q '\[\[\[\[' "$d/r.html"
}

@test "report: one file under a megabyte that needs nothing else" {
	local page=$BATS_TEST_TMPDIR/r.html
	run -0 "$squeeze" report "$results" --base "$results" -o "$page"
	[ -z "$output" ]
	[ "$(stat -c %s "$page")" -lt 1000000 ]
	run ! grep -qE '<script|https?://| src=|@import' "$page"
	run -0 bash -c "'$squeeze' report '$results' | head -c 15"
	[ "$output" = "<!DOCTYPE html>" ]
}
