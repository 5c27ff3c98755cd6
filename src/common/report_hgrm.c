/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The percentile file of HdrHistogram (outputPercentileDistribution), which its plotters read: four
 * columns under a heading, the last row without its infinite fourth column, and a footer of '#'
 * lines. A row for each non-empty bucket, so nothing is lost. Nanoseconds are written as milliseconds,
 * the plotters' unit, with all their digits.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "report.h"
#include "report_internal.h"
#include "text.h"

#define NS_PER_MS 1000000

static void put_value(FILE *out, uint64_t value, bool ns)
{
	if (ns)
		fprintf(out, "%12llu.%06llu", (unsigned long long)(value / NS_PER_MS),
			(unsigned long long)(value % NS_PER_MS));
	else
		fprintf(out, "%12llu.000000", (unsigned long long)value);
}

static void put_rows(FILE *out, const struct hist *h, bool ns)
{
	uint64_t below = 0, lo, hi;

	put_value(out, h->min, ns);
	fprintf(out, " %14.12f %10u %14.2f\n", 0.0, 1, 1.0);
	for (size_t i = 0; i < HIST_BUCKETS && below < h->count; i++) {
		if (h->buckets[i] == 0)
			continue;
		hist_bounds(i, &lo, &hi);
		below += h->buckets[i];
		if (below >= h->count)
			break;
		put_value(out, hi < h->max ? hi : h->max, ns);
		fprintf(out, " %14.12f %10llu %14.2f\n", (double)below / (double)h->count,
			(unsigned long long)below, (double)h->count / (double)(h->count - below));
	}
	put_value(out, h->max, ns);
	fprintf(out, " %14.12f %10llu\n", 1.0, (unsigned long long)h->count);
}

/* From the buckets' midpoints, as HdrHistogram does. */
static double deviation(const struct hist *h)
{
	double mean = hist_mean(h);
	double squares = 0;
	uint64_t lo, hi;

	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		double off;

		if (h->buckets[i] == 0)
			continue;
		hist_bounds(i, &lo, &hi);
		off = (double)lo + (double)(hi - lo) / 2 - mean;
		squares += off * off * (double)h->buckets[i];
	}
	return sqrt(squares / (double)h->count);
}

static void put_file(FILE *out, const struct hist *h, bool ns)
{
	double scale = ns ? NS_PER_MS : 1;

	fputs("       Value     Percentile TotalCount 1/(1-Percentile)\n\n", out);
	if (h->count)
		put_rows(out, h, ns);
	fprintf(out, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n",
		h->count ? hist_mean(h) / scale : 0, h->count ? deviation(h) / scale : 0);
	fprintf(out, "#[Max     = %12.6f, Total count    = %12llu]\n",
		h->count ? (double)h->max / scale : 0, (unsigned long long)h->count);
	fprintf(out, "#[Buckets = %12u, SubBuckets     = %12u]\n", HIST_GROUPS, HIST_SUB);
}

int report_hgrm(const struct run_result *run, const char *name, FILE *out)
{
	for (size_t i = 0; i < run->nr_hists; i++) {
		const struct named_hist *named = &run->hists[i];
		locale_t saved;

		if (strcmp(named->name, name) != 0)
			continue;
		errno = 0;
		saved = text_locale_enter();
		put_file(out, named->hist, named->unit && strcmp(named->unit, "ns") == 0);
		text_locale_leave(saved);
		return report_stream_status(out);
	}
	return -ENOENT;
}
