/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of numbers: metrics, percentiles, the worst passes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "figure.h"
#include "html.h"
#include "page_impl.h"

static void number_cell(FILE *out, const char *text)
{
	fputs("<td class=\"n\">", out);
	html_text(out, text);
	fputs("</td>", out);
}

static void name_cell(FILE *out, const char *name)
{
	int known = metric_find(name);

	fputs("<th scope=\"row\">", out);
	html_text(out, name);
	if (known >= 0)
		html_element(out, "small", metric_table[known].help);
	fputs("</th>", out);
}

static const char *humane(double value, const char *unit, char *buf, size_t size)
{
	return figure_humane(value, unit, buf, size);
}

static void stats_cell(FILE *out, const struct stats *s, const char *unit)
{
	char mean[FIGURE_SIZE + 24], deviation[FIGURE_SIZE + 24];

	if (!s->n) {
		number_cell(out, "");
		return;
	}
	fputs("<td class=\"n\">", out);
	html_text(out, humane(s->mean, unit, mean, sizeof(mean)));
	if (s->n > 1) {
		(void)humane(stats_deviation(s), unit, deviation, sizeof(deviation));
		fputs("<small>", out);
		html_printf(out, "± %s, %zu runs", deviation, s->n);
		fputs("</small>", out);
	}
	fputs("</td>", out);
}

static const char *mark_class(enum mark m)
{
	static const char *const classes[] = {
		[MARK_UNJUDGED] = "skip", [MARK_UNEVEN] = "skip", [MARK_NOISE] = "skip",
		[MARK_BETTER] = "pass",	  [MARK_WORSE] = "fail",  [MARK_HIGHER] = "info",
		[MARK_LOWER] = "info",
	};

	return classes[m];
}

static void mark_cell(FILE *out, enum mark m, bool has_p, double p)
{
	char text[FIGURE_SIZE];

	fprintf(out, "<td><span class=\"badge %s\">%s</span>", mark_class(m), mark_text(m));
	if (has_p)
		html_printf(out, " p %s", figure_p(p, text, sizeof(text)));
	fputs("</td>", out);
}

static void compared_row(const struct view *v, const struct metric_row *row)
{
	char change[FIGURE_SIZE] = "";

	fputs("<tr>", v->out);
	name_cell(v->out, row->name);
	stats_cell(v->out, &row->base, row->unit);
	stats_cell(v->out, &row->new, row->unit);
	if (row->base.n && row->new.n)
		(void)figure_change(row->base.mean, row->new.mean, change, sizeof(change));
	number_cell(v->out, change);
	mark_cell(v->out, row->mark, row->has_welch, row->welch.p);
	fputs("</tr>\n", v->out);
}

static void lone_row(const struct view *v, const struct metric_row *row)
{
	const struct stats *s = row->base.n ? &row->base : &row->new;
	char lo[FIGURE_SIZE + 24], hi[FIGURE_SIZE + 24];

	fputs("<tr>", v->out);
	name_cell(v->out, row->name);
	stats_cell(v->out, s, row->unit);
	if (s->n > 1) {
		number_cell(v->out, humane(s->min, row->unit, lo, sizeof(lo)));
		number_cell(v->out, humane(s->max, row->unit, hi, sizeof(hi)));
	} else {
		number_cell(v->out, "");
		number_cell(v->out, "");
	}
	fputs("</tr>\n", v->out);
}

void page_metrics(const struct view *v)
{
	const struct comparison *c = v->comparison;
	bool both = v->sides[SIDE_BASE] && v->sides[SIDE_NEW];

	if (!c->nr_metrics)
		return;
	view_table_begin(v, both ? "Metrics: means over the runs, and whether they differ by more "
				   "than noise (Welch)"
				 : "Metrics");
	fputs(both ? "<thead><tr><th scope=\"col\">metric</th><th scope=\"col\">base</th>"
		     "<th scope=\"col\">new</th><th scope=\"col\">change</th>"
		     "<th scope=\"col\"></th></tr></thead><tbody>\n"
		   : "<thead><tr><th scope=\"col\">metric</th><th scope=\"col\">mean</th>"
		     "<th scope=\"col\">min</th><th scope=\"col\">max</th></tr></thead><tbody>\n",
	      v->out);
	for (size_t i = 0; i < c->nr_metrics; i++) {
		/* A run's percentiles have a table of their own. */
		if (strchr(c->metrics[i].name, ' ') && !both)
			continue;
		if (both)
			compared_row(v, &c->metrics[i]);
		else
			lone_row(v, &c->metrics[i]);
	}
	view_table_end(v);
}

static void percentile_row(const struct view *v, const struct latency_row *row, enum side side)
{
	static const double percents[] = { 50, 90, 99, 99.9, 99.99 };
	const struct hist *h = side == SIDE_BASE ? row->base : row->new;
	char text[FIGURE_SIZE + 24];

	fputs("<tr>", v->out);
	fputs("<th scope=\"row\">", v->out);
	html_text(v->out, row->name);
	fprintf(v->out, "</th><td>%s</td>", view_side_head(v, side));
	number_cell(v->out, humane((double)h->count, "count", text, sizeof(text)));
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
		number_cell(v->out, humane((double)hist_percentile(h, percents[i]), row->unit, text,
					   sizeof(text)));
	number_cell(v->out, humane((double)h->max, row->unit, text, sizeof(text)));
	fputs("</tr>\n", v->out);
}

