/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "result.h"

static void add_run(struct result_doc *doc, enum verdict v, const char *reason)
{
	struct run_result *run = result_add_run(doc);

	assert_non_null(run);
	run->verdict = v;
	(void)snprintf(run->reason, sizeof(run->reason), "%s", reason);
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(verdict_name(VERDICT_PASS), "pass");
	assert_string_equal(verdict_name(VERDICT_FAIL), "fail");
	assert_string_equal(verdict_name(VERDICT_SKIP), "skip");
	assert_string_equal(verdict_name(VERDICT_INCONCLUSIVE), "inconclusive");
	assert_string_equal(verdict_name(VERDICT_ERROR), "error");
	assert_string_equal(outcome_name(OUTCOME_SKIP), "skip");
	assert_string_equal(check_op_text(OP_LE), "<=");
	assert_string_equal(check_op_text(OP_GE), ">=");
	assert_string_equal(check_op_text(OP_EQ), "==");
}

static void a_new_run_has_measured_nothing(void **state)
{
	struct result_doc doc;
	struct run_result *run;

	(void)state;
	result_init(&doc);
	run = result_add_run(&doc);
	assert_non_null(run);
	assert_int_equal(doc.nr_runs, 1);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_false(value_is_present(run->metrics[i]));
	assert_int_equal(run->nr_checks + run->nr_hists + run->nr_notes + run->nr_worst, 0);
	result_free(&doc);
	assert_int_equal(doc.nr_runs, 0);
	result_free(&doc); /* once more does no harm */
}

static void histograms_are_owned_and_bounded(void **state)
{
	struct result_doc doc;
	struct run_result *run;
	char name[16];

	(void)state;
	result_init(&doc);
	run = result_add_run(&doc);
	for (int i = 0; i < HISTS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "h%d", i);
		assert_non_null(run_result_add_hist(run, name, "ns"));
	}
	assert_null(run_result_add_hist(run, "one too many", "ns"));
	assert_int_equal(run->nr_hists, HISTS_MAX);
	assert_string_equal(run->hists[1].name, "h1"); /* copied: the buffer has changed since */
	hist_record(run->hists[1].hist, 5);
	assert_int_equal(run->hists[1].hist->min, 5);
	/* A further run moves the array, not what it points to. */
	assert_non_null(result_add_run(&doc));
	assert_int_equal(doc.runs[0].hists[1].hist->count, 1);
	result_free(&doc);
}

static void notes_are_dropped_when_full(void **state)
{
	struct run_result run = { 0 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(run.notes) + 3; i++)
		run_result_note(&run, "note %u", i);
	assert_int_equal(run.nr_notes, ARRAY_SIZE(run.notes));
	assert_string_equal(run.notes[1], "note 1");
}

static void params_keep_their_kind_and_stay_in_the_table(void **state)
{
	struct result_doc doc;

	(void)state;
	result_init(&doc);
	result_param_text(&doc, "swap", "auto");
	result_param_u64(&doc, "seed", UINT64_MAX);
	result_param_real(&doc, "scale", 1.5);
	result_param_flag(&doc, "quiet", true);
	assert_int_equal(doc.params[0].kind, PARAM_TEXT);
	assert_string_equal(doc.params[0].text, "auto");
	assert_int_equal(doc.params[1].number, UINT64_MAX);
	assert_int_equal(doc.params[2].kind, PARAM_REAL);
	assert_true(doc.params[3].flag);
	for (int i = 0; i < PARAMS_MAX; i++)
		result_param_flag(&doc, "more", false);
	assert_int_equal(doc.nr_params, PARAMS_MAX);
	result_free(&doc);
}

static void without_a_run_the_verdict_is_left_alone(void **state)
{
	struct result_doc doc;

	(void)state;
	result_init(&doc);
	doc.verdict = VERDICT_SKIP;
	(void)snprintf(doc.reason, sizeof(doc.reason), "no swap");
	result_conclude(&doc);
	assert_int_equal(doc.verdict, VERDICT_SKIP);
	assert_string_equal(doc.reason, "no swap");
}

static void one_run_speaks_for_itself(void **state)
{
	(void)state;
	for (int v = 0; v < VERDICT_NR; v++) {
		struct result_doc doc;

		result_init(&doc);
		add_run(&doc, (enum verdict)v, "because");
		result_conclude(&doc);
		assert_int_equal(doc.verdict, v);
		assert_string_equal(doc.reason, "because");
		result_free(&doc);
	}
}

