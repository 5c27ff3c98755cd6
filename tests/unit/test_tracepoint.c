/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts waits of its own for its children as a stand-in for reclaim passes: they need neither a memcg
 * nor pressure, and can be counted exactly. Not forks: a sanitizer's runtime starts a thread in each
 * child, and to the kernel that is a fork too. Skips where tracing is not allowed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "tracepoint.h"

#define EVENT "sched/sched_process_wait"

/* Fills in the id; tracefs is not needed to count. */
static void find_or_skip(struct tracepoint *tp)
{
	struct fail f = { 0 };
	_cleanup_close_ int fd = tracefs_open(&f);
	int r;

	if (fd < 0) {
		print_message("skipped: %s\n", f.what);
		skip();
	}
	r = tracepoint_find(fd, EVENT, &tp->id);
	if (r == -EACCES || r == -EPERM || r == -ENOENT) {
		print_message("skipped: find " EVENT ": %d\n", r);
		skip();
	}
	assert_int_equal(r, 0);
}

static void open_task_or_skip(const struct tracepoint *tps, size_t nr, int *ret_fds)
{
	struct fail f = { 0 };
	int r = tracepoint_open_task(tps, nr, 0, ret_fds, &f);

	if (r == -EACCES || r == -EPERM || r == -ENOSYS) {
		print_message("skipped: %s\n", f.what);
		skip();
	}
	assert_int_equal(r, 0);
}

static void fork_and_reap(int depth)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (depth > 1)
			fork_and_reap(depth - 1);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_unknown_event(void **state)
{
	struct tracepoint tp = { 0 };
	_cleanup_close_ int tracefs = -1;
	uint64_t id = 77;

	(void)state;
	find_or_skip(&tp);
	tracefs = tracefs_open(NULL);
	assert_int_equal(tracepoint_find(tracefs, "vmscan/no_such_event", &id), -ENOENT);
	assert_int_equal(id, 77);
}

static unsigned int count_tracefs_mounts(void)
{
	_cleanup_fclose_ FILE *mounts = fopen("/proc/self/mountinfo", "re");
	unsigned int nr = 0;
	char line[4096];

	assert_non_null(mounts);
	while (fgets(line, sizeof(line), mounts))
		nr += strstr(line, " - tracefs ") != NULL;
	return nr;
}

/* A private mount of tracefs is seen by nobody. */
static void test_leaves_no_mount(void **state)
{
	unsigned int before = count_tracefs_mounts();
	struct tracepoint tp = { 0 };
	_cleanup_close_ int tracefs = -1;

	(void)state;
	find_or_skip(&tp);
	tracefs = tracefs_open(NULL);
	assert_true(tracefs >= 0);
	assert_int_equal(count_tracefs_mounts(), before);
}

/* The count of a task holds what its children and their children did. */
static void test_inherits(void **state)
{
	struct tracepoint tp = { 0 };
	uint64_t count;
	int fd;

	(void)state;
	find_or_skip(&tp);
	open_task_or_skip(&tp, 1, &fd);
	for (int i = 0; i < 5; i++)
		fork_and_reap(3);
	assert_int_equal(tracepoint_read(fd, 1, &count), 0);
	assert_int_equal(count, 15);
	close(fd);
}

/* Members of a group count on their own, each by its filter. */
static void test_group_and_filter(void **state)
{
	struct tracepoint tps[3] = { 0 };
	char filter[64];
	uint64_t counts[3];
	int fds[3];

	(void)state;
	find_or_skip(&tps[0]);
	(void)snprintf(filter, sizeof(filter), "common_pid == %d", getpid());
	tps[1] = (struct tracepoint){ .id = tps[0].id, .filter = filter };
	tps[2] = (struct tracepoint){ .id = tps[0].id, .filter = "common_pid == 1" };
	open_task_or_skip(tps, 3, fds);
	for (int i = 0; i < 4; i++)
		fork_and_reap(2);
	assert_int_equal(tracepoint_read(fds[0], 3, counts), 0);
	assert_int_equal(counts[0], 8);
	assert_int_equal(counts[1], 4);
	assert_int_equal(counts[2], 0);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static void test_bad_filter(void **state)
{
	struct tracepoint tp = { .filter = "no_such_field == 1" };
	struct tracepoint plain = { 0 };
	struct fail f = { 0 };
	int fd;

	(void)state;
	find_or_skip(&tp);
	plain.id = tp.id;
	open_task_or_skip(&plain, 1, &fd);
	close(fd);
	fd = -1;
	assert_int_equal(tracepoint_open_task(&tp, 1, 0, &fd, &f), -EINVAL);
	assert_int_equal(fd, -1);
	assert_non_null(strstr(f.what, "no_such_field"));
}

static void test_group_size(void **state)
{
	struct tracepoint tps[TRACEPOINT_GROUP_MAX + 1] = { 0 };
	int fds[TRACEPOINT_GROUP_MAX + 1];

	(void)state;
	assert_int_equal(tracepoint_open_task(tps, 0, 0, fds, NULL), -EINVAL);
	assert_int_equal(tracepoint_open_task(tps, TRACEPOINT_GROUP_MAX + 1, 0, fds, NULL),
			 -EINVAL);
	assert_int_equal(tracepoint_read(-1, 1, (uint64_t[1]){ 0 }), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_event), cmocka_unit_test(test_leaves_no_mount),
		cmocka_unit_test(test_inherits),      cmocka_unit_test(test_group_and_filter),
		cmocka_unit_test(test_bad_filter),    cmocka_unit_test(test_group_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
