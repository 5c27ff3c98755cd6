/* SPDX-License-Identifier: GPL-2.0-only */
/* Latency by percentile, as HdrHistogram's plotters draw it: x = 1 / (1 - p), both axes
 * logarithmic, so that each further nine of the percentile has as much room as the last. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "cleanup.h"
#include "figure.h"
#include "page_impl.h"

/* Ten million: 99.99999 %. What lies beyond is the maximum, which is in the table. */
#define X_MAX 1e7

static const char *percentile_text(double x, char *buf, size_t size)
{
	/* 1 - 1/x has as many nines as x has zeros. */
	int nines = (int)lround(log10(x));

	(void)snprintf(buf, size, "%.*f", nines > 2 ? nines - 2 : 0, 100 - 100 / x);
	return buf;
}

static const char *duration_text(double ns, char *buf, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0;

	for (; ns >= 999.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		ns /= 1000;
	(void)snprintf(buf, size, "%g %s", ns, units[unit]);
	return buf;
}

/* The curve as steps: all values of a bucket share its upper bound, from the percentile at which
 * they begin to the one at which they end. Of @stride buckets that hold something the last is
 * drawn. */
static size_t fill_points(const struct hist *h, struct chart_point *points, size_t max,
			  size_t stride)
{
	uint64_t below = 0;
	size_t nr = 0, seen = 0;
	double from = 1;

	for (size_t i = 0; i < HIST_BUCKETS && nr + 2 <= max; i++) {
		uint64_t lo, hi;
		double to, y;

		if (!h->buckets[i])
			continue;
		below += h->buckets[i];
		if (++seen % stride && below < h->count)
			continue;
		hist_bounds(i, &lo, &hi);
		/* At most one in count lies beyond the last: the maximum. */
		to = (double)h->count / (double)(below < h->count ? h->count - below : 1);
		y = (double)(hi < h->max && below < h->count ? hi : h->max);
		points[nr++] = (struct chart_point){ from, y };
		points[nr++] = (struct chart_point){ to, y };
		from = to;
	}
	return nr;
}

static int draw_curve(const struct view *v, struct chart *c, const struct hist *h, enum side side,
		      size_t run, size_t max)
{
	_cleanup_free_ struct chart_point *points = NULL;
	size_t used = 0, nr;

	for (size_t i = 0; i < HIST_BUCKETS; i++)
		used += h->buckets[i] > 0;
	/* Two points a step, and the last step that the stride may leave over. */
	points = calloc(2 * max + 4, sizeof(*points));
	if (!points)
		return -ENOMEM;
	nr = fill_points(h, points, 2 * max + 4, used / max + 1);
	chart_curve(c, points, nr, side_names[side], view_run_name(v, side, run));
	return 0;
}

struct extent {
	double lo, hi;
	double count;
	size_t curves;
};

static void extend(struct extent *e, const struct cohort *cohort, const char *name)
{
	for (size_t i = 0; cohort && i < cohort->nr_runs; i++) {
		const struct hist *h = doc_run_hist(cohort->runs[i], name);

		if (!h || !h->count)
			continue;
		/* A log axis has no 0: what took no time at all is drawn at the bottom. */
		e->lo = fmin(e->lo, h->min ? (double)h->min : 1);
		e->hi = fmax(e->hi, (double)h->max);
		e->count = fmax(e->count, (double)h->count);
		e->curves++;
	}
}

static int draw_chart(const struct view *v, size_t index, const struct doc_hist *which)
{
	struct extent e = { .lo = INFINITY, .hi = 1, .count = 1 };
	struct chart c = { .out = v->out };
	bool time = !strcmp(which->unit, "ns");
	const char *id = pool_printf(v->pool, "s%u-curve-%zu", v->number, index);
	const char *title = pool_printf(v->pool, "%s by percentile", which->name);

	if (!id || !title)
		return -ENOMEM;
	for (unsigned int s = 0; s < SIDE_NR; s++)
		extend(&e, v->sides[s], which->name);
	if (!e.curves)
		return 0;
	chart_axis_log(&c.x, 1, fmin(e.count, X_MAX), "percentile");
	c.x.text = percentile_text;
	chart_axis_log(&c.y, e.lo, e.hi, time ? "" : which->unit);
	c.y.text = time ? duration_text : NULL;
	chart_begin(&c, id, title);
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		const struct cohort *cohort = v->sides[s];

		for (size_t i = 0; cohort && i < cohort->nr_runs; i++) {
			const struct hist *h = doc_run_hist(cohort->runs[i], which->name);

			if (h && h->count &&
			    draw_curve(v, &c, h, (enum side)s, i, view_points_each(v, e.curves)) <
				    0)
				return -ENOMEM;
		}
	}
	chart_end(&c);
	return 0;
}

int page_curves(const struct view *v)
{
	const struct doc_hist *hists[VIEW_HISTS_MAX];
	size_t nr = view_hists(v, hists);

	for (size_t i = 0; i < nr; i++) {
		if (draw_chart(v, i, hists[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}