static void test_row(const struct view *v, const struct latency_row *row)
{
	char p[FIGURE_SIZE];

	if (!row->has_test)
		return;
	fputs("<tr><td></td><td colspan=\"8\">", v->out);
	fprintf(v->out, "<span class=\"badge %s\">%s</span> ", mark_class(row->mark),
		mark_text(row->mark));
	html_printf(v->out,
		    "A value of new is larger than one of base with probability %.3f "
		    "(Mann-Whitney z = %.2f, p %s).",
		    row->test.superiority, row->test.z, figure_p(row->test.p, p, sizeof(p)));
	fputs("</td></tr>\n", v->out);
}

void page_percentiles(const struct view *v)
{
	const struct comparison *c = v->comparison;
	bool both = v->sides[SIDE_BASE] && v->sides[SIDE_NEW];

	if (!c->nr_latencies)
		return;
	view_table_begin(v, "Percentiles, all runs of a side together");
	fputs("<thead><tr><th scope=\"col\">histogram</th><th scope=\"col\"></th>"
	      "<th scope=\"col\">values</th><th scope=\"col\">p50</th><th scope=\"col\">p90</th>"
	      "<th scope=\"col\">p99</th><th scope=\"col\">p99.9</th><th scope=\"col\">p99.99</th>"
	      "<th scope=\"col\">max</th></tr></thead><tbody>\n",
	      v->out);
	for (size_t i = 0; i < c->nr_latencies; i++) {
		for (unsigned int s = 0; s < SIDE_NR; s++) {
			if (v->sides[s])
				percentile_row(v, &c->latencies[i], (enum side)s);
		}
		if (both)
			test_row(v, &c->latencies[i]);
	}
	view_table_end(v);
}

struct ranked {
	const struct doc_pass *pass;
	size_t run;
};

static int slower_first(const void *a, const void *b)
{
	uint64_t x = ((const struct ranked *)a)->pass->latency_ns;
	uint64_t y = ((const struct ranked *)b)->pass->latency_ns;

	return (x < y) - (x > y);
}

/* The worst of all runs of a side; how many. */
static size_t rank_passes(const struct cohort *c, struct pool *pool, struct ranked **ret)
{
	struct ranked *all;
	size_t nr = 0, at = 0;

	for (size_t i = 0; c && i < c->nr_runs; i++)
		nr += c->runs[i]->nr_worst;
	all = pool_array(pool, nr, sizeof(*all));
	if (!nr || !all)
		return 0;
	for (size_t i = 0; i < c->nr_runs; i++) {
		for (size_t j = 0; j < c->runs[i]->nr_worst; j++)
			all[at++] = (struct ranked){ &c->runs[i]->worst[j], i };
	}
	qsort(all, nr, sizeof(*all), slower_first);
	*ret = all;
	return nr < WORST_PASSES_MAX ? nr : WORST_PASSES_MAX;
}

/* One pass, or the mean of all; goal 0: not recorded. */
static void pass_row(const struct view *v, const char *name, const double figures[4],
		     const char *comm)
{
	char text[FIGURE_SIZE + 24];

	fputs("<tr><th scope=\"row\">", v->out);
	html_text(v->out, name);
	fputs("</th>", v->out);
	number_cell(v->out, humane(figures[0], "ns", text, sizeof(text)));
	for (size_t i = 1; i < 4; i++)
		number_cell(v->out, i < 3 || figures[i] > 0
					    ? humane(figures[i], "count", text, sizeof(text))
					    : "");
	fputs("<td>", v->out);
	html_text(v->out, comm);
	fputs("</td></tr>\n", v->out);
}

static void side_passes(const struct view *v, enum side side)
{
	double mean[4] = { 0 };
	struct ranked *worst;
	size_t nr = rank_passes(v->sides[side], v->pool, &worst);
	bool both = v->sides[SIDE_BASE] && v->sides[SIDE_NEW];

	if (!nr)
		return;
	view_table_begin(v, !both		? "The slowest reclaim passes"
			    : side == SIDE_BASE ? "The slowest reclaim passes of base"
						: "The slowest reclaim passes of new");
	fputs("<thead><tr><th scope=\"col\">run</th><th scope=\"col\">latency</th>"
	      "<th scope=\"col\">pages scanned</th><th scope=\"col\">pages reclaimed</th>"
	      "<th scope=\"col\">goal</th><th scope=\"col\">task</th></tr></thead><tbody>\n",
	      v->out);
	for (size_t i = 0; i < nr; i++) {
		const struct doc_pass *p = worst[i].pass;
		const double figures[4] = { (double)p->latency_ns, (double)p->scanned,
					    (double)p->reclaimed, (double)p->goal };
		char run[24];

		(void)snprintf(run, sizeof(run), "%zu", worst[i].run + 1);
		pass_row(v, run, figures, p->comm);
		for (size_t k = 0; k < 4; k++)
			mean[k] += figures[k] / (double)nr;
	}
	pass_row(v, "mean", mean, "");
	view_table_end(v);
}

void page_worst_passes(const struct view *v)
{
	side_passes(v, SIDE_BASE);
	side_passes(v, SIDE_NEW);
}
