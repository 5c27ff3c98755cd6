/* SPDX-License-Identifier: GPL-2.0-only */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"

/* Below P(new > base) = 0.56 a difference of two distributions is negligible: A. Vargha and H. D.
 * Delaney, J. Educ. Behav. Stat. 25 (2000), 101-132, table 1. */
#define NEGLIGIBLE_EFFECT 0.06
/* Counts of runs whose lengths differ by more than this are not comparable. */
#define UNEVEN_TIME 0.1
#define CONFIDENCE 0.95
/* More than any documents of ours have; bounds what a hostile set can cost. */
#define ROWS_MAX 1000
#define RUNS_PAIRED_MAX 32

const char *mark_text(enum mark m)
{
	static const char *const texts[] = {
		[MARK_UNJUDGED] = "not judged: one run",
		[MARK_NOISE] = "within noise",
		[MARK_UNEVEN] = "not judged: uneven time",
		[MARK_BETTER] = "better",
		[MARK_WORSE] = "worse",
		[MARK_HIGHER] = "higher",
		[MARK_LOWER] = "lower",
	};

	return texts[m];
}

enum metric_better comparison_direction(const char *name, const char *unit)
{
	static const char *const times[] = { "ns", "us", "ms", "s" };
	size_t length = strlen(unit);
	int known = metric_find(name);

	if (known >= 0)
		return metric_table[known].better;
	if ((length > 2 && !strcmp(unit + length - 2, "/s")) || strstr(unit, "per_s"))
		return BETTER_MORE;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		if (!strcmp(unit, times[i]))
			return BETTER_LESS;
	}
	return BETTER_NEITHER;
}

static enum mark direction_mark(enum metric_better better, bool rises)
{
	switch (better) {
	case BETTER_MORE:
		return rises ? MARK_BETTER : MARK_WORSE;
	case BETTER_LESS:
		return rises ? MARK_WORSE : MARK_BETTER;
	case BETTER_NEITHER:
		break;
	}
	return rises ? MARK_HIGHER : MARK_LOWER;
}

static bool differ(double a, double b)
{
	return a < b || a > b;
}

/* Whether a longer run has more of it. Peaks, longest times and latencies do not add up. */
static bool accumulates(const struct metric_row *row)
{
	static const char *const growing[] = { "count", "pages", "ns", "us", "ms" };
	static const char *const steady[] = { "peak", "longest", "latency", " p", " max" };

	for (size_t i = 0; i < ARRAY_SIZE(steady); i++) {
		if (strstr(row->name, steady[i]))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(growing); i++) {
		if (!strcmp(row->unit, growing[i]))
			return true;
	}
	return false;
}

static void judge_metric(struct metric_row *row, double alpha)
{
	bool rises = row->new.mean > row->base.mean;

	if (row->base.n < 2 || row->new.n < 2)
		return;
	row->has_welch = stats_welch(&row->base, &row->new, &row->welch) == 0;
	if (!row->has_welch) /* no spread at all: equal, or plainly different */
		row->mark = differ(row->base.mean, row->new.mean)
				    ? direction_mark(row->better, rises)
				    : MARK_NOISE;
	else
		row->mark = row->welch.p < alpha ? direction_mark(row->better, rises) : MARK_NOISE;
}

struct builder {
	const struct cohort *base, *new;
	struct pool *pool;
	struct comparison *c;
};

/* NULL: too many rows. */
static struct metric_row *row_for(struct comparison *c, const char *name, const char *unit)
{
	struct metric_row *row;

	for (size_t i = 0; i < c->nr_metrics; i++) {
		if (!strcmp(c->metrics[i].name, name))
			return &c->metrics[i];
	}
	if (c->nr_metrics == ROWS_MAX)
		return NULL;
	row = &c->metrics[c->nr_metrics++];
	row->name = name;
	row->unit = unit;
	row->better = comparison_direction(name, unit);
	stats_init(&row->base);
	stats_init(&row->new);
	return row;
}

static void add_value(struct comparison *c, const char *name, const char *unit, double value,
		      bool new)
{
	struct metric_row *row = row_for(c, name, unit);

	if (row)
		stats_add(new ? &row->new : &row->base, value);
}

