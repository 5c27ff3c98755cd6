/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/meminfo, in bytes. Absent keys are KFILE_ABSENT. */
#pragma once

#include <stdint.h>

struct meminfo {
	uint64_t total_bytes;
	uint64_t free_bytes;
	uint64_t available_bytes;
	uint64_t swap_total_bytes;
	uint64_t swap_free_bytes;
	uint64_t shmem_bytes;
};

int meminfo_parse(const char *text, struct meminfo *ret); /* 0 or -EINVAL */
