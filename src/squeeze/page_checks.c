/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <string.h>

#include "chart.h"
#include "cleanup.h"
#include "figure.h"
#include "html.h"
#include "page_impl.h"

/* All results of one check on both sides: a row of the table. */
struct check_row {
	const struct doc_check *first;
	size_t failed[SIDE_NR], judged[SIDE_NR], skipped[SIDE_NR];
	double lo[SIDE_NR], hi[SIDE_NR]; /* of the values */
	size_t nr[SIDE_NR];
};

static const struct doc_check *find_check(const struct doc_run *run, const char *name)
{
	for (size_t i = 0; i < run->nr_checks; i++) {
		if (!strcmp(run->checks[i].name, name))
			return &run->checks[i];
	}
	return NULL;
}

static void gather(const struct view *v, struct check_row *row, const char *name)
{
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		row->lo[s] = INFINITY;
		row->hi[s] = -INFINITY;
		for (size_t i = 0; v->sides[s] && i < v->sides[s]->nr_runs; i++) {
			const struct doc_check *c = find_check(v->sides[s]->runs[i], name);

			if (!c)
				continue;
			row->failed[s] += c->outcome == OUTCOME_FAIL;
			row->judged[s] += c->outcome != OUTCOME_SKIP;
			row->skipped[s] += c->outcome == OUTCOME_SKIP;
			if (c->outcome == OUTCOME_SKIP || !value_is_present(c->value))
				continue;
			row->lo[s] = fmin(row->lo[s], value_as_real(c->value));
			row->hi[s] = fmax(row->hi[s], value_as_real(c->value));
			row->nr[s]++;
		}
	}
}

#define BAR_WIDTH 180.0
/* Beyond this ratio of value and bound a linear bar shows only the larger. */
#define BAR_LINEAR_MAX 20.0

/* Where @v lies on the bar: linear, or for a wide range by log(1 + v / bound). */
static double bar_at(double v, double bound, double top)
{
	double unit = bound > 0 ? bound : 1;
	double at = top <= unit * BAR_LINEAR_MAX ? v / top : log1p(v / unit) / log1p(top / unit);

	return 3 + fmin(fmax(at, 0), 1) * (BAR_WIDTH - 6);
}

/* The values of both sides as marks on a line, the bound as a bar across it, what is allowed
 * shaded. For eyes only: the same figures stand beside it as text. */
static void draw_bar(const struct view *v, const struct check_row *row)
{
	double bound = value_as_real(row->first->bound), top = fmax(bound, 1e-9), at;

	for (unsigned int s = 0; s < SIDE_NR; s++) {
		if (row->nr[s])
			top = fmax(top, row->hi[s]);
	}
	top *= 1.1;
	at = bar_at(bound, bound, top);
	fprintf(v->out, "<svg class=\"bar\" viewBox=\"0 0 %.0f 18\" aria-hidden=\"true\">",
		BAR_WIDTH);
	if (row->first->op != OP_EQ)
		fprintf(v->out,
			"<rect class=\"allowed\" x=\"%.1f\" y=\"3\" width=\"%.1f\" height=\"12\"/>",
			row->first->op == OP_LE ? 0 : at,
			row->first->op == OP_LE ? at : BAR_WIDTH - at);
	fprintf(v->out,
		"<path class=\"grid\" d=\"M0 9H%.0f\"/>"
		"<path class=\"bound\" d=\"M%.1f 1V17\"/>",
		BAR_WIDTH, at);
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		if (!row->nr[s])
			continue;
		fprintf(v->out, "<path class=\"curve %s\" d=\"M%.1f 9H%.1f\"/>", side_names[s],
			bar_at(row->lo[s], bound, top), bar_at(row->hi[s], bound, top) + 0.1);
		fprintf(v->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"9\" r=\"4.5\"/>",
			side_names[s], bar_at(row->hi[s], bound, top));
	}
	fputs("</svg>", v->out);
}

