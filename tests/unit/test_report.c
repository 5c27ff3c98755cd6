/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the renderings say. That they are well formed is the checkers' business
 * (tests/cli/checkers.bats), over the same sample documents.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "report.h"
#include "sample_documents.h"

static char *render(const struct result_doc *doc, const char *format)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_format_find(format)->write(doc, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *render_sample(const char *name, const char *format)
{
	struct result_doc doc;
	char *text;

	sample_document_find(name)->fill(&doc);
	text = render(&doc, format);
	result_free(&doc);
	return text;
}

static void check_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void check_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

static void formats_and_their_exit_codes(void **state)
{
	/* design.md 4.2, in the order of enum verdict: pass fail skip inconclusive error. */
	static const struct {
		const char *name;
		int codes[VERDICT_NR];
	} rows[] = {
		{ "text", { 0, 1, 4, 4, 2 } }, { "json", { 0, 1, 4, 4, 2 } },
		{ "ktap", { 0, 1, 4, 4, 1 } }, { "ltp", { 0, 1, 32, 32, 2 } },
		{ "csv", { 0, 1, 4, 4, 2 } },  { "lava", { 0, 1, 4, 4, 2 } },
	};

	(void)state;
	assert_int_equal(report_formats_nr, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct report_format *f = report_format_find(rows[i].name);

		assert_non_null(f);
		assert_memory_equal(f->exit_code, rows[i].codes, sizeof(f->exit_code));
		assert_non_null(f->help);
	}
	assert_null(report_format_find("xml"));
	assert_null(report_format_find(""));
}

static void text_tells_a_failure(void **state)
{
	char *text = render_sample("fail", "text");

	(void)state;
	assert_memory_equal(text, "FAIL  over-isolation: 1 task was OOM-killed", 43);
	check_has(text, "see       seeds/000");
	check_has(text, "fix       mm/vmscan: throttle MGLRU eviction");
	check_has(text, "usemem --threads 192 --memcg 16M --time 20s");
	check_has(text, "cgroup hybrid, memory controller v1, classic LRU, swappiness 60");
	check_has(text, "swap      zram 256 MiB");
	check_has(text, "1 <= 0          FAIL\n");
	check_has(text, "137 ms <= 5.00 s     pass\n");
	check_has(text, "cgroup v1 does not count OOM events");
	check_has(text, "9,007,199,254,740,993");
	check_has(text, "Histogram touch: 200,001 values");
	check_has(text, "p99.99");
	check_has(text, "32 - 63"); /* pages have rows of powers of two */
	check_has(text, "The 5 worst reclaim passes");
	check_has(text, "mean");
	free(text);
}

static void text_names_the_fix_only_on_failure(void **state)
{
	static const char *const others[] = { "pass", "skip", "error", "inconclusive" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		char *text = render_sample(others[i], "text");

		check_lacks(text, "fix  ");
		free(text);
	}
}

static void text_sums_up_several_runs(void **state)
{
	char *text = render_sample("mixed", "text");

	(void)state;
	check_has(text, "1 of 2 runs failed (95 % bound: 1 % to 99 %; 2 more not");
	check_has(text, "    2    4.00 s  pass: no OOM kill");
	check_has(text, "    3    5.00 s  error: a worker ended");
	check_has(text, "FAIL 1/3"); /* the check is in three of the four runs */
	check_has(text, "Metrics of 3 runs");
	check_has(text, "Histogram touch: 9,003 values of 3 runs");
	check_has(text, "The 15 worst reclaim passes");
	check_has(text, "run 4: This is run 4.");
	free(text);
}

/* One value in a million must be seen beside the million. */
static void rare_values_have_a_bar(void **state)
{
	struct result_doc doc;
	struct hist *h;
	char *text;

	(void)state;
	sample_document_find("skip")->fill(&doc);
	h = run_result_add_hist(result_add_run(&doc), "touch", "ns");
	hist_record_n(h, 1500, 1000000);
	hist_record(h, 3000000000);
	text = render(&doc, "text");
	check_has(text,
		  "1 us - 2 us           1,000,000 100.00%  ##############################\n");
	check_has(text, "2 s - 5 s                    1  <0.01%  #\n");
	check_has(text, "...\n"); /* and the empty rows between do not fill a page */
	free(text);
	result_free(&doc);
}

static void every_value_is_in_some_row(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 44; bit++) {
		struct result_doc doc;
		char *text;

		sample_document_find("skip")->fill(&doc);
		hist_record(run_result_add_hist(result_add_run(&doc), "touch", "ns"), 1ULL << bit);
		hist_record(run_result_add_hist(&doc.runs[0], "pass", "pages"), 1ULL << bit);
		text = render(&doc, "text");
		/* One row each, with all there is. */
		check_has(text, "1 100.00%  ##############################\n");
		check_has(strstr(text, "Histogram pass"),
			  "1 100.00%  ##############################\n");
		free(text);
		result_free(&doc);
	}
}

