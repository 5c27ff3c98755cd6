/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the unit tests share: recorded kernel files as text, and random numbers that can be repeated
 * (SQUEEZE_TEST_SEED=N in the environment; the seed in use is printed). Include behind cmocka.h.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kfile.h"
#include "parse.h"

/* The text of tests/data/@name, in a buffer that the next call overwrites. */
static inline const char *recorded(const char *name)
{
	static char text[KFILE_SIZE];
	char path[512];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);
	n = kfile_read_at(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		print_error("%s: cannot be read (%zd)\n", path, n);
	assert_true(n >= 0);
	return text;
}

/* splitmix64 (Steele, Lea, Flood 2014): any seed is a good one. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Spread over all magnitudes: every number of bits is as likely as another. */
static inline uint64_t random_magnitude(uint64_t *state, unsigned int max_bits)
{
	unsigned int bits = (unsigned int)(random_next(state) % max_bits) + 1;

	return random_next(state) >> (64 - bits);
}

static inline uint64_t random_seed(const char *test)
{
	const char *wanted = getenv("SQUEEZE_TEST_SEED");
	uint64_t seed = (uint64_t)time(NULL);

	if (wanted)
		assert_int_equal(parse_u64(wanted, &seed), 0);
	print_message("%s: SQUEEZE_TEST_SEED=%llu\n", test, (unsigned long long)seed);
	return seed;
}
