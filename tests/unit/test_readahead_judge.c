/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The judge of readahead-livelock on measured figures: design.md, section 7 (guest, 7.3.4 stock and
 * patched; passes per window as computed there) and made-up timelines for the livelock watch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "kfile.h"
#include "readahead.h"

#define S 1000000000ULL
#define MS 1000000ULL
#define MIB (1ULL << 20)

static struct measurement measured(double passes_per_window, double passes_per_major_fault)
{
	struct measurement m = {
		.memcg_version = 2,
		.page_size = 4096,
		.limit_bytes = 128 * MIB,
		.workers = 26,
		.time_scale = 1,
		.duration_ns = 15 * S,
		.end = END_TIME,
		.window_pages = 1024,
	};

	m.metrics[METRIC_OOM_KILLS] = value_u64(0);
	m.metrics[METRIC_OOM_EVENTS] = value_u64(0);
	m.metrics[METRIC_LIMIT_HITS] = value_u64(100000);
	m.metrics[METRIC_RECLAIM_PASSES] = value_u64(50000);
	m.metrics[METRIC_MAJOR_FAULTS] = value_u64(2000);
	m.metrics[METRIC_PASSES_PER_WINDOW] = value_real(passes_per_window);
	m.metrics[METRIC_PASSES_PER_MAJOR_FAULT] = value_real(passes_per_major_fault);
	return m;
}

static void expect(const struct measurement *m, enum verdict want, const char *words)
{
	struct run_result *res = calloc(1, sizeof(*res));

	assert_non_null(res);
	readahead_judge(m, res);
	if (res->verdict != want || !strstr(res->reason, words))
		print_error("got %s: %s\n", verdict_name(res->verdict), res->reason);
	assert_int_equal(res->verdict, want);
	assert_non_null(strstr(res->reason, words));
	free(res);
}

static void stock_fails_and_patched_passes(void **state)
{
	struct measurement m = measured(17, 24.8);

	(void)state;
	expect(&m, VERDICT_FAIL, "reclaim per folio: reclaim ran 17.0 times for each 4 MiB");
	expect(&m, VERDICT_FAIL, "24.8 times for each major fault");
	m = measured(20, 18.8);
	expect(&m, VERDICT_FAIL, "20.0 times");
	m = measured(1.7, 2.3);
	expect(&m, VERDICT_PASS, "1.7 times for each 4 MiB");
	m = measured(4, 2.3);
	expect(&m, VERDICT_PASS, "4.0 times");
	m = measured(4.01, 2.3);
	expect(&m, VERDICT_FAIL, "4.0 times");
}

static void pressure_must_be_proven(void **state)
{
	struct measurement m = measured(1, 1);

	(void)state;
	m.metrics[METRIC_LIMIT_HITS] = value_u64(99);
	expect(&m, VERDICT_PASS, "1.0 times"); /* its passes prove it */
	m.metrics[METRIC_RECLAIM_PASSES] = value_u64(99);
	expect(&m, VERDICT_INCONCLUSIVE, "no pressure: 99 limit hits and 99 reclaim passes");
	m.metrics[METRIC_LIMIT_HITS] = value_u64(100);
	expect(&m, VERDICT_PASS, "1.0 times");
	m.metrics[METRIC_MAJOR_FAULTS] = value_u64(99);
	expect(&m, VERDICT_INCONCLUSIVE, "no pressure: 99 major faults");
	/* FAIL needs no proof. */
	m.metrics[METRIC_PASSES_PER_WINDOW] = value_real(17);
	expect(&m, VERDICT_FAIL, "reclaim per folio");
}

static void a_small_window_says_nothing(void **state)
{
	struct measurement m = measured(0.9, 105);

	(void)state;
	m.window_pages = 32;
	expect(&m, VERDICT_INCONCLUSIVE, "window of 128 KiB cannot show the failure");
	m.window_pages = 255;
	expect(&m, VERDICT_INCONCLUSIVE, "cannot show the failure");
	m.window_pages = 256;
	expect(&m, VERDICT_PASS, "for each 1 MiB");
	/* Without readahead 32 pages are what a charge takes, and that is the control. */
	m.window_pages = 32;
	m.random_advice = true;
	expect(&m, VERDICT_PASS, "for each 128 KiB");
}

static void what_cannot_be_counted_is_no_pass(void **state)
{
	struct measurement m = measured(1, 1);

	(void)state;
	m.metrics[METRIC_PASSES_PER_WINDOW] = value_absent();
	expect(&m, VERDICT_INCONCLUSIVE, "passes_per_window decides, and reclaimed pages cannot");
	m.metrics[METRIC_RECLAIM_PASSES] = value_absent();
	expect(&m, VERDICT_INCONCLUSIVE, "and passes cannot");
}

static void kills_and_lost_readers_fail(void **state)
{
	struct measurement m = measured(1, 1);

	(void)state;
	m.end = END_WORKER_KILLED;
	m.metrics[METRIC_OOM_KILLS] = value_u64(1);
	expect(&m, VERDICT_FAIL, "no_oom_kill: a worker was OOM-killed");
	m = measured(30, 1);
	m.workers_stuck = 103;
	(void)strcpy(m.stuck, "pid 7 (mmapread) is in state R");
	expect(&m, VERDICT_FAIL, "livelock in reclaim: 103 readers outlived SIGKILL by 10 s; ");
	m = measured(1, 1);
	m.end = END_WORKER_FAILED;
	(void)strcpy(m.worker_error, "SIGBUS reading /x at byte 0: the file was truncated");
	expect(&m, VERDICT_ERROR, "the file was truncated");
}

