#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# seeds/000, its real workload: a compile storm in a limited memcg.
# shellcheck source-path=SCRIPTDIR source=tool.sh
. "$(dirname "$0")/tool.sh"
run_tool ccstorm --scenario build-pod --jobs 8 --time 20s "$@"
