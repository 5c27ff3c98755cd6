#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a guest for one set of tests.  For ctest: 4 means skipped.
#
#   guest.sh mglru          over-isolation.sh under 6.12, cgroup v2, multi-generational LRU
#   guest.sh classic        … under 6.12, cgroup v2, classic LRU
#   guest.sh v1             … under 6.1, cgroup v1, classic LRU
#   guest.sh probe-KERNEL   probe.sh under that kernel: 6.12 with the fallbacks, 6.1, newest
#   guest.sh probe-locked   … under 6.12 with lockdown=confidentiality
#   guest.sh readahead      readahead.sh, short, under 6.12 with a disk
#   guest.sh siblings-LRU   ccstorm.sh under 6.12 with that LRU, one protected parent
#   guest.sh dialects       dialects.sh under 6.12: an entry of each harness
set -euo pipefail

readonly LAB_UNKNOWN=120 LAB_MISSING=121 LAB_SPACE=122 SKIP=4
readonly SET=${1-}

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

large=(--memory 2G --timeout 8m)
probe=(--memory 1G --disk 1G --timeout 4m)
command=(tests/guest/over-isolation.sh "$SET")
case $SET in
mglru) kernel=6.12 options=("${large[@]}" --lru mglru) ;;
classic) kernel=6.12 options=("${large[@]}" --lru classic) ;;
v1) kernel=6.1 options=("${large[@]}" --cgroup v1 --lru classic) ;;
probe-6.12) kernel=6.12 options=("${probe[@]}") command=(tests/guest/probe.sh fallback) ;;
probe-6.1 | probe-newest) kernel=${SET#probe-} options=("${probe[@]}") command=(tests/guest/probe.sh equal) ;;
probe-locked)
	kernel=6.12 options=("${probe[@]}" --append lockdown=confidentiality)
	command=(tests/guest/probe.sh locked)
	;;
readahead) kernel=6.12 options=("${large[@]}" --disk 6G) command=(tests/guest/readahead.sh short) ;;
siblings-mglru | siblings-classic)
	kernel=6.12 options=(--memory 1G --timeout 4m --lru "${SET#siblings-}") command=(tests/guest/ccstorm.sh "$SET")
	;;
dialects) kernel=6.12 options=("${large[@]}") command=(tests/guest/dialects.sh) ;;
*)
	echo "usage: $0 mglru|classic|v1|probe-6.1|probe-6.12|probe-newest|probe-locked|readahead|siblings-mglru|siblings-classic|dialects" >&2
	exit 64
	;;
esac

code=0
lab/run "$kernel" "${options[@]}" --again 2 -- "${command[@]}" || code=$?
case $code in
"$LAB_UNKNOWN" | "$LAB_MISSING" | "$LAB_SPACE")
	# Where the guests must run (CI), a machine that cannot run them is a failure.
	[[ -n ${SQUEEZE_REQUIRE_GUEST:-} ]] || exit "$SKIP"
	;;
esac
exit "$code"
