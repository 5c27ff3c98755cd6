/* SPDX-License-Identifier: GPL-2.0-only */
/* usemem's own options and scenarios. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "classic.h"
#include "scenario.h"

struct usemem_options {
	unsigned int threads;
	const char *set; /* a size, or a percentage of the memcg; NULL: the scenario's default */
	bool thp_keep;	 /* --thp keep: leave the host's THP policy in force */
	struct classic_options classic;
};

extern const struct scenario over_isolation;
extern const struct scenario no_progress;
extern const struct scenario classic;
