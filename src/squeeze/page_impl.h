/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the report's page. Each draws one thing of one pair of cohorts (or of one cohort, if
 * there is no base or only a base) and nothing if there is nothing to draw.
 */
#pragma once

#include <stdio.h>

#include "comparison.h"

enum side { SIDE_BASE, SIDE_NEW, SIDE_NR };
/* Class and word for a side. */
extern const char *const side_names[SIDE_NR];

struct view {
	FILE *out;
	struct pool *pool;
	const struct cohort *sides[SIDE_NR]; /* NULL: there is none */
	const struct comparison *comparison; /* with one side only: of that side with itself */
	unsigned int number;		     /* of the section: for ids */
	size_t points;			     /* a chart's curves may have together */
};

/* "run 2 of base", a curve's tooltip. Pool memory, never NULL. */
const char *view_run_name(const struct view *v, enum side side, size_t run);
/* The head of a side's column: "base", "new", or "measured" where there is one side only. */
const char *view_side_head(const struct view *v, enum side side);
/* A table within a frame that scrolls by itself, by keyboard too: the page never does sideways. */
void view_table_begin(const struct view *v, const char *caption);
void view_table_end(const struct view *v);
/* One histogram of each name that any run of either side has, in the order they appear; how
 * many. */
#define VIEW_HISTS_MAX 24
size_t view_hists(const struct view *v, const struct doc_hist *ret[VIEW_HISTS_MAX]);
/* Points a curve may have when @curves share a chart. */
size_t view_points_each(const struct view *v, size_t curves);

int page_curves(const struct view *v);	  /* 0 or -ENOMEM */
int page_timelines(const struct view *v); /* 0 or -ENOMEM */
void page_checks(const struct view *v);
void page_metrics(const struct view *v);
void page_percentiles(const struct view *v);
void page_worst_passes(const struct view *v);
