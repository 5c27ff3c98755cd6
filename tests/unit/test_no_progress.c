/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_latency.h"
#include "no_progress.h"
#include "usemem.h"

#define MS 1000000ULL
#define S (1000 * MS)
#define PAGE 4096
#define EXCESS_PAGES 6400 /* 25 MiB */

/* The document's run on a kernel that does well: 5.15. */
static struct measurement good(void)
{
	struct measurement m = {
		.memcg_version = 2,
		.page_size = PAGE,
		.limit_bytes = 25ULL << 20,
		.demand_bytes = 50ULL << 20,
		.time_scale = 1,
		.duration_ns = 16 * S,
		.end = END_WORKERS_DONE,
	};

	m.metrics[METRIC_SWAP_LATENCY_NS] = value_u64(20000);
	m.metrics[METRIC_LIMIT_HITS] = value_u64(5000);
	m.metrics[METRIC_LONGEST_STALL_NS] = value_u64(5 * MS);
	m.metrics[METRIC_DIRTY_NS] = value_u64(60 * MS);
	m.metrics[METRIC_DIRTY_OOM_KILLS] = value_u64(0);
	m.metrics[METRIC_MLOCK_NS] = value_u64(20 * MS);
	m.metrics[METRIC_SWAPOFF_NS] = value_u64(300 * MS);
	m.metrics[METRIC_KILL_LATENCY_NS] = value_u64(10 * MS);
	m.metrics[METRIC_LONGEST_D_STATE_NS] = value_u64(0);
	m.metrics[METRIC_NOPROGRESS_SHARE] = value_real(0);
	return m;
}

static struct run_result judged(const struct measurement *m)
{
	struct run_result r = { 0 };

	no_progress.judge(m, &r);
	return r;
}

static void breaks(const struct measurement *m, const char *check)
{
	struct run_result r = judged(m);

	assert_int_equal(r.verdict, VERDICT_FAIL);
	for (size_t i = 0; i < r.nr_checks; i++)
		if ((r.checks[i].outcome == OUTCOME_FAIL) != (strcmp(r.checks[i].name, check) == 0))
			fail_msg("%s: %s", check, r.checks[i].name);
}

static void test_the_documents_good_kernel_passes(void **state)
{
	struct measurement m = good();
	struct run_result r = judged(&m);

	(void)state;
	assert_int_equal(r.verdict, VERDICT_PASS);
	assert_int_equal(r.nr_checks, 9);
	assert_non_null(strstr(r.reason, "60.0 ms"));
}

static void test_the_documents_bad_kernel_fails(void **state)
{
	struct measurement m = good();
	struct run_result r;

	(void)state;
	m.metrics[METRIC_DIRTY_NS] = value_u64(22 * S);
	m.metrics[METRIC_MLOCK_NS] = value_u64(280 * S);
	m.metrics[METRIC_SWAPOFF_NS] = value_u64(1200 * S);
	m.metrics[METRIC_NOPROGRESS_SHARE] = value_real(0.97);
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_FAIL);
	assert_int_equal(verdict_find(&r, "dirty_time")->outcome, OUTCOME_FAIL);
	assert_int_equal(verdict_find(&r, "mlock_settles")->outcome, OUTCOME_FAIL);
	assert_int_equal(verdict_find(&r, "swapoff_ends")->outcome, OUTCOME_FAIL);
	assert_int_equal(verdict_find(&r, "throttled_noprogress")->outcome, OUTCOME_FAIL);
	assert_non_null(strstr(r.reason, "dirtying took 22.0 s"));
	assert_non_null(strstr(r.reason, "mlock took 280 s"));
	assert_non_null(strstr(r.reason, "swapoff took 1200 s"));
}

