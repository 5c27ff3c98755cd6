/* SPDX-License-Identifier: GPL-2.0-only */
#include "content.h"

#include <string.h>

/* The words of a page do not hang on each other, so the CPU makes several at once: twice as fast as a
 * generator with a state, and no compressor finds more in them. Multiplier: splitmix64's first. */
static inline uint64_t random_word(uint64_t page_word, size_t i)
{
	uint64_t x = page_word + i * 0x9E3779B97F4A7C15ULL;

	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL;
}

static size_t random_words(const struct content *c)
{
	const size_t all = CONTENT_PAGE / sizeof(uint64_t);
	size_t words = (size_t)((double)all / c->ratio);

	return words ? words : 1;
}

static void fill_page(const struct content *c, unsigned int file, uint64_t page, uint64_t *words)
{
	size_t nr_random = random_words(c);
	uint64_t word = content_word(c, file, page);

	words[0] = word;
	for (size_t i = 1; i < nr_random; i++)
		words[i] = random_word(word, i);
	memset(words + nr_random, 0, CONTENT_PAGE - nr_random * sizeof(uint64_t));
}

void content_fill(const struct content *c, unsigned int file, uint64_t offset, unsigned char *buf,
		  size_t bytes)
{
	for (size_t at = 0; at < bytes; at += CONTENT_PAGE)
		fill_page(c, file, (offset + at) / CONTENT_PAGE, (uint64_t *)(void *)(buf + at));
}

size_t content_differs(const struct content *c, unsigned int file, uint64_t offset,
		       const unsigned char *buf, size_t bytes)
{
	uint64_t expected[CONTENT_PAGE / sizeof(uint64_t)];
	const unsigned char *want = (const unsigned char *)expected;

	for (size_t at = 0; at < bytes; at += CONTENT_PAGE) {
		fill_page(c, file, (offset + at) / CONTENT_PAGE, expected);
		if (memcmp(buf + at, want, CONTENT_PAGE) == 0)
			continue;
		for (size_t i = 0; i < CONTENT_PAGE; i++)
			if (buf[at + i] != want[i])
				return at + i;
	}
	return bytes;
}
