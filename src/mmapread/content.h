/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in the files that the readers read: bytes that only seed, file and place decide, and that
 * compress as asked.
 *
 * Model. A file is a row of pages of CONTENT_PAGE bytes, whatever the machine's page size. Each begins
 * with a word of its own, by which a reader knows that it sees the right page of the right file; the
 * first 1/ratio of it is random, the rest is zero. So any compressor that works on a page or more comes
 * near the ratio asked for, and no two pages are equal, for a device that would merge them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CONTENT_PAGE 4096u
/* Beyond this the words that tell the pages apart weigh more than the rest. */
#define CONTENT_RATIO_MAX 100.0

struct content {
	uint64_t seed;
	double ratio; /* 1: incompressible; 3: about 3:1 */
};

/* Knuth's multiplier (2^64 / golden ratio) makes the words of neighbours differ in most bits. */
static inline uint64_t content_word(const struct content *c, unsigned int file, uint64_t page)
{
	uint64_t x = (c->seed + 1) * 0x9E3779B97F4A7C15ULL ^ ((uint64_t)file << 40 ^ page);

	/* The finisher of splitmix64 (Steele, Lea, Flood 2014). */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Writes the @bytes of @file from @offset on to @buf; both are multiples of CONTENT_PAGE. */
void content_fill(const struct content *c, unsigned int file, uint64_t offset, unsigned char *buf,
		  size_t bytes);
/* The place of the first byte of @buf that is not as content_fill() would write it; @bytes if all are. */
size_t content_differs(const struct content *c, unsigned int file, uint64_t offset,
		       const unsigned char *buf, size_t bytes);
