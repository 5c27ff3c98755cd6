#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The checkers of our formats: they accept documents written by hand from the contracts and what the
# renderings make of the sample documents, and refuse what is broken, naming the place.
# SQUEEZE_RENDER is the program of tests/check/render.c.

setup() {
	check="$BATS_TEST_DIRNAME/../check"
	export PYTHONDONTWRITEBYTECODE=1
	# The system's own Python first: the shim of a version manager takes ten times a check's own time.
	PATH=/usr/bin:$PATH
	[ -x "$SQUEEZE_RENDER" ] || {
		echo "SQUEEZE_RENDER is not set: run this through ctest"
		return 1
	}
}

accepts() { # FORMAT [ARGS…] < DOCUMENT
	local format=$1
	shift
	run "$check/check_$format" "$@"
	[ "$status" -eq 0 ] || { echo "refused: $output"; return 1; }
}

refuses() { # FORMAT WORDS [ARGS…] < DOCUMENT
	local format=$1 words=$2
	shift 2
	run "$check/check_$format" "$@"
	[ "$status" -eq 1 ] || { echo "exit $status instead of 1: $output"; return 1; }
	[[ "$output" == *"$words"* ]] || { echo "'$words' expected, said: $output"; return 1; }
}

every_sample() { # FORMAT: the rendering of each sample is accepted, with its exit code
	local name code args
	for name in fail pass skip error inconclusive mixed; do
		code=0
		"$SQUEEZE_RENDER" "$name" "$1" > "$BATS_TEST_TMPDIR/document" || code=$?
		[ "$code" -lt 64 ]
		args=()
		case $1 in ktap | ltp) args=(--exit "$code") ;; esac
		accepts "$1" "${args[@]}" < "$BATS_TEST_TMPDIR/document" || { echo "$name"; return 1; }
	done
}

# -- KTAP

ktap() { printf '%s\n' "KTAP version 1" "$@"; }
totals() { echo "# Totals: pass:$1 fail:$2 xfail:0 xpass:0 skip:$3 error:0"; }

@test "ktap: every sample is accepted" { every_sample ktap; }

@test "ktap: documents from the contract are accepted" {
	ktap "1..3" "# a diagnostic" "ok 1 one" "not ok 2 two" "ok 3 three # SKIP no LRU_GEN" \
		"$(totals 1 1 1)" | accepts ktap --exit 1
	ktap "1..0 # SKIP no memory controller" | accepts ktap --exit 4
	ktap "1..2" "ok 1 one" "Bail out! the arena is gone" | accepts ktap --exit 1
}

@test "ktap: broken documents are refused" {
	printf '' | refuses ktap "empty"
	printf 'KTAP version 1\n1..0 # SKIP x' | refuses ktap "no newline"
	printf 'TAP version 13\n1..1\nok 1 a\n' | refuses ktap "line 1"
	ktap "ok 1 one" | refuses ktap "line 2"
	ktap "1..1" "ok 1 one" "ok 2 two" "$(totals 2 0 0)" | refuses ktap "plan"
	ktap "1..2" "ok 1 one" "$(totals 1 0 0)" | refuses ktap "plan"
	ktap "1..2" "ok 2 one" "ok 1 two" "$(totals 2 0 0)" | refuses ktap "line 3"
	ktap "1..1" "ok 1 run # 1" "$(totals 1 0 0)" | refuses ktap "line 3"
	ktap "1..1" "ok 1" "$(totals 1 0 0)" | refuses ktap "line 3"
	ktap "1..2" "ok 1 one" "ok 2 one" "$(totals 2 0 0)" | refuses ktap "line 4"
	ktap "1..1" "ok 1 one" "$(totals 0 1 0)" | refuses ktap "totals"
	ktap "1..1" "ok 1 one" | refuses ktap "no totals"
	ktap "1..1" "not ok 1 one # SKIP why" "$(totals 0 0 1)" | refuses ktap "line 3"
	ktap "1..0" | refuses ktap "line 2"
	ktap "1..1" "Bail out!" | refuses ktap "line 3"
	ktap "1..2" "Bail out! gone" "ok 1 one" | refuses ktap "line 4"
	ktap "1..1" "hello" "ok 1 one" "$(totals 1 0 0)" | refuses ktap "line 3"
	ktap "1..1" $'# \033[31m' "ok 1 one" "$(totals 1 0 0)" | refuses ktap "line 3"
}