/* A reader of lines only must not take an inconclusive run for a pass. */
static void unjudged_checks_are_skips(void **state)
{
	char *text = render_sample("inconclusive", "ktap");

	(void)state;
	check_has(text, "ok 1 over-isolation.no_oom_kill # SKIP the pressure was not reached");
	check_has(text, "pass:0 fail:0");
	free(text);
	text = render_sample("inconclusive", "ltp");
	check_has(text, "TCONF: no_oom_kill");
	check_has(text, "passed   0\n");
	free(text);
	text = render_sample("inconclusive", "lava");
	check_has(text, "TEST_CASE_ID=over-isolation RESULT=skip>");
	check_lacks(text, "RESULT=pass");
	free(text);
}

static void broken_runs_bail_out_unless_another_failed(void **state)
{
	char *text = render_sample("error", "ktap");

	(void)state;
	check_has(text, "Bail out! cannot write memory.limit_in_bytes");
	free(text);
	text = render_sample("mixed", "ktap");
	check_lacks(text, "Bail out!");
	check_has(text, "not ok 3 over-isolation.run3 # ERROR a worker ended");
	free(text);
}

static void skipped_documents_have_an_empty_plan(void **state)
{
	char *text = render_sample("skip", "ktap");

	(void)state;
	assert_string_equal(text,
			    "KTAP version 1\n"
			    "1..0 # SKIP needs CAP_SYS_ADMIN for swapon (no swap is active).\n");
	free(text);
}

static void json_keeps_integers_and_leaves_out_the_unknown(void **state)
{
	char *text = render_sample("fail", "json");

	(void)state;
	check_has(text, "\"touches\": { \"value\": 9007199254740993, \"unit\": \"count\" }");
	check_has(text, "\"seed\": 18364758544493064720");
	check_has(text, "\"swap_free_bytes\": [null, ");
	check_lacks(text, "oom_events\": {");
	check_lacks(text, "psi_some_us");
	free(text);
	text = render_sample("skip", "json");
	check_lacks(text, "swappiness");
	check_lacks(text, "\"probe\"");
	check_has(text, "\"runs\": []");
	free(text);
}

static void csv_is_quoted(void **state)
{
	struct result_doc doc;
	struct run_result *run;
	char *text;

	(void)state;
	sample_document_find("inconclusive")->fill(&doc);
	run = &doc.runs[0];
	(void)snprintf(run->checks[0].name, sizeof(run->checks[0].name), "a,\"b\"");
	text = render(&doc, "csv");
	check_has(text, "1,check,\"a,\"\"b\"\"\",0,count,<= 0,pass\n");
	check_has(text, "0,verdict,over-isolation,,,,inconclusive\n");
	free(text);
	result_free(&doc);
}

static void hgrm_is_of_the_named_histogram(void **state)
{
	struct result_doc doc;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	sample_document_find("fail")->fill(&doc);
	assert_int_equal(report_hgrm(&doc.runs[0], "no such", out), -ENOENT);
	assert_int_equal(report_hgrm(&doc.runs[0], "touch", out), 0);
	assert_int_equal(fclose(out), 0);
	check_has(text, "  225.000000 1.000000000000     200001\n"); /* ms */
	check_has(text, "#[Max     =   225.000000, Total count    =       200001]\n");
	free(text);
	result_free(&doc);
}

/* The stream is unbuffered, so the rendering itself meets the error. */
static void a_full_disk_is_an_error(void **state)
{
	struct result_doc doc;

	(void)state;
	sample_document_find("fail")->fill(&doc);
	for (size_t i = 0; i <= report_formats_nr; i++) {
		FILE *full = fopen("/dev/full", "we");
		int r;

		if (!full)
			skip();
		setbuf(full, NULL);
		r = i < report_formats_nr ? report_formats[i].write(&doc, full)
					  : report_hgrm(&doc.runs[0], "touch", full);
		assert_int_equal(r, -ENOSPC);
		(void)fclose(full);
	}
	result_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_and_their_exit_codes),
		cmocka_unit_test(text_tells_a_failure),
		cmocka_unit_test(text_names_the_fix_only_on_failure),
		cmocka_unit_test(text_sums_up_several_runs),
		cmocka_unit_test(rare_values_have_a_bar),
		cmocka_unit_test(every_value_is_in_some_row),
		cmocka_unit_test(unjudged_checks_are_skips),
		cmocka_unit_test(broken_runs_bail_out_unless_another_failed),
		cmocka_unit_test(skipped_documents_have_an_empty_plan),
		cmocka_unit_test(json_keeps_integers_and_leaves_out_the_unknown),
		cmocka_unit_test(csv_is_quoted),
		cmocka_unit_test(hgrm_is_of_the_named_histogram),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
