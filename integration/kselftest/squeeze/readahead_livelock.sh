#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# seeds/001: every readahead folio runs a reclaim pass.
# shellcheck source-path=SCRIPTDIR source=tool.sh
. "$(dirname "$0")/tool.sh"
run_tool mmapread --scenario readahead-livelock --procs 104 --memcg 256M --time 10s "$@"
