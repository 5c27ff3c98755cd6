/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram as a picture of bars, from the first row that has a value to the last. Times have a row
 * for each step of 1-2-5 a decade, page counts for each power of two (reclaim's goal is one: 32).
 * Bars are as long as the logarithm of their count, so that the one value in a million that matters
 * here is still seen.
 */
#include <math.h>

#include "cleanup.h"
#include "report_internal.h"
#include "text.h"

#define BAR_MAX 30
/* More empty rows in a row than this are shown as one line of dots. */
#define GAP_MAX 3
/* 0, then 40 powers of two up to what a histogram holds; 1-2-5 steps are fewer. */
#define ROWS_MAX (HIST_MAX_BITS + 2)

/* The lowest value of row @row: 0, 1, 2, 5, 10, 20, 50 … or 0, 1, 2, 4, 8 … */
static uint64_t row_edge(size_t row, bool ns)
{
	static const uint64_t steps[] = { 1, 2, 5 };
	uint64_t edge;

	if (row == 0)
		return 0;
	if (!ns)
		return 1ULL << (row - 1);
	edge = steps[(row - 1) % ARRAY_SIZE(steps)];
	for (size_t decade = (row - 1) / ARRAY_SIZE(steps); decade > 0; decade--)
		edge *= 10;
	return edge;
}

static void collect_rows(const struct hist *h, bool ns, uint64_t rows[ROWS_MAX])
{
	uint64_t lo, hi;
	size_t row = 0;

	for (size_t i = 0; i < ROWS_MAX; i++)
		rows[i] = 0;
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		if (h->buckets[i] == 0)
			continue;
		/* A bucket lies where its middle does. */
		hist_bounds(i, &lo, &hi);
		while (row + 1 < ROWS_MAX && row_edge(row + 1, ns) <= lo + (hi - lo) / 2)
			row++;
		rows[row] += h->buckets[i];
	}
}

/* A 1, 2 or 5 with noughts has an exact name: "20 us". */
static const char *time_name(uint64_t edge, char *buf, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && edge < units[i].ns)
		i++;
	(void)snprintf(buf, size, "%llu %s", (unsigned long long)(edge / units[i].ns),
		       units[i].name);
	return buf;
}

/* "20 us - 50 us"; of counts, which are discrete, the values themselves: "32 - 63", "1". */
static void put_range(FILE *out, size_t row, bool ns)
{
	char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE];
	uint64_t lo = row_edge(row, ns), end = row_edge(row + 1, ns);

	if (ns)
		fprintf(out, "  %9s - %-9s ", time_name(lo, from, sizeof(from)),
			time_name(end, to, sizeof(to)));
	else if (end - lo <= 1)
		fprintf(out, "  %9s   %-9s ", text_grouped(lo, from, sizeof(from)), "");
	else
		fprintf(out, "  %9s - %-9s ", text_grouped(lo, from, sizeof(from)),
			text_grouped(end - 1, to, sizeof(to)));
}

static int bar_length(uint64_t n, uint64_t most)
{
	if (n == 0)
		return 0;
	if (most == 1)
		return BAR_MAX;
	return 1 + (int)lround((BAR_MAX - 1) * log((double)n) / log((double)most));
}

static void put_row(FILE *out, size_t row, uint64_t n, uint64_t most, uint64_t count, bool ns)
{
	static const char bar[] = "##############################";
	char grouped[TEXT_NUMBER_SIZE];
	double share = 100 * (double)n / (double)count;

	_Static_assert(sizeof(bar) - 1 == BAR_MAX, "a bar as long as BAR_MAX");
	put_range(out, row, ns);
	if (n == 0)
		fprintf(out, "%14s\n", "-");
	else if (share < 0.01)
		fprintf(out, "%14s  <0.01%%  %.*s\n", text_grouped(n, grouped, sizeof(grouped)),
			bar_length(n, most), bar);
	else
		fprintf(out, "%14s %6.2f%%  %.*s\n", text_grouped(n, grouped, sizeof(grouped)),
			share, bar_length(n, most), bar);
}

void report_picture(const struct hist *h, const char *unit, FILE *out)
{
	bool ns = unit && unit[0] == 'n' && unit[1] == 's' && unit[2] == '\0';
	uint64_t rows[ROWS_MAX], most = 0;
	size_t first = ROWS_MAX, last = 0;

	collect_rows(h, ns, rows);
	for (size_t i = 0; i < ROWS_MAX; i++) {
		if (rows[i] == 0)
			continue;
		first = first < i ? first : i;
		last = i;
		most = rows[i] > most ? rows[i] : most;
	}
	for (size_t i = first; i <= last && i < ROWS_MAX; i++) {
		size_t end = i;

		while (rows[end] == 0)
			end++; /* ends at @last, which has values */
		if (end - i > GAP_MAX) {
			fprintf(out, "  %9s\n", "...");
			i = end;
		}
		put_row(out, i, rows[i], most, h->count, ns);
	}
}