@test "ktap: a wrong exit code is refused" {
	ktap "1..1" "not ok 1 one" "$(totals 0 1 0)" | refuses ktap "exit code" --exit 0
	ktap "1..1" "ok 1 one # SKIP why" "$(totals 0 0 1)" | refuses ktap "exit code" --exit 0
	ktap "1..1" "ok 1 one" "$(totals 1 0 0)" | refuses ktap "exit code" --exit 4
}

# -- LTP

summary() { printf '\nSummary:\npassed   %s\nfailed   %s\nbroken   %s\nskipped  %s\nwarnings %s\n' "$@"; }

@test "ltp: every sample is accepted" { every_sample ltp; }

@test "ltp: documents from the contract are accepted" {
	{ echo "mgs_iso.c:120: TPASS: no OOM kill"; echo "mgs_iso.c:133: TFAIL: p99 812 ms > 500 ms"; summary 1 1 0 0 0; } |
		accepts ltp --exit 1
	{ echo "a: TINFO: kernel"; echo "a: TCONF: no swap"; summary 0 0 0 1 0; } | accepts ltp --exit 32
}

@test "ltp: broken documents are refused" {
	echo "a: TPASS: fine" | refuses ltp "no summary"
	{ echo "a: TPASS: fine"; summary 0 0 0 0 0; } | refuses ltp "summary says"
	{ echo "a: TPASS: not a TFAIL"; summary 1 0 0 0 0; } | refuses ltp "line 1"
	{ echo "a fine day"; summary 1 0 0 0 0; } | refuses ltp "line 1"
	{ echo "a: TPASS:"; summary 1 0 0 0 0; } | refuses ltp "line 1"
	{ echo "a: TPASS: fine"; summary 1 0 0 0 0; echo "bye"; } | refuses ltp "after the summary"
	{ echo "a: TPASS: fine"; summary 1 0 0 0 0 | sed 's/broken/broke/'; } | refuses ltp "summary"
	{ echo "a: TINFO: nothing"; summary 0 0 0 0 0; } | refuses ltp "nothing was reported"
	{ echo "a: TFAIL: bad"; summary 0 1 0 0 0; } | refuses ltp "exit code" --exit 0
	{ echo "a: TCONF: no swap"; summary 0 0 0 1 0; } | refuses ltp "exit code" --exit 4
	{ echo "a: TBROK: gone"; summary 0 0 1 0 0; } | refuses ltp "exit code" --exit 1
	{ echo "a: TPASS: fine"; echo "a: TCONF: no swap"; summary 1 0 0 1 0; } | refuses ltp "exit code" --exit 0
	{ echo "a: TBROK: gone"; echo "a: TCONF: no swap"; summary 0 0 1 1 0; } | refuses ltp "screen" --exit 2
}

# -- CSV

csv() { printf '%s\n' "run,kind,name,value,unit,bound,outcome" "0,verdict,over-isolation,,,,pass" "$@"; }

@test "csv: every sample is accepted" { every_sample csv; }

@test "csv: documents from the contract are accepted" {
	csv "1,check,progress,0.5,s,<= 5,pass" '1,metric,"a, ""b""",18446744073709551615,count,,' | accepts csv
}

