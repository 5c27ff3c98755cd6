/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "cleanup.h"
#include "comparison_print.h"
#include "figure.h"

/* Text from a document inside a table cell: what Markdown would take for markup is escaped. */
static void cell_text(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (strchr("\\`*[]<>|#!&", *s))
			fputc('\\', out);
		fputc(*s, out);
	}
}

static void print_new(FILE *out, const struct metric_row *row)
{
	char figure[FIGURE_SIZE + 24], change[FIGURE_SIZE], p[FIGURE_SIZE];
	bool changed;

	fputs(figure_humane(row->new.mean, row->unit, figure, sizeof(figure)), out);
	if (!row->base.n)
		return;
	(void)figure_change(row->base.mean, row->new.mean, change, sizeof(change));
	changed = *change != '\0';
	if (!changed && row->mark <= MARK_UNEVEN)
		return;
	fprintf(out, " (%s", change);
	if (row->mark > MARK_UNEVEN)
		fprintf(out, "%s%s", changed ? ", " : "", mark_text(row->mark));
	if (row->has_welch)
		fprintf(out, ", p %s", figure_p(row->welch.p, p, sizeof(p)));
	fputc(')', out);
}

static void print_metric(FILE *out, const struct metric_row *row)
{
	char figure[FIGURE_SIZE + 24];

	fputs("| ", out);
	cell_text(out, row->name);
	fprintf(out, " | %s | ",
		row->base.n ? figure_humane(row->base.mean, row->unit, figure, sizeof(figure))
			    : "");
	if (row->new.n)
		print_new(out, row);
	fputs(" |\n", out);
}

static void print_latency(FILE *out, const struct latency_row *row)
{
	char p[FIGURE_SIZE];

	if (!row->has_test)
		return;
	fputs("| ", out);
	cell_text(out, row->name);
	fprintf(out, ", P(new > base) | | %.3f (%s, Mann-Whitney p %s) |\n", row->test.superiority,
		mark_text(row->mark), figure_p(row->test.p, p, sizeof(p)));
}

static void print_rate(FILE *out, const struct rate *rate)
{
	fprintf(out, "%zu of %zu", rate->failed, rate->judged);
	if (rate->judged > 1)
		fprintf(out, " (%.0f to %.0f %%)", 100 * rate->low, 100 * rate->high);
}

static void print_side(FILE *out, const char *side, const struct cohort *c, struct pool *pool)
{
	const char *kernels = cohort_kernels(c, pool);

	fprintf(out, "%s: %zu run%s on ", side, c->nr_runs, c->nr_runs == 1 ? "" : "s");
	cell_text(out, kernels ? kernels : "");
	fputs("  \n", out); /* two blanks: a line break */
}

static void print_comparison(const struct comparison *c, struct pool *pool, FILE *out)
{
	const struct pair *pair = c->pair;
	const char *title = comparison_title(pair->base, pool);

	fputs("### ", out);
	cell_text(out, title ? title : "");
	fputs("\n\n", out);
	print_side(out, "base", pair->base, pool);
	print_side(out, "new", pair->new, pool);
	for (size_t i = 0; i < pair->nr_differences; i++) {
		fputs("**Unlike:** ", out);
		cell_text(out, pair->differences[i].name);
		fputs(": base ", out);
		cell_text(out, pair->differences[i].base);
		fputs(", new ", out);
		cell_text(out, pair->differences[i].new);
		fputs("  \n", out);
	}
	if (c->uneven_time)
		fprintf(out, "%s  \n", comparison_uneven);
	fputs("\n|  | base | new |\n|---|---:|---:|\n| runs failed | ", out);
	print_rate(out, &c->base_rate);
	fputs(" | ", out);
	print_rate(out, &c->new_rate);
	if (c->rate_mark != MARK_UNJUDGED)
		fprintf(out, " (%s, Fisher p = %.2g)", mark_text(c->rate_mark), c->rate_p);
	fputs(" |\n", out);
	for (size_t i = 0; i < c->nr_metrics; i++)
		print_metric(out, &c->metrics[i]);
	for (size_t i = 0; i < c->nr_latencies; i++)
		print_latency(out, &c->latencies[i]);
	fputc('\n', out);
}

void comparison_markdown(const struct comparison_set *set, FILE *out)
{
	for (size_t i = 0; i < set->nr; i++)
		print_comparison(&set->items[i], set->pool, out);
	for (size_t i = 0; i < set->pairs->nr; i++) {
		const struct pair *pair = &set->pairs->items[i];
		const char *title;

		if (pair->base && pair->new)
			continue;
		title = comparison_title(pair->base ? pair->base : pair->new, set->pool);
		fprintf(out, "Only in %s: ", pair->base ? "base" : "new");
		cell_text(out, title ? title : "");
		fputs("\n\n", out);
	}
}