static void side_cell(const struct view *v, const struct check_row *row, enum side s)
{
	const char *unit = row->first->unit;
	char lo[FIGURE_SIZE + 24], hi[FIGURE_SIZE + 24];

	fputs("<td>", v->out);
	if (!row->judged[s]) {
		fputs(row->skipped[s] ? "<span class=\"badge skip\">skip</span>" : "", v->out);
		fputs("</td>", v->out);
		return;
	}
	fprintf(v->out, "<span class=\"badge %s\">%s", row->failed[s] ? "fail" : "pass",
		row->failed[s] ? "fail" : "pass");
	if (row->judged[s] > 1)
		fprintf(v->out, " %zu of %zu", row->failed[s] ? row->failed[s] : row->judged[s],
			row->judged[s]);
	fputs("</span> ", v->out);
	if (row->nr[s]) {
		html_text(v->out, figure_humane(row->lo[s], unit, lo, sizeof(lo)));
		(void)figure_humane(row->hi[s], unit, hi, sizeof(hi));
		if (strcmp(lo, hi) != 0)
			html_printf(v->out, " to %s", hi);
	}
	fputs("</td>", v->out);
}

/* The clause of the run that matters most: a failed one of the new side first. */
static const char *find_why(const struct view *v, const char *name)
{
	const char *why = "";

	for (int fail = 1; fail >= 0; fail--) {
		for (int s = SIDE_NR - 1; s >= 0; s--) {
			for (size_t i = 0; v->sides[s] && i < v->sides[s]->nr_runs; i++) {
				const struct doc_check *c = find_check(v->sides[s]->runs[i], name);

				if (c && (c->outcome == OUTCOME_FAIL) == fail && *c->why)
					return c->why;
			}
		}
	}
	return why;
}

static const char *const op_signs[] = { [OP_LE] = "≤", [OP_GE] = "≥", [OP_EQ] = "=" };

static void check_row(const struct view *v, const struct doc_check *first)
{
	struct check_row row = { .first = first };
	char bound[FIGURE_SIZE + 24];

	gather(v, &row, first->name);
	fputs("<tr><th scope=\"row\">", v->out);
	html_text(v->out, first->name);
	html_element(v->out, "small", find_why(v, first->name));
	fputs("</th>", v->out);
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		if (v->sides[s])
			side_cell(v, &row, (enum side)s);
	}
	fputs("<td class=\"n\">", v->out);
	if (value_is_present(first->bound))
		html_printf(v->out, "%s %s", op_signs[first->op],
			    figure_humane(value_as_real(first->bound), first->unit, bound,
					  sizeof(bound)));
	fputs("</td><td>", v->out);
	if (value_is_present(first->bound) && (row.nr[SIDE_BASE] || row.nr[SIDE_NEW]))
		draw_bar(v, &row);
	fputs("</td></tr>\n", v->out);
}

/* Whether an earlier run (of either side) has this check too: then it has its row already. */
static bool seen_before(const struct view *v, unsigned int side, size_t run, const char *name)
{
	for (unsigned int s = 0; s <= side; s++) {
		for (size_t i = 0; v->sides[s] && i < (s < side ? v->sides[s]->nr_runs : run);
		     i++) {
			if (find_check(v->sides[s]->runs[i], name))
				return true;
		}
	}
	return false;
}

static size_t count_checks(const struct view *v)
{
	size_t nr = 0;

	for (unsigned int s = 0; s < SIDE_NR; s++) {
		for (size_t i = 0; v->sides[s] && i < v->sides[s]->nr_runs; i++)
			nr += v->sides[s]->runs[i]->nr_checks;
	}
	return nr;
}

void page_checks(const struct view *v)
{
	if (!count_checks(v))
		return;
	view_table_begin(v, "Checks: what was measured against its bound");
	fputs("<thead><tr><th scope=\"col\">check</th>", v->out);
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		if (v->sides[s])
			fprintf(v->out, "<th scope=\"col\">%s</th>",
				view_side_head(v, (enum side)s));
	}
	fputs("<th scope=\"col\">bound</th><th scope=\"col\">allowed is shaded</th></tr></thead>"
	      "<tbody>\n",
	      v->out);
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		for (size_t i = 0; v->sides[s] && i < v->sides[s]->nr_runs; i++) {
			const struct doc_run *run = v->sides[s]->runs[i];

			for (size_t j = 0; j < run->nr_checks; j++) {
				if (!seen_before(v, s, i, run->checks[j].name))
					check_row(v, &run->checks[j]);
			}
		}
	}
	view_table_end(v);
}
