/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "comparison_print.h"
#include "figure.h"

const struct comparison_format comparison_formats[] = {
	{ "text", comparison_text },
	{ "markdown", comparison_markdown },
	{ "json", comparison_json },
};
const size_t comparison_formats_nr = ARRAY_SIZE(comparison_formats);

const char *comparison_title(const struct cohort *c, struct pool *pool)
{
	/* What tells two cohorts of one scenario apart, where it is a parameter at all. */
	static const struct {
		const char *param;
		const char *label;
	} telling[] = {
		{ "threads", "threads" }, { "procs", "procs" },	      { "jobs", "jobs" },
		{ "pods", "pods" },	  { "memcg_bytes", "memcg" }, { "memcg", "memcg" },
		{ "swap", "swap" },	  { "pattern", "pattern" },   { "advice", "advice" },
		{ "level", "level" },	  { "case", "case" },	      { "pressure", "pressure" },
		{ "load", "load" },	  { "test", "test" },
	};
	const char *title = pool_printf(pool, "%s %s", c->like->tool, c->like->scenario);
	bool first = true;

	for (size_t i = 0; i < ARRAY_SIZE(telling) && title; i++) {
		const char *text = document_param(c->like, telling[i].param);
		char fact[FIGURE_SIZE];

		if (!*text)
			continue;
		title = pool_printf(pool, "%s%s %s %s", title, first ? ":" : ",", telling[i].label,
				    figure_fact(telling[i].param, text, fact, sizeof(fact)));
		first = false;
	}
	return title;
}

const char comparison_uneven[] =
	"The runs of the two sides lasted differently: counts are not judged, rates are.";

size_t comparison_set_judged(const struct comparison_set *set)
{
	size_t judged = 0;

	for (size_t i = 0; i < set->nr; i++)
		judged += set->items[i].judged;
	return judged;
}

#define CELLS 4 /* min max avg std */

struct cells {
	char figure[CELLS][FIGURE_SIZE + 24];
	char percent[CELLS][FIGURE_SIZE + 4]; /* "[30.4%]" */
};

static void fill_cells(const struct stats *s, const struct stats *base,
		       const struct figure_scale *scale, struct cells *ret)
{
	const double own[CELLS] = { s->min, s->max, s->mean, stats_deviation(s) };
	const double bases[CELLS] = { base->min, base->max, base->mean, 0 };
	char percent[FIGURE_SIZE];

	for (size_t i = 0; i < CELLS; i++) {
		ret->percent[i][0] = '\0';
		(void)figure_plain(own[i], scale, ret->figure[i], sizeof(ret->figure[i]));
		if (s == base || !base->n || i == CELLS - 1)
			continue;
		if (*figure_percent_of(bases[i], own[i], percent, sizeof(percent)))
			(void)snprintf(ret->percent[i], sizeof(ret->percent[i]), " [%s]", percent);
	}
}

/* One value has no spread: its line says just that. */
static void print_lone(FILE *out, const char *side, const struct stats *s, const struct cells *c)
{
	if (s->n)
		fprintf(out, "  %-4s avg: %s%s runs: 1\n", side, c->figure[2], c->percent[2]);
	else
		fprintf(out, "  %-4s not measured\n", side);
}

static int wider(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);

	return (int)(x > y ? x : y);
}

static void print_side(FILE *out, const char *side, const struct stats *s, const struct cells *c,
		       const struct cells *other)
{
	static const char *const heads[CELLS] = { "min:", "max:", "avg:", "std:" };

	if (!s->n) {
		fprintf(out, "  %-4s not measured\n", side);
		return;
	}
	fprintf(out, "  %-4s", side);
	for (size_t i = 0; i < CELLS; i++)
		fprintf(out, " %s %*s%-*s", heads[i], wider(c->figure[i], other->figure[i]),
			c->figure[i], wider(c->percent[i], other->percent[i]), c->percent[i]);
	fprintf(out, " runs: %zu\n", s->n);
}

static double largest(const struct metric_row *row)
{
	double most = 0;

	if (row->base.n)
		most = fmax(fabs(row->base.min), fabs(row->base.max));
	if (row->new.n)
		most = fmax(most, fmax(fabs(row->new.min), fabs(row->new.max)));
	return most;
}

static void print_judgement(FILE *out, const struct metric_row *row)
{
	char change[FIGURE_SIZE], p[FIGURE_SIZE];

	if (!row->base.n || !row->new.n) {
		fputs(": on one side only\n", out);
		return;
	}
	(void)figure_change(row->base.mean, row->new.mean, change, sizeof(change));
	if (!(row->new.mean < row->base.mean) && !(row->new.mean > row->base.mean))
		(void)snprintf(change, sizeof(change), "equal");
	fprintf(out, ": %s%s%s", change, *change ? ", " : "", mark_text(row->mark));
	if (row->has_welch)
		fprintf(out, " (Welch t = %.2f, p %s)", row->welch.t,
			figure_p(row->welch.p, p, sizeof(p)));
	else if (row->mark != MARK_UNJUDGED && row->mark != MARK_UNEVEN)
		fputs(" (no spread)", out);
	fputc('\n', out);
}

