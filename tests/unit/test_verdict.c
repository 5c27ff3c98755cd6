/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "kfile.h"
#include "verdict.h"

#define S 1000000000ULL
#define MS 1000000ULL

struct series_row {
	uint64_t t_ms, progress, passes, in_flight, hits;
};

static struct timeline make_timeline(const struct series_row *rows, size_t nr)
{
	struct timeline t = { 0 };

	assert_int_equal(timeline_reserve(&t, nr), 0);
	for (size_t i = 0; i < nr; i++) {
		struct sample s;

		sample_init(&s);
		s.v[SERIES_T_NS] = rows[i].t_ms * MS;
		s.v[SERIES_PROGRESS] = rows[i].progress;
		s.v[SERIES_RECLAIM_PASSES] = rows[i].passes;
		s.v[SERIES_PASSES_IN_FLIGHT] = rows[i].in_flight;
		s.v[SERIES_LIMIT_HITS] = rows[i].hits;
		assert_int_equal(timeline_add(&t, &s), 0);
	}
	return t;
}

static struct run_result *new_result(void)
{
	struct run_result *res = calloc(1, sizeof(*res));

	assert_non_null(res);
	return res;
}

static struct measurement base(void)
{
	return (struct measurement){
		.memcg_version = 2, .time_scale = 1, .duration_ns = 60 * S, .end = END_TIME
	};
}

static void standstill_needs_reclaim(void **state)
{
	/* Progress stops at 1 s; passes go on until 7 s, then nothing happens at all. */
	const struct series_row rows[] = {
		{ 0, 0, 0, 0, 0 },	 { 1000, 10, 5, 1, 0 },	  { 3000, 10, 9, 1, 0 },
		{ 5000, 10, 9, 1, 0 },	 { 7000, 10, 12, 0, 0 },  { 9000, 10, 12, 0, 0 },
		{ 11000, 10, 12, 0, 0 }, { 12000, 11, 13, 0, 0 },
	};
	struct timeline t = make_timeline(rows, sizeof(rows) / sizeof(rows[0]));

	(void)state;
	assert_int_equal(verdict_longest_standstill_ns(&t), 6 * S);
	timeline_free(&t);
}

/* Tasks asleep inside a pass begin and end none: passes under way count as reclaim. */
static void standstill_inside_one_pass_is_seen(void **state)
{
	const struct series_row rows[] = { { 0, 0, 0, 0, 0 },
					   { 1000, 10, 64, 64, 0 },
					   { 20000, 10, 64, 64, 0 } };
	struct timeline t = make_timeline(rows, 3);

	(void)state;
	assert_int_equal(verdict_longest_standstill_ns(&t), 19 * S);
	timeline_free(&t);
}

static void standstill_by_limit_hits_where_passes_are_unseen(void **state)
{
	const struct series_row rows[] = {
		{ 0, 0, KFILE_ABSENT, KFILE_ABSENT, 0 },
		{ 1000, 10, KFILE_ABSENT, KFILE_ABSENT, 5 },
		{ 4000, 10, KFILE_ABSENT, KFILE_ABSENT, 9 },
		{ 6000, 10, KFILE_ABSENT, KFILE_ABSENT, 9 },
	};
	struct timeline t = make_timeline(rows, 4);

	(void)state;
	assert_int_equal(verdict_longest_standstill_ns(&t), 3 * S);
	timeline_free(&t);
	assert_int_equal(verdict_longest_standstill_ns(NULL), 0);
}

static void progress_window_follows_the_time_scale(void **state)
{
	const struct series_row rows[] = { { 0, 0, 0, 0, 0 },
					   { 1000, 10, 1, 1, 0 },
					   { 9000, 10, 2, 1, 0 },
					   { 60000, 99, 3, 0, 0 } };
	struct timeline t = make_timeline(rows, 4);
	struct run_result *res = new_result();
	struct measurement m = base();

	(void)state;
	m.timeline = &t;
	verdict_progress(&m, 5 * S, res);
	assert_int_equal(res->checks[0].outcome, OUTCOME_FAIL);
	m.time_scale = 2;
	verdict_progress(&m, 5 * S, res);
	assert_int_equal(res->checks[1].outcome, OUTCOME_PASS);
	/* 5 s x 5 is more than a third of 60 s: no such window could be told from a slow run. */
	m.time_scale = 5;
	verdict_progress(&m, 5 * S, res);
	assert_int_equal(res->checks[2].outcome, OUTCOME_SKIP);
	timeline_free(&t);
	free(res);
}

