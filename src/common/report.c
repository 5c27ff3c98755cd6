/* SPDX-License-Identifier: GPL-2.0-only */
#include "report.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "report_internal.h"
#include "text.h"

/* kselftest: 4 is "skipped". LTP: 32 is TCONF, 2 is TBROK. peers.md, a.0. */
#define EXIT_CODES_PLAIN                                                    \
	{                                                                   \
		[VERDICT_PASS] = 0, [VERDICT_FAIL] = 1, [VERDICT_SKIP] = 4, \
		[VERDICT_INCONCLUSIVE] = 4, [VERDICT_ERROR] = 2             \
	}
#define EXIT_CODES_KTAP                                                     \
	{                                                                   \
		[VERDICT_PASS] = 0, [VERDICT_FAIL] = 1, [VERDICT_SKIP] = 4, \
		[VERDICT_INCONCLUSIVE] = 4, [VERDICT_ERROR] = 1             \
	}
#define EXIT_CODES_LTP                                                       \
	{                                                                    \
		[VERDICT_PASS] = 0, [VERDICT_FAIL] = 1, [VERDICT_SKIP] = 32, \
		[VERDICT_INCONCLUSIVE] = 32, [VERDICT_ERROR] = 2             \
	}

const struct report_format report_formats[] = {
	{ "text", "for people", report_text, EXIT_CODES_PLAIN },
	{ "json", "the whole result document", report_json, EXIT_CODES_PLAIN },
	{ "ktap", "for kselftest", report_ktap, EXIT_CODES_KTAP },
	{ "ltp", "for LTP's kirk", report_ltp, EXIT_CODES_LTP },
	{ "csv", "a row for each number", report_csv, EXIT_CODES_PLAIN },
	{ "lava", "LAVA test case signals", report_lava, EXIT_CODES_PLAIN },
};
const size_t report_formats_nr = ARRAY_SIZE(report_formats);

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < report_formats_nr; i++) {
		if (strcmp(report_formats[i].name, name) == 0)
			return &report_formats[i];
	}
	return NULL;
}

const struct report_percentile report_percentiles[REPORT_PERCENTILES] = {
	{ "p50", "p50", 50 },	    { "p90", "p90", 90 },	   { "p99", "p99", 99 },
	{ "p99_9", "p99.9", 99.9 }, { "p99_99", "p99.99", 99.99 },
};

bool report_is_judged(const struct run_result *run)
{
	return run->verdict == VERDICT_PASS || run->verdict == VERDICT_FAIL;
}

int report_stream_status(FILE *out)
{
	if (!ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

const char *report_check_figures(const struct check *check, char *buf, size_t size)
{
	char value[TEXT_NUMBER_SIZE], bound[TEXT_NUMBER_SIZE];
	const char *unit = check->unit ? check->unit : "";

	buf[0] = '\0';
	if (value_is_present(check->value) && value_is_present(check->bound))
		(void)snprintf(buf, size, "%s %s, bound %s %s",
			       text_exact(check->value, value, sizeof(value)), unit,
			       check_op_text(check->op),
			       text_exact(check->bound, bound, sizeof(bound)));
	return buf;
}

static const enum item_outcome outcome_of_verdict[VERDICT_NR] = {
	[VERDICT_PASS] = ITEM_PASS,   [VERDICT_FAIL] = ITEM_FAIL,
	[VERDICT_SKIP] = ITEM_SKIP,   [VERDICT_INCONCLUSIVE] = ITEM_SKIP,
	[VERDICT_ERROR] = ITEM_ERROR,
};

static const enum item_outcome outcome_of_check[OUTCOME_NR] = {
	[OUTCOME_PASS] = ITEM_PASS,
	[OUTCOME_FAIL] = ITEM_FAIL,
	[OUTCOME_SKIP] = ITEM_SKIP,
};

static void fill_item(const struct report_items *it, const struct check *check,
		      enum item_outcome outcome, const char *why, struct report_item *ret)
{
	const struct result_doc *doc = it->doc;
	char run[32] = "";
	char id[sizeof(ret->id)];

	if (doc->nr_runs > 1)
		(void)snprintf(run, sizeof(run), ".run%zu", it->run + 1);
	(void)snprintf(id, sizeof(id), "%.80s%s%s%s", doc->scenario, check ? "." : "",
		       check ? check->name : "", run);
	/* An identifier in every dialect: LAVA wants no blanks, KTAP no '#'. */
	(void)text_clean(id, " #<>=\"'", ret->id, sizeof(ret->id));
	ret->check = check;
	ret->outcome = outcome;
	ret->why = why;
}

static void check_item(struct report_items *it, const struct run_result *run,
		       struct report_item *ret)
{
	const struct check *check = &run->checks[it->check++];
	enum item_outcome outcome = outcome_of_check[check->outcome];
	const char *why = check->why;

	if (!report_is_judged(run)) {
		outcome = ITEM_SKIP;
		why = run->reason;
	}
	/* A pass among skipped checks already tells that the run passed; an error is never told by
	 * a check. */
	it->told |= outcome == outcome_of_verdict[run->verdict];
	fill_item(it, check, outcome, why, ret);
}

bool report_items_next(struct report_items *it, struct report_item *ret)
{
	const struct result_doc *doc = it->doc;

	if (doc->nr_runs == 0 && !it->told) {
		fill_item(it, NULL, outcome_of_verdict[doc->verdict], doc->reason, ret);
		it->told = true;
		return true;
	}
	while (it->run < doc->nr_runs) {
		const struct run_result *run = &doc->runs[it->run];

		if (it->check < run->nr_checks) {
			check_item(it, run, ret);
			return true;
		}
		if (!it->told) {
			fill_item(it, NULL, outcome_of_verdict[run->verdict], run->reason, ret);
			it->told = true;
			return true;
		}
		it->run++;
		it->check = 0;
		it->told = false;
	}
	return false;
}

size_t report_items_count(const struct result_doc *doc)
{
	struct report_items it = { .doc = doc };
	struct report_item item;
	size_t n = 0;

	while (report_items_next(&it, &item))
		n++;
	return n;
}
