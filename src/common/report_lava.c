/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LAVA test case signals, as lava-test-case prints them (peers.md, a.4): the verdict under the
 * scenario's name, the checks with what was measured, then metrics and percentiles so that a
 * dashboard can plot them. Broken is told as fail and inconclusive as skip, as Linaro's parser of
 * LTP results does.
 */
#include <errno.h>

#include "report.h"
#include "report_internal.h"
#include "text.h"

static void put_signal(FILE *out, const char *id, const char *result, struct value v,
		       const char *unit)
{
	char number[TEXT_NUMBER_SIZE];

	fprintf(out, "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=%s RESULT=%s", id, result);
	if (value_is_present(v))
		fprintf(out, " MEASUREMENT=%s UNITS=%s", text_exact(v, number, sizeof(number)),
			unit && unit[0] ? unit : "count");
	fputs(">\n", out);
}

/* @name is "metric.touches" or "histogram.touch.p99": a check may be named like a metric. */
static void put_number(const struct result_doc *doc, size_t run, const char *name, struct value v,
		       const char *unit, FILE *out)
{
	char id[160], clean[160], suffix[32] = "";
	const char *result = report_is_judged(&doc->runs[run]) ? "pass" : "skip";

	if (!value_is_present(v))
		return;
	if (doc->nr_runs > 1)
		(void)snprintf(suffix, sizeof(suffix), ".run%zu", run + 1);
	(void)snprintf(id, sizeof(id), "%.64s.%s%s", doc->scenario, name, suffix);
	put_signal(out, text_clean(id, " #<>=\"'", clean, sizeof(clean)), result, v, unit);
}

static void put_hist_number(const struct result_doc *doc, size_t run,
			    const struct named_hist *named, const char *key, uint64_t v, FILE *out)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "histogram.%s.%s", named->name, key);
	put_number(doc, run, name, value_u64(v), named->unit, out);
}

static void put_hist(const struct result_doc *doc, size_t run, const struct named_hist *named,
		     FILE *out)
{
	if (named->hist->count == 0)
		return;
	for (size_t i = 0; i < REPORT_PERCENTILES; i++)
		put_hist_number(doc, run, named, report_percentiles[i].key,
				hist_percentile(named->hist, report_percentiles[i].percent), out);
	put_hist_number(doc, run, named, "max", named->hist->max, out);
}

static void put_metric(const struct result_doc *doc, size_t run, size_t metric, FILE *out)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "metric.%s", metric_table[metric].name);
	put_number(doc, run, name, doc->runs[run].metrics[metric], metric_table[metric].unit, out);
}

int report_lava(const struct result_doc *doc, FILE *out)
{
	static const char *const results[ITEM_NR] = {
		[ITEM_PASS] = "pass",
		[ITEM_FAIL] = "fail",
		[ITEM_SKIP] = "skip",
		[ITEM_ERROR] = "fail",
	};
	static const char *const verdicts[VERDICT_NR] = {
		[VERDICT_PASS] = "pass",	 [VERDICT_FAIL] = "fail",  [VERDICT_SKIP] = "skip",
		[VERDICT_INCONCLUSIVE] = "skip", [VERDICT_ERROR] = "fail",
	};
	struct report_items it = { .doc = doc };
	struct report_item item;

	errno = 0;
	put_signal(out, doc->scenario, verdicts[doc->verdict], value_absent(), NULL);
	while (report_items_next(&it, &item)) {
		if (item.check)
			put_signal(out, item.id, results[item.outcome], item.check->value,
				   item.check->unit);
	}
	for (size_t r = 0; r < doc->nr_runs; r++) {
		const struct run_result *run = &doc->runs[r];

		for (size_t i = 0; i < METRIC_COUNT; i++)
			put_metric(doc, r, i, out);
		for (size_t i = 0; i < run->nr_hists; i++)
			put_hist(doc, r, &run->hists[i], out);
	}
	return report_stream_status(out);
}
