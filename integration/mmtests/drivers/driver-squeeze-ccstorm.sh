# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
run_bench() {
	"$SHELLPACK_INCLUDE/shellpack-bench-squeeze-ccstorm" \
		--tasks "$SQUEEZE_CCSTORM_TASKS" \
		--time "$SQUEEZE_CCSTORM_TIME" \
		--iterations "$SQUEEZE_CCSTORM_ITERATIONS" \
		--options " $SQUEEZE_CCSTORM_OPTIONS"
}
