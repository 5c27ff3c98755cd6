/* SPDX-License-Identifier: GPL-2.0-only */
/* The judge of over-scan; the document's figures (shared/seeds/004) and measured ones first. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "over_scan.h"

#include <stdlib.h>
#include <string.h>

static struct run_result *judged(const struct measurement *m)
{
	struct run_result *res = calloc(1, sizeof(*res));

	assert_non_null(res);
	over_scan_judge(m, res);
	return res;
}

static void expect(const struct measurement *m, enum verdict want, const char *words)
{
	struct run_result *res = judged(m);

	if (res->verdict != want || !strstr(res->reason, words))
		print_error("got %s: %s\n", verdict_name(res->verdict), res->reason);
	assert_int_equal(res->verdict, want);
	assert_non_null(strstr(res->reason, words));
	free(res);
}

static struct measurement passes(double nr, double worst, double share)
{
	struct measurement m = { .memcg_version = 2, .time_scale = 1, .end = END_TIME };

	m.metrics[METRIC_RECLAIM_PASSES] = value_u64((uint64_t)nr);
	m.metrics[METRIC_WORST_OVERSHOOT] = value_real(worst);
	m.metrics[METRIC_OVERSHOOT_SHARE] = value_real(share);
	return m;
}

static void the_documents_passes(void **state)
{
	struct measurement before = passes(1000, 1635 / 32.0, 0.02);
	struct measurement after = passes(1000, 57 / 32.0, 0);

	(void)state;
	expect(&before, VERDICT_FAIL, "51.1 times");
	expect(&after, VERDICT_PASS, "1.8 times");
}

/* Stock 6.12, 300 protected pods (docs/evidence/over-scan.md). A patched kernel reached 135 pages
 * (design.md, section 5), which is no failure. */
static void the_measured_passes(void **state)
{
	struct measurement stock = passes(804, 332 / 32.0, 0.8607);
	struct measurement patched = passes(924, 135 / 32.0, 1 / 924.0);

	(void)state;
	expect(&stock, VERDICT_FAIL, "10.4 times");
	expect(&patched, VERDICT_PASS, "4.2 times");
}

static void many_small_overshoots_fail_too(void **state)
{
	struct measurement m = passes(1000, 5, 0.011);

	(void)state;
	expect(&m, VERDICT_FAIL, "1.10 %");
	m.metrics[METRIC_OVERSHOOT_SHARE] = value_real(0.01);
	expect(&m, VERDICT_PASS, "1000");
}

static void no_pressure_or_no_probe_is_no_pass(void **state)
{
	struct measurement m = passes(99, 1, 0);

	(void)state;
	expect(&m, VERDICT_INCONCLUSIVE, "99 direct reclaim passes");
	m = passes(1000, 1, 0);
	m.metrics[METRIC_WORST_OVERSHOOT] = value_absent();
	m.metrics[METRIC_OVERSHOOT_SHARE] = value_absent();
	expect(&m, VERDICT_SKIP, "bpf");
}

static void the_histogram_gives_both_numbers(void **state)
{
	struct hist *h = calloc(1, sizeof(*h));

	(void)state;
	assert_non_null(h);
	hist_init(h);
	assert_true(over_scan_share(h) <= 0);
	hist_record_n(h, 100, 97);
	hist_record_n(h, 400, 1); /* 4 goals are not over 4 */
	hist_record_n(h, 527 * 100 / 32, 2);
	assert_true(over_scan_worst(h) > 16.4 && over_scan_worst(h) < 16.5);
	assert_true(over_scan_share(h) > 0.0199 && over_scan_share(h) < 0.0201);
	free(h);
}

static void the_worst_table_is_summed_up(void **state)
{
	struct measurement m = passes(1000, 1, 0);
	struct run_result *res = calloc(1, sizeof(*res));

	(void)state;
	assert_non_null(res);
	res->nr_worst = 2;
	res->worst[0] = (struct worst_pass){ .scanned = 130079, .reclaimed = 1635 };
	res->worst[1] = (struct worst_pass){ .scanned = 1, .reclaimed = 127 };
	over_scan_judge(&m, res);
	assert_non_null(strstr(res->notes[0], "65040"));
	assert_non_null(strstr(res->notes[0], "130079"));
	assert_non_null(strstr(res->notes[0], "881 and 1635"));
	free(res);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documents_passes),
		cmocka_unit_test(the_measured_passes),
		cmocka_unit_test(many_small_overshoots_fail_too),
		cmocka_unit_test(no_pressure_or_no_probe_is_no_pass),
		cmocka_unit_test(the_histogram_gives_both_numbers),
		cmocka_unit_test(the_worst_table_is_summed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
