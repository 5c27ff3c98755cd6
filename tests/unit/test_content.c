/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "content.h"

#define PAGES 64
#define BYTES ((size_t)PAGES * CONTENT_PAGE)

static _Alignas(8) unsigned char one[BYTES], two[BYTES];

static void equal_places_have_equal_bytes(void **state)
{
	const struct content c = { .seed = 7, .ratio = 3 };

	(void)state;
	content_fill(&c, 5, 0, one, BYTES);
	/* In two parts, the later one first. */
	content_fill(&c, 5, BYTES / 2, two + BYTES / 2, BYTES / 2);
	content_fill(&c, 5, 0, two, BYTES / 2);
	assert_memory_equal(one, two, BYTES);
	assert_int_equal(content_differs(&c, 5, 0, one, BYTES), BYTES);
}

static void other_places_files_and_seeds_differ(void **state)
{
	const struct content c = { .seed = 7, .ratio = 1 }, d = { .seed = 8, .ratio = 1 };

	(void)state;
	content_fill(&c, 0, 0, one, BYTES);
	for (size_t p = 1; p < PAGES; p++)
		assert_memory_not_equal(one, one + p * CONTENT_PAGE, CONTENT_PAGE);
	assert_int_equal(content_differs(&c, 1, 0, one, BYTES), 0);
	assert_int_equal(content_differs(&d, 0, 0, one, BYTES), 0);
	assert_int_equal(content_differs(&c, 0, CONTENT_PAGE, one, BYTES), 0);
}

static void the_first_wrong_byte_is_found(void **state)
{
	static const size_t places[] = { 0, 1, 1365, 4095, 4096, BYTES - 1 };
	const struct content c = { .seed = 1, .ratio = 3 };

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		content_fill(&c, 2, 0, one, BYTES);
		one[places[i]] ^= 0x10;
		assert_int_equal(content_differs(&c, 2, 0, one, BYTES), places[i]);
	}
}

static void every_page_begins_with_its_word(void **state)
{
	const struct content c = { .seed = 3, .ratio = 100 };

	(void)state;
	content_fill(&c, 9, 3 * CONTENT_PAGE, one, BYTES);
	for (size_t p = 0; p < PAGES; p++) {
		uint64_t word;

		memcpy(&word, one + p * CONTENT_PAGE, sizeof(word));
		assert_true(word == content_word(&c, 9, 3 + p));
	}
}

/* Shannon's bound for single bytes; the random part of ours has no longer patterns. */
static void the_ratio_is_that_of_random_to_all_bytes(void **state)
{
	static const double ratios[] = { 1, 2, 3, 10 };

	(void)state;
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		const struct content c = { .seed = 1, .ratio = ratios[i] };
		size_t counts[256] = { 0 }, zeros = 0;

		content_fill(&c, 0, 0, one, BYTES);
		for (size_t b = 0; b < BYTES; b++)
			counts[one[b]]++;
		zeros = counts[0];
		/* A random byte is 0 once in 256. */
		assert_in_range(zeros, (size_t)((double)BYTES * (1 - 1 / ratios[i])),
				(size_t)((double)BYTES * (1 - 1 / ratios[i] + 1 / 200.0 + 0.002)));
		/* All other bytes are equally frequent, to a fifth. */
		for (size_t v = 1; v < 256; v++)
			assert_in_range(counts[v], (BYTES - zeros) / 255 * 3 / 5,
					(BYTES - zeros) / 255 * 7 / 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_places_have_equal_bytes),
		cmocka_unit_test(other_places_files_and_seeds_differ),
		cmocka_unit_test(the_first_wrong_byte_is_found),
		cmocka_unit_test(every_page_begins_with_its_word),
		cmocka_unit_test(the_ratio_is_that_of_random_to_all_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
