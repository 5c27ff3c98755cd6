/* SPDX-License-Identifier: GPL-2.0-only */
/* The judge of soft-limit; the documents' figures (shared/seeds/002) and measured ones first. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "soft_limit.h"

#include <stdlib.h>
#include <string.h>

#define MIB (1ULL << 20)
#define S 1000000000ULL

static void expect(const struct measurement *m, enum verdict want, const char *words)
{
	struct run_result *res = calloc(1, sizeof(*res));

	assert_non_null(res);
	soft_limit_judge(m, res);
	if (res->verdict != want || !strstr(res->reason, words))
		print_error("got %s: %s\n", verdict_name(res->verdict), res->reason);
	assert_int_equal(res->verdict, want);
	assert_non_null(strstr(res->reason, words));
	free(res);
}

static struct measurement siblings(bool mglru, double margin_mib, double taken)
{
	struct measurement m = {
		.memcg_version = 2,
		.mglru = mglru,
		.siblings = true,
		.limit_bytes = 200 * MIB,
		.duration_ns = 60 * S,
		.time_scale = 1,
		.end = END_TIME,
	};

	m.metrics[METRIC_SIBLING_MARGIN_BYTES] = value_real(margin_mib * MIB);
	m.metrics[METRIC_EXCESS_RECLAIMED] = value_real(taken);
	m.metrics[METRIC_OOM_KILLS] = value_u64(0);
	m.metrics[METRIC_OOM_EVENTS] = value_u64(0);
	return m;
}

/* 6.12.117, 6 runs each (design.md, section 7). */
static void siblings_as_measured_on_6_12(void **state)
{
	struct measurement mglru = siblings(true, 26.1 - 26.1, 0.98);
	struct measurement classic = siblings(false, 28.8 - 23.8, 0.98);

	(void)state;
	expect(&mglru, VERDICT_FAIL, "MGLRU ignored proportional protection");
	expect(&classic, VERDICT_PASS, "5.0 MiB more");
}

static void the_margin_has_a_bound(void **state)
{
	struct measurement m = siblings(false, 2.5, 0.98);

	(void)state;
	expect(&m, VERDICT_PASS, "2.5 MiB");
	m.metrics[METRIC_SIBLING_MARGIN_BYTES] = value_real(2.49 * MIB);
	expect(&m, VERDICT_FAIL, "sibling_margin");
	/* The wrong one is spared. */
	m.metrics[METRIC_SIBLING_MARGIN_BYTES] = value_real(-5.0 * MIB);
	expect(&m, VERDICT_FAIL, "-5.0 MiB");
	/* It scales with the limit. */
	m = siblings(false, 4.9, 0.98);
	m.limit_bytes = 400 * MIB;
	expect(&m, VERDICT_FAIL, "sibling_margin");
}

static void siblings_that_nobody_pressed_prove_nothing(void **state)
{
	struct measurement m = siblings(true, 0, 0.5);

	(void)state;
	expect(&m, VERDICT_INCONCLUSIVE, "not pressed");
	m.metrics[METRIC_SIBLING_MARGIN_BYTES] = value_absent();
	m.metrics[METRIC_EXCESS_RECLAIMED] = value_absent();
	expect(&m, VERDICT_INCONCLUSIVE, "no round");
	m.end = END_INTERRUPTED;
	expect(&m, VERDICT_INCONCLUSIVE, "interrupted");
	m.metrics[METRIC_OOM_KILLS] = value_u64(1);
	expect(&m, VERDICT_FAIL, "no_oom_kill");
}

static struct measurement duel(unsigned int version, uint64_t base, uint64_t with)
{
	struct measurement m = {
		.memcg_version = version,
		.duration_ns = 60 * S,
		.time_scale = 1,
		.end = END_TIME,
	};

	m.metrics[METRIC_PROTECTED_MAJOR_FAULTS_BASE] = value_u64(base);
	m.metrics[METRIC_PROTECTED_MAJOR_FAULTS] = value_u64(with);
	m.metrics[METRIC_PROTECTED_FAULT_RATIO] = value_real((double)with / (double)base);
	m.metrics[METRIC_PROTECTED_LOSS] = value_real(0.01);
	m.metrics[METRIC_PROTECTED_RECLAIM_SHARE] = value_real(0.01);
	m.metrics[METRIC_EXCESS_RECLAIMED] = value_real(3);
	return m;
}

/* Major faults: 196,081 and 5,627 (2.9 %) of two builds; 31,379 and 366 (1.2 %) beside the eater. */
static void the_documents_rework_passes(void **state)
{
	struct measurement builds = duel(1, 196081, 5627), eater = duel(1, 31379, 366);

	(void)state;
	expect(&builds, VERDICT_PASS, "2.9 %");
	expect(&eater, VERDICT_PASS, "1.2 %");
	builds = duel(1, 196081, 196081);
	expect(&builds, VERDICT_FAIL, "protected_major_faults");
}

static void each_bound_fails_alone(void **state)
{
	struct measurement m = duel(2, 10000, 1000);

	(void)state;
	expect(&m, VERDICT_PASS, "10.0 %");
	m = duel(2, 10000, 1001);
	expect(&m, VERDICT_FAIL, "protected_major_faults");
	m = duel(2, 10000, 0);
	m.metrics[METRIC_PROTECTED_LOSS] = value_real(0.051);
	expect(&m, VERDICT_FAIL, "protected_loss");
	m = duel(2, 10000, 0);
	m.metrics[METRIC_PROTECTED_RECLAIM_SHARE] = value_real(0.051);
	expect(&m, VERDICT_FAIL, "protected_reclaim_share");
	/* v1 does not know it. */
	m.memcg_version = 1;
	expect(&m, VERDICT_PASS, "spared");
}

static void a_duel_needs_pressure_and_a_need(void **state)
{
	struct measurement m = duel(2, 10000, 0);

	(void)state;
	m.metrics[METRIC_EXCESS_RECLAIMED] = value_real(0.99);
	expect(&m, VERDICT_INCONCLUSIVE, "0.99 times");
	m = duel(2, 999, 0);
	expect(&m, VERDICT_INCONCLUSIVE, "did not need protection");
	m = duel(2, 10000, 0);
	m.metrics[METRIC_PROTECTED_MAJOR_FAULTS] = value_absent();
	m.metrics[METRIC_PROTECTED_FAULT_RATIO] = value_absent();
	expect(&m, VERDICT_INCONCLUSIVE, "second phase");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siblings_as_measured_on_6_12),
		cmocka_unit_test(the_margin_has_a_bound),
		cmocka_unit_test(siblings_that_nobody_pressed_prove_nothing),
		cmocka_unit_test(the_documents_rework_passes),
		cmocka_unit_test(each_bound_fails_alone),
		cmocka_unit_test(a_duel_needs_pressure_and_a_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
