/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of /proc/vmstat and of /sys/devices/system/node/nodeN/vmstat (same keys) that matter
 * for reclaim. Pages, unless named otherwise. Absent keys are KFILE_ABSENT.
 */
#pragma once

#include <stdint.h>

struct vmstat {
	uint64_t nr_inactive_anon;
	uint64_t nr_active_anon;
	uint64_t nr_inactive_file;
	uint64_t nr_active_file;
	uint64_t nr_isolated_anon;
	uint64_t nr_isolated_file;
	uint64_t pswpin;
	uint64_t pswpout;
	uint64_t pgscan_direct;
	uint64_t pgsteal_direct;
	uint64_t oom_kill;
};

int vmstat_parse(const char *text,
		 struct vmstat *ret); /* 0 or -EINVAL (none of the keys, malformed) */
