#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# seeds/003: reclaim sleeps without progress, and tasks cannot be killed.
# shellcheck source-path=SCRIPTDIR source=tool.sh
. "$(dirname "$0")/tool.sh"
run_tool usemem --scenario no-progress --time 5s "$@"
