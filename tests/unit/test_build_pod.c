/* SPDX-License-Identifier: GPL-2.0-only */
/* The judge of build-pod; the document's figures (shared/seeds/000, test 2) first. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "build_pod.h"

#include <stdlib.h>
#include <string.h>

#define S 1000000000ULL
#define MIB (1ULL << 20)

/* A column of the document: memory.max, no swap to speak of, 20 cc1 that want about 3 GB. */
static struct measurement column(uint64_t limit_mib, double objects, double efficiency,
				 uint64_t refaults, uint64_t kills, uint64_t limit_hits)
{
	struct measurement m = {
		.memcg_version = 2,
		.page_size = 4096,
		.limit_bytes = limit_mib * MIB,
		.demand_bytes = 3072 * MIB,
		.time_scale = 1,
		.duration_ns = 1800 * S,
		.end = END_TIME,
		.default_params = limit_mib < 2048,
	};

	m.metrics[METRIC_OBJECTS_COMPILED] = value_u64((uint64_t)objects);
	m.metrics[METRIC_ROUNDS] = value_u64(1);
	m.metrics[METRIC_SCAN_EFFICIENCY] = value_real(efficiency);
	m.metrics[METRIC_REFAULT_ANON] = value_u64(0);
	m.metrics[METRIC_REFAULT_FILE] = value_u64(refaults);
	m.metrics[METRIC_OOM_KILLS] = value_u64(kills);
	m.metrics[METRIC_OOM_EVENTS] = value_u64(kills);
	m.metrics[METRIC_LIMIT_HITS] = value_u64(limit_hits);
	return m;
}

static void expect(const struct measurement *m, enum verdict want, const char *words)
{
	struct run_result *res = calloc(1, sizeof(*res));

	assert_non_null(res);
	build_pod_judge(m, res);
	if (res->verdict != want || !strstr(res->reason, words))
		print_error("got %s: %s\n", verdict_name(res->verdict), res->reason);
	assert_int_equal(res->verdict, want);
	assert_non_null(strstr(res->reason, words));
	free(res);
}

/* There rounds end with kills on both kernels, since limit and swap cannot hold 20 cc1. */
static void the_documents_kills_are_reported_and_not_failed(void **state)
{
	struct measurement unpatched = column(1024, 4744, 0.195, 565169241, 13, 8344775);
	struct measurement patched = column(1536, 25124, 0.338, 273442445, 6, 5868167);

	(void)state;
	expect(&unpatched, VERDICT_PASS, "4744 objects");
	expect(&unpatched, VERDICT_PASS, "scan efficiency 0.2");
	expect(&unpatched, VERDICT_PASS, "565169241 refaults");
	expect(&unpatched, VERDICT_PASS, "13 jobs OOM-killed");
	expect(&patched, VERDICT_PASS, "25124 objects");
}

static void a_kill_that_swap_could_have_saved_fails(void **state)
{
	struct measurement m = column(1024, 4744, 0.195, 565169241, 1, 8344775);

	(void)state;
	m.swap_bytes = 2048 * MIB;
	expect(&m, VERDICT_FAIL, "no_oom_kill");
	m.swap_bytes = 2047 * MIB;
	expect(&m, VERDICT_PASS, "objects");
}

/* What a command wants is not known. */
static void a_commands_kills_are_never_failed(void **state)
{
	struct measurement m = column(1024, 100, 0.2, 5, 3, 1000);

	(void)state;
	m.demand_bytes = 0;
	m.swap_bytes = 4096 * MIB;
	expect(&m, VERDICT_PASS, "3 jobs OOM-killed");
}

static void levels_that_promise_pressure_must_show_it(void **state)
{
	struct measurement m = column(1024, 100, 1, 0, 0, 99);

	(void)state;
	expect(&m, VERDICT_INCONCLUSIVE, "99 limit hits");
	m.metrics[METRIC_LIMIT_HITS] = value_u64(100);
	expect(&m, VERDICT_PASS, "100 objects");
	/* light is the document's no-harm control. */
	m = column(2048, 22800, 0.984, 0, 0, 0);
	expect(&m, VERDICT_PASS, "22800 objects");
}

static void no_object_is_no_pass(void **state)
{
	struct measurement m = column(1024, 0, 0.1, 10, 0, 1000);

	(void)state;
	expect(&m, VERDICT_INCONCLUSIVE, "no object");
	m.end = END_WORKER_KILLED;
	expect(&m, VERDICT_INCONCLUSIVE, "make itself");
}

/* 30 s in which passes went on and no object was compiled. */
static void standing_still_under_reclaim_fails(void **state)
{
	struct measurement m = column(1024, 100, 0.1, 10, 0, 1000);
	struct timeline t = { 0 };
	struct sample s;

	(void)state;
	assert_int_equal(timeline_reserve(&t, 64), 0);
	for (uint64_t i = 0; i < 31; i++) {
		sample_init(&s);
		s.v[SERIES_T_NS] = i * S;
		s.v[SERIES_PROGRESS] = 7;
		s.v[SERIES_RECLAIM_PASSES] = i * 100;
		(void)timeline_add(&t, &s);
	}
	m.timeline = &t;
	/* Limit and swap do not hold the jobs: before a kill all may stand still. */
	expect(&m, VERDICT_PASS, "objects");
	m.swap_bytes = 2048 * MIB;
	m.metrics[METRIC_OOM_KILLS] = value_u64(0);
	m.metrics[METRIC_OOM_EVENTS] = value_u64(0);
	expect(&m, VERDICT_FAIL, "progress");
	m.time_scale = 2;
	expect(&m, VERDICT_PASS, "objects");
	timeline_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documents_kills_are_reported_and_not_failed),
		cmocka_unit_test(a_kill_that_swap_could_have_saved_fails),
		cmocka_unit_test(a_commands_kills_are_never_failed),
		cmocka_unit_test(levels_that_promise_pressure_must_show_it),
		cmocka_unit_test(no_object_is_no_pass),
		cmocka_unit_test(standing_still_under_reclaim_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
