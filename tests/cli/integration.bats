#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What integration/ gives to other harnesses, against the contracts of those harnesses (LTP and kirk,
# the kernel's selftests, mmtests, LAVA): layout, format, and command lines that the tools accept. Runs
# with the real harnesses are recorded in docs/evidence/integration.md.

# shellcheck disable=SC2154 # bin and check are set by helpers.bash
load helpers.bash

# Fails if a line matches, and shows it.
none() {
	if grep -n "$@"; then return 1; fi
}

setup_file() {
	export PREFIX=$BATS_FILE_TMPDIR/prefix
	export top=$BATS_TEST_DIRNAME/../..
	local build=${BIN:-$top/build/bin}/..
	[ -f "$build/CMakeCache.txt" ] || {
		echo "no build of Squeeze in $build"
		return 1
	}
	cmake --install "$build" --prefix "$PREFIX" > "$BATS_FILE_TMPDIR/install.log"
	export LTPROOT=$PREFIX/share/squeeze/ltp
	export PYTHONDONTWRITEBYTECODE=1
}

# NAME COMMAND of every entry, as kirk's parser sees them: blank and # lines left out, words split.
entries() {
	sed 's/^[[:space:]]*//' "$LTPROOT/runtest/squeeze" | grep -v -e '^#' -e '^$'
}

# The command of an entry without its format.
plain_command() { # NAME
	entries | awk -v name="$1" '$1 == name { sub(/^[^ ]+ /, ""); sub(/ --format ltp$/, ""); print }'
}

# The other dialects' name of an entry.
short_names() {
	entries | sed 's/^squeeze_\([^ ]*\) .*/\1/'
}

# -- LTP

