/* SPDX-License-Identifier: GPL-2.0-only */
/* The measured part of the report for people: metrics, latencies, and the worst reclaim passes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "report_internal.h"
#include "stats.h"
#include "text.h"

/* A cell is a figure, aligned to the right, and its unit, aligned to the left. */
struct widths {
	int name, figure, unit;
};

static void widen(struct widths *w, const struct text_quantity *q)
{
	w->figure = (int)strlen(q->figure) > w->figure ? (int)strlen(q->figure) : w->figure;
	w->unit = (int)strlen(q->unit) > w->unit ? (int)strlen(q->unit) : w->unit;
}

/* Pages are shown as plain numbers: a column of "pages" costs the width that a table does not have. */
static struct text_quantity metric_quantity(size_t metric, struct value v)
{
	const char *unit = metric_table[metric].unit;

	return text_quantity(v, strcmp(unit, "pages") == 0 ? "count" : unit);
}

struct metric_line {
	const char *name;
	struct text_quantity q;
};

static void put_metric(FILE *out, const struct metric_line *line, const struct widths *w,
		       bool ends_line)
{
	fprintf(out, "  %-*s %*s", w->name, line->name, w->figure, line->q.figure);
	if (!ends_line)
		fprintf(out, " %-*s", w->unit, line->q.unit);
	else
		fprintf(out, "%s%s\n", line->q.unit[0] ? " " : "", line->q.unit);
}

/* One run: names and figures, in two columns where they fit, read downwards. */
static void put_single(const struct run_result *run, FILE *out)
{
	struct metric_line lines[METRIC_COUNT];
	struct widths w = { 0 };
	size_t nr = 0, rows;
	bool two;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		struct metric_line *line = &lines[nr];

		if (!value_is_present(run->metrics[i]))
			continue;
		line->name = metric_table[i].name;
		line->q = metric_quantity(i, run->metrics[i]);
		w.name = (int)strlen(line->name) > w.name ? (int)strlen(line->name) : w.name;
		widen(&w, &line->q);
		nr++;
	}
	/* A handful reads better as one column. */
	two = nr > 6 && 2 * (2 + w.name + 1 + w.figure + 1 + w.unit) <= TEXT_WIDTH;
	rows = two ? (nr + 1) / 2 : nr;
	for (size_t i = 0; i < rows; i++) {
		bool beside = two && i + rows < nr;

		put_metric(out, &lines[i], &w, !beside);
		if (beside)
			put_metric(out, &lines[i + rows], &w, true);
	}
}

static struct stats collect(const struct result_doc *doc, size_t metric)
{
	struct stats s;

	stats_init(&s);
	for (size_t r = 0; r < doc->nr_runs; r++) {
		if (value_is_present(doc->runs[r].metrics[metric]))
			stats_add(&s, value_as_real(doc->runs[r].metrics[metric]));
	}
	return s;
}

struct spread_line {
	const char *name;
	size_t runs;
	struct text_quantity cells[3]; /* mean, least, most */
};

static void put_spread_line(FILE *out, const struct spread_line *line, const struct widths *w,
			    size_t most_runs)
{
	const struct text_quantity *last = &line->cells[2];

	fprintf(out, "  %-*s", w->name, line->name);
	for (size_t i = 0; i < 2; i++)
		fprintf(out, " %*s %-*s", w->figure, line->cells[i].figure, w->unit,
			line->cells[i].unit);
	fprintf(out, " %*s%s%s", w->figure, last->figure, last->unit[0] ? " " : "", last->unit);
	/* A metric that some of the runs could not measure. */
	if (line->runs < most_runs)
		fprintf(out, " (%zu runs)", line->runs);
	putc('\n', out);
}

