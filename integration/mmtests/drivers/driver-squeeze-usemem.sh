# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
run_bench() {
	"$SHELLPACK_INCLUDE/shellpack-bench-squeeze-usemem" \
		--tasks "$SQUEEZE_USEMEM_TASKS" \
		--time "$SQUEEZE_USEMEM_TIME" \
		--iterations "$SQUEEZE_USEMEM_ITERATIONS" \
		--options " $SQUEEZE_USEMEM_OPTIONS"
}
