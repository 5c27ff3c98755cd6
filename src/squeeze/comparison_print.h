/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Renderings of comparisons: a row of comparison_formats each. They only read, and leave
 * errors to the stream.
 *
 *   text      min max avg std runs and percent of base, as the soft limit rework's table
 *   (seeds/002) markdown  base and new in two columns with the change, as the isolation throttle's
 *   (seeds/000) json      squeeze-compare/1, for scripts
 */
#pragma once

#include <stdio.h>

#include "comparison.h"

struct comparison_set {
	struct comparison *items;
	size_t nr;
	const struct pairs *pairs; /* all, those with one side only among them */
	struct pool *pool;
	double alpha;
};

struct comparison_format {
	const char *name;
	void (*write)(const struct comparison_set *set, FILE *out);
};
extern const struct comparison_format comparison_formats[];
extern const size_t comparison_formats_nr;

void comparison_text(const struct comparison_set *set, FILE *out);
void comparison_markdown(const struct comparison_set *set, FILE *out);
void comparison_json(const struct comparison_set *set, FILE *out);

/* "usemem over-isolation" and the few parameters that say which. Pool memory; NULL: none left. */
const char *comparison_title(const struct cohort *c, struct pool *pool);
/* The sentence for a comparison with uneven_time. */
extern const char comparison_uneven[];
/* How many rows of how many comparisons have a p. */
size_t comparison_set_judged(const struct comparison_set *set);
