#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# seeds/000: many reclaimers isolate everything, and the memcg is OOM-killed.
# shellcheck source-path=SCRIPTDIR source=tool.sh
. "$(dirname "$0")/tool.sh"
run_tool usemem --scenario over-isolation --threads 192 --memcg 16M --time 20s "$@"
