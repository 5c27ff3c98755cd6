/* SPDX-License-Identifier: GPL-2.0-only */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

#define NS_PER_S 1000000000ULL
#define BLOCK (64u << 10)
/* 2^64 / golden ratio: the words of a page all differ. */
#define GOLDEN 0x9E3779B97F4A7C15ULL
/* Pages between two looks at the cue. */
#define LOOK_EVERY 256
#define REST_NS 50000000ULL

static bool left(const struct load *l)
{
	return l->stage ? stage_left(l->stage, l->actor, l->progress)
			: progress_stopped(l->progress);
}

static void say_full(const struct load *l)
{
	if (l->stage)
		stage_say(l->stage, l->actor, PART_FULL);
}

static void rest(const struct load *l, uint64_t ns)
{
	const struct timespec ts = { .tv_sec = (time_t)(ns / NS_PER_S),
				     .tv_nsec = (long)(ns % NS_PER_S) };

	if (l->stage)
		stage_rest(l->stage, l->actor, ns);
	else
		(void)syscall(SYS_futex, &l->progress->head->stop, FUTEX_WAIT, 0, &ts, NULL, 0);
}

static void count(const struct load *l, uint64_t pages)
{
	_Atomic uint64_t *done = &l->progress->slots[l->slot].done;

	atomic_store_explicit(done, atomic_load_explicit(done, memory_order_relaxed) + pages,
			      memory_order_relaxed);
}

static int broken(const struct load *l, int err, const char *what)
{
	progress_fail(l->progress, "%s: %s", what, strerror(err));
	return -err;
}

static int read_through(const struct load *l, int fd, const char *path)
{
	static unsigned char block[BLOCK];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	off_t at = 0;
	ssize_t n;

	while (!left(l) && (n = pread(fd, block, BLOCK, at)) != 0) {
		if (n < 0)
			return broken(l, errno, path);
		at += n;
		count(l, (uint64_t)n / page);
	}
	return 0;
}

int load_read_file(const struct load *l, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? broken(l, errno, path) : read_through(l, fd, path);
}

/* Page by page: readahead would bring large folios, which reclaim takes whole. */
static int read_step(const struct load *l, int fd, const char *path, uint64_t at, uint64_t bytes)
{
	static unsigned char block[BLOCK];

	for (uint64_t done = 0; done < bytes && !left(l);) {
		uint64_t rest_bytes = bytes - done;
		ssize_t n = pread(fd, block, rest_bytes < BLOCK ? (size_t)rest_bytes : BLOCK,
				  (off_t)(at + done));

		if (n <= 0)
			return broken(l, n ? errno : EIO, path);
		done += (uint64_t)n;
	}
	return 0;
}

int load_slide(const struct load *l, const char *path, const struct load_window *w)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int r = fd < 0 ? broken(l, errno, path) : 0;

	if (r == 0)
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (uint64_t at = 0; r == 0 && !left(l); at += w->step) {
		r = read_step(l, fd, path, w->from + at % w->span, w->step);
		count(l, w->step / page);
		if (at < w->bytes)
			continue;
		(void)posix_fadvise(fd, (off_t)(w->from + (at - w->bytes) % w->span),
				    (off_t)w->step, POSIX_FADV_DONTNEED);
		if (w->rest_ns)
			rest(l, w->rest_ns);
	}
	return r;
}

/* Half of the words: as compressible as the data of real programs. */
static void fill_page(unsigned char *page, size_t bytes, uint64_t value)
{
	uint64_t *words = (uint64_t *)(void *)page;

	for (size_t i = 0; i < bytes / sizeof(*words); i += 2)
		words[i] = value += GOLDEN;
}

static unsigned char *map(const struct load *l, uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		(void)broken(l, errno, "mmap");
		return NULL;
	}
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void populate(const struct load *l, unsigned char *base, uint64_t bytes, size_t page)
{
	for (uint64_t at = 0; at + page <= bytes; at += page) {
		if (at / page % LOOK_EVERY == 0) {
			if (left(l))
				return;
			count(l, LOOK_EVERY);
		}
		fill_page(base + at, page, at);
	}
}

/* xorshift64* (Vigna, ACM TOMS 42, 2016). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545F4914F6CDD1DULL;
}

static void visit_random(const struct load *l, unsigned char *base, uint64_t pages, size_t page)
{
	uint64_t state = l->slot + 1;

	while (!left(l)) {
		for (unsigned int i = 0; i < LOOK_EVERY; i++) {
			volatile unsigned char *p = base + next_random(&state) % pages * page;

			p[64] = (unsigned char)state;
		}
		count(l, LOOK_EVERY);
	}
}

int load_eat(const struct load *l, uint64_t bytes, unsigned int chunks, uint64_t nap_ns)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t pages = bytes / page, chunk = (pages / chunks + 1) * page;
	unsigned char *base = map(l, pages * page);

	if (!base)
		return -ENOMEM;
	for (uint64_t at = 0; at < pages * page && !left(l); at += chunk) {
		uint64_t left_over = pages * page - at;

		populate(l, base + at, left_over < chunk ? left_over : chunk, page);
		rest(l, nap_ns);
	}
	say_full(l);
	visit_random(l, base, pages, page);
	return 0;
}

int load_hog(const struct load *l, uint64_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *base = map(l, bytes);

	if (!base)
		return -ENOMEM;
	populate(l, base, bytes, page);
	say_full(l);
	while (!left(l))
		rest(l, REST_NS);
	return 0;
}

int load_churn(const struct load *l, uint64_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	while (!left(l)) {
		unsigned char *base = map(l, bytes);

		if (!base)
			return -ENOMEM;
		/* On fault, so that each page is a reclaim of its own and a stop is seen in between; where
		 * it is not allowed, reclaim may take of these too. */
		(void)mlock2(base, bytes, MLOCK_ONFAULT);
		populate(l, base, bytes, page);
		(void)munmap(base, bytes);
	}
	return 0;
}
