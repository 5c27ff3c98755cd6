/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "psi.h"

#include <errno.h>

#include "cleanup.h"
#include "support.h"

#define AVERAGES "avg10=0.00 avg60=1.00 avg300=99.99 "

static void recorded_and_documented(void **state)
{
	struct psi p;

	(void)state;
	assert_int_equal(psi_parse(recorded("7.3-v2/memory.pressure"), &p), 0);
	assert_true(p.some_us == 5012345 && p.full_us == 4000001);
	assert_int_equal(psi_parse(recorded("6.18-v1/pressure.memory"), &p), 0);
	assert_true(p.some_us == 0 && p.full_us == 0);
	assert_int_equal(psi_parse(recorded("5.10-v2/cpu.pressure"), &p), 0);
	assert_true(p.some_us == 88123 && p.full_us == KFILE_ABSENT);
}

static void off_is_no_data(void **state)
{
	struct psi p = { .some_us = 7 };

	(void)state;
	assert_int_equal(psi_parse("", &p), -ENODATA);
	assert_int_equal(psi_parse("\n", &p), -ENODATA);
	assert_true(p.some_us == 7);
}

static void what_a_later_kernel_may_add_is_passed_over(void **state)
{
	struct psi p;

	(void)state;
	assert_int_equal(
		psi_parse("some " AVERAGES "total=5 max=7\nmost " AVERAGES "total=6\n", &p), 0);
	assert_true(p.some_us == 5 && p.full_us == KFILE_ABSENT);
	assert_int_equal(psi_parse("some total=18446744073709551615 " AVERAGES, &p), 0);
	assert_true(p.some_us == UINT64_MAX);
}

static void malformed(void **state)
{
	static const char *const bad[] = {
		"some",
		"some\n",
		"full " AVERAGES "total=5\n",
		"some " AVERAGES "total=\n",
		"some " AVERAGES "total=x\n",
		"some " AVERAGES "total=5x\n",
		"some " AVERAGES "total=-5\n",
		"some " AVERAGES "total=18446744073709551616\n",
		"some " AVERAGES "\n",
		"some avg10=0.00 avg300=0.00 total=5\n",
		"some avg10=0.00 avg60=0.00 total=5\n",
		"some avg60=0.00 avg300=0.00 total=5\n",
		"some avg10=0 avg60=0.00 avg300=0.00 total=5\n",
		"some avg10=.5 avg60=0.00 avg300=0.00 total=5\n",
		"some avg10=1. avg60=0.00 avg300=0.00 total=5\n",
		"some avg10=0.00avg60=0.00 avg300=0.00 total=5\n",
		"some " AVERAGES "total=5 total=6\n",
		"some avg10=0.00 " AVERAGES "total=5\n",
		"some " AVERAGES "total=5\nsome " AVERAGES "total=5\n",
		"some " AVERAGES "total=5\nfull " AVERAGES "total=5\nfull " AVERAGES "total=5\n",
		"some " AVERAGES "total=5\nfull total=5\n",
		"something " AVERAGES "total=5\n",
		"0\n",
	};
	struct psi p = { .some_us = 7, .full_us = 8 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (psi_parse(bad[i], &p) != -EINVAL)
			print_error("taken: %s", bad[i]);
		assert_int_equal(psi_parse(bad[i], &p), -EINVAL);
	}
	assert_true(p.some_us == 7 && p.full_us == 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_and_documented),
		cmocka_unit_test(off_is_no_data),
		cmocka_unit_test(what_a_later_kernel_may_add_is_passed_over),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