/* A timeline of 0.1 s steps: @pages and @passes a step, but in the steps from @from to @to. */
static void draw(struct timeline *t, size_t steps, size_t from, size_t to, uint64_t pages_there,
		 uint64_t passes_there)
{
	uint64_t pages = 0, passes = 0;

	assert_int_equal(timeline_reserve(t, steps + 1), 0);
	for (size_t i = 0; i <= steps; i++) {
		bool there = i > from && i <= to;
		struct sample s;

		pages += i == 0 ? 0 : there ? pages_there : 1000;
		passes += i == 0 ? 0 : there ? passes_there : 50;
		sample_init(&s);
		s.v[SERIES_T_NS] = i * 100 * MS;
		s.v[SERIES_PROGRESS] = pages;
		s.v[SERIES_RECLAIM_PASSES] = passes;
		s.v[SERIES_PASSES_IN_FLIGHT] = 0;
		assert_int_equal(timeline_add(t, &s), 0);
	}
}

static void with_timeline(size_t from, size_t to, uint64_t pages, uint64_t passes,
			  enum verdict want, const char *words, const char *note)
{
	struct measurement m = measured(1, 1);
	struct run_result *res = calloc(1, sizeof(*res));
	struct timeline t = { 0 };

	assert_non_null(res);
	draw(&t, 300, from, to, pages, passes);
	m.duration_ns = 30 * S;
	m.timeline = &t;
	readahead_judge(&m, res);
	/* Before any assertion, which jumps away when it fails. */
	timeline_free(&t);
	if (res->verdict != want || !strstr(res->reason, words))
		print_error("got %s: %s\n", verdict_name(res->verdict), res->reason);
	assert_int_equal(res->verdict, want);
	assert_non_null(strstr(res->reason, words));
	assert_true(note ? res->nr_notes == 1 && strstr(res->notes[0], note) : res->nr_notes == 0);
	free(res);
}

static void five_seconds_without_reading_are_a_livelock(void **state)
{
	(void)state;
	/* Nothing odd. */
	with_timeline(0, 0, 0, 0, VERDICT_PASS, "no livelock", NULL);
	/* 5 s and 20 times the usual passes, and not a page. */
	with_timeline(100, 150, 0, 1000, VERDICT_FAIL, "livelock in reclaim", NULL);
	/* Slow, but two pages for each of the 26 readers. */
	with_timeline(100, 150, 1, 1000, VERDICT_PASS, "no livelock", NULL);
	with_timeline(100, 150, 0, 50, VERDICT_FAIL, "read 0 pages, and 50000 at the median", NULL);
	/* 4.8 s: the worst window still has two usual steps, 4 % of the median. */
	with_timeline(100, 148, 0, 1000, VERDICT_PASS, "no livelock", NULL);
	/* More than half of the run: the median itself is what a livelock reads, and its windows are
	 * still told by the better half. */
	with_timeline(120, 300, 0, 50, VERDICT_FAIL, "livelock in reclaim", NULL);
}

/* Measured in the guest (6.12, ext4, rand): a reader whose file stayed in memory made the median. */
static void one_lucky_reader_makes_no_livelock_of_the_others(void **state)
{
	(void)state;
	with_timeline(100, 170, 7, 50, VERDICT_PASS, "no livelock", NULL);
}

static void a_slow_device_is_no_livelock(void **state)
{
	(void)state;
	with_timeline(100, 170, 0, 0, VERDICT_PASS, "no livelock", "slow device");
	with_timeline(100, 170, 0, 2, VERDICT_PASS, "no livelock", "slow device");
}

static void a_group_that_never_reads_has_no_excuse(void **state)
{
	(void)state;
	with_timeline(0, 300, 0, 50, VERDICT_FAIL, "livelock in reclaim", NULL);
}

static void a_short_run_cannot_show_a_livelock(void **state)
{
	struct measurement m = measured(1, 1);

	(void)state;
	m.duration_ns = 14 * S;
	expect(&m, VERDICT_PASS, "whether it livelocks was not looked at");
}

static void long_runs_are_seen_whole(void **state)
{
	struct timeline t = { 0 };
	struct window_watch w;

	(void)state;
	draw(&t, 4000, 3900, 3960, 0, 50);
	w = readahead_watch(&t, 5 * S);
	timeline_free(&t);
	assert_in_range(w.nr_windows, 700, 1024);
	assert_int_equal(w.median_pages, 50000);
	assert_true(w.slowest_reclaiming_pages <= 1000);
	assert_true(w.slowest_waiting_pages == UINT64_MAX);
	w = readahead_watch(NULL, 5 * S);
	assert_int_equal(w.nr_windows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stock_fails_and_patched_passes),
		cmocka_unit_test(pressure_must_be_proven),
		cmocka_unit_test(a_small_window_says_nothing),
		cmocka_unit_test(what_cannot_be_counted_is_no_pass),
		cmocka_unit_test(kills_and_lost_readers_fail),
		cmocka_unit_test(five_seconds_without_reading_are_a_livelock),
		cmocka_unit_test(one_lucky_reader_makes_no_livelock_of_the_others),
		cmocka_unit_test(a_slow_device_is_no_livelock),
		cmocka_unit_test(a_group_that_never_reads_has_no_excuse),
		cmocka_unit_test(a_short_run_cannot_show_a_livelock),
		cmocka_unit_test(long_runs_are_seen_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