/* Several runs: mean, least and most. */
static void put_spread(const struct result_doc *doc, size_t most_runs, FILE *out)
{
	struct spread_line lines[METRIC_COUNT];
	struct widths w = { .figure = 4 }; /* "mean" */
	size_t nr = 0;

	for (size_t m = 0; m < METRIC_COUNT; m++) {
		struct stats s = collect(doc, m);
		const double values[] = { s.mean, s.min, s.max };
		struct spread_line *line = &lines[nr];

		if (s.n == 0)
			continue;
		line->name = metric_table[m].name;
		line->runs = s.n;
		w.name = (int)strlen(line->name) > w.name ? (int)strlen(line->name) : w.name;
		for (size_t i = 0; i < ARRAY_SIZE(line->cells); i++) {
			line->cells[i] = metric_quantity(m, value_real(values[i]));
			widen(&w, &line->cells[i]);
		}
		nr++;
	}
	fprintf(out, "  %-*s %*s %-*s %*s %-*s %*s\n", w.name, "", w.figure, "mean", w.unit, "",
		w.figure, "min", w.unit, "", w.figure, "max");
	for (size_t i = 0; i < nr; i++)
		put_spread_line(out, &lines[i], &w, most_runs);
}

static size_t runs_with_metrics(const struct result_doc *doc)
{
	size_t most = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		size_t n = collect(doc, i).n;

		most = n > most ? n : most;
	}
	return most;
}

void report_text_metrics(const struct result_doc *doc, FILE *out)
{
	size_t runs = runs_with_metrics(doc);

	if (runs == 0)
		return;
	if (doc->nr_runs == 1) {
		fputs("\nMetrics\n", out);
		put_single(&doc->runs[0], out);
		return;
	}
	fprintf(out, "\nMetrics of %zu run%s\n", runs, runs == 1 ? "" : "s");
	put_spread(doc, runs, out);
}

static const struct named_hist *find_hist(const struct run_result *run, const char *name)
{
	for (size_t i = 0; i < run->nr_hists; i++) {
		if (strcmp(run->hists[i].name, name) == 0)
			return &run->hists[i];
	}
	return NULL;
}

/* Times carry their unit, page counts are plain: the heading has said "pages". */
static void put_cell(FILE *out, uint64_t v, const char *unit)
{
	char cell[TEXT_NUMBER_SIZE];
	bool ns = strcmp(unit, "ns") == 0;

	fprintf(out, " %9s", text_humane(value_u64(v), ns ? "ns" : "count", cell, sizeof(cell)));
}

static void put_hist(const struct named_hist *named, size_t runs, FILE *out)
{
	const struct hist *h = named->hist;
	char count[TEXT_NUMBER_SIZE];

	fprintf(out, "\nHistogram %s: %s values", named->name,
		text_grouped(h->count, count, sizeof(count)));
	if (runs > 1)
		fprintf(out, " of %zu runs", runs);
	if (strcmp(named->unit, "ns") != 0)
		fprintf(out, ", in %s", named->unit);
	if (h->count == 0) {
		putc('\n', out);
		return;
	}
	fprintf(out, " (log bars)\n %9s", "min");
	for (size_t i = 0; i < REPORT_PERCENTILES; i++)
		fprintf(out, " %9s", report_percentiles[i].label);
	fprintf(out, " %9s\n", "max");
	put_cell(out, h->min, named->unit);
	for (size_t i = 0; i < REPORT_PERCENTILES; i++)
		put_cell(out, hist_percentile(h, report_percentiles[i].percent), named->unit);
	put_cell(out, h->max, named->unit);
	fputs("\n\n", out);
	report_picture(h, named->unit, out);
	if (h->overflow)
		fprintf(out, "  of the last row, %llu are beyond what has a row\n",
			(unsigned long long)h->overflow);
}

/* Histograms of several runs are shown merged: a tail needs all the values it can get. */
static int put_merged(const struct result_doc *doc, const char *name, const char *unit, FILE *out)
{
	_cleanup_free_ struct hist *all = malloc(sizeof(*all));
	struct named_hist named = { .unit = unit ? unit : "", .hist = all };
	size_t runs = 0;

	if (!all)
		return -ENOMEM;
	hist_init(all);
	(void)snprintf(named.name, sizeof(named.name), "%s", name);
	for (size_t r = 0; r < doc->nr_runs; r++) {
		const struct named_hist *one = find_hist(&doc->runs[r], name);

		if (!one)
			continue;
		hist_merge(all, one->hist);
		runs++;
	}
	put_hist(&named, runs, out);
	return 0;
}