static void test_each_bound_breaks_alone(void **state)
{
	static const struct {
		const char *check;
		enum metric_id id;
		uint64_t bound_ns;
	} rows[] = {
		{ "longest_touch", METRIC_LONGEST_STALL_NS, S + 8 * 20000 },
		{ "dirty_time", METRIC_DIRTY_NS, 5 * S + EXCESS_PAGES * 20000 / 32 },
		{ "mlock_settles", METRIC_MLOCK_NS, 10 * S },
		{ "swapoff_ends", METRIC_SWAPOFF_NS, 60 * S + 64 * 20000 },
		{ "kill_latency", METRIC_KILL_LATENCY_NS, 2 * S + 2 * 20000 },
		{ "longest_d_state", METRIC_LONGEST_D_STATE_NS, 2 * S + 8 * 20000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct measurement m = good();
		struct run_result r;

		m.metrics[rows[i].id] = value_u64(rows[i].bound_ns);
		r = judged(&m);
		assert_int_equal(r.verdict, VERDICT_PASS);
		m.metrics[rows[i].id] = value_u64(rows[i].bound_ns + 1);
		breaks(&m, rows[i].check);
		/* A slow machine gets more time. */
		m.time_scale = 2;
		r = judged(&m);
		assert_int_equal(r.verdict, VERDICT_PASS);
	}
}

static void test_counts_do_not_scale(void **state)
{
	struct measurement m = good();

	(void)state;
	m.time_scale = 1000;
	m.metrics[METRIC_DIRTY_OOM_KILLS] = value_u64(1);
	m.kill.swap_total_bytes = 200 << 20;
	m.kill.swap_free_bytes = 100 << 20;
	breaks(&m, "no_oom_kill");
	/* With the swap full a kill may be right. */
	m.kill.swap_free_bytes = 9 << 20;
	assert_int_equal(judged(&m).verdict, VERDICT_INCONCLUSIVE);
	m = good();
	m.time_scale = 1000;
	m.metrics[METRIC_NOPROGRESS_SHARE] = value_real(0.11);
	breaks(&m, "throttled_noprogress");
	m = good();
	m.workers_stuck = 1;
	breaks(&m, "workers_die");
}

static void test_slow_is_not_stalled(void **state)
{
	struct measurement m = good();
	struct run_result r;

	(void)state;
	m.metrics[METRIC_SWAP_LATENCY_NS] = value_u64(500 * MS);
	m.metrics[METRIC_DIRTY_NS] = value_u64(60 * S);
	m.metrics[METRIC_LONGEST_STALL_NS] = value_u64(4 * S);
	m.metrics[METRIC_LONGEST_D_STATE_NS] = value_u64(5 * S);
	m.metrics[METRIC_KILL_LATENCY_NS] = value_u64(2500 * MS);
	m.metrics[METRIC_SWAPOFF_NS] = value_u64(80 * S);
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_PASS);
	/* 6.12 in the guest at 512 ms a page, 2026-12-01. */
	m = good();
	m.metrics[METRIC_SWAP_LATENCY_NS] = value_u64(512 * MS);
	m.metrics[METRIC_DIRTY_NS] = value_u64(620 * MS);
	m.metrics[METRIC_DIRTY_OOM_KILLS] = value_u64(1);
	m.kill.swap_total_bytes = 200 << 20;
	m.kill.swap_free_bytes = 100 << 20;
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(r.reason, "512 ms"));
	/* A stall beside the kill is one all the same, whatever the device and its space. */
	m.metrics[METRIC_MLOCK_NS] = value_u64(11 * S);
	assert_int_equal(judged(&m).verdict, VERDICT_FAIL);
	m.kill.swap_free_bytes = 0;
	assert_int_equal(judged(&m).verdict, VERDICT_FAIL);
	/* On a device that reclaim can wait for there is no excuse. */
	m = good();
	m.metrics[METRIC_SWAP_LATENCY_NS] = value_u64(100 * MS);
	m.metrics[METRIC_DIRTY_OOM_KILLS] = value_u64(1);
	m.kill.swap_total_bytes = 200 << 20;
	m.kill.swap_free_bytes = 100 << 20;
	breaks(&m, "no_oom_kill");
}

static void test_without_pressure_nothing_is_proven(void **state)
{
	struct measurement m = good();
	struct run_result r;

	(void)state;
	m.metrics[METRIC_LIMIT_HITS] = value_u64(EXCESS_PAGES / 128 - 1);
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
	m = good();
	m.metrics[METRIC_SWAPOFF_NS] = value_absent();
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
	m = good();
	m.end = END_INTERRUPTED;
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
}

static void test_what_cannot_be_seen_is_skipped(void **state)
{
	struct measurement m = good();
	struct run_result r;

	(void)state;
	m.metrics[METRIC_NOPROGRESS_SHARE] = value_absent();
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_PASS);
	assert_int_equal(verdict_find(&r, "throttled_noprogress")->outcome, OUTCOME_SKIP);
}

