/* SPDX-License-Identifier: GPL-2.0-only */
#include "chart.h"

#include <math.h>

#include "html.h"

/* The drawing's own units. At 400 pixels of window it is shown at about 0.8, at 1280 at 1.2. */
#define WIDTH 480.0
#define HEIGHT 270.0
#define LEFT 58.0
#define RIGHT 22.0
#define TOP 12.0
#define BOTTOM 42.0
/* Points nearer than this to the last one drawn cannot be told from it. */
#define SAME_POINT 0.3

static double px(const struct chart *c, double x)
{
	return LEFT + chart_axis_at(&c->x, x) * (WIDTH - LEFT - RIGHT);
}

static double py(const struct chart *c, double y)
{
	return HEIGHT - BOTTOM - chart_axis_at(&c->y, y) * (HEIGHT - TOP - BOTTOM);
}

static void tick_text(const struct chart *c, const struct chart_axis *a, double v)
{
	char buf[32];

	html_text(c->out, a->text ? a->text(v, buf, sizeof(buf))
				  : chart_short_number(v, a->log ? v : a->hi, buf, sizeof(buf)));
}

static void draw_axes(const struct chart *c)
{
	const double bottom = HEIGHT - BOTTOM;

	for (size_t i = 0; i < c->y.nr_ticks; i++) {
		double y = py(c, c->y.ticks[i]);

		fprintf(c->out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", LEFT, y,
			WIDTH - RIGHT);
		fprintf(c->out, "<text class=\"y\" x=\"%.1f\" y=\"%.1f\">", LEFT - 6, y + 4);
		tick_text(c, &c->y, c->y.ticks[i]);
		fputs("</text>", c->out);
	}
	for (size_t i = 0; i < c->x.nr_ticks; i++) {
		double x = px(c, c->x.ticks[i]);

		fprintf(c->out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, TOP, bottom);
		fprintf(c->out, "<text class=\"x\" x=\"%.1f\" y=\"%.1f\">", x, bottom + 15);
		tick_text(c, &c->x, c->x.ticks[i]);
		fputs("</text>", c->out);
	}
	fprintf(c->out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", LEFT, TOP, bottom,
		WIDTH - RIGHT);
	fprintf(c->out, "<text class=\"x label\" x=\"%.1f\" y=\"%.1f\">",
		(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
	html_text(c->out, c->x.label);
	fputs("</text>\n", c->out);
}

void chart_begin(struct chart *c, const char *id, const char *title)
{
	fprintf(c->out, "<figure class=\"chart\" tabindex=\"0\"><figcaption id=\"%s\">", id);
	html_text(c->out, title);
	if (*c->y.label)
		html_printf(c->out, ", %s", c->y.label);
	fprintf(c->out,
		"</figcaption>\n<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
		"aria-labelledby=\"%s\">",
		WIDTH, HEIGHT, id);
	draw_axes(c);
}

static void draw_points(const struct chart *c, const struct chart_point *points, size_t nr)
{
	double last_x = -1, last_y = -1;
	bool pen_down = false;

	for (size_t i = 0; i < nr; i++) {
		double x, y;

		if (isnan(points[i].x) || isnan(points[i].y)) {
			pen_down = false;
			continue;
		}
		x = px(c, points[i].x);
		y = py(c, points[i].y);
		if (pen_down && i + 1 < nr && fabs(x - last_x) + fabs(y - last_y) < SAME_POINT)
			continue;
		fprintf(c->out, "%c%.1f %.1f", pen_down ? 'L' : 'M', x, y);
		/* A lone point is drawn too: round caps make a dot of a line without length. */
		if (!pen_down && (i + 1 == nr || isnan(points[i + 1].y)))
			fputs("h0.1", c->out);
		pen_down = true;
		last_x = x;
		last_y = y;
	}
}

void chart_curve(struct chart *c, const struct chart_point *points, size_t nr, const char *style,
		 const char *name)
{
	size_t measured = 0;

	for (size_t i = 0; i < nr; i++)
		measured += isnan(points[i].y) ? 0 : 1;
	if (!measured)
		return;
	fprintf(c->out, "<path class=\"curve %s\" d=\"", style);
	draw_points(c, points, nr);
	fputs("\">", c->out);
	html_element(c->out, "title", name);
	fputs("</path>\n", c->out);
}

void chart_limit(struct chart *c, double y, const char *text)
{
	fprintf(c->out, "<path class=\"limit\" d=\"M%.1f %.1fH%.1f\"/>", LEFT, py(c, y),
		WIDTH - RIGHT);
	fprintf(c->out, "<text class=\"limit\" x=\"%.1f\" y=\"%.1f\">", WIDTH - RIGHT - 4,
		py(c, y) - 4);
	html_text(c->out, text);
	fputs("</text>\n", c->out);
}

void chart_end(struct chart *c)
{
	fputs("</svg></figure>\n", c->out);
}