static void a_kill_that_no_counter_shows_is_a_kill(void **state)
{
	struct run_result *res = new_result();
	struct measurement m = base();

	(void)state;
	m.end = END_WORKER_KILLED;
	verdict_no_oom(&m, res);
	assert_int_equal(verdict_find(res, "no_oom_kill")->outcome, OUTCOME_FAIL);
	assert_int_equal(verdict_find(res, "no_oom_event")->outcome, OUTCOME_SKIP);
	free(res);
}

static void what_is_absent_is_skipped_not_passed(void **state)
{
	struct run_result *res = new_result();

	(void)state;
	verdict_check(res, "x", "count", value_absent(), OP_EQ, value_u64(0), "y");
	assert_int_equal(res->checks[0].outcome, OUTCOME_SKIP);
	free(res);
}

static void integers_are_compared_exactly(void **state)
{
	const uint64_t big = (1ULL << 53) + 1;
	struct run_result *res = new_result();

	(void)state;
	verdict_check(res, "eq", "count", value_u64(big), OP_EQ, value_u64(big - 1), "-");
	verdict_check(res, "le", "count", value_u64(big), OP_LE, value_u64(big - 1), "-");
	verdict_check(res, "ge", "ratio", value_real(0.5), OP_GE, value_real(0.5), "-");
	assert_int_equal(res->checks[0].outcome, OUTCOME_FAIL);
	assert_int_equal(res->checks[1].outcome, OUTCOME_FAIL);
	assert_int_equal(res->checks[2].outcome, OUTCOME_PASS);
	free(res);
}

static void expect(const struct measurement *m, bool failed, const char *excuse,
		   const char *unproven, enum verdict want)
{
	struct run_result *res = new_result();

	verdict_check(res, "c", "count", value_u64(failed), OP_EQ, value_u64(0), "because");
	verdict_conclude(m, res, excuse, unproven, "fine");
	assert_int_equal(res->verdict, want);
	assert_true(res->reason[0] != '\0');
	free(res);
}

static void conclusions(void **state)
{
	struct measurement m = base();

	(void)state;
	expect(&m, false, NULL, NULL, VERDICT_PASS);
	expect(&m, false, NULL, "no pressure", VERDICT_INCONCLUSIVE);
	expect(&m, true, NULL, "no pressure", VERDICT_FAIL);
	expect(&m, true, "swap was full", NULL, VERDICT_INCONCLUSIVE);
	expect(&m, false, "swap was full", NULL, VERDICT_PASS);
	m.end = END_INTERRUPTED;
	expect(&m, false, NULL, NULL, VERDICT_INCONCLUSIVE);
	expect(&m, true, NULL, NULL, VERDICT_FAIL);
	m.end = END_WORKER_FAILED;
	m.end_signal = SIGSEGV;
	expect(&m, false, NULL, NULL, VERDICT_ERROR);
	/* A worker that the kernel does not let die is a finding, whatever it was about to say. */
	m.workers_stuck = 1;
	expect(&m, true, NULL, NULL, VERDICT_FAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standstill_needs_reclaim),
		cmocka_unit_test(standstill_inside_one_pass_is_seen),
		cmocka_unit_test(standstill_by_limit_hits_where_passes_are_unseen),
		cmocka_unit_test(progress_window_follows_the_time_scale),
		cmocka_unit_test(a_kill_that_no_counter_shows_is_a_kill),
		cmocka_unit_test(what_is_absent_is_skipped_not_passed),
		cmocka_unit_test(integers_are_compared_exactly),
		cmocka_unit_test(conclusions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
