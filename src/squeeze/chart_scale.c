/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdio.h>

#include "chart.h"

static void add_tick(struct chart_axis *a, double v)
{
	if (a->nr_ticks < CHART_TICKS_MAX)
		a->ticks[a->nr_ticks++] = v;
}

/* The step of 1, 2 or 5 times a power of ten that cuts @range in at most five. */
static double nice_step(double range)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10(range / 5)));

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (range / (steps[i] * power) <= 5)
			return steps[i] * power;
	}
	return 10 * power;
}

void chart_axis_linear(struct chart_axis *a, double hi, const char *label)
{
	double step;

	*a = (struct chart_axis){ .label = label };
	/* Nothing but zeros is worth a picture too: a flat line at the bottom. */
	if (!(hi > 1e-12) || !isfinite(hi))
		hi = 1;
	step = nice_step(hi);
	a->hi = ceil(hi / step - 1e-9) * step;
	for (int i = 0; i * step <= a->hi * 1.000001; i++)
		add_tick(a, i * step);
}

void chart_axis_log(struct chart_axis *a, double lo, double hi, const char *label)
{
	int first, last, stride;

	*a = (struct chart_axis){ .label = label, .log = true };
	first = (int)floor(log10(lo) + 1e-9);
	last = (int)ceil(log10(hi) - 1e-9);
	if (last <= first)
		last = first + 1;
	a->lo = pow(10, first);
	a->hi = pow(10, last);
	stride = (last - first) / 9 + 1; /* ten labels are what the height has room for */
	for (int i = first; i <= last; i += stride)
		add_tick(a, pow(10, i));
}

const char *chart_short_number(double v, double like, char *buf, size_t size)
{
	static const char *const suffixes[] = { "", " k", " M", " G", " T", " P", " E" };
	size_t i = 0;

	for (; fabs(like) >= 9999.5 && i + 1 < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		like /= 1000;
		v /= 1000;
	}
	(void)snprintf(buf, size, "%.4g%s", v, v > 0 ? suffixes[i] : "");
	return buf;
}

double chart_axis_at(const struct chart_axis *a, double v)
{
	double at;

	if (a->log)
		at = v > a->lo ? log(v / a->lo) / log(a->hi / a->lo) : 0;
	else
		at = (v - a->lo) / (a->hi - a->lo);
	return fmin(fmax(at, 0), 1);
}