@test "csv: broken documents are refused" {
	echo "run,kind" | refuses csv "line 1"
	csv | tail -n +2 | refuses csv "line 1"
	csv | sed 2d | refuses csv "line 2"
	csv "1,metric,a,1,count,," | sed '2d' | refuses csv "line 2"
	csv "1,metric,a,1,count," | refuses csv "line 3"
	csv "1,metric,a,1,count,,," | refuses csv "line 3"
	csv "1,metric,a,,count,," | refuses csv "line 3"
	csv "1,metric,a,nan,count,," | refuses csv "line 3"
	csv "1,metric,a,1,,," | refuses csv "line 3"
	csv '1,metric,a"b,1,count,,' | refuses csv "line 3"
	csv '1,metric,"a"b,1,count,,' | refuses csv "line 3"
	csv "1,check,a,6,s,<= 5,pass" | refuses csv "contradicts"
	csv "1,check,a,4,s,<= 5,fail" | refuses csv "contradicts"
	csv "1,check,a,,s,,pass" | refuses csv "without value"
	csv "1,check,a,4,s,< 5,pass" | refuses csv "bound"
	csv "1,thing,a,4,s,," | refuses csv "kind"
	csv "2,metric,a,4,s,," "1,metric,a,4,s,," | refuses csv "line 4"
	csv "1,metric,a,4,s,," "1,metric,a,5,s,," | refuses csv "twice"
	csv "1,verdict,a,,,,fine" | refuses csv "verdict"
}

# -- LAVA

@test "lava: every sample is accepted" { every_sample lava; }

@test "lava: documents from the contract are accepted" {
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a.b-c RESULT=pass MEASUREMENT=812.4 UNITS=ms>" | accepts lava
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a RESULT=unknown>" | accepts lava
}

@test "lava: broken documents are refused" {
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a b RESULT=pass>" | refuses lava "line 1"
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a RESULT=error>" | refuses lava "line 1"
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a RESULT=pass MEASUREMENT=1>" | refuses lava "line 1"
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a RESULT=pass MEASUREMENT=inf UNITS=s>" | refuses lava "line 1"
	echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a RESULT=pass MEASUREMENT=1,5 UNITS=s>" | refuses lava "line 1"
	printf '<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a RESULT=pass>\n%.0s' 1 2 | refuses lava "line 2"
	echo "hello" | refuses lava "line 1"
}

# -- HdrHistogram's percentile file

hgrm() {
	printf '%s\n' "       Value     Percentile TotalCount 1/(1-Percentile)" "" "$@" \
		"#[Mean    =        2.000, StdDeviation   =        1.000]" \
		"#[Max     =        3.000, Total count    =            4]" \
		"#[Buckets =           34, SubBuckets     =          128]"
}

@test "hgrm: the histograms of the samples are accepted" {
	local name
	for name in fail pass error inconclusive mixed; do
		"$SQUEEZE_RENDER" "$name" hgrm > "$BATS_TEST_TMPDIR/document"
		accepts hgrm < "$BATS_TEST_TMPDIR/document"
	done
}

@test "hgrm: documents from the contract are accepted" {
	hgrm "  1.000 0.000000000000  1  1.00" "  2.000 0.500000000000  2  2.00" "  3.000 1.000000000000  4" | accepts hgrm
}

@test "hgrm: broken documents are refused" {
	hgrm "  1.000 0.500000000000  2  2.00" | refuses hgrm "100 %"
	hgrm "  2.000 0.500000000000  2  2.00" "  1.000 1.000000000000  4" | refuses hgrm "line 4"
	hgrm "  2.000 0.500000000000  2  3.00" "  3.000 1.000000000000  4" | refuses hgrm "line 3"
	hgrm "  3.000 1.000000000000  5" | refuses hgrm "Total count"
	hgrm "  2.000 1.000000000000  4" | refuses hgrm "Max"
	hgrm "  3.000 1.000000000000  4  inf" | refuses hgrm "line 3"
	hgrm "  3.000 1.000000000000" | refuses hgrm "line 3"
	hgrm | refuses hgrm "rows"
	hgrm "  3.000 1.000000000000  4" | tail -n +2 | refuses hgrm "line 1"
	hgrm "  3.000 1.000000000000  4" | sed '$d' | refuses hgrm "footer"
}

# -- JSON

