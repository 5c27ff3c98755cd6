/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "progress.h"

#define SECOND_NS 1000000000ULL

static void reset_gives_empty_slots(void **state)
{
	struct progress p;

	(void)state;
	assert_int_equal(progress_create(3, 2, &p), 0);
	atomic_store(&p.slots[1].done, 7);
	hist_record(progress_hist(&p, 2, 1), 99);
	assert_int_equal(progress_done(&p), 7);
	assert_int_equal(progress_hist(&p, 2, 1)->count, 1);
	assert_int_equal(progress_hist(&p, 2, 0)->count, 0);
	progress_reset(&p);
	assert_int_equal(progress_done(&p), 0);
	assert_int_equal(progress_hist(&p, 2, 1)->count, 0);
	assert_true(progress_hist(&p, 0, 0)->min == UINT64_MAX);
	progress_destroy(&p);
	assert_null(p.map);
}

static void too_many_histograms_are_refused(void **state)
{
	struct progress p;

	(void)state;
	assert_int_equal(progress_create(1, PROGRESS_HISTS_MAX + 1, &p), -EINVAL);
}

static void slots_do_not_share_cache_lines(void **state)
{
	struct progress p;

	(void)state;
	assert_int_equal(progress_create(5, 1, &p), 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal((uintptr_t)&p.slots[i] % PROGRESS_CACHE_LINE, 0);
	assert_true((unsigned char *)&p.hists[5] <= (unsigned char *)p.map + p.map_bytes);
	progress_destroy(&p);
}

/* A child's records are seen by its parent: this is what the whole process model rests on. */
static void a_forked_worker_is_heard(void **state)
{
	struct progress p;
	pid_t pid;
	int status;

	(void)state;
	assert_int_equal(progress_create(1, 1, &p), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (progress_wait_start(&p, 0)) {
			atomic_store(&p.slots[0].done, 42);
			hist_record(progress_hist(&p, 0, 0), 1234);
			progress_fail(&p, "first %d", 1);
			progress_fail(&p, "second");
		}
		_exit(0);
	}
	while (progress_ready(&p) < 1)
		progress_wait_ready_change(&p, 0, SECOND_NS);
	assert_int_equal(progress_done(&p), 0);
	progress_release(&p);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(progress_done(&p), 42);
	assert_int_equal(progress_hist(&p, 0, 0)->max, 1234);
	assert_string_equal(p.head->error, "first 1");
	assert_true(atomic_load(&p.head->start_ns) > 0);
	progress_destroy(&p);
}

struct waiter {
	struct progress *p;
	size_t slot;
	bool started;
};

static void *wait_at_barrier(void *arg)
{
	struct waiter *w = arg;

	w->started = progress_wait_start(w->p, w->slot);
	return NULL;
}

#define WAITERS 8

static void run_waiters(bool release, bool expect_started)
{
	struct waiter waiters[WAITERS];
	pthread_t threads[WAITERS];
	struct progress p;
	unsigned int seen;

	assert_int_equal(progress_create(WAITERS, 0, &p), 0);
	for (size_t i = 0; i < WAITERS; i++) {
		waiters[i] = (struct waiter){ .p = &p, .slot = i };
		assert_int_equal(pthread_create(&threads[i], NULL, wait_at_barrier, &waiters[i]),
				 0);
	}
	while ((seen = progress_ready(&p)) < WAITERS)
		progress_wait_ready_change(&p, seen, SECOND_NS);
	if (release)
		progress_release(&p);
	else
		progress_stop(&p);
	for (size_t i = 0; i < WAITERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(waiters[i].started, expect_started);
	}
	progress_destroy(&p);
}

static void release_starts_everybody(void **state)
{
	(void)state;
	run_waiters(true, true);
}

static void stop_frees_those_at_the_barrier(void **state)
{
	(void)state;
	run_waiters(false, false);
}

static void the_longest_access_under_way_is_found(void **state)
{
	struct progress p;

	(void)state;
	assert_int_equal(progress_create(3, 0, &p), 0);
	assert_int_equal(progress_longest_access_ns(&p, 1000), 0);
	atomic_store(&p.slots[0].access_since_ns, 900);
	atomic_store(&p.slots[2].access_since_ns, 400);
	assert_int_equal(progress_longest_access_ns(&p, 1000), 600);
	/* A start that is newer than our reading of the clock is no access of 584 years. */
	atomic_store(&p.slots[2].access_since_ns, 2000);
	assert_int_equal(progress_longest_access_ns(&p, 1000), 100);
	progress_destroy(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reset_gives_empty_slots),
		cmocka_unit_test(too_many_histograms_are_refused),
		cmocka_unit_test(slots_do_not_share_cache_lines),
		cmocka_unit_test(a_forked_worker_is_heard),
		cmocka_unit_test(release_starts_everybody),
		cmocka_unit_test(stop_frees_those_at_the_barrier),
		cmocka_unit_test(the_longest_access_under_way_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
