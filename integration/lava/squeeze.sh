#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs entries of the LTP runtest file under LAVA: one test set for each, with its verdict, checks and
# measurements as LAVA's signals. Exit 0 if every entry gave a result, whatever that is.
#
#   squeeze.sh [-e "NAME…"|all] [-x "OPTION…"] [-b BINDIR] [-o OUTDIR] [-u URL] [-r RUNTEST]
set -u

here=$(cd "$(dirname "$0")" && pwd)
wanted=all options="" bin="" out=squeeze-results upload="" runtest=$here/../ltp/runtest/squeeze

usage() {
	sed -n '/^#   /s/^# *//p' "$0" >&2
	exit 64
}

signal() { # NAME PARAMETERS
	echo "<LAVA_SIGNAL_$1 $2>"
}

selected() { # NAME
	[[ $wanted == all || " $wanted " == *" $1 "* ]]
}

# One entry, in the format of LAVA instead of LTP's. What the tool says on stderr goes into the job's log.
run_entry() { # NAME TOOL OPTION…
	local name=$1 tool=$2 code=0
	shift 2
	signal TESTSET "START $name"
	"$tool" "$@" --format lava --json "$out/$name.json" || code=$?
	# 0 PASS, 1 FAIL, 4 SKIP or INCONCLUSIVE: the tool has said so itself.
	case $code in
	0 | 1 | 4) ;;
	*)
		broken=$((broken + 1))
		signal TESTCASE "TEST_CASE_ID=exit RESULT=fail MEASUREMENT=$code UNITS=code"
		;;
	esac
	if [ -n "$upload" ] && [ -s "$out/$name.json" ]; then
		curl -sSf -T "$out/$name.json" "$upload/$name.json" >&2 ||
			signal TESTCASE "TEST_CASE_ID=upload RESULT=fail"
	fi
	signal TESTSET STOP
}

while getopts e:x:b:o:u:r: option; do
	case $option in
	e) wanted=$OPTARG ;;
	x) options=$OPTARG ;;
	b) bin=$OPTARG ;;
	o) out=$OPTARG ;;
	u) upload=$OPTARG ;;
	r) runtest=$OPTARG ;;
	*) usage ;;
	esac
done
[ $OPTIND -gt $# ] || usage
PATH=${bin:+$bin:}$PATH
mkdir -p "$out" || exit 1

known=$(awk '!/^#/ && NF { print $1 }' "$runtest") || exit 1
if [ "$wanted" != all ]; then
	for name in $wanted; do
		grep -qxF "$name" <<< "$known" || {
			echo "squeeze.sh: no entry '$name' in $runtest" >&2
			exit 64
		}
	done
fi

# vm-scalability's usemem has the same name: only ours can list its scenarios.
if ! usemem --list > /dev/null 2>&1; then
	signal TESTCASE "TEST_CASE_ID=squeeze-tools RESULT=fail"
	echo "squeeze.sh: usemem of Squeeze is neither in '$bin' nor in PATH" >&2
	exit 1
fi

broken=0
read -ra extra <<< "$options"
while read -ra words; do
	[[ ${#words[@]} -gt 1 && ${words[0]} != '#'* ]] || continue
	selected "${words[0]}" || continue
	command=("${words[@]:1}")
	# The runtest file says `--format ltp`; what comes last counts.
	run_entry "${words[0]}" "${command[@]}" "${extra[@]}" < /dev/null
done < "$runtest"
[ "$broken" -eq 0 ]
