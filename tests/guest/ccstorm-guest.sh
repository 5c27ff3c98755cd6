#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# For ctest: boots 6.12 once with MGLRU and once with the classic LRU for the siblings of ccstorm.sh.
# 4 means skipped.
set -euo pipefail

readonly LAB_UNKNOWN=120 LAB_MISSING=121 LAB_SPACE=122 SKIP=4

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for lru in mglru classic; do
	code=0
	lab/run 6.12 --lru "$lru" --memory 1G --timeout 4m -- tests/guest/ccstorm.sh "siblings-$lru" || code=$?
	case $code in
	0) ;;
	"$LAB_UNKNOWN" | "$LAB_MISSING" | "$LAB_SPACE")
		# Where the guests must run (CI), a machine that cannot run them is a failure.
		[[ -n ${SQUEEZE_REQUIRE_GUEST:-} ]] || exit "$SKIP"
		exit "$code"
		;;
	*) exit "$code" ;;
	esac
done
