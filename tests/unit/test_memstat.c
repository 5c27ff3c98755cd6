/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "memstat.h"

#include <errno.h>

#include "support.h"

static void v2_of_a_recent_kernel(void **state)
{
	struct memstat s;

	(void)state;
	assert_int_equal(memstat_parse_v2(recorded("7.3-v2/memory.stat"), &s), 0);
	assert_true(s.anon_bytes == 14680064 && s.file_bytes == 1572864);
	assert_true(s.kernel_bytes == 655360 && s.shmem_bytes == 4096);
	assert_true(s.inactive_anon_bytes == 9437184 && s.active_anon_bytes == 5242880);
	assert_true(s.inactive_file_bytes == 1048576 && s.active_file_bytes == 524288);
	assert_true(s.unevictable_bytes == 16384 && s.swapcached_bytes == 286720);
	assert_true(s.file_dirty_bytes == 8192 && s.file_writeback_bytes == 12288);
	assert_true(s.pgfault == 201234 && s.pgmajfault == 77001);
	assert_true(s.pgscan == 380123 && s.pgsteal == 90456);
	assert_true(s.pgscan_direct == 380100 && s.pgsteal_direct == 90455);
	assert_true(s.refault_anon == 81234 && s.refault_file == 512);
	assert_true(s.swap_in == 81230 && s.swap_out == 90001);
}

static void v2_of_an_older_kernel_lacks_fields(void **state)
{
	struct memstat s;

	(void)state;
	assert_int_equal(memstat_parse_v2(recorded("5.10-v2/memory.stat"), &s), 0);
	assert_true(s.pgscan == 380123 && s.pgsteal == 90456 && s.pgmajfault == 77001);
	assert_true(s.pgscan_direct == KFILE_ABSENT && s.pgsteal_direct == KFILE_ABSENT);
	assert_true(s.kernel_bytes == KFILE_ABSENT && s.swapcached_bytes == KFILE_ABSENT);
	assert_true(s.swap_in == KFILE_ABSENT && s.swap_out == KFILE_ABSENT);
}

static void v1_takes_the_subtree(void **state)
{
	const char *text = recorded("6.18-v1/memory.stat");
	uint64_t own = 0, total = 0;
	struct memstat s;

	(void)state;
	assert_int_equal(memstat_parse_v1(text, &s), 0);
	assert_int_equal(kfile_key_u64(text, "inactive_file", &own), 0);
	assert_int_equal(kfile_key_u64(text, "total_inactive_file", &total), 0);
	assert_true(own != total && s.inactive_file_bytes == total);
	assert_int_equal(kfile_key_u64(text, "total_rss", &total), 0);
	assert_true(s.anon_bytes == total);
	assert_int_equal(kfile_key_u64(text, "total_cache", &total), 0);
	assert_true(s.file_bytes == total);
	assert_int_equal(kfile_key_u64(text, "total_dirty", &total), 0);
	assert_true(s.file_dirty_bytes == total);
	assert_int_equal(kfile_key_u64(text, "total_workingset_refault_file", &total), 0);
	assert_true(s.refault_file == total && total > 0);
	assert_true(s.pgscan == KFILE_ABSENT && s.pgsteal == KFILE_ABSENT);
	assert_true(s.kernel_bytes == KFILE_ABSENT && s.swap_in == KFILE_ABSENT);
}

static void a_key_is_not_its_prefix(void **state)
{
	struct memstat s;

	(void)state;
	assert_int_equal(memstat_parse_v2(recorded("odd/prefix-keys.stat"), &s), 0);
	assert_true(s.pgscan == 4 && s.pgscan_direct == 2);
	assert_true(s.pgsteal == 6 && s.pgsteal_direct == 5);
	assert_true(s.anon_bytes == 8 && s.file_bytes == KFILE_ABSENT);
}

static void oddities(void **state)
{
	struct memstat s;

	(void)state;
	memstat_init(&s);
	assert_true(s.anon_bytes == KFILE_ABSENT && s.swap_out == KFILE_ABSENT);
	s.anon_bytes = 7;
	assert_int_equal(memstat_parse_v2("", &s), -EINVAL);
	assert_int_equal(memstat_parse_v2(recorded("odd/none-wanted.stat"), &s), -EINVAL);
	assert_int_equal(memstat_parse_v2(recorded("odd/too-huge.stat"), &s), -EINVAL);
	assert_int_equal(memstat_parse_v2("file 1\nanon x\n", &s), -EINVAL);
	/* The other version's file has none of the keys, or others. */
	assert_int_equal(memstat_parse_v1(recorded("7.3-v2/memory.stat"), &s), -EINVAL);
	assert_true(s.anon_bytes == 7);
	assert_int_equal(memstat_parse_v2(recorded("odd/huge.stat"), &s), 0);
	assert_true(s.anon_bytes == UINT64_MAX - 1);
	assert_int_equal(memstat_parse_v2(recorded("odd/duplicate-keys.stat"), &s), 0);
	assert_true(s.anon_bytes == 100 && s.file_bytes == 1);
	assert_int_equal(memstat_parse_v2(recorded("odd/no-final-newline.stat"), &s), 0);
	assert_true(s.pgscan == 99);
	assert_int_equal(memstat_parse_v2(recorded("odd/missing-keys.stat"), &s), 0);
	assert_true(s.pgscan == 42 && s.anon_bytes == KFILE_ABSENT);
}

static void events(void **state)
{
	struct memevents e;

	(void)state;
	assert_int_equal(memevents_parse_v2(recorded("7.3-v2/memory.events"), &e), 0);
	assert_true(e.low == 0 && e.high == 12 && e.max == 3456 && e.oom == 10 && e.oom_kill == 1);
	assert_int_equal(memevents_parse_v2(recorded("5.10-v2/memory.events"), &e), 0);
	assert_true(e.low == 4 && e.max == 77 && e.oom == 2 && e.oom_kill == 2);
	assert_int_equal(memevents_parse_v1(recorded("6.18-v1/memory.oom_control"), &e), 0);
	assert_true(e.oom_kill == 0 && e.oom == KFILE_ABSENT && e.max == KFILE_ABSENT);
	e.oom_kill = 7;
	/* oom_kill_disable alone is not oom_kill. */
	assert_int_equal(memevents_parse_v1(recorded("odd/old.oom_control"), &e), -EINVAL);
	assert_int_equal(memevents_parse_v2("", &e), -EINVAL);
	assert_true(e.oom_kill == 7);
	memevents_init(&e);
	assert_true(e.low == KFILE_ABSENT && e.oom_kill == KFILE_ABSENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(v2_of_a_recent_kernel),
		cmocka_unit_test(v2_of_an_older_kernel_lacks_fields),
		cmocka_unit_test(v1_takes_the_subtree),
		cmocka_unit_test(a_key_is_not_its_prefix),
		cmocka_unit_test(oddities),
		cmocka_unit_test(events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
