/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the renderings share, and nobody else needs.
 *
 * The line-oriented dialects (ktap, ltp, lava) tell a document as a list of items: one for each
 * check of each run, and one named after the scenario for a run whose verdict the items of its
 * checks do not tell (it was skipped before any check, or Squeeze broke). A check of a run that was not
 * judged says nothing, so its item is a skip: a reader that looks only at lines cannot mistake an
 * inconclusive run for a pass.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "result.h"

enum item_outcome { ITEM_PASS, ITEM_FAIL, ITEM_SKIP, ITEM_ERROR, ITEM_NR };

struct report_item {
	const struct check *check; /* NULL: the run's, or the document's, own verdict */
	enum item_outcome outcome;
	const char *why;
	char id[160]; /* "over-isolation.no_oom_kill", ".run2" added when there are several runs */
};

/* Walks the items of a document; zero-initialise but for @doc. */
struct report_items {
	const struct result_doc *doc;
	size_t run, check;
	bool told; /* an item of this run has told its verdict */
};
bool report_items_next(struct report_items *it, struct report_item *ret);
size_t report_items_count(const struct result_doc *doc);

/* Whether a run's numbers were judged: it passed or failed. */
bool report_is_judged(const struct run_result *run);

/* Call errno = 0 first. 0, or -errno (-EIO when nobody set it) once a write to @out has failed. */
int report_stream_status(FILE *out);

/* The percentiles that every rendering tells. */
struct report_percentile {
	const char *key;   /* "p99_9" */
	const char *label; /* "p99.9" */
	double percent;
};
#define REPORT_PERCENTILES 5
extern const struct report_percentile report_percentiles[REPORT_PERCENTILES];

/* Longest check rendered as "1 count, bound <= 0". */
#define REPORT_CHECK_SIZE 192
const char *report_check_figures(const struct check *check, char *buf, size_t size);

/* The measured part of the report for people (report_numbers.c): metrics; histograms, merged over the
 * runs (0 or -ENOMEM); the worst reclaim passes of all runs. */
void report_text_metrics(const struct result_doc *doc, FILE *out);
int report_text_hists(const struct result_doc *doc, FILE *out);
void report_text_worst(const struct result_doc *doc, FILE *out);

/* Bars for @h, a row for each step of 1-2-5 (report_picture.c). */
void report_picture(const struct hist *h, const char *unit, FILE *out);
