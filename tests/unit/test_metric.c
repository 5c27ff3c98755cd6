/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "metric.h"

static void rows_are_complete(void **state)
{
	static const char *const units[] = { "count", "ns",    "us",	"bytes",
					     "pages", "ratio", "per_s", "bytes_per_s" };

	(void)state;
	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct metric *m = &metric_table[i];
		bool known = false;

		assert_non_null(m->name);
		assert_non_null(m->help);
		assert_true(m->help[0] != '\0');
		for (size_t k = 0; k < ARRAY_SIZE(units); k++)
			known |= strcmp(m->unit, units[k]) == 0;
		assert_true(known);
		/* The first of that name is this one: no name is there twice. */
		assert_int_equal(metric_find(m->name), i);
	}
}

/* design.md 4.3 promises these names. */
static void promised_names_are_there(void **state)
{
	static const char *const names[] = {
		"touches",
		"touches_per_s",
		"pages_read",
		"major_faults",
		"minor_faults",
		"objects_compiled",
		"oom_kills",
		"oom_events",
		"limit_hits",
		"reclaim_passes",
		"reclaim_time_ns",
		"pages_scanned",
		"pages_reclaimed",
		"scan_efficiency",
		"passes_per_major_fault",
		"passes_per_window",
		"isolation_reach",
		"throttled_isolated",
		"throttled_noprogress",
		"throttled_writeback",
		"throttled_congested",
		"throttled_ns",
		"nr_isolated_peak",
		"refault_anon",
		"refault_file",
		"swap_in",
		"swap_out",
		"psi_some_us",
		"psi_full_us",
		"memcg_peak_bytes",
		"kill_latency_ns",
		"longest_d_state_ns",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(metric_find(names[i]) >= 0);
	assert_int_equal(metric_find("touches"), METRIC_TOUCHES);
	assert_int_equal(metric_find("longest_d_state_ns"), METRIC_LONGEST_D_STATE_NS);
	assert_int_equal(metric_find("touch"), -1);
	assert_int_equal(metric_find(""), -1);
}

static void merits_have_a_direction(void **state)
{
	(void)state;
	assert_int_equal(metric_table[METRIC_TOUCHES].better, BETTER_MORE);
	assert_int_equal(metric_table[METRIC_OOM_KILLS].better, BETTER_LESS);
	assert_int_equal(metric_table[METRIC_MEMCG_PEAK_BYTES].better, BETTER_NEITHER);
}

static void values_keep_their_kind(void **state)
{
	(void)state;
	assert_int_equal(value_u64(UINT64_MAX).u, UINT64_MAX);
	assert_true(value_is_present(value_u64(0)));
	assert_true(value_is_present(value_real(-0.5)));
	assert_false(value_is_present(value_absent()));
	assert_false(value_is_present(value_real((double)NAN)));
	assert_false(value_is_present(value_real((double)INFINITY)));
	assert_false(value_is_present(value_real(-(double)INFINITY)));
	assert_true(fabs(value_as_real(value_u64(12)) - 12) < 1e-9);
	assert_true(fabs(value_as_real(value_real(1.5)) - 1.5) < 1e-9);
	assert_true(fabs(value_as_real(value_absent())) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(promised_names_are_there),
		cmocka_unit_test(merits_have_a_direction),
		cmocka_unit_test(values_keep_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