int report_text_hists(const struct result_doc *doc, FILE *out)
{
	for (size_t r = 0; r < doc->nr_runs; r++) {
		for (size_t i = 0; i < doc->runs[r].nr_hists; i++) {
			const struct named_hist *named = &doc->runs[r].hists[i];
			bool shown = false;
			int err;

			for (size_t earlier = 0; earlier < r && !shown; earlier++)
				shown = find_hist(&doc->runs[earlier], named->name);
			if (shown)
				continue;
			err = put_merged(doc, named->name, named->unit, out);
			if (err)
				return err;
		}
	}
	return 0;
}

static int by_latency(const void *a, const void *b)
{
	const struct worst_pass *pa = a, *pb = b;

	return (pa->latency_ns < pb->latency_ns) - (pa->latency_ns > pb->latency_ns);
}

static void put_pass(FILE *out, const char *what, struct value latency, struct value scanned,
		     struct value reclaimed)
{
	char a[TEXT_NUMBER_SIZE], b[TEXT_NUMBER_SIZE], c[TEXT_NUMBER_SIZE];

	fprintf(out, "  %5s %10s %12s %12s", what, text_humane(latency, "ns", a, sizeof(a)),
		text_humane(scanned, "count", b, sizeof(b)),
		text_humane(reclaimed, "count", c, sizeof(c)));
}

static void put_pass_summary(FILE *out, const struct worst_pass *passes, size_t nr)
{
	struct stats latency, scanned, reclaimed;

	stats_init(&latency);
	stats_init(&scanned);
	stats_init(&reclaimed);
	for (size_t i = 0; i < nr; i++) {
		stats_add(&latency, (double)passes[i].latency_ns);
		stats_add(&scanned, (double)passes[i].scanned);
		stats_add(&reclaimed, (double)passes[i].reclaimed);
	}
	/* Whole pages: a fraction of one has no meaning to a reader. */
	put_pass(out, "mean", value_real(latency.mean), value_u64((uint64_t)(scanned.mean + 0.5)),
		 value_u64((uint64_t)(reclaimed.mean + 0.5)));
	putc('\n', out);
	put_pass(out, "worst", value_real(latency.max), value_u64((uint64_t)scanned.max),
		 value_u64((uint64_t)reclaimed.max));
	putc('\n', out);
}

void report_text_worst(const struct result_doc *doc, FILE *out)
{
	_cleanup_free_ struct worst_pass *all =
		calloc(doc->nr_runs + 1, WORST_PASSES_MAX * sizeof(*all));
	char comm[sizeof(all->comm) + 1];
	size_t nr = 0;

	if (!all)
		return;
	for (size_t r = 0; r < doc->nr_runs; r++) {
		for (size_t i = 0; i < doc->runs[r].nr_worst; i++)
			all[nr++] = doc->runs[r].worst[i];
	}
	if (nr == 0)
		return;
	qsort(all, nr, sizeof(*all), by_latency);
	nr = nr < WORST_PASSES_MAX ? nr : WORST_PASSES_MAX;
	fprintf(out, "\nThe %zu worst reclaim passes, in pages\n", nr);
	fprintf(out, "  %5s %10s %12s %12s %8s  %s\n", "", "latency", "scanned", "reclaimed",
		"goal", "task");
	for (size_t i = 0; i < nr; i++) {
		char rank[24];

		(void)snprintf(rank, sizeof(rank), "%zu", i + 1);
		put_pass(out, rank, value_u64(all[i].latency_ns), value_u64(all[i].scanned),
			 value_u64(all[i].reclaimed));
		fprintf(out, " %8llu  %s\n", (unsigned long long)all[i].goal,
			text_clean(all[i].comm, "", comm, sizeof(comm)));
	}
	put_pass_summary(out, all, nr);
}
