/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pressure stall information: memory.pressure of a cgroup or /proc/pressure/memory.
 *
 * Only the growth of `total` (microseconds) is used; the averages are too flaky to judge by
 * (kubernetes #133541). The file exists even where PSI is off: reading it then gives EOPNOTSUPP or
 * nothing, which is "not available", not an error.
 */
#pragma once

#include <stdint.h>

struct psi {
	uint64_t some_us;
	uint64_t full_us; /* KFILE_ABSENT where there is no such line */
};

/* 0, -ENODATA (empty: PSI is off), -EINVAL (malformed, a line twice, or a field missing). */
int psi_parse(const char *text, struct psi *ret);