@test "ltp: the installed LTPROOT has the programs, and links that can be moved" {
	local tool
	for tool in usemem mmapread ccstorm; do
		[ -x "$LTPROOT/testcases/bin/$tool" ]
		[[ "$(readlink "$LTPROOT/testcases/bin/$tool")" != /* ]]
		[ "$LTPROOT/testcases/bin/$tool" -ef "$PREFIX/bin/$tool" ]
	done
}

@test "ltp: every line of the runtest file is NAME COMMAND, names are unique, one format" {
	[ "$(entries | wc -l)" -ge 6 ]
	entries | awk 'NF < 2 { print "no command: " $0; exit 1 }'
	entries | awk '!/ --format ltp$/ { print "not in the format of LTP: " $0; exit 1 }'
	entries | awk '$1 !~ /^squeeze_[a-z0-9_]+$/ { print "odd name: " $1; exit 1 }'
	[ -z "$(entries | awk '{ print $1 }' | sort | uniq -d)" ]
	# kirk counts these words wherever they stand when a program prints no summary.
	entries | none -E 'TPASS|TFAIL|TBROK|TCONF|TWARN|TSKIP'
}

@test "ltp: every scenario of every tool has an entry, except what cannot fail by itself" {
	local tool scenario
	for tool in usemem mmapread ccstorm; do
		while read -r scenario; do
			[ "$scenario" != classic ] || continue
			entries | grep -q " $tool --scenario $scenario " || {
				echo "no entry for $tool $scenario"
				return 1
			}
		done < <("$bin/$tool" --list | awk '{ print $1 }')
	done
}

@test "ltp: every entry names its document just above" {
	awk '/^$/ { named = 0 } /^# seeds\/[0-9]/ { named = 1 } /^# fixed by/ { fixed = 1 }
		!/^#/ && NF && !(named && fixed) { print "no document and fix above: " $1; exit 1 }' \
		"$LTPROOT/runtest/squeeze"
}

@test "ltp: metadata is JSON that kirk can use, and knows exactly the entries" {
	python3 - "$LTPROOT" <<-'END'
	import json, sys
	root = sys.argv[1]
	tests = json.load(open(root + "/metadata/ltp.json"))["tests"]
	lines = [l.split() for l in open(root + "/runtest/squeeze") if l.strip() and not l.startswith("#")]
	assert set(tests) == {l[0] for l in lines}, set(tests) ^ {l[0] for l in lines}
	for name, test in tests.items():
	    assert float(test["max_runtime"]) > 0, name
	    # One of kirk's reasons not to run a test beside others; ours must be alone.
	    assert "needs_root" in test, name
	END
}

@test "ltp: every command line is accepted, run as kirk runs it" {
	local name command
	cd "$LTPROOT/testcases/bin"
	while read -r name command; do
		PATH=$PATH:$LTPROOT/testcases/bin run sh -c "./$command --dry-run"
		[ "$status" -eq 0 ] || { echo "$name: exit $status: $output"; return 1; }
		[[ "$output" == *"would run"* ]]
	done < <(entries)
}

@test "ltp: what every entry prints when it cannot run is what kirk reads" {
	local name command code
	cd "$LTPROOT/testcases/bin"
	while read -r name command; do
		code=0
		sh -c "./$command --cgroup-parent /squeeze-no-such-group" \
			> "$BATS_TEST_TMPDIR/$name" 2> /dev/null < /dev/null || code=$?
		[ "$code" -eq 32 ] || { echo "$name: exit $code"; return 1; }
		"$check/check_ltp" --exit "$code" < "$BATS_TEST_TMPDIR/$name"
	done < <(entries)
}

# kirk's report of one test, as libkirk/export.py writes it.
kirk_report() { # NAME STATUS CODE PASSED FAILED BROKEN SKIPPED
	jq -n --arg name "$1" --arg status "$2" --arg code "$3" --argjson p "$4" --argjson f "$5" \
		--argjson b "$6" --argjson s "$7" '
		{passed: $p, failed: $f, broken: $b, skipped: $s, warnings: 0} as $counts
		| {results: [{test_fqn: $name, status: $status, test: ({retval: [$code], log: ""} + $counts)}],
			stats: ({runtime: 1} + $counts)}' > "$BATS_TEST_TMPDIR/report.json"
}

@test "ltp: kirk's report is compared with our documents, and every difference is seen" {
	local docs=$BATS_TEST_TMPDIR/docs name
	mkdir "$docs"
	cp "$BATS_TEST_DIRNAME/../data/results/over-isolation-error.json" "$docs/e.json"
	cp "$BATS_TEST_DIRNAME/../data/results/over-isolation-skip.json" "$docs/s.json"
	: > "$docs/k.json"
	jq '.verdict = "fail" | .runs |= [.[0] | .verdict = "fail" | .checks = [{outcome: "pass"},
		{outcome: "fail"}, {outcome: "skip"}]]' \
		"$BATS_TEST_DIRNAME/../data/results/over-isolation-fail.json" > "$docs/f.json"
	agrees() { kirk_report "$@"; "$check/check_kirk" "$BATS_TEST_TMPDIR/report.json" "$docs"; }
	agrees f fail 1 1 1 0 0
	agrees e brok 2 0 0 1 0
	agrees s conf 32 0 0 0 1
	agrees k brok -1 0 0 1 0
	agrees none brok -1 0 0 1 0
	while read -r name; do
		# shellcheck disable=SC2086 # words
		if agrees $name; then
			echo "agreed: $name"
			return 1
		fi
	done <<-'END'
	f pass 0 1 1 0 0
	f fail 1 1 1 0 1
	f fail 1 2 0 0 0
	f fail 2 1 1 0 0
	e conf 32 0 0 0 1
	s pass 0 1 0 0 0
	k pass 0 1 0 0 0
	END
	kirk_report f fail 1 1 1 0 0
	jq '.stats.failed = 2' "$BATS_TEST_TMPDIR/report.json" > "$BATS_TEST_TMPDIR/sum.json"
	run "$check/check_kirk" "$BATS_TEST_TMPDIR/sum.json" "$docs"
	[ "$status" -eq 1 ]
	[[ "$output" == *"stats"* ]]
}

# -- the kernel's selftests

@test "kselftest: list, Makefile and programs agree, and settings are the runner's" {
	local dir=$PREFIX/share/squeeze/kselftest listed
	listed=$(sed 's/^squeeze://' "$dir/kselftest-list.txt" | sort)
	[ "$(grep -vc '^squeeze:[a-z0-9_]*\.sh$' "$dir/kselftest-list.txt")" -eq 0 ]
	[ "$listed" = "$(cd "$dir/squeeze" && find . -name '*.sh' -perm -1 -printf '%f\n' | sort)" ]
	[ "$listed" = "$(make -s -f - -C "$dir/squeeze" show 2>/dev/null <<-'END' | tr ' ' '\n' | sort
	lib := $(shell sed -n '/^TEST_PROGS/,/[^\\]$$/p' Makefile | tr -d '\\')
	show:; @echo $(filter %.sh,$(lib))
	END
	)" ]
	# `settings` is read as NAME=VALUE lines, and only `timeout` means anything.
	[ "$(grep -cv '^timeout=[1-9][0-9]*$' "$dir/squeeze/settings")" -eq 0 ]
}

@test "kselftest: the programs run what the entries of LTP run" {
	local name dir=$PREFIX/share/squeeze/kselftest/squeeze
	while read -r name; do
		[ "$(sed -n 's/^run_tool \(.*\) "\$@"$/\1/p' "$dir/$name.sh")" = "$(plain_command "squeeze_$name")" ] || {
			echo "$name differs"
			return 1
		}
	done < <(short_names)
}

@test "kselftest: every program is started and accepted, as the runner starts it" {
	local name
	cd "$PREFIX/share/squeeze/kselftest/squeeze"
	while read -r name; do
		run "./$name.sh" --dry-run
		[ "$status" -eq 0 ] || { echo "$name: exit $status: $output"; return 1; }
		[[ "$output" == *"would run"* ]]
	done < <(short_names)
}

@test "kselftest: what every program prints when it cannot run is KTAP" {
	local name code
	cd "$PREFIX/share/squeeze/kselftest/squeeze"
	while read -r name; do
		code=0
		"./$name.sh" --cgroup-parent /squeeze-no-such-group > "$BATS_TEST_TMPDIR/$name" 2> /dev/null || code=$?
		[ "$code" -eq 4 ] || { echo "$name: exit $code"; return 1; }
		"$check/check_ktap" --exit "$code" < "$BATS_TEST_TMPDIR/$name"
	done < <(short_names)
}

@test "kselftest: without our tools, or with the other usemem, a test is a skip" {
	local away=$BATS_TEST_TMPDIR/away
	mkdir -p "$away/bin"
	cp -r "$PREFIX/share/squeeze/kselftest" "$away/"
	run env PATH="$away/bin:/usr/bin:/bin" SQUEEZE_BIN= "$away/kselftest/squeeze/over_isolation.sh"
	[ "$status" -eq 4 ]
	"$check/check_ktap" --exit 4 <<< "$output"
	printf '#!/bin/sh\nexit 1\n' > "$away/bin/usemem"
	chmod +x "$away/bin/usemem"
	run env PATH="$away/bin:/usr/bin:/bin" SQUEEZE_BIN= "$away/kselftest/squeeze/over_isolation.sh"
	[ "$status" -eq 4 ]
	run env PATH="/usr/bin:/bin" SQUEEZE_BIN="$PREFIX/bin" "$away/kselftest/squeeze/over_isolation.sh" --dry-run
	[ "$status" -eq 0 ]
}

# -- mmtests

# Expands one of mmtests' macros away: what remains must be bash.
expand() {
	sed -e 's/###SHELLPACK iteration_begin.*/for ITERATION in 1; do/' \
		-e 's/###SHELLPACK iteration_end.*/done/' -e 's/###SHELLPACK.*/:/' "$1"
}

@test "mmtests: each benchmark has its files, and macros that mmtests knows" {
	local src=$PREFIX/share/squeeze/mmtests/shellpack_src/src tool file
	local known="preamble parseargBegin parseargParam parseargEnd monitor_hooks iteration_begin iteration_end
		check_external_install_required init_complete"
	for tool in usemem mmapread ccstorm; do
		for file in "$tool-bench" shellpack.yaml shellpack-rate.yaml shellpack-latency.yaml; do
			[ -f "$src/squeeze-$tool/${file/#$tool/squeeze-$tool}" ]
		done
		[ -x "$src/squeeze-$tool/parse-results" ]
		[ -x "$src/squeeze-$tool/parse-results-rate" ]
		[ -x "$src/squeeze-$tool/parse-results-latency" ]
		[ -f "$src/../../drivers/driver-squeeze-$tool.sh" ]
		grep -qx "export MMTESTS=\"squeeze-$tool\"" "$src/../../configs/config-squeeze-$tool"
	done
	while read -r macro; do
		grep -qw "$macro" <<< "$known" || { echo "unknown macro: $macro"; return 1; }
	done < <(grep -hoP '###SHELLPACK \K\S+' "$src"/*/*-bench "$src"/*/*-install)
	for file in "$src"/*/*-bench "$src"/*/*-install "$src"/../../drivers/*.sh "$src"/../../configs/*; do
		expand "$file" | bash -n
	done
}

@test "mmtests: drivers pass what the benchmarks take and the configs set" {
	local mm=$PREFIX/share/squeeze/mmtests tool variable option
	for tool in usemem mmapread ccstorm; do
		while read -r option; do
			grep -q -- "parseargParam $option" "$mm/shellpack_src/src/squeeze-$tool/squeeze-$tool-bench" ||
				{ echo "$tool: no $option"; return 1; }
		done < <(grep -oP -- '^\s+\K--\S+' "$mm/drivers/driver-squeeze-$tool.sh")
		while read -r variable; do
			grep -q "^export $variable=" "$mm/configs/config-squeeze-$tool" ||
				{ echo "$tool: no $variable"; return 1; }
		done < <(grep -o 'SQUEEZE_[A-Z_]*' "$mm/drivers/driver-squeeze-$tool.sh")
	done
}

@test "mmtests: the configs make command lines that the tools accept" {
	local mm=$PREFIX/share/squeeze/mmtests tool option prefix
	for tool in usemem mmapread ccstorm; do
		option=$(grep -oP '^\s+\K--(threads|procs|jobs)' "$mm/shellpack_src/src/squeeze-$tool/squeeze-$tool-bench")
		prefix=SQUEEZE_${tool^^}
		run bash -c ". '$mm/configs/config-squeeze-$tool'
			for tasks in \${${prefix}_TASKS//,/ }; do
				'$bin/$tool' $option \$tasks --time \$${prefix}_TIME \$${prefix}_OPTIONS --quiet --dry-run || exit
			done"
		[ "$status" -eq 0 ] || { echo "$tool: $output"; return 1; }
	done
}

@test "mmtests: parse-results prints the six columns, failures as 0 and 1, nothing for what was not measured" {
	local logs=$BATS_TEST_TMPDIR/logs parse=$PREFIX/share/squeeze/mmtests/shellpack_src/src/squeeze-usemem/parse-results
	mkdir "$logs"
	sample() { # TASKS ITERATION VERDICT LINE…
		local file=$logs/squeeze-$1-$2.csv
		printf '%s\n' "run,kind,name,value,unit,bound,outcome" "0,verdict,over-isolation,,,,$3" \
			"1,verdict,over-isolation,,,,$3" "${@:4}" > "$file"
	}
	sample 192 1 fail "1,metric,oom_kills,2,count,," "1,metric,touches_per_s,50.5,per_s,," \
		"1,histogram,touch.p99,753663,ns,," "1,histogram,touch.p90,5887,ns,," \
		"1,histogram,touch.count,9,count,," "1,histogram,reclaim_latency.p50,1000,ns,," \
		"1,histogram,pass_scanned.p99,9,pages,,"
	sample 192 10 pass "1,metric,oom_kills,0,count,,"
	sample 8 1 inconclusive "1,metric,oom_kills,0,count,,"
	run "$parse" "$logs"
	[ "$status" -eq 0 ]
	diff -u - <(echo "$output") <<-END
	failed	192	_	1	1.000000	R
	failed	192	_	10	0.000000	R
	unmeasured	8	_	1	1.000000	_
	unmeasured	192	_	1	0.000000	_
	unmeasured	192	_	10	0.000000	_
	oom_kills	8	_	1	0.000000	_
	oom_kills	192	_	1	2.000000	_
	oom_kills	192	_	10	0.000000	_
	touch	192	p99	1	753.663000	R
	END
	run "${parse}-latency" "$logs" latency
	diff -u - <(echo "$output") <<-END
	touch	192	p90	1	5.887000	_
	touch	192	p99	1	753.663000	R
	reclaim_latency	192	p50	1	1.000000	_
	END
	run "${parse}-rate" "$logs" rate
	[ "$output" = "touches_per_s	192	_	1	50.500000	_" ]
	run "$parse" "$BATS_TEST_TMPDIR"
	[ "$status" -eq 0 ] && [ -z "$output" ]
}

@test "mmtests: a run that gives no result ends the benchmark, a FAIL does not" {
	local one=$PREFIX/share/squeeze/mmtests/shellpack_src/src/squeezebuild/run-one
	local tool=$BATS_TEST_TMPDIR/tool code
	for code in 0 1 4; do
		printf '#!/bin/sh\nexit %s\n' "$code" > "$tool"
		chmod +x "$tool"
		run "$one" "$BATS_TEST_TMPDIR" 8 1 "$tool"
		[ "$status" -eq 0 ]
	done
	for code in 2 64 70; do
		printf '#!/bin/sh\nexit %s\n' "$code" > "$tool"
		run "$one" "$BATS_TEST_TMPDIR" 8 1 "$tool"
		[ "$status" -eq "$code" ]
	done
}

@test "mmtests: units and summaries are of those that mmtests knows" {
	local file units
	units="TIME_NSECONDS TIME_USECONDS TIME_MSECONDS TIME_SECONDS OPS_COUNT OPS_PER_SECOND PERCENTAGE FAILURES"
	for file in "$PREFIX"/share/squeeze/mmtests/shellpack_src/src/*/*.yaml; do
		while read -r unit; do
			grep -qw "$unit" <<< "$units" || { echo "$file: $unit"; return 1; }
		done < <(sed -n 's/^ *units: //p' "$file")
		sed -n 's/^ *summarise: //p' "$file" | none -vxE 'Multiops|Singleops|Subselection'
		plain_yaml "$file"
	done
}

# -- LAVA

# YAML by the rules of the subset that we write: spaces only, two a level, KEY: VALUE or - ITEM, balanced
# quotes, no key twice in one mapping. The standard library of Python has no YAML.
plain_yaml() {
	python3 - "$@" <<-'END'
	import re, sys
	for path in sys.argv[1:]:
	    seen, depth = {}, 0
	    for number, line in enumerate(open(path), 1):
	        line = line.rstrip("\n")
	        where = f"{path}:{number}: {line!r}"
	        if not line.strip() or line.lstrip().startswith("#"):
	            continue
	        assert "\t" not in line and line == line.rstrip(), where
	        indent = len(line) - len(line.lstrip())
	        assert indent % 2 == 0 and indent <= depth + 4, where
	        depth, body = indent, line.lstrip()
	        for level in [l for l in seen if l > indent]:
	            del seen[level]
	        while body.startswith("- "):
	            for level in [l for l in seen if l > indent]:
	                del seen[level]
	            body, indent = body[2:], indent + 2
	        assert body.count('"') % 2 == 0, where
	        key = re.match(r'([A-Za-z_][\w.-]*):( |$)', body)
	        if key:
	            assert key[1] not in seen.setdefault(indent, set()), where + ": key twice"
	            seen[indent].add(key[1])
	            value = body[key.end():]
	            assert value.startswith('"') or ": " not in value.split(" -append")[0], where
	        else:
	            assert line.lstrip().startswith("- "), where
	END
}

@test "lava: test definition, template and jobs are well-formed" {
	local lava=$PREFIX/share/squeeze/lava
	plain_yaml "$lava/squeeze.yaml"
	grep -qx '  format: "Lava-Test Test Definition 1.0"' "$lava/squeeze.yaml"
	"$lava/make-jobs" "$lava/kernels.example" "$BATS_TEST_TMPDIR/jobs"
	plain_yaml "$BATS_TEST_TMPDIR"/jobs/*.yaml
	none '@[A-Z_]*@' "$BATS_TEST_TMPDIR"/jobs/*.yaml
	# The parameters of a job are those of the definition.
	local key
	while read -r key; do
		grep -q "^  $key: " "$lava/squeeze.yaml" || { echo "no parameter $key"; return 1; }
	done < <(sed -n '/parameters:/,$s/^ *\([A-Z_]*\): .*/\1/p' "$BATS_TEST_TMPDIR/jobs/base-classic.yaml")
	# If PyYAML is here, it must agree.
	if python3 -c 'import yaml' 2>/dev/null; then
		python3 -c 'import sys, yaml; [yaml.safe_load(open(f)) for f in sys.argv[1:]]' \
			"$lava/squeeze.yaml" "$BATS_TEST_TMPDIR"/jobs/*.yaml
	fi
}

@test "lava: one job for each kernel, and what would break the template is refused" {
	local lava=$PREFIX/share/squeeze/lava list=$BATS_TEST_TMPDIR/list
	printf '%s\n' "# a comment" "" "k1 http://h/a&b --lru classic" "k2 http://h/c" > "$list"
	UPLOAD=http://h/up run "$lava/make-jobs" "$list" "$BATS_TEST_TMPDIR/jobs"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	grep -q 'url: "http://h/a&b"' "$BATS_TEST_TMPDIR/jobs/k1.yaml"
	grep -q 'OPTIONS: "--lru classic"' "$BATS_TEST_TMPDIR/jobs/k1.yaml"
	grep -q 'UPLOAD: "http://h/up/k2"' "$BATS_TEST_TMPDIR/jobs/k2.yaml"
	for bad in 'k1' 'k/1 http://h/a' 'k1 http://h/a --x "y"'; do
		echo "$bad" > "$list"
		run "$lava/make-jobs" "$list" "$BATS_TEST_TMPDIR/jobs"
		[ "$status" -eq 64 ] || { echo "accepted: $bad"; return 1; }
	done
}

# The signals of one entry, without those of the test set.
signals() {
	grep -v '^<LAVA_SIGNAL_TESTSET '
}

@test "lava: entries become test sets with LAVA's signals, errors are counted" {
	local lava=$PREFIX/share/squeeze/lava fake=$BATS_TEST_TMPDIR/bin
	cd "$BATS_TEST_TMPDIR"
	mkdir "$fake"
	cat > "$fake/usemem" <<-'END'
	#!/bin/sh
	[ "$1" != --list ] || exit 0
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=$2 RESULT=fail>"
	echo "$*" >> arguments
	exit "$1"
	END
	chmod +x "$fake/usemem"
	printf '%s\n' "# comment" "one usemem 1 a --format ltp" "two usemem 4 b --format ltp" > runtest
	run "$lava/squeeze.sh" -b "$fake" -r runtest -o out -x "--lru classic"
	[ "$status" -eq 0 ]
	diff -u - <(echo "$output") <<-END
	<LAVA_SIGNAL_TESTSET START one>
	<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a RESULT=fail>
	<LAVA_SIGNAL_TESTSET STOP>
	<LAVA_SIGNAL_TESTSET START two>
	<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=b RESULT=fail>
	<LAVA_SIGNAL_TESTSET STOP>
	END
	grep -qx '1 a --format ltp --lru classic --format lava --json out/one.json' arguments
	echo "three usemem 2 c --format ltp" >> runtest
	run "$lava/squeeze.sh" -b "$fake" -r runtest -o out -e three
	[ "$status" -eq 1 ]
	[[ "$output" == *"TEST_CASE_ID=exit RESULT=fail MEASUREMENT=2 UNITS=code"* ]]
	signals <<< "$output" | "$check/check_lava"
	run "$lava/squeeze.sh" -b "$fake" -r runtest -o out -e nine
	[ "$status" -eq 64 ]
}

@test "lava: a real skip comes through as LAVA's signal" {
	cd "$BATS_TEST_TMPDIR"
	run "$PREFIX/share/squeeze/lava/squeeze.sh" -b "$PREFIX/bin" -e squeeze_over_scan \
		-x "--cgroup-parent /squeeze-no-such-group" -o out
	[ "$status" -eq 0 ]
	[[ "$output" == *"TEST_CASE_ID=over-scan RESULT=skip"* ]]
	signals <<< "$output" | "$check/check_lava"
	"$check/check_json" < out/squeeze_over_scan.json
}

# -- all of them

@test "each harness has its README of ten lines" {
	local harness
	for harness in ltp kselftest mmtests lava; do
		[ "$(wc -l < "$top/integration/$harness/README.md")" -le 12 ]
		grep -q '^    ' "$top/integration/$harness/README.md"
	done
}
