/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "vmstat.h"

#include <errno.h>

#include "support.h"

static void whole_machine(void **state)
{
	const char *text = recorded("6.18-v1/vmstat");
	uint64_t expected = 0;
	struct vmstat v;

	(void)state;
	assert_int_equal(vmstat_parse(text, &v), 0);
	assert_int_equal(kfile_key_u64(text, "nr_inactive_file", &expected), 0);
	assert_true(v.nr_inactive_file == expected && expected > 0);
	assert_int_equal(kfile_key_u64(text, "nr_inactive_anon", &expected), 0);
	/* The zone's counter of nearly the same name stands before it. */
	assert_true(v.nr_inactive_anon == expected);
	assert_true(v.nr_isolated_anon == 0 && v.pswpin == 0 && v.pswpout == 0);
	assert_true(v.pgscan_direct == 0 && v.pgsteal_direct == 0 && v.oom_kill == 0);
}

static void a_node_has_no_events(void **state)
{
	struct vmstat v;

	(void)state;
	assert_int_equal(vmstat_parse(recorded("6.18-v1/node0.vmstat"), &v), 0);
	assert_true(v.nr_active_file != KFILE_ABSENT && v.nr_isolated_file == 0);
	assert_true(v.oom_kill == KFILE_ABSENT && v.pswpin == KFILE_ABSENT);
	assert_true(v.pgscan_direct == KFILE_ABSENT);
}

static void oddities(void **state)
{
	struct vmstat v = { .oom_kill = 7 };

	(void)state;
	assert_int_equal(vmstat_parse("", &v), -EINVAL);
	assert_int_equal(vmstat_parse("pgscan_direct_throttle 3\n", &v), -EINVAL);
	assert_int_equal(vmstat_parse("oom_kill -1\n", &v), -EINVAL);
	assert_true(v.oom_kill == 7);
	assert_int_equal(vmstat_parse("pgscan_direct_throttle 3\npgscan_direct 4", &v), 0);
	assert_true(v.pgscan_direct == 4 && v.oom_kill == KFILE_ABSENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_machine),
		cmocka_unit_test(a_node_has_no_events),
		cmocka_unit_test(oddities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
