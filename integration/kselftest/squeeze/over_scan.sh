#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# seeds/004: one reclaim pass frees far beyond its goal. Only in a small virtual machine.
# shellcheck source-path=SCRIPTDIR source=tool.sh
. "$(dirname "$0")/tool.sh"
run_tool ccstorm --scenario over-scan --allow-global --time 10s "$@"
