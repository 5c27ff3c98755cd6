/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data set on a real disk (a folder of its own in /var/tmp): written, verified, evicted, kept. With
 * io_uring and without; the tests that look into the page cache are skipped on tmpfs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "backing.h"
#include "blockqueue.h"
#include "dataset.h"
#include "pagecache.h"

#define FILES 3
/* Two whole blocks and a part of one, an odd number of pages. */
#define BYTES (2 * BLOCKQUEUE_BLOCK + 7 * CONTENT_PAGE)

struct fixture {
	struct dataset set;
	struct fail f;
};

static int make(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	assert_non_null(x);
	x->set = (struct dataset){ .nr_files = FILES,
				   .file_bytes = BYTES,
				   .content = { .seed = 1, .ratio = 2 } };
	(void)strcpy(x->set.dir, "/var/tmp/test_dataset.XXXXXX");
	assert_non_null(mkdtemp(x->set.dir));
	x->set.buffered = backing_wants_buffered(x->set.dir);
	*state = x;
	return 0;
}

static int unmake(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(dataset_clear(&x->set, &x->f), 0);
	assert_int_equal(rmdir(x->set.dir), 0);
	free(x);
	return 0;
}

static void must(const struct fixture *x, int r)
{
	if (r < 0)
		print_error("%s\n", x->f.what);
	assert_true(r >= 0);
}

static void poke(const struct dataset *set, unsigned int file, off_t at)
{
	char path[PATH_MAX], c;
	int fd;

	dataset_path(set, file, path, sizeof(path));
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 1;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(close(fd), 0);
}

static void cut(const struct dataset *set, unsigned int file, off_t bytes)
{
	char path[PATH_MAX];

	dataset_path(set, file, path, sizeof(path));
	assert_int_equal(truncate(path, bytes), 0);
}

static void write_and_verify(struct fixture *x)
{
	struct stat st;
	char path[PATH_MAX];

	must(x, dataset_write(&x->set, &x->f));
	must(x, dataset_verify(&x->set, &x->f));
	dataset_path(&x->set, FILES - 1, path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, BYTES);
	poke(&x->set, 1, BLOCKQUEUE_BLOCK + 5);
	assert_int_equal(dataset_verify(&x->set, &x->f), -EIO);
	assert_non_null(
		strstr(x->f.what, "file-00001 differs from what was written at byte 1048581"));
	poke(&x->set, 1, BLOCKQUEUE_BLOCK + 5);
	must(x, dataset_verify(&x->set, &x->f));
	cut(&x->set, 2, BYTES - CONTENT_PAGE);
	assert_int_equal(dataset_verify(&x->set, &x->f), -ENODATA);
	assert_non_null(strstr(x->f.what, "file-00002 ends at byte"));
}

static void with_io_uring(void **state)
{
	write_and_verify(*state);
}

static void without_io_uring(void **state)
{
	struct fixture *x = *state;

	x->set.plain = true;
	write_and_verify(x);
}

static void through_the_page_cache(void **state)
{
	struct fixture *x = *state;

	x->set.buffered = true;
	write_and_verify(x);
}

static void more_files_than_the_queue_is_deep(void **state)
{
	struct fixture *x = *state;

	x->set.nr_files = 3 * BLOCKQUEUE_DEPTH + 1;
	x->set.file_bytes = CONTENT_PAGE;
	must(x, dataset_write(&x->set, &x->f));
	must(x, dataset_verify(&x->set, &x->f));
}

