/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "compile.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "count.h"

#define MIB (1ULL << 20)
#define JOBS 10000

static void equal_seeds_give_equal_jobs(void **state)
{
	struct compile_job a, b;
	unsigned int different = 0;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		compile_job_make(7, i, 100, &a);
		compile_job_make(7, i, 100, &b);
		assert_memory_equal(&a, &b, sizeof(a));
		compile_job_make(8, i, 100, &b);
		different += memcmp(&a, &b, sizeof(a)) != 0;
	}
	assert_int_equal(different, 100);
}

/* docs/ccstorm-jobs.md: the mean of 300 runs is 83 MiB besides the image, the smallest tenth has 28
 * and the largest 158 MiB. */
static void sizes_are_those_of_cc1(void **state)
{
	uint64_t sum = 0, least = UINT64_MAX, most = 0;
	struct compile_job j;

	(void)state;
	for (uint64_t i = 0; i < JOBS; i++) {
		compile_job_make(1, i, 100, &j);
		sum += j.anon_bytes;
		least = j.anon_bytes < least ? j.anon_bytes : least;
		most = j.anon_bytes > most ? j.anon_bytes : most;
	}
	assert_in_range(sum / JOBS, 79 * MIB, 84 * MIB);
	assert_in_range(least, 24 * MIB, 28 * MIB);
	assert_in_range(most, 154 * MIB, 174 * MIB);
}

static void memory_scales_and_nothing_is_left_out(void **state)
{
	struct compile_job whole, half;

	(void)state;
	compile_job_make(3, 5, 100, &whole);
	compile_job_make(3, 5, 50, &half);
	assert_int_equal(half.anon_bytes, whole.anon_bytes / 2);
	assert_int_equal(half.text_bytes, whole.text_bytes / 2);
	assert_int_equal(half.visits, whole.visits / 2);
	assert_int_equal(half.hot_percent, whole.hot_percent);
	assert_true(whole.header_bytes > 0 && whole.object_bytes > 0);
}

/* The document's sentence: 20 cc1 need about 3 GB. */
static void twenty_jobs_want_three_gigabytes(void **state)
{
	uint64_t demand = compile_demand_bytes(20, 100);

	(void)state;
	assert_in_range(demand, 2900 * MIB, 3200 * MIB);
	assert_true(compile_demand_max_bytes(20, 100) > demand);
	/* No job is larger than what the most is reckoned with. */
	for (uint64_t i = 0; i < JOBS; i++) {
		struct compile_job j;

		compile_job_make(1, i, 100, &j);
		assert_true(j.anon_bytes + j.text_bytes <= compile_demand_max_bytes(1, 100));
	}
}

/* What jobs that follow each other have, weighed with the time that each is there. */
static void the_mean_is_that_of_a_queue_of_jobs(void **state)
{
	uint64_t shared = compile_demand_mean_bytes(0, 100), mean, visits = 0;
	double held = 0;

	(void)state;
	for (uint64_t i = 0; i < JOBS; i++) {
		struct compile_job j;
		double growing, whole;

		compile_job_make(1, i, 100, &j);
		growing = (double)j.visits * COMPILE_GROWTH_PERCENT / 100;
		whole = (double)j.visits - growing;
		held += (double)j.anon_bytes * (growing / 2 + whole);
		visits += j.visits;
	}
	mean = (compile_demand_mean_bytes(20, 100) - shared) / 20;
	assert_in_range(mean, (uint64_t)(held / (double)visits * 0.97),
			(uint64_t)(held / (double)visits * 1.03));
	assert_true(compile_demand_mean_bytes(20, 50) < mean * 20);
}

static void levels_are_the_documents(void **state)
{
	(void)state;
	assert_int_equal(compile_limit_bytes(LEVEL_LIGHT, 3072 * MIB), 2048 * MIB);
	assert_int_equal(compile_limit_bytes(LEVEL_HEAVY, 3072 * MIB), 1536 * MIB);
	assert_int_equal(compile_limit_bytes(LEVEL_EXTREME, 3072 * MIB), 1024 * MIB);
	assert_int_equal(compile_limit_bytes(LEVEL_EXTREME, 100 * MIB) % MIB, 0);
}

/* --- counting --- */

static void make_file(const char *dir, const char *name)
{
	char path[256];
	_cleanup_close_ int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
}

static void set_age(const char *dir, const char *name, const struct timespec *when)
{
	const struct timespec times[2] = { *when, *when };
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void objects_count_by_name_and_time(void **state)
{
	char dir[] = "/tmp/squeeze-count-XXXXXX", sub[64], command[96];
	struct timespec old;
	struct count c;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(sub, sizeof(sub), "%s/sub", dir);
	assert_int_equal(mkdir(sub, 0700), 0);
	count_start(&c, dir, "*.o", 0);
	old = c.since;
	old.tv_sec -= 10;
	make_file(dir, "a.o");
	make_file(dir, "a.c");
	make_file(sub, "b.o");
	make_file(sub, "old.o");
	set_age(sub, "old.o", &old);
	count_tick(&c, 0); /* not due */
	assert_int_equal(c.nr, 0);
	count_finish(&c);
	assert_int_equal(c.nr, 2);
	/* No change counts twice. */
	count_finish(&c);
	assert_int_equal(c.nr, 2);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_seeds_give_equal_jobs),
		cmocka_unit_test(sizes_are_those_of_cc1),
		cmocka_unit_test(memory_scales_and_nothing_is_left_out),
		cmocka_unit_test(twenty_jobs_want_three_gigabytes),
		cmocka_unit_test(the_mean_is_that_of_a_queue_of_jobs),
		cmocka_unit_test(levels_are_the_documents),
		cmocka_unit_test(objects_count_by_name_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
