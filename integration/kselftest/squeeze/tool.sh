# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# run_tool TOOL OPTION...: becomes that tool, with KTAP on standard output. Sourced by each test.
# The tool is taken from $SQUEEZE_BIN, from the prefix that this folder was installed in, or from PATH.

run_tool() {
	tool=$1
	shift
	for found in "${SQUEEZE_BIN:-.}/$tool" "$(dirname "$0")/../../../../bin/$tool" "$tool"; do
		# vm-scalability's usemem has the same name: only ours can list its scenarios.
		! "$found" --list >/dev/null 2>&1 || exec "$found" --format ktap "$@"
	done
	echo "KTAP version 1"
	echo "1..0 # SKIP $tool of Squeeze is neither in SQUEEZE_BIN nor in PATH"
	exit 4
}