/* Of every pair the one that comes first here decides, in either order. */
static void precedence(void **state)
{
	static const enum verdict order[] = { VERDICT_FAIL, VERDICT_ERROR, VERDICT_INCONCLUSIVE,
					      VERDICT_SKIP, VERDICT_PASS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
			struct result_doc doc;

			result_init(&doc);
			add_run(&doc, order[i], "x");
			add_run(&doc, order[k], "y");
			result_conclude(&doc);
			assert_int_equal(doc.verdict, order[i < k ? i : k]);
			result_free(&doc);
		}
	}
}

static void k_of_n_with_its_bound(void **state)
{
	struct result_doc doc;

	(void)state;
	result_init(&doc);
	for (int i = 0; i < 18; i++)
		add_run(&doc, i % 5 == 3 ? VERDICT_FAIL : VERDICT_PASS, i == 3 ? "first" : "other");
	add_run(&doc, VERDICT_FAIL, "last");
	doc.nr_runs--; /* 18 judged runs, of them 3, 8 and 13 failed */
	result_conclude(&doc);
	/* Clopper-Pearson of 3 in 18: 3.58 % to 41.42 % (R: binom.test(3, 18)). */
	assert_string_equal(doc.reason, "3 of 18 runs failed (95 % bound: 4 % to 41 %): first");
	doc.nr_runs++;
	result_free(&doc);
}

static void unjudged_runs_are_no_trials(void **state)
{
	struct result_doc doc;

	(void)state;
	result_init(&doc);
	add_run(&doc, VERDICT_INCONCLUSIVE, "weak");
	add_run(&doc, VERDICT_PASS, "fine");
	add_run(&doc, VERDICT_FAIL, "killed");
	result_conclude(&doc);
	assert_int_equal(doc.verdict, VERDICT_FAIL);
	assert_non_null(strstr(doc.reason, "1 of 2 runs failed"));
	assert_non_null(strstr(doc.reason, "1 more not judged"));
	assert_non_null(strstr(doc.reason, "killed"));
	result_free(&doc);
}

static void passes_say_what_they_exclude(void **state)
{
	struct result_doc doc;

	(void)state;
	result_init(&doc);
	for (int i = 0; i < 3; i++)
		add_run(&doc, VERDICT_PASS, "fine");
	result_conclude(&doc);
	/* 1 - 0.025^(1/3) = 70.8 % */
	assert_string_equal(doc.reason, "0 of 3 runs failed (95 % bound: 0 % to 71 %): fine");
	result_free(&doc);
}

static void other_verdicts_name_the_run(void **state)
{
	struct result_doc doc;

	(void)state;
	result_init(&doc);
	add_run(&doc, VERDICT_PASS, "fine");
	add_run(&doc, VERDICT_ERROR, "broke");
	result_conclude(&doc);
	assert_string_equal(doc.reason, "run 2 of 2: broke");
	result_free(&doc);
}

static void long_reasons_are_cut(void **state)
{
	char longest[TEXT_SIZE];
	struct result_doc doc;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	result_init(&doc);
	add_run(&doc, VERDICT_FAIL, longest);
	add_run(&doc, VERDICT_FAIL, longest);
	result_conclude(&doc);
	assert_true(strlen(doc.reason) < sizeof(doc.reason));
	assert_non_null(strstr(doc.reason, "2 of 2 runs failed"));
	result_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(a_new_run_has_measured_nothing),
		cmocka_unit_test(histograms_are_owned_and_bounded),
		cmocka_unit_test(notes_are_dropped_when_full),
		cmocka_unit_test(params_keep_their_kind_and_stay_in_the_table),
		cmocka_unit_test(without_a_run_the_verdict_is_left_alone),
		cmocka_unit_test(one_run_speaks_for_itself),
		cmocka_unit_test(precedence),
		cmocka_unit_test(k_of_n_with_its_bound),
		cmocka_unit_test(unjudged_runs_are_no_trials),
		cmocka_unit_test(passes_say_what_they_exclude),
		cmocka_unit_test(other_verdicts_name_the_run),
		cmocka_unit_test(long_reasons_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
