/* SPDX-License-Identifier: GPL-2.0-only */
/* The hot loop over a mapping that the test makes and over a small file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backing.h"
#include "dataset.h"
#include "pagecache.h"
#include "reader.h"

#define PAGES 64

struct fixture {
	struct progress progress;
	struct content content;
	struct reader reader;
	unsigned char *map;
	size_t bytes;
};

static int make(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	assert_non_null(x);
	x->bytes = PAGES * page;
	x->content = (struct content){ .seed = 4, .ratio = 1 };
	assert_int_equal(progress_create(1, READER_HISTS, &x->progress), 0);
	x->map = mmap(NULL, x->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(x->map, MAP_FAILED);
	content_fill(&x->content, 6, 0, x->map, x->bytes);
	x->reader = (struct reader){ .base = x->map,
				     .pages = PAGES,
				     .page_bytes = page,
				     .file = 6,
				     .content = &x->content,
				     .seed = 1 };
	*state = x;
	return 0;
}

static int unmake(void **state)
{
	struct fixture *x = *state;

	progress_destroy(&x->progress);
	assert_int_equal(munmap(x->map, x->bytes), 0);
	free(x);
	return 0;
}

static const struct hist *hist_of(const struct fixture *x, size_t which)
{
	return progress_hist(&x->progress, 0, which);
}

static void every_read_is_counted_and_timed(void **state)
{
	struct fixture *x = *state;
	size_t wrong = 0;

	assert_int_equal(reader_run(&x->reader, &x->progress, 0, 1000, &wrong), 0);
	assert_int_equal(progress_done(&x->progress), 1000);
	assert_int_equal(hist_of(x, READER_HIST_TOUCH)->count, 1000);
	assert_int_equal(atomic_load(&x->progress.slots[0].access_since_ns), 0);
	/* All of it was in memory. */
	assert_int_equal(hist_of(x, READER_HIST_MAJOR)->count, 0);
	assert_int_equal(atomic_load(&x->progress.slots[0].major_faults), 0);
}

static void a_wrong_page_is_found(void **state)
{
	struct fixture *x = *state;
	size_t wrong = 0;

	x->map[9 * x->reader.page_bytes] ^= 1;
	/* In order, from the start: found at the tenth page, which counts as read. */
	assert_int_equal(reader_run(&x->reader, &x->progress, 0, PAGES, &wrong), -EBADMSG);
	assert_int_equal(wrong, 9);
	assert_int_equal(progress_done(&x->progress), 10);
	/* At random: sooner or later. */
	x->reader.random = true;
	wrong = 0;
	assert_int_equal(reader_run(&x->reader, &x->progress, 0, 100 * PAGES, &wrong), -EBADMSG);
	assert_int_equal(wrong, 9);
}

/* If one of 64 pages is left out, a wrong word there goes unseen. */
static void random_order_leaves_no_page_out(void **state)
{
	struct fixture *x = *state;
	size_t wrong = 0;

	x->reader.random = true;
	for (size_t p = 0; p < PAGES; p++) {
		x->map[p * x->reader.page_bytes] ^= 1;
		assert_int_equal(reader_run(&x->reader, &x->progress, 0, 100 * PAGES, &wrong),
				 -EBADMSG);
		assert_int_equal(wrong, p);
		x->map[p * x->reader.page_bytes] ^= 1;
	}
}

static void a_stop_ends_it(void **state)
{
	struct fixture *x = *state;
	size_t wrong = 0;

	progress_stop(&x->progress);
	assert_int_equal(reader_run(&x->reader, &x->progress, 0, 0, &wrong), 0);
	assert_int_equal(progress_done(&x->progress), 0);
}

/* From disk, without readahead: every page waits for the device; again from memory: none does. */
static void major_faults_are_told_from_minor_ones(void **state)
{
	struct fixture *x = *state;
	char path[] = "/var/tmp/test_reader.XXXXXX";
	uint64_t left = 0;
	size_t wrong = 0;
	void *map;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	if (backing_is_memory("/var/tmp"))
		skip();
	assert_int_equal(write(fd, x->map, x->bytes), (ssize_t)x->bytes);
	assert_int_equal(pagecache_evict(fd, x->bytes, &left), 0);
	assert_int_equal(left, 0);
	map = mmap(NULL, x->bytes, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(madvise(map, x->bytes, MADV_RANDOM), 0);
	x->reader.base = map;
	assert_int_equal(reader_run(&x->reader, &x->progress, 0, PAGES, &wrong), 0);
	assert_in_range(atomic_load(&x->progress.slots[0].major_faults), PAGES / 2, PAGES);
	assert_int_equal(hist_of(x, READER_HIST_MAJOR)->count,
			 atomic_load(&x->progress.slots[0].major_faults));
	assert_int_equal(munmap(map, x->bytes), 0);
	map = mmap(NULL, x->bytes, PROT_READ, MAP_SHARED, fd, 0);
	x->reader.base = map;
	progress_reset(&x->progress);
	assert_int_equal(reader_run(&x->reader, &x->progress, 0, PAGES, &wrong), 0);
	assert_int_equal(atomic_load(&x->progress.slots[0].major_faults), 0);
	assert_true(atomic_load(&x->progress.slots[0].minor_faults) >= 1);
	assert_int_equal(munmap(map, x->bytes), 0);
	assert_int_equal(close(fd), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_read_is_counted_and_timed),	     TEST(a_wrong_page_is_found),
		TEST(random_order_leaves_no_page_out),	     TEST(a_stop_ends_it),
		TEST(major_faults_are_told_from_minor_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