/* RLIMIT_FSIZE stands for the full disk: the same path, another errno. */
static void a_write_that_fails_is_named(void **state)
{
	struct fixture *x = *state;
	struct rlimit old, tight = { BLOCKQUEUE_BLOCK, RLIM_INFINITY };

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	tight.rlim_max = old.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(dataset_write(&x->set, &x->f), -EFBIG);
	assert_non_null(strstr(x->f.what, x->set.dir));
	x->set.buffered = true;
	assert_int_equal(dataset_write(&x->set, &x->f), -EFBIG);
	assert_non_null(strstr(x->f.what, "writing"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

static void a_stop_ends_it(void **state)
{
	static volatile sig_atomic_t stop = 1;
	struct fixture *x = *state;

	x->set.stop = &stop;
	assert_int_equal(dataset_write(&x->set, &x->f), -EINTR);
	x->set.plain = true;
	assert_int_equal(dataset_write(&x->set, &x->f), -EINTR);
}

static void evicted_means_gone(void **state)
{
	struct fixture *x = *state;
	uint64_t pages = 0, other = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[PATH_MAX];
	static char buf[BYTES];
	const char *map;
	int fd;

	if (backing_is_memory(x->set.dir))
		skip();
	must(x, dataset_write(&x->set, &x->f));
	dataset_path(&x->set, 0, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, buf, BYTES), BYTES);
	assert_int_equal(pagecache_count(fd, BYTES, &pages), 0);
	assert_int_equal(pagecache_count_mincore(fd, BYTES, &other), 0);
	assert_int_equal(pages, (BYTES + page - 1) / page);
	assert_int_equal(other, pages);
	must(x, dataset_evict(&x->set, &x->f));
	assert_int_equal(pagecache_count(fd, BYTES, &pages), 0);
	assert_int_equal(pages, 0);
	assert_int_equal(pagecache_count_mincore(fd, BYTES, &pages), 0);
	assert_int_equal(pages, 0);
	/* A page that somebody has mapped does not go, and that must be said. */
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	buf[0] = *(const volatile char *)map;
	assert_int_equal(dataset_evict(&x->set, &x->f), -EBUSY);
	assert_non_null(strstr(x->f.what, "file-00000 still has"));
	assert_int_equal(munmap((void *)(uintptr_t)map, page), 0);
	assert_int_equal(close(fd), 0);
}

/* The engine calls mlockall(MCL_FUTURE) before the files are looked at. */
static void counting_brings_nothing_in(void **state)
{
	struct fixture *x = *state;
	uint64_t pages = 1;
	char path[PATH_MAX];
	int fd;

	if (backing_is_memory(x->set.dir) || mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		skip();
	must(x, dataset_write(&x->set, &x->f));
	must(x, dataset_evict(&x->set, &x->f));
	dataset_path(&x->set, 0, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pagecache_count_mincore(fd, BYTES, &pages), 0);
		assert_int_equal(pages, 0);
	}
	assert_int_equal(close(fd), 0);
	assert_int_equal(munlockall(), 0);
}

static void a_kept_set_matches_what_it_is(void **state)
{
	struct fixture *x = *state;
	struct dataset other = x->set;

	assert_false(dataset_matches(&x->set));
	must(x, dataset_write(&x->set, &x->f));
	assert_false(dataset_matches(&x->set));
	must(x, dataset_write_manifest(&x->set, &x->f));
	assert_true(dataset_matches(&x->set));
	other.nr_files++;
	assert_false(dataset_matches(&other));
	other = x->set;
	other.file_bytes += CONTENT_PAGE;
	assert_false(dataset_matches(&other));
	other = x->set;
	other.content.ratio = 2.5;
	assert_false(dataset_matches(&other));
	other = x->set;
	other.content.seed = 2;
	assert_false(dataset_matches(&other));
	cut(&x->set, 0, CONTENT_PAGE);
	assert_false(dataset_matches(&x->set));
}

static void clearing_leaves_what_is_not_ours(void **state)
{
	struct fixture *x = *state;
	char path[PATH_MAX], theirs[PATH_MAX];

	must(x, dataset_write(&x->set, &x->f));
	must(x, dataset_write_manifest(&x->set, &x->f));
	(void)snprintf(theirs, sizeof(theirs), "%s/notes.txt", x->set.dir);
	assert_int_equal(close(open(theirs, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
	must(x, dataset_clear(&x->set, &x->f));
	dataset_path(&x->set, 0, path, sizeof(path));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(theirs, F_OK), 0);
	assert_int_equal(unlink(theirs), 0);
	assert_false(dataset_matches(&x->set));
}

static void only_one_may_use_it(void **state)
{
	struct fixture *x = *state;
	int first = dataset_lock(&x->set, &x->f), second;

	must(x, first);
	assert_int_equal(dataset_lock(&x->set, &x->f), -EWOULDBLOCK);
	assert_non_null(strstr(x->f.what, "in use by another mmapread"));
	assert_int_equal(close(first), 0);
	second = dataset_lock(&x->set, &x->f);
	must(x, second);
	assert_int_equal(close(second), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(with_io_uring),
		TEST(without_io_uring),
		TEST(through_the_page_cache),
		TEST(more_files_than_the_queue_is_deep),
		TEST(a_write_that_fails_is_named),
		TEST(a_stop_ends_it),
		TEST(evicted_means_gone),
		TEST(counting_brings_nothing_in),
		TEST(a_kept_set_matches_what_it_is),
		TEST(clearing_leaves_what_is_not_ours),
		TEST(only_one_may_use_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