/* Each run's percentiles as metrics: they have one value a run, so Welch may be asked. */
static const struct percentile {
	const char *name;
	double percent;
} percentiles[] = {
	{ "p50", 50 },
	{ "p99", 99 },
	{ "p99.9", 99.9 },
	{ "max", 100 },
};

static int add_percentiles(struct builder *b, const struct doc_hist *h, bool new)
{
	for (size_t i = 0; i < ARRAY_SIZE(percentiles) && h->hist->count; i++) {
		const char *name = pool_printf(b->pool, "%s %s", h->name, percentiles[i].name);
		uint64_t value = hist_percentile(h->hist, percentiles[i].percent);

		if (!name)
			return -ENOMEM;
		add_value(b->c, name, h->unit, (double)value, new);
	}
	return 0;
}

static int add_runs(struct builder *b, const struct cohort *cohort, bool new)
{
	for (size_t i = 0; i < cohort->nr_runs; i++) {
		const struct doc_run *run = cohort->runs[i];

		for (size_t j = 0; j < run->nr_metrics; j++) {
			const struct doc_metric *m = &run->metrics[j];

			add_value(b->c, m->name, m->unit, value_as_real(m->value), new);
		}
		for (size_t j = 0; j < run->nr_hists; j++) {
			if (add_percentiles(b, &run->hists[j], new) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static size_t count_rows(const struct cohort *c)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_runs; i++)
		nr += c->runs[i]->nr_metrics + c->runs[i]->nr_hists * ARRAY_SIZE(percentiles);
	return nr;
}

/* Known metrics in the table's order, then the others as they came. */
static size_t rank(const struct metric_row *row)
{
	int known = metric_find(row->name);

	return known >= 0 ? (size_t)known : METRIC_COUNT;
}

static void sort_rows(struct comparison *c)
{
	for (size_t i = 1; i < c->nr_metrics; i++) {
		struct metric_row row = c->metrics[i];
		size_t j = i;

		for (; j && rank(&c->metrics[j - 1]) > rank(&row); j--)
			c->metrics[j] = c->metrics[j - 1];
		c->metrics[j] = row;
	}
}

static int make_metrics(struct builder *b)
{
	struct comparison *c = b->c;

	c->metrics =
		pool_array(b->pool, count_rows(b->base) + count_rows(b->new), sizeof(*c->metrics));
	if (!c->metrics || add_runs(b, b->base, false) < 0 || add_runs(b, b->new, true) < 0)
		return -ENOMEM;
	sort_rows(c);
	for (size_t i = 0; i < c->nr_metrics; i++) {
		struct metric_row *row = &c->metrics[i];

		if (c->uneven_time && accumulates(row) && row->base.n && row->new.n)
			row->mark = MARK_UNEVEN;
		else
			judge_metric(row, c->alpha);
		c->judged += row->has_welch;
	}
	return 0;
}

static struct hist *merged(const struct cohort *c, const char *name, struct pool *pool)
{
	struct hist *all = pool_alloc(pool, sizeof(*all));

	if (!all)
		return NULL;
	hist_init(all);
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct hist *h = doc_run_hist(c->runs[i], name);

		if (h && h->count)
			hist_merge(all, h);
	}
	return all;
}

/* Whether every base run against every new one leans to the same side as the whole. */
static bool runs_agree(const struct builder *b, const char *name, bool rises)
{
	size_t pairs = 0;

	for (size_t i = 0; i < b->base->nr_runs && i < RUNS_PAIRED_MAX; i++) {
		for (size_t j = 0; j < b->new->nr_runs &&j < RUNS_PAIRED_MAX; j++) {
			const struct hist *x = doc_run_hist(b->base->runs[i], name);
			const struct hist *y = doc_run_hist(b->new->runs[j], name);
			struct mann_whitney test;

			if (!x || !y || stats_mann_whitney(x, y, &test) < 0)
				continue;
			if ((test.superiority > 0.5) != rises)
				return false;
			pairs++;
		}
	}
	return pairs > 0;
}

static size_t runs_with(const struct cohort *c, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct hist *h = doc_run_hist(c->runs[i], name);

		n += h && h->count;
	}
	return n;
}

