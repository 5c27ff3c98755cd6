# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
run_bench() {
	"$SHELLPACK_INCLUDE/shellpack-bench-squeeze-mmapread" \
		--tasks "$SQUEEZE_MMAPREAD_TASKS" \
		--time "$SQUEEZE_MMAPREAD_TIME" \
		--iterations "$SQUEEZE_MMAPREAD_ITERATIONS" \
		--options " $SQUEEZE_MMAPREAD_OPTIONS"
}
