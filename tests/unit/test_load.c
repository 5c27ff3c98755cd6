/* SPDX-License-Identifier: GPL-2.0-only */
/* The sliding window of over-scan: what stays in the page cache, and where in the file it is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "load.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define TMPFS_MAGIC 0x01021994
#define SPAN_PAGES 256
#define WINDOW_PAGES 64
#define STEP_PAGES 8

/* A hole of two spans on a disk: in tmpfs a hole has no page cache. -1 where there is none. */
static int make_hole(char path[], uint64_t bytes)
{
	struct statfs fs;
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	if (fstatfs(fd, &fs) == 0 && fs.f_type != TMPFS_MAGIC && ftruncate(fd, (off_t)bytes) == 0)
		return fd;
	(void)unlink(path);
	(void)close(fd);
	return -1;
}

static unsigned int resident(int fd, size_t first, size_t nr, size_t page)
{
	unsigned char *seen = calloc(nr, 1);
	unsigned int sum = 0;
	void *p = mmap(NULL, nr * page, PROT_READ, MAP_SHARED, fd, (off_t)(first * page));

	assert_non_null(seen);
	assert_true(p != MAP_FAILED);
	assert_int_equal(mincore(p, nr * page, seen), 0);
	for (size_t i = 0; i < nr; i++)
		sum += seen[i] & 1;
	(void)munmap(p, nr * page);
	free(seen);
	return sum;
}

static void the_window_slides_within_its_span(void **state)
{
	char path[] = "/var/tmp/test_load-XXXXXX";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct progress p;
	struct load l = { .progress = &p };
	struct load_window w = { .from = SPAN_PAGES * page,
				 .span = SPAN_PAGES * page,
				 .bytes = WINDOW_PAGES * page,
				 .step = STEP_PAGES * page };
	int fd = make_hole(path, 2 * w.span), status = -1;
	pid_t pid;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(progress_create(1, 0, &p), 0);
	pid = fork();
	if (pid == 0)
		_exit(load_slide(&l, path, &w) ? 1 : 0);
	assert_true(pid > 0);
	/* Twice around and a half, so that old offsets come again. */
	while (progress_done(&p) < SPAN_PAGES * 5 / 2)
		assert_int_equal(sched_yield(), 0);
	progress_stop(&p);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(resident(fd, 0, SPAN_PAGES, page), 0);
	assert_in_range(resident(fd, SPAN_PAGES, SPAN_PAGES, page), WINDOW_PAGES - STEP_PAGES,
			WINDOW_PAGES + 2 * STEP_PAGES);
	progress_destroy(&p);
	(void)unlink(path);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_slides_within_its_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