static void judge_latency(const struct builder *b, struct latency_row *row)
{
	bool rises;

	row->has_test = stats_mann_whitney(row->base, row->new, &row->test) == 0;
	if (!row->has_test || runs_with(b->base, row->name) < 2 || runs_with(b->new, row->name) < 2)
		return;
	rises = row->test.superiority > 0.5;
	row->mark = row->test.p < b->c->alpha &&
				    fabs(row->test.superiority - 0.5) >= NEGLIGIBLE_EFFECT &&
				    runs_agree(b, row->name, rises)
			    ? direction_mark(comparison_direction(row->name, row->unit), rises)
			    : MARK_NOISE;
}

static int add_latency(struct builder *b, const struct doc_hist *h)
{
	struct comparison *c = b->c;
	struct latency_row *row;

	if (c->nr_latencies == ROWS_MAX)
		return 0;

	for (size_t i = 0; i < c->nr_latencies; i++) {
		if (!strcmp(c->latencies[i].name, h->name))
			return 0;
	}
	row = &c->latencies[c->nr_latencies];
	*row = (struct latency_row){ .name = h->name, .unit = h->unit };
	row->base = merged(b->base, h->name, b->pool);
	row->new = merged(b->new, h->name, b->pool);
	if (!row->base || !row->new)
		return -ENOMEM;
	if (!row->base->count || !row->new->count)
		return 0; /* on one side only: nothing to test */
	judge_latency(b, row);
	c->nr_latencies++;
	return 0;
}

static int make_latencies(struct builder *b)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->base->nr_runs; i++)
		nr += b->base->runs[i]->nr_hists;
	b->c->latencies = pool_array(b->pool, nr + 1, sizeof(*b->c->latencies));
	if (!b->c->latencies)
		return -ENOMEM;
	for (size_t i = 0; i < b->base->nr_runs; i++) {
		for (size_t j = 0; j < b->base->runs[i]->nr_hists; j++) {
			if (add_latency(b, &b->base->runs[i]->hists[j]) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static struct rate make_rate(const struct cohort *c)
{
	struct rate rate = { .failed = cohort_count(c, VERDICT_FAIL) };

	rate.judged = rate.failed + cohort_count(c, VERDICT_PASS);
	rate.others = c->nr_runs - rate.judged;
	rate.high = 1;
	if (rate.judged)
		stats_binomial_bound(rate.failed, rate.judged, CONFIDENCE, &rate.low, &rate.high);
	return rate;
}

static void judge_rates(struct comparison *c)
{
	const struct rate *base = &c->base_rate, *new = &c->new_rate;

	c->rate_mark = MARK_UNJUDGED;
	if (base->judged < 2 || new->judged < 2)
		return;
	c->rate_p = stats_fisher(base->failed, base->judged, new->failed, new->judged);
	if (c->rate_p >= c->alpha)
		c->rate_mark = MARK_NOISE;
	else
		c->rate_mark = new->failed * base->judged > new->judged * base->failed
				       ? MARK_WORSE
				       : MARK_BETTER;
}

static double mean_duration(const struct cohort *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->nr_runs; i++)
		sum += (double)c->runs[i]->duration_ns;
	return c->nr_runs ? sum / (double)c->nr_runs : 0;
}

/* Of loads with a set time only: where the work is set, its time is the very result. */
static bool uneven_time(const struct pair *pair)
{
	double base_ns = mean_duration(pair->base), new_ns = mean_duration(pair->new);

	return value_as_real(document_param_number(pair->base->like, "time_ns")) > 0 &&
	       fabs(base_ns - new_ns) > UNEVEN_TIME * fmax(base_ns, new_ns);
}

int comparison_make(const struct pair *pair, double alpha, struct pool *pool,
		    struct comparison *ret)
{
	struct comparison c = { .pair = pair, .alpha = alpha };
	struct builder b = { .base = pair->base, .new = pair->new, .pool = pool, .c = &c };

	c.uneven_time = uneven_time(pair);
	if (make_metrics(&b) < 0 || make_latencies(&b) < 0)
		return -ENOMEM;
	c.base_rate = make_rate(pair->base);
	c.new_rate = make_rate(pair->new);
	judge_rates(&c);
	*ret = c;
	return 0;
}

bool comparison_has(const struct comparison *c, enum mark m)
{
	if (c->rate_mark == m)
		return true;
	for (size_t i = 0; i < c->nr_metrics; i++) {
		if (c->metrics[i].mark == m)
			return true;
	}
	for (size_t i = 0; i < c->nr_latencies; i++) {
		if (c->latencies[i].mark == m)
			return true;
	}
	return false;
}