static void test_mlock_that_is_refused_is_our_error(void **state)
{
	struct measurement m = good();
	struct run_result r;

	(void)state;
	m.end = END_WORKER_FAILED;
	(void)snprintf(m.worker_error, sizeof(m.worker_error), "mlock was refused");
	m.metrics[METRIC_SWAPOFF_NS] = value_absent();
	r = judged(&m);
	assert_int_equal(r.verdict, VERDICT_ERROR);
}

/* The states of @text at 10 ms each; progress moves where a '+' follows. */
static uint64_t stretch_of(const char *text)
{
	struct stretch s = { 0 };
	uint64_t now_ns = 1000 * MS, done = 0;

	for (const char *c = text; *c; c++) {
		if (*c == '+') {
			done++;
			continue;
		}
		if (*c == ' ') { /* the supervisor was late */
			now_ns += 500 * MS;
			continue;
		}
		now_ns += 10 * MS;
		stretch_add(&s, now_ns, *c, done);
	}
	return s.longest_ns / MS;
}

static void test_a_stretch_is_sleep_without_progress(void **state)
{
	(void)state;
	assert_int_equal(stretch_of(""), 0);
	assert_int_equal(stretch_of("D"), 0);
	assert_int_equal(stretch_of("DD"), 10);
	assert_int_equal(stretch_of("DDDDD"), 40);
	assert_int_equal(stretch_of("DDDRDD"), 20);
	assert_int_equal(stretch_of("SSSS"), 0);
	assert_int_equal(stretch_of("DDSDDDSD"), 20);
	/* Many short swap-ins look like one long sleep, but for the counter. */
	assert_int_equal(stretch_of("D+D+D+D+D"), 0);
	assert_int_equal(stretch_of("DDD+DDDD"), 30);
	/* Nobody looked: nothing is known. */
	assert_int_equal(stretch_of("DD DDD"), 20);
}

static uint64_t killed(unsigned int nr, const uint64_t *ns, uint64_t forced_ns)
{
	struct no_progress np = { .nr_kills = nr, .forced_kill_ns = forced_ns };

	for (unsigned int i = 0; i < nr; i++)
		np.kills_ns[i] = ns[i];
	return no_progress_kill_latency_ns(&np);
}

static void test_one_slow_kill_is_no_stall(void **state)
{
	(void)state;
	assert_int_equal(killed(0, NULL, 0), 0);
	assert_int_equal(killed(1, (uint64_t[]){ 7 }, 0), 7);
	assert_int_equal(killed(3, (uint64_t[]){ 900, 5, 6 }, 0), 6);
	assert_int_equal(killed(3, (uint64_t[]){ 900, 5, 800 }, 0), 800);
	assert_int_equal(killed(4, (uint64_t[]){ 900, 5, 800, 6 }, 0), 6);
	/* Who had to be killed counts alone. */
	assert_int_equal(killed(3, (uint64_t[]){ 4, 5, 6 }, 1000), 1000);
	assert_int_equal(killed(0, NULL, 1000), 1000);
}

static void test_latency_of_a_file(void **state)
{
	char path[] = "/var/tmp/squeeze-test-XXXXXX";
	uint64_t ns = 0;
	struct fail f = { 0 };
	int fd = mkstemp(path), r;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	r = device_latency(path, &ns, &f);
	(void)ftruncate(fd, 0);
	if (r == 0)
		assert_int_equal(device_latency(path, &ns, &f), -ENOSPC);
	(void)close(fd);
	(void)unlink(path);
	if (r == -EINVAL)
		skip(); /* a filesystem without direct I/O */
	assert_int_equal(r, 0);
	assert_true(ns > 0);
	assert_int_equal(device_latency("/nonexistent", &ns, &f), -ENOENT);
	assert_non_null(strstr(f.what, "/nonexistent"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_documents_good_kernel_passes),
		cmocka_unit_test(test_the_documents_bad_kernel_fails),
		cmocka_unit_test(test_each_bound_breaks_alone),
		cmocka_unit_test(test_counts_do_not_scale),
		cmocka_unit_test(test_slow_is_not_stalled),
		cmocka_unit_test(test_without_pressure_nothing_is_proven),
		cmocka_unit_test(test_what_cannot_be_seen_is_skipped),
		cmocka_unit_test(test_mlock_that_is_refused_is_our_error),
		cmocka_unit_test(test_a_stretch_is_sleep_without_progress),
		cmocka_unit_test(test_one_slow_kill_is_no_stall),
		cmocka_unit_test(test_latency_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
