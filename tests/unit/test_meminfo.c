/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "meminfo.h"

#include <errno.h>

#include "support.h"

static void recorded_file(void **state)
{
	struct meminfo m;

	(void)state;
	assert_int_equal(meminfo_parse(recorded("6.18-v1/meminfo"), &m), 0);
	assert_true(m.total_bytes == 24684096ULL * 1024);
	assert_true(m.available_bytes == 24204768ULL * 1024);
	/* Not ShmemHugePages or ShmemPmdMapped. */
	assert_true(m.shmem_bytes == 8788ULL * 1024);
	assert_true(m.swap_total_bytes == 0 && m.swap_free_bytes == 0);
	assert_true(m.free_bytes > 0 && m.free_bytes < m.total_bytes);
}

static void oddities(void **state)
{
	struct meminfo m = { .total_bytes = 7 };

	(void)state;
	assert_int_equal(meminfo_parse("", &m), -EINVAL);
	assert_int_equal(meminfo_parse("HugePages_Total:       0\n", &m), -EINVAL);
	assert_int_equal(meminfo_parse("MemTotal 1 kB\n", &m), -EINVAL);
	assert_int_equal(meminfo_parse("MemTotal: 1\n", &m), -EINVAL);
	assert_int_equal(meminfo_parse("MemTotal: 1 MB\n", &m), -EINVAL);
	assert_int_equal(meminfo_parse("MemTotal: 1 kB \n", &m), -EINVAL);
	assert_int_equal(meminfo_parse("MemTotal: kB\n", &m), -EINVAL);
	assert_int_equal(meminfo_parse("MemTotal:\n1 kB\n", &m), -EINVAL);
	/* 2^54 KiB are 2^64 bytes. */
	assert_int_equal(meminfo_parse("MemTotal: 18014398509481984 kB\n", &m), -EINVAL);
	assert_true(m.total_bytes == 7);
	assert_int_equal(meminfo_parse("MemTotal: 18014398509481983 kB\n", &m), 0);
	assert_true(m.total_bytes == UINT64_MAX - 1023 && m.free_bytes == KFILE_ABSENT);
	assert_int_equal(meminfo_parse("SwapFree:\t2 kB\nSwapFree: 3 kB", &m), 0);
	assert_true(m.swap_free_bytes == 2048 && m.total_bytes == KFILE_ABSENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_file),
		cmocka_unit_test(oddities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
