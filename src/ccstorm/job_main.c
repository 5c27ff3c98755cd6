/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ccstorm-job: one synthetic compiler job (compile.h), as a process of its own like cc1.
 *
 *   ccstorm-job IMAGE HEADERS OBJECT TEXT HEADER ANON OBJECT-BYTES VISITS HOT SEED
 *
 * Only ccstorm starts it. It says nothing; its exit code is the step that failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "parse.h"

enum { STEP_ARGUMENTS = 10, STEP_IMAGE, STEP_HEADERS, STEP_MEMORY, STEP_OBJECT };

#define BLOCK 65536u
/* 2^64 / golden ratio: the words of a page all differ. */
#define GOLDEN 0x9E3779B97F4A7C15ULL
/* Of the visits to memory, those to the compiler's own image: a fifth of what cc1 has resident. */
#define TEXT_SHARE 5
/* Anonymous visits that go to any page and not to a hot one: 1 in 16. */
#define COLD_SHARE 16

struct numbers {
	uint64_t text_bytes, header_bytes, anon_bytes, object_bytes, visits, hot_percent, seed;
};

struct area {
	unsigned char *base;
	uint64_t pages;
};

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

static uint64_t below(uint64_t *state, uint64_t limit)
{
	return limit ? next_random(state) % limit : 0;
}

/* Half of the words of a page are noise, as a compressing swap finds the data of real programs. */
static void fill_page(unsigned char *page, size_t bytes, uint64_t value)
{
	uint64_t *words = (uint64_t *)(void *)page;

	for (size_t i = 0; i < bytes / sizeof(*words); i += 2)
		words[i] = value += GOLDEN;
}

static int map_image(const char *path, uint64_t bytes, size_t page, struct area *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = fd < 0 || bytes < page ? MAP_FAILED
					 : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);

	if (fd >= 0)
		(void)close(fd);
	if (p == MAP_FAILED)
		return -1;
	*ret = (struct area){ .base = p, .pages = bytes / page };
	return 0;
}

/* The first half of what a job reads are the headers that every job reads. */
static int read_headers(const char *path, uint64_t bytes, uint64_t *random)
{
	static unsigned char block[BLOCK];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int r = 0;

	if (fd < 0 || fstat(fd, &st) || st.st_size < (off_t)BLOCK) {
		r = -1;
		bytes = 0;
	}
	for (uint64_t done = 0; done < bytes; done += BLOCK) {
		uint64_t blocks = (uint64_t)st.st_size / BLOCK;
		uint64_t at = done < bytes / 2 ? done / BLOCK % blocks : below(random, blocks);

		if (pread(fd, block, BLOCK, (off_t)(at * BLOCK)) < 0)
			r = -1;
	}
	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* A page that is read in a few places and written in one. */
static uint64_t visit(unsigned char *page, size_t bytes, uint64_t value, int may_write)
{
	volatile uint64_t *words = (volatile uint64_t *)(void *)page;
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes / sizeof(*words); i += 64)
		sum += words[i];
	if (may_write)
		words[1] = value;
	return sum;
}

/* Hot pages lie among the cold ones, as the objects of a compiler do. */
static uint64_t pick(uint64_t pages, uint64_t hot_percent, uint64_t *random)
{
	uint64_t hot = pages * hot_percent / 100;

	if (hot == 0 || below(random, COLD_SHARE) == 0)
		return below(random, pages);
	return below(random, hot) * 100 / hot_percent;
}

static void compile(const struct numbers *n, const struct area *text, struct area *anon,
		    size_t page, uint64_t *random)
{
	uint64_t growing = n->visits * COMPILE_GROWTH_PERCENT / 100 + 1;
	uint64_t have = 0, sum = 0;

	for (uint64_t v = 0; v < n->visits; v++) {
		uint64_t want = v < growing ? anon->pages * v / growing + 1 : anon->pages;

		for (; have < want && have < anon->pages; have++)
			fill_page(anon->base + have * page, page, *random);
		if (v % TEXT_SHARE == 0)
			sum += visit(text->base + below(random, text->pages) * page, page, 0, 0);
		else
			sum += visit(anon->base + pick(have, n->hot_percent, random) * page, page,
				     v, 1);
	}
	anon->base[0] = (unsigned char)sum;
}

static int write_object(const char *path, uint64_t bytes, uint64_t *random)
{
	static unsigned char block[BLOCK];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -1 : 0;

	fill_page(block, BLOCK, *random);
	while (r == 0 && bytes > 0) {
		size_t n = bytes < BLOCK ? (size_t)bytes : BLOCK;

		r = write(fd, block, n) == (ssize_t)n ? 0 : -1;
		bytes -= n;
	}
	if (fd >= 0 && close(fd))
		r = -1;
	return r;
}

/* A group that is out of memory also refuses system calls: that is an OOM kill by other means. */
static int failed(int step)
{
	if (errno == ENOMEM)
		(void)raise(SIGKILL);
	return step;
}

static int parse_numbers(char **argv, struct numbers *ret)
{
	uint64_t *const fields[] = { &ret->text_bytes,	 &ret->header_bytes, &ret->anon_bytes,
				     &ret->object_bytes, &ret->visits,	     &ret->hot_percent,
				     &ret->seed };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (parse_u64(argv[i], fields[i]) < 0)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct area text = { 0 }, anon;
	struct numbers n;
	uint64_t random;

	errno = 0;
	if (argc != 11 || parse_numbers(argv + 4, &n) || n.hot_percent == 0)
		return STEP_ARGUMENTS;
	random = n.seed | 1;
	if (map_image(argv[1], n.text_bytes, page, &text))
		return failed(STEP_IMAGE);
	if (read_headers(argv[2], n.header_bytes, &random))
		return failed(STEP_HEADERS);
	anon.pages = n.anon_bytes / page + 1;
	anon.base = mmap(NULL, anon.pages * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (anon.base == MAP_FAILED)
		return failed(STEP_MEMORY);
	/* cc1's own allocator makes many small mappings: no huge pages there either. */
	(void)madvise(anon.base, anon.pages * page, MADV_NOHUGEPAGE);
	compile(&n, &text, &anon, page, &random);
	if (write_object(argv[3], n.object_bytes, &random))
		return failed(STEP_OBJECT);
	return EXIT_SUCCESS;
}
