/* SPDX-License-Identifier: GPL-2.0-only */
/* What went on during the runs: one chart for each row of the table that any run has data for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "cleanup.h"
#include "figure.h"
#include "page_impl.h"

enum form {
	LEVEL, /* as sampled */
	RATE,  /* growth per second of a counter */
};

static const struct row {
	const char *title;
	const char *series;
	const char *also; /* a second one, dashed; NULL */
	const char *also_name;
	const char *unit;
	double factor;
	double most; /* what cannot be exceeded but by the jitter of the clock; 0: none */
	enum form form;
	bool limited; /* draw the memcg's limit */
} rows[] = {
	{ "Progress", "progress", NULL, NULL, "per second", 1, 0, RATE, false },
	{ "Memory use against the limit (dashed: reclaimable)", "memcg_current_bytes",
	  "reclaimable_bytes", "reclaimable", "bytes", 1, 0, LEVEL, true },
	{ "Reclaim passes", "reclaim_passes", NULL, NULL, "per second", 1, 0, RATE, false },
	{ "Limit hits", "limit_hits", NULL, NULL, "per second", 1, 0, RATE, false },
	{ "Reclaim passes under way", "passes_in_flight", NULL, NULL, "", 1, 0, LEVEL, false },
	{ "Sleeps in reclaim throttling", "throttled", NULL, NULL, "per second", 1, 0, RATE,
	  false },
	{ "Isolated pages on the node", "nr_isolated", NULL, NULL, "pages", 1, 0, LEVEL, false },
	/* Microseconds a second are millionths of the time: to per cent. */
	{ "Memory pressure, some (dashed: full)", "psi_some_us", "psi_full_us", "full",
	  "% of the time", 1e-4, 100, RATE, false },
	{ "Swap in use (dashed: free)", "memcg_swap_bytes", "swap_free_bytes", "free", "bytes", 1,
	  0, LEVEL, false },
};

struct line {
	struct chart_point *points;
	size_t nr;
};

/* One point for @stride samples: a counter's growth over them, or the highest level among them. */
static void fill_line(const struct row *row, const double *t, const double *v, size_t nr,
		      size_t stride, struct line *ret)
{
	size_t from = 0;

	ret->nr = 0;
	while (from < nr) {
		size_t to = from + stride < nr ? from + stride : nr;
		struct chart_point *p = &ret->points[ret->nr];

		if (row->form == RATE) {
			if (from + 1 >= nr)
				break;
			to = to < nr ? to : nr - 1;
			p->x = t[to] / 1e9;
			p->y = t[to] > t[from] ? fmax(v[to] - v[from], 0) * 1e9 / (t[to] - t[from])
					       : (double)NAN;
		} else {
			p->x = t[from] / 1e9;
			p->y = v[from];
			for (size_t i = from + 1; i < to; i++)
				p->y = fmax(p->y, v[i]); /* fmax() passes over NaN */
		}
		p->y *= row->factor;
		if (row->most > 0 && p->y > row->most)
			p->y = row->most;
		ret->nr++;
		from = to;
		if (row->form == RATE && from + 1 >= nr)
			break;
	}
}

struct plot {
	const struct view *v;
	const struct row *row;
	struct chart chart;
	size_t curves;
	double t_max, y_max, limit;
	struct figure_scale scale;
	bool drawing; /* else measuring the extent */
};

static int plot_series(struct plot *p, const struct doc_run *run, const char *series,
		       const char *style, const char *name)
{
	const double *t = doc_run_series(run, "t_ns"), *values = doc_run_series(run, series);
	_cleanup_free_ struct chart_point *points = NULL;
	struct line line;
	size_t max = view_points_each(p->v, p->curves ? p->curves : 1);

	if (!t || !values || run->nr_samples < 2)
		return 0;
	points = calloc(run->nr_samples, sizeof(*points));
	if (!points)
		return -ENOMEM;
	line.points = points;
	fill_line(p->row, t, values, run->nr_samples, run->nr_samples / max + 1, &line);
	for (size_t i = 0; i < line.nr; i++) {
		if (p->drawing) {
			points[i].y /= p->scale.divide;
			continue;
		}
		p->t_max = fmax(p->t_max, points[i].x);
		p->y_max = fmax(p->y_max, points[i].y);
	}
	if (p->drawing)
		chart_curve(&p->chart, points, line.nr, style, name);
	else
		p->curves++;
	return 0;
}

static int plot_side(struct plot *p, enum side side)
{
	static const char *const dashed[SIDE_NR] = { "base dashed", "new dashed" };
	const struct cohort *cohort = p->v->sides[side];

	for (size_t i = 0; cohort && i < cohort->nr_runs; i++) {
		const char *name = view_run_name(p->v, side, i);
		const char *also = p->row->also_name ? pool_printf(p->v->pool, "%s, %s", name,
								   p->row->also_name)
						     : name;

		if (!also ||
		    plot_series(p, cohort->runs[i], p->row->series, side_names[side], name) < 0)
			return -ENOMEM;
		if (p->row->also &&
		    plot_series(p, cohort->runs[i], p->row->also, dashed[side], also) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The memcg's limit, where the run recorded one; else 0. */
static double find_limit(const struct view *v)
{
	static const char *const names[] = { "memcg", "memcg_bytes", "limit_bytes" };

	for (unsigned int s = 0; s < SIDE_NR; s++) {
		for (size_t i = 0; v->sides[s] && i < ARRAY_SIZE(names); i++) {
			struct value limit = document_param_number(v->sides[s]->like, names[i]);

			if (value_is_present(limit))
				return value_as_real(limit);
		}
	}
	return 0;
}

static int draw_plot(struct plot *p, size_t index)
{
	const struct row *row = p->row;
	bool bytes = !strcmp(row->unit, "bytes");
	const char *id = pool_printf(p->v->pool, "s%u-time-%zu", p->v->number, index);

	if (!id)
		return -ENOMEM;
	if (row->limited)
		p->limit = find_limit(p->v);
	p->y_max = fmax(p->y_max, p->limit);
	p->scale = figure_scale(bytes ? "bytes" : "", p->y_max);
	chart_axis_linear(&p->chart.x, p->t_max, "seconds since the workers were released");
	chart_axis_linear(&p->chart.y, p->y_max / p->scale.divide,
			  bytes ? p->scale.unit : row->unit);
	p->drawing = true;
	chart_begin(&p->chart, id, row->title);
	if (plot_side(p, SIDE_BASE) < 0 || plot_side(p, SIDE_NEW) < 0)
		return -ENOMEM;
	if (p->limit > 0)
		chart_limit(&p->chart, p->limit / p->scale.divide, "limit");
	chart_end(&p->chart);
	return 0;
}

static bool has_series(const struct view *v, const char *series)
{
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		for (size_t i = 0; v->sides[s] && i < v->sides[s]->nr_runs; i++) {
			if (doc_run_series(v->sides[s]->runs[i], series))
				return true;
		}
	}
	return false;
}

int page_timelines(const struct view *v)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plot p = { .v = v, .row = &rows[i], .chart = { .out = v->out } };

		if (!has_series(v, rows[i].series))
			continue;
		if (plot_side(&p, SIDE_BASE) < 0 || plot_side(&p, SIDE_NEW) < 0)
			return -ENOMEM;
		/* Nothing ever happened: a flat line at 0 says less than its absence. */
		if (!p.curves || !(p.y_max > 0))
			continue;
		if (draw_plot(&p, i) < 0)
			return -ENOMEM;
	}
	return 0;
}
