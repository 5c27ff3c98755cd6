/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be said about a base cohort and a new one, as plain data: pure, no I/O. The renderings
 * (comparison_text.c, _markdown.c, _json.c, and the report) only read it.
 *
 * A row is judged only when both sides have at least two runs: one run says nothing about noise.
 *  - metrics (and each run's latency percentiles): Welch's t over the runs, two-sided, at alpha;
 *  - latencies as a whole: Mann-Whitney over all values. Millions of touches make any p vanish, and
 *    touches of one run are not independent of each other, so two more things are asked: an effect
 *    that is not negligible, and that every base run against every new run says the same;
 *  - failed runs: Fisher's exact test of the two rates, at alpha (5 of 5 against 0 of 5: p = 0.008).
 * With many rows some are marked by chance: `judged` x alpha of them, which the renderings say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cohort.h"
#include "stats.h"

#define COMPARISON_ALPHA 0.05

enum mark {
	MARK_UNJUDGED, /* a side has fewer than two runs, or was not measured */
	MARK_UNEVEN,   /* a count that grows with time, and the sides' runs lasted differently */
	MARK_NOISE,
	MARK_BETTER,
	MARK_WORSE,
	MARK_HIGHER, /* differs, but neither direction is a merit */
	MARK_LOWER,
};
/* "one run, not judged", "within noise", "better", … */
const char *mark_text(enum mark m);

struct metric_row {
	const char *name;
	const char *unit;
	enum metric_better better;
	struct stats base, new; /* n == 0: not measured there */
	bool has_welch;
	struct welch welch;
	enum mark mark;
};

struct latency_row {
	const char *name;
	const char *unit;
	struct hist *base, *new; /* all runs of a side merged */
	bool has_test;
	struct mann_whitney test;
	enum mark mark;
};

struct rate {
	size_t failed, judged; /* judged: passed or failed */
	size_t others;	       /* skipped, inconclusive, error */
	double low, high;      /* of failed / judged, 95 % */
};

struct comparison {
	const struct pair *pair;
	struct metric_row *metrics;
	size_t nr_metrics;
	struct latency_row *latencies;
	size_t nr_latencies;
	struct rate base_rate, new_rate;
	double rate_p; /* two-sided; of rates that are judged */
	enum mark rate_mark;
	double alpha;
	size_t judged;	  /* rows of metrics with a p */
	bool uneven_time; /* runs of a set time lasted differently: counts are not judged */
};

/* 0 or -ENOMEM. @pair has both sides. What is returned lives in @pool. */
int comparison_make(const struct pair *pair, double alpha, struct pool *pool,
		    struct comparison *ret);
/* Whether any row is marked @m. */
bool comparison_has(const struct comparison *c, enum mark m);
/* Which direction is better for @name in @unit: by the metric table, else by the unit (a rate more,
 * a time less), else neither. */
enum metric_better comparison_direction(const char *name, const char *unit);
