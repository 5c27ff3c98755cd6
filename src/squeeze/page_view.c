/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "html.h"
#include "page_impl.h"

/* Fewer points than this are no curve any more. */
#define POINTS_MIN 12

const char *const side_names[SIDE_NR] = { "base", "new" };

static bool has_both(const struct view *v)
{
	return v->sides[SIDE_BASE] && v->sides[SIDE_NEW];
}

const char *view_run_name(const struct view *v, enum side side, size_t run)
{
	const char *name = has_both(v)
				   ? pool_printf(v->pool, "%s, run %zu", side_names[side], run + 1)
				   : pool_printf(v->pool, "run %zu", run + 1);

	return name ? name : side_names[side];
}

const char *view_side_head(const struct view *v, enum side side)
{
	return has_both(v) ? side_names[side] : "measured";
}

void view_table_begin(const struct view *v, const char *caption)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table><caption>", v->out);
	html_element(v->out, "span", caption); /* as wide as the window, not as the table */
	fputs("</caption>", v->out);
}

void view_table_end(const struct view *v)
{
	fputs("</tbody></table></div>\n", v->out);
}

size_t view_points_each(const struct view *v, size_t curves)
{
	size_t each = v->points / (curves ? curves : 1);

	return each > POINTS_MIN ? each : POINTS_MIN;
}

static size_t add_hist(const struct doc_hist *h, const struct doc_hist **hists, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(hists[i]->name, h->name))
			return nr;
	}
	if (nr < VIEW_HISTS_MAX && h->hist->count)
		hists[nr++] = h;
	return nr;
}

size_t view_hists(const struct view *v, const struct doc_hist *ret[VIEW_HISTS_MAX])
{
	size_t nr = 0;

	for (unsigned int s = 0; s < SIDE_NR; s++) {
		for (size_t i = 0; v->sides[s] && i < v->sides[s]->nr_runs; i++) {
			const struct doc_run *run = v->sides[s]->runs[i];

			for (size_t j = 0; j < run->nr_hists; j++)
				nr = add_hist(&run->hists[j], ret, nr);
		}
	}
	return nr;
}
