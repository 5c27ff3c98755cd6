# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the sets of tests inside a guest share: TAP on standard output, and exit 0, 1, or 4 (skipped).

cases=0
failures=0

# outcome ok|"not ok" NAME TEXT
outcome() {
	cases=$((cases + 1))
	[[ $1 == ok ]] || failures=$((failures + 1))
	echo "$1 $cases - $2: $3"
}

# begin_set WORDS PROGRAM...: ends as skipped without a guest or a program.
begin_set() {
	local words=$1 program
	shift
	if [[ -z ${SQUEEZE_LAB_KERNEL:-} ]]; then
		echo '1..0 # SKIP not in a guest of lab/run'
		exit 4
	fi
	for program; do
		[[ -x $program ]] || { echo "1..0 # SKIP $program is not built"; exit 4; }
	done
	echo "# $(uname -r)${words:+, $words}, up $(cut -d' ' -f1 /proc/uptime) s"
}

# end_set: the plan and the count; its status is the set's.
end_set() {
	echo "1..$cases"
	echo "# $((cases - failures)) passed, $failures failed, up $(cut -d' ' -f1 /proc/uptime) s"
	((failures == 0))
}