static void print_metric(FILE *out, const struct metric_row *row)
{
	struct figure_scale scale = figure_scale(row->unit, largest(row));
	struct cells base = { 0 }, new = { 0 };

	if (row->base.n)
		fill_cells(&row->base, &row->base, &scale, &base);
	if (row->new.n)
		fill_cells(&row->new, &row->base, &scale, &new);
	fputs(row->name, out);
	if (*scale.unit)
		fprintf(out, " (%s)", scale.unit);
	print_judgement(out, row);
	if (row->base.n <= 1 && row->new.n <= 1) {
		print_lone(out, "base", &row->base, &base);
		print_lone(out, "new", &row->new, &new);
		return;
	}
	print_side(out, "base", &row->base, &base, &new);
	print_side(out, "new", &row->new, &new, &base);
}

static void print_rate(FILE *out, const char *side, const struct rate *rate)
{
	fprintf(out, "  %-4s %zu of %zu", side, rate->failed, rate->judged);
	if (rate->judged)
		fprintf(out, ", 95 %% bound %.0f %% to %.0f %%", 100 * rate->low, 100 * rate->high);
	if (rate->others)
		fprintf(out, "; %zu more skipped, inconclusive or broken", rate->others);
	fputc('\n', out);
}

static void print_latency(FILE *out, const struct latency_row *row)
{
	char p[FIGURE_SIZE];

	if (!row->has_test)
		return;
	fprintf(out,
		"%s, all values: %s\n  Mann-Whitney z = %.2f, p %s; a value of new is larger "
		"than one of base with probability %.3f\n",
		row->name, mark_text(row->mark), row->test.z, figure_p(row->test.p, p, sizeof(p)),
		row->test.superiority);
}

static void print_differences(FILE *out, const struct pair *pair)
{
	for (size_t i = 0; i < pair->nr_differences; i++)
		fprintf(out, "UNLIKE %s: base %s, new %s\n", pair->differences[i].name,
			pair->differences[i].base, pair->differences[i].new);
}

static void print_comparison(const struct comparison *c, struct pool *pool, FILE *out)
{
	const struct cohort *base = c->pair->base, *new = c->pair->new;
	const char *title = comparison_title(base, pool);
	const char *base_kernels = cohort_kernels(base, pool);
	const char *new_kernels = cohort_kernels(new, pool);

	fprintf(out, "%s\nbase: %zu run%s on %s\nnew:  %zu run%s on %s\n", title ? title : "",
		base->nr_runs, base->nr_runs == 1 ? "" : "s", base_kernels ? base_kernels : "",
		new->nr_runs, new->nr_runs == 1 ? "" : "s", new_kernels ? new_kernels : "");
	print_differences(out, c->pair);
	if (c->uneven_time)
		fprintf(out, "%s\n", comparison_uneven);
	fprintf(out, "\nruns failed: %s", mark_text(c->rate_mark));
	if (c->rate_mark != MARK_UNJUDGED)
		fprintf(out, " (Fisher p = %.2g)", c->rate_p);
	fputc('\n', out);
	print_rate(out, "base", &c->base_rate);
	print_rate(out, "new", &c->new_rate);
	for (size_t i = 0; i < c->nr_metrics; i++)
		print_metric(out, &c->metrics[i]);
	for (size_t i = 0; i < c->nr_latencies; i++)
		print_latency(out, &c->latencies[i]);
	fputc('\n', out);
}

void comparison_text(const struct comparison_set *set, FILE *out)
{
	size_t judged = comparison_set_judged(set);

	for (size_t i = 0; i < set->nr; i++)
		print_comparison(&set->items[i], set->pool, out);
	for (size_t i = 0; i < set->pairs->nr; i++) {
		const struct pair *pair = &set->pairs->items[i];
		const struct cohort *only = pair->base ? pair->base : pair->new;
		const char *title;

		if (pair->base && pair->new)
			continue;
		title = comparison_title(only, set->pool);
		fprintf(out, "Only in %s: %s\n", pair->base ? "base" : "new", title ? title : "");
	}
	if (judged)
		fprintf(out,
			"%zu rows were judged at p < %g: about %.0f would be marked by chance "
			"alone.\n",
			judged, set->alpha, ceil((double)judged * set->alpha));
}
