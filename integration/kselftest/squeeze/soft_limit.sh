#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# seeds/002: reclaim takes from the group that should be spared.
# shellcheck source-path=SCRIPTDIR source=tool.sh
. "$(dirname "$0")/tool.sh"
run_tool ccstorm --scenario soft-limit --case siblings --time 10s "$@"
