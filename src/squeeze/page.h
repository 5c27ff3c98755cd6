/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report: one HTML file that needs nothing else: no script at all (and a content security
 * policy that would not run one), no network, its style and pictures inside.
 */
#pragma once

#include <stdio.h>

#include "cohort.h"
#include "comparison.h"

struct report {
	const struct pairs *pairs;
	const struct comparison *comparisons; /* one for each pair */
	struct pool *pool;
	const char *new_name;			 /* the folder */
	const char *base_name;			 /* NULL: there is no base */
	const struct docset *new_set, *base_set; /* for what could not be read */
	size_t points;				 /* that a chart's curves may have together */
};

/* 0 or -errno. */
int page_write(const struct report *r, FILE *out);
