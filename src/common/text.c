/* SPDX-License-Identifier: GPL-2.0-only */
#include "text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "parse.h"

locale_t text_locale_enter(void)
{
	/* glibc and musl keep the C locale as a static object: this cannot fail for want of memory,
	 * and there is nothing to free. */
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void text_locale_leave(locale_t saved)
{
	(void)uselocale(saved);
}

const char *text_real(double d, char *buf, size_t size)
{
	locale_t saved = text_locale_enter();

	/* 17 digits always suffice for a binary64, 15 often do. */
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(buf, size, "%.*g", digits, d);
		if (!(strtod(buf, NULL) < d) && !(strtod(buf, NULL) > d))
			break;
	}
	text_locale_leave(saved);
	if (!strpbrk(buf, ".e") && strlen(buf) + 2 < size)
		memcpy(buf + strlen(buf), ".0", sizeof(".0"));
	return buf;
}

const char *text_exact(struct value v, char *buf, size_t size)
{
	buf[0] = '\0';
	if (v.kind == VALUE_COUNT)
		(void)snprintf(buf, size, "%llu", (unsigned long long)v.u);
	else if (v.kind == VALUE_REAL)
		(void)text_real(v.d, buf, size);
	return buf;
}

const char *text_grouped(uint64_t u, char *buf, size_t size)
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)u);
	size_t at = 0;

	for (size_t i = 0; i < len && at + 2 < size; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

/* A plain number: grouped when it is whole or large, else with three digits that mean something. */
static void plain_figure(struct value v, struct text_quantity *q)
{
	char grouped[TEXT_NUMBER_SIZE - 1];
	double magnitude = fabs(value_as_real(v));
	locale_t saved;

	if (v.kind == VALUE_COUNT) {
		(void)text_grouped(v.u, q->figure, sizeof(q->figure));
		return;
	}
	/* Below 1e18 llround() is exact enough and cannot overflow. */
	if (magnitude < 1e18 && (magnitude >= 1000 || magnitude <= floor(magnitude))) {
		(void)text_grouped((uint64_t)llround(magnitude), grouped, sizeof(grouped));
		(void)snprintf(q->figure, sizeof(q->figure), "%s%s", v.d < 0 ? "-" : "", grouped);
		return;
	}
	saved = text_locale_enter();
	if (magnitude > 0 && (magnitude < 0.001 || magnitude >= 1e18))
		(void)snprintf(q->figure, sizeof(q->figure), "%.2e", v.d);
	else if (magnitude < 1)
		(void)snprintf(q->figure, sizeof(q->figure), "%.4f", v.d);
	else
		(void)snprintf(q->figure, sizeof(q->figure), "%.2f", v.d);
	text_locale_leave(saved);
}

/* "4.56 ms" of parse.h into its two halves. */
static void split_figure(const char *both, struct text_quantity *q)
{
	const char *blank = strchr(both, ' ');
	size_t len = blank ? (size_t)(blank - both) : strlen(both);

	(void)snprintf(q->figure, sizeof(q->figure), "%.*s", (int)len, both);
	(void)snprintf(q->unit, sizeof(q->unit), "%.15s", blank ? blank + 1 : "");
}

/* A real number of ns or bytes is rounded to whole ones; none above 2^64 arrives here. */
static uint64_t whole(struct value v, double factor)
{
	double scaled = value_as_real(v) * factor;

	if (v.kind == VALUE_COUNT && v.u <= UINT64_MAX / (uint64_t)factor)
		return v.u * (uint64_t)factor;
	return scaled > 0 && scaled < 18446744073709549568.0 ? (uint64_t)scaled : UINT64_MAX;
}

struct text_quantity text_quantity(struct value v, const char *unit)
{
	static const struct {
		const char *unit;
		bool duration, size;
		double factor; /* to ns, or to bytes */
		const char *suffix;
	} rows[] = {
		{ "ns", true, false, 1, "" },
		{ "us", true, false, 1000, "" },
		{ "s", true, false, 1e9, "" },
		{ "bytes", false, true, 1, "" },
		{ "bytes_per_s", false, true, 1, "/s" },
		{ "per_s", false, false, 1, "/s" },
		{ "pages", false, false, 1, "pages" },
		{ "percent", false, false, 1, "%" },
	};
	struct text_quantity q = { .figure = "-" };
	char both[TEXT_NUMBER_SIZE];

	if (!value_is_present(v))
		return q;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!unit || strcmp(unit, rows[i].unit) != 0)
			continue;
		if (rows[i].duration)
			split_figure(format_duration(whole(v, rows[i].factor), both, sizeof(both)),
				     &q);
		else if (rows[i].size)
			split_figure(format_size(whole(v, rows[i].factor), both, sizeof(both)), &q);
		else
			plain_figure(v, &q);
		(void)strncat(q.unit, rows[i].suffix, sizeof(q.unit) - strlen(q.unit) - 1);
		return q;
	}
	plain_figure(v, &q);
	if (unit && strcmp(unit, "count") != 0 && strcmp(unit, "ratio") != 0)
		(void)snprintf(q.unit, sizeof(q.unit), "%.15s", unit);
	return q;
}

const char *text_humane(struct value v, const char *unit, char *buf, size_t size)
{
	struct text_quantity q = text_quantity(v, unit);

	(void)snprintf(buf, size, "%s%s%s", q.figure, q.unit[0] ? " " : "", q.unit);
	return buf;
}

const char *text_clean(const char *from, const char *forbidden, char *buf, size_t size)
{
	size_t at = 0;

	for (; *from && at + 1 < size; from++) {
		unsigned char c = (unsigned char)*from;

		if (strchr(" \t\n\r\v\f", c)) {
			if (at && buf[at - 1] != ' ')
				buf[at++] = ' ';
		} else if (strchr(forbidden, c)) {
			buf[at++] = '_';
		} else {
			buf[at++] = c > 0x20 && c < 0x7f ? (char)c : '?';
		}
	}
	while (at && buf[at - 1] == ' ')
		at--;
	buf[at] = '\0';
	return buf;
}

void text_paragraph(FILE *out, const char *text, size_t column, size_t indent)
{
	char line[4096];
	const char *word = text_clean(text, "", line, sizeof(line));
	bool first = true;

	while (*word) {
		size_t len = strcspn(word, " ");

		if (!first && column + 1 + len > TEXT_WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			putc(' ', out);
			column++;
		}
		(void)fwrite(word, 1, len, out);
		column += len;
		first = false;
		word += len;
		word += strspn(word, " ");
	}
	putc('\n', out);
}