json() {
	cat <<-'END'
	{ "schema": "squeeze-result/1", "tool": "usemem", "version": "1", "scenario": "over-isolation",
	  "command": ["usemem"], "started": "2026-12-01T03:00:00Z", "verdict": "fail", "reason": "killed",
	  "host": { "kernel": "6.18", "arch": "x86_64", "cpus": 2, "nodes": 1, "page_size": 4096, "mem_total_bytes": 9,
	    "cgroup": "v1", "memcg_version": 1, "lru": "mglru", "swappiness": 60, "thp": "never", "zswap": false,
	    "psi": true, "virtual": "none", "probe": "files", "swap": [ { "kind": "zram", "size_bytes": 1 } ] },
	  "params": { "threads": 192, "scale": 1.5, "swap": "auto", "quiet": false },
	  "runs": [ { "verdict": "fail", "reason": "killed", "notes": ["a note"], "duration_ns": 1,
	    "checks": [ { "name": "no_oom_kill", "value": 1, "unit": "count", "op": "<=", "bound": 0, "outcome": "fail", "why": "" },
	                { "name": "progress", "unit": "s", "op": "<=", "outcome": "skip", "why": "too short" } ],
	    "metrics": { "touches": { "value": 18446744073709551615, "unit": "count" } },
	    "histograms": { "touch": { "unit": "ns", "count": 4, "min": 1, "max": 129, "mean": 33.5, "p50": 2, "p90": 129,
	      "p99": 129, "p99_9": 129, "p99_99": 129, "overflow": 0, "buckets": [[1, 1, 1], [2, 2, 2], [128, 129, 1]] } },
	    "worst_passes": [ { "latency_ns": 2, "scanned": 3, "reclaimed": 1, "goal": 32, "comm": "a" },
	                      { "latency_ns": 1, "scanned": 3, "reclaimed": 1, "goal": 32, "comm": "b" } ],
	    "timeline": { "t_ns": [1, 2], "progress": [null, 7] } } ] }
	END
}

refuses_json() { # WORDS SED-SCRIPT: the document above with one thing changed
	json | sed "$2" > "$BATS_TEST_TMPDIR/document"
	! cmp -s "$BATS_TEST_TMPDIR/document" <(json) || { echo "nothing changed by: $2"; return 1; }
	refuses json "$1" < "$BATS_TEST_TMPDIR/document" || { echo "$2"; return 1; }
}

@test "json: every sample is accepted" { every_sample json; }

@test "json: a document from the contract is accepted" { json | accepts json; }

@test "json: what is no JSON is refused" {
	printf '' | refuses json "no newline"
	refuses_json "line 1" 's/"schema": /"schema" /'
	refuses_json "NaN" 's/33.5/NaN/'
	refuses_json "Infinity" 's/33.5/Infinity/'
	refuses_json "column" 's/\[1, 2\]/[1, 2,]/'
	refuses_json "there twice" 's/"nodes": 1/"cpus": 1/'
	json | sed 's/a note/\xff/' | refuses json "UTF-8"
}

@test "json: keys and types are held" {
	refuses_json "schema" 's,squeeze-result/1,squeeze-result/2,'
	refuses_json "tool: missing" 's/"tool": "usemem", //'
	refuses_json "another order" 's/"tool": "usemem", "version": "1"/"version": "1", "tool": "usemem"/'
	refuses_json "colour: unknown" 's/"nodes": 1/"nodes": 1, "colour": 1/'
	refuses_json "host.cpus: not an integer" 's/"cpus": 2/"cpus": "2"/'
	refuses_json "host.cpus: not an integer" 's/"cpus": 2/"cpus": true/'
	refuses_json "host.cpus: 0" 's/"cpus": 2/"cpus": 0/'
	refuses_json "host.page_size" 's/"page_size": 4096/"page_size": 4095/'
	refuses_json "host.zswap" 's/"zswap": false/"zswap": 0/'
	refuses_json "host.lru" 's/"lru": "mglru"/"lru": "both"/'
	refuses_json "host.memcg_version" 's/"memcg_version": 1/"memcg_version": 3/'
	refuses_json "swap[0].kind" 's/"zram"/"ram"/'
	refuses_json "started" 's/2026-12-01T/1.12.2026 /'
	refuses_json "command: empty" 's/\["usemem"\]/[]/'
	refuses_json "reason: empty" 's/"reason": "killed"/"reason": ""/'
	refuses_json "params.threads" 's/"threads": 192/"threads": null/'
	refuses_json "not in 0" 's/18446744073709551615/18446744073709551616/'
	refuses_json "not in 0" 's/18446744073709551615/-1/'
	refuses_json "unknown metric" 's/"touches"/"touchs"/'
	refuses_json "metrics.touches.value" 's/18446744073709551615/null/'
}

