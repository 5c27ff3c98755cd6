/* SPDX-License-Identifier: GPL-2.0-only */
/* A result document of anybody's making: read, compared with itself, and drawn. */
#include "fuzz.h"

#include <errno.h>

#include "comparison_print.h"
#include "document.h"
#include "page.h"

static void check_strings(const struct document *doc)
{
	const char *const all[] = { doc->tool, doc->scenario, doc->reason, doc->command };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		MUST(all[i]);
		for (const char *p = all[i]; *p; p++)
			MUST((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

static void check_runs(const struct document *doc)
{
	for (size_t i = 0; i < doc->nr_runs; i++) {
		const struct doc_run *run = &doc->runs[i];

		for (size_t j = 0; j < run->nr_hists; j++) {
			uint64_t sum = 0;

			for (size_t k = 0; k < HIST_BUCKETS; k++)
				sum += run->hists[j].hist->buckets[k];
			MUST(sum == run->hists[j].hist->count);
		}
		for (size_t j = 0; j < run->nr_metrics; j++)
			MUST(value_is_present(run->metrics[j].value));
		MUST(!run->nr_series || doc_run_series(run, "t_ns"));
	}
}

static void draw(const struct report *r, const struct comparison_set *set)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	MUST(out);
	MUST(page_write(r, out) == 0);
	MUST(fflush(out) == 0);
	MUST(!strstr(text, "<script") && !strstr(text, "<img"));
	for (size_t i = 0; i < comparison_formats_nr; i++)
		comparison_formats[i].write(set, out);
	MUST(fclose(out) == 0);
	free(text);
}

static void use(struct document *doc)
{
	const struct allowance all = { .all = true };
	struct docset set = { .docs = &doc, .nr = 1 };
	struct pool pool = POOL_EMPTY;
	struct comparison comparison;
	struct comparison_set comparisons = { .items = &comparison, .nr = 1, .pool = &pool };
	struct report report = { .pool = &pool, .new_name = "n", .base_name = "b" };
	struct cohorts cohorts;
	struct pairs pairs;

	MUST(cohorts_build(&set, &pool, &cohorts) == 0);
	MUST(cohorts_pair(&cohorts, &cohorts, &all, &pool, &pairs) == 0);
	MUST(pairs.nr == 1 && pairs.items[0].nr_differences == 0);
	MUST(comparison_make(&pairs.items[0], 0.05, &pool, &comparison) == 0);
	MUST(!comparison_has(&comparison, MARK_WORSE) && !comparison_has(&comparison, MARK_BETTER));
	comparisons.pairs = report.pairs = &pairs;
	report.comparisons = &comparison;
	report.base_set = report.new_set = &set;
	report.points = 100;
	draw(&report, &comparisons);
	pool_free(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct document *doc = NULL;
	struct fail f = { 0 };
	int r = document_parse("fuzzed", data, size, &doc, &f);

	MUST((r == 0) == (doc != NULL));
	MUST(r == 0 || r == -EINVAL || r == -ENOMSG || r == -EPROTONOSUPPORT);
	if (r < 0) {
		MUST(f.what[0] && !strchr(f.what, '\n'));
		return 0;
	}
	check_strings(doc);
	check_runs(doc);
	use(doc);
	document_free(doc);
	return 0;
}
