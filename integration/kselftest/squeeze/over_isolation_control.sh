#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# seeds/000 with too few threads to fail: must pass.
# shellcheck source-path=SCRIPTDIR source=tool.sh
. "$(dirname "$0")/tool.sh"
run_tool usemem --scenario over-isolation --threads 4 --memcg 16M --time 10s "$@"
