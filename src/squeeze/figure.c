/* SPDX-License-Identifier: GPL-2.0-only */
#include "figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "parse.h"
#include "text.h"

static const struct ladder {
	const char *unit;
	double from;
	double divide;
	const char *shown;
} ladder[] = {
	{ "ns", 1e9, 1e9, "s" },
	{ "ns", 1e6, 1e6, "ms" },
	{ "ns", 1e3, 1e3, "us" },
	{ "us", 1e6, 1e6, "s" },
	{ "us", 1e3, 1e3, "ms" },
	{ "bytes", 0x1p30, 0x1p30, "GiB" },
	{ "bytes", 0x1p20, 0x1p20, "MiB" },
	{ "bytes", 0x1p10, 0x1p10, "KiB" },
	{ "bytes_per_s", 0x1p30, 0x1p30, "GiB/s" },
	{ "bytes_per_s", 0x1p20, 0x1p20, "MiB/s" },
	{ "bytes_per_s", 0x1p10, 0x1p10, "KiB/s" },
	{ "count", 0, 1, "" },
	{ "ratio", 0, 1, "" },
	{ "per_s", 0, 1, "/s" },
	{ "bytes_per_s", 0, 1, "B/s" },
};

struct figure_scale figure_scale(const char *unit, double largest)
{
	struct figure_scale scale = { .divide = 1, .unit = unit };

	for (size_t i = 0; i < ARRAY_SIZE(ladder); i++) {
		if (!strcmp(ladder[i].unit, unit) && largest >= ladder[i].from) {
			scale.divide = ladder[i].divide;
			scale.unit = ladder[i].shown;
			break;
		}
	}
	/* Two digits as in the documents' tables; efficiencies live well below 1. */
	scale.decimals = !strcmp(unit, "ratio") || (largest > 0 && largest < 1) ? 4 : 2;
	return scale;
}

static const char *print_c(char *buf, size_t size, int decimals, double value)
{
	locale_t saved = text_locale_enter();

	(void)snprintf(buf, size, "%.*f", decimals, value);
	text_locale_leave(saved);
	return buf;
}

const char *figure_plain(double value, const struct figure_scale *scale, char *buf, size_t size)
{
	return print_c(buf, size, scale->decimals, value / scale->divide);
}

static bool whole(double value)
{
	return value >= 0 && value < 0x1p53 && !(value > floor(value));
}

const char *figure_humane(double value, const char *unit, char *buf, size_t size)
{
	struct figure_scale scale = figure_scale(unit, fabs(value));
	char number[FIGURE_SIZE + 24];

	if (scale.divide <= 1 && (whole(value) || value >= 1000) && value < 1e18)
		(void)text_grouped((uint64_t)llround(value), number, sizeof(number));
	else
		(void)figure_plain(value, &scale, number, sizeof(number));
	(void)snprintf(buf, size, "%s%s%s", number, *scale.unit && *scale.unit != '/' ? " " : "",
		       scale.unit);
	return buf;
}

const char *figure_percent_of(double base, double value, char *buf, size_t size)
{
	char number[FIGURE_SIZE];

	buf[0] = '\0';
	if (fabs(base) > 0)
		(void)snprintf(buf, size, "%s%%",
			       print_c(number, sizeof(number), 1, 100 * value / base));
	return buf;
}

const char *figure_change(double base, double value, char *buf, size_t size)
{
	double percent = 100 * (value - base) / fabs(base);
	char number[FIGURE_SIZE];

	buf[0] = '\0';
	if (!(fabs(base) > 0))
		return buf;
	(void)print_c(number, sizeof(number), fabs(percent) < 1 ? 1 : 0, fabs(percent));
	(void)snprintf(buf, size, "%s%s%%", percent < 0 ? "-" : "+", number);
	return buf;
}

const char *figure_p(double p, char *buf, size_t size)
{
	locale_t saved = text_locale_enter();

	if (p < 1e-15) /* beyond what doubles and these tests can tell */
		(void)snprintf(buf, size, "< 1e-15");
	else
		(void)snprintf(buf, size, "= %.2g", p);
	text_locale_leave(saved);
	return buf;
}

static bool ends_with(const char *s, const char *end)
{
	size_t length = strlen(s), end_length = strlen(end);

	return length >= end_length && !strcmp(s + length - end_length, end);
}

const char *figure_fact(const char *name, const char *text, char *buf, size_t size)
{
	bool bytes = ends_with(name, "bytes") || !strcmp(name, "memcg");
	uint64_t number;

	if (parse_u64(text, &number) == 0 && bytes)
		return format_size(number, buf, size);
	if (parse_u64(text, &number) == 0 && ends_with(name, "_ns"))
		return format_duration(number, buf, size);
	(void)snprintf(buf, size, "%s", text);
	return buf;
}
