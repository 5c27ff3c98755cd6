#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a guest for one set of tests/guest/over-isolation.sh.  For ctest: 4 means skipped.
#
#   guest.sh mglru     6.12, cgroup v2, multi-generational LRU
#   guest.sh classic   6.12, cgroup v2, classic LRU
#   guest.sh v1        6.1, cgroup v1, classic LRU
set -euo pipefail

readonly LAB_UNKNOWN=120 LAB_MISSING=121 LAB_SPACE=122 SKIP=4
readonly SET=${1-}

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

case $SET in
mglru) kernel=6.12 options=(--lru mglru) ;;
classic) kernel=6.12 options=(--lru classic) ;;
v1) kernel=6.1 options=(--cgroup v1 --lru classic) ;;
*)
	echo "usage: $0 mglru|classic|v1" >&2
	exit 64
	;;
esac

code=0
lab/run "$kernel" "${options[@]}" --memory 2G --timeout 8m -- tests/guest/over-isolation.sh "$SET" || code=$?
case $code in
"$LAB_UNKNOWN" | "$LAB_MISSING" | "$LAB_SPACE")
	# Where the guests must run (CI), a machine that cannot run them is a failure.
	[[ -n ${SQUEEZE_REQUIRE_GUEST:-} ]] || exit "$SKIP"
	;;
esac
exit "$code"
