/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Line charts as inline SVG: two axes, a grid, curves that are thinned out to what can be seen.
 *
 * A chart is a <figure> that can be reached by keyboard, with its title as caption and as the SVG's
 * accessible name. Colours and strokes are classes of the style sheet (page.css), so light, dark
 * and paper need no second drawing. Coordinates have one decimal: a tenth of a pixel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CHART_TICKS_MAX 24

struct chart_axis {
	bool log;
	double lo, hi; /* lo < hi; both > 0 on a log axis */
	double ticks[CHART_TICKS_MAX];
	size_t nr_ticks;
	const char *label; /* ours or escaped by the chart */
	/* Writes a tick's text. NULL: chart_short_number(). */
	const char *(*text)(double value, char *buf, size_t size);
};

/* 0 to at least @hi, in 3 to 6 steps of 1, 2 or 5 times a power of ten. */
void chart_axis_linear(struct chart_axis *a, double hi, const char *label);
/* Whole decades around @lo … @hi, both > 0. */
void chart_axis_log(struct chart_axis *a, double lo, double hi, const char *label);
/* "0.5", "250", "25 k", "80 M": what fits beside an axis, in the unit that suits @like (the axis's
 * end, so that all its ticks are alike). Returns @buf. */
const char *chart_short_number(double v, double like, char *buf, size_t size);
/* Where @v lies between lo and hi, 0 to 1, clamped. */
double chart_axis_at(const struct chart_axis *a, double v);

struct chart_point {
	double x, y; /* NaN: a gap */
};

struct chart {
	FILE *out;
	struct chart_axis x, y;
};

/* @id is ours; @title is escaped. Draws frame and grid. */
void chart_begin(struct chart *c, const char *id, const char *title);
/* A curve of class @style ("base", "new dashed"); @name is its tooltip. Nothing for < 1 point. */
void chart_curve(struct chart *c, const struct chart_point *points, size_t nr, const char *style,
		 const char *name);
/* A horizontal line with a text at its right end. */
void chart_limit(struct chart *c, double y, const char *text);
void chart_end(struct chart *c);