@test "json: contradictions are refused" {
	refuses_json "verdict: pass, the runs" 's/"started": \(.*\)"verdict": "fail"/"started": \1"verdict": "pass"/'
	refuses_json "fail without" 's/"value": 1, "unit": "count", "op": "<=", "bound": 0, "outcome": "fail"/"value": 0, "unit": "count", "op": "<=", "bound": 0, "outcome": "pass"/'
	refuses_json "checks[0].outcome" 's/"bound": 0/"bound": 1/'
	refuses_json "checks[0].bound: missing" 's/"bound": 0, //'
	refuses_json "checks[1].why" 's/too short//'
	refuses_json "checks[0].op" 's/"op": "<=", "bound"/"op": "<", "bound"/'
	refuses_json "a name twice" 's/"progress", "unit"/"no_oom_kill", "unit"/'
	refuses_json "touch.count: 5" 's/"count": 4/"count": 5/'
	refuses_json "lo above hi" 's/\[128, 129, 1\]/[129, 128, 1]/'
	refuses_json "not sorted" 's/\[1, 1, 1\], \[2, 2, 2\]/[2, 2, 2], [1, 1, 1]/'
	refuses_json "an empty bucket" 's/\[1, 1, 1\]/[1, 1, 0]/'
	refuses_json "not [lo, hi, n]" 's/\[1, 1, 1\]/[1, 1]/'
	refuses_json "touch.min" 's/"min": 1/"min": 2/'
	refuses_json "touch.max" 's/"max": 129/"max": 130/'
	refuses_json "touch.mean" 's/33.5/35.0/'
	refuses_json "touch.p50" 's/"p50": 2/"p50": 1/'
	refuses_json "touch.p99_99" 's/"p99_99": 129/"p99_99": 2/'
	refuses_json "worst first" 's/"latency_ns": 2/"latency_ns": 0/'
	refuses_json "timeline.progress: 1 samples" 's/\[null, 7\]/[7]/'
	refuses_json "nothing measured" 's/\[null, 7\]/[null, null]/'
	refuses_json "time does not go" 's/"t_ns": \[1, 2\]/"t_ns": [2, 2]/'
}

# -- what the dialects promise besides

@test "exit codes are those of each dialect" {
	local row name text ktap ltp
	for row in "pass 0 0 0" "fail 1 1 1" "skip 4 4 32" "inconclusive 4 4 32" "error 2 1 2"; do
		read -r name text ktap ltp <<< "$row"
		for format in text json csv lava; do
			run "$SQUEEZE_RENDER" "$name" "$format"
			[ "$status" -eq "$text" ]
		done
		run "$SQUEEZE_RENDER" "$name" ktap
		[ "$status" -eq "$ktap" ]
		run "$SQUEEZE_RENDER" "$name" ltp
		[ "$status" -eq "$ltp" ]
	done
}

@test "a full disk is an error in every format" {
	[ -c /dev/full ] || skip "no /dev/full"
	for format in text json ktap ltp csv lava hgrm; do
		code=0
		"$SQUEEZE_RENDER" fail "$format" > /dev/full || code=$?
		[ "$code" -eq 70 ] || { echo "$format: $code"; return 1; }
	done
}

@test "the text report is ASCII, keeps to 78 columns and has no trailing blanks" {
	for name in fail pass skip error inconclusive mixed; do
		"$SQUEEZE_RENDER" "$name" text > "$BATS_TEST_TMPDIR/document" || true
		[ -s "$BATS_TEST_TMPDIR/document" ]
		if LC_ALL=C grep -nP '[^\x20-\x7e]|.{79}| $' "$BATS_TEST_TMPDIR/document"; then
			return 1
		fi
	done
}

@test "tests/data/results is what the sample documents render to" {
	for name in fail pass skip error inconclusive mixed; do
		"$SQUEEZE_RENDER" "$name" json > "$BATS_TEST_TMPDIR/document" || true
		cmp "$BATS_TEST_TMPDIR/document" "$BATS_TEST_DIRNAME/../data/results/over-isolation-$name.json"
	done
}
