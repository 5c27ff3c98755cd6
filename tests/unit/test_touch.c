/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "touch.h"

#define PAGES 64
#define VISITS 4096

static struct touch_area make_area(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct touch_area area = { .pages = PAGES, .page_bytes = page };

	area.base = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	assert_true(area.base != MAP_FAILED);
	return area;
}

static void free_area(struct touch_area *area)
{
	(void)munmap(area->base, area->pages * area->page_bytes);
}

static void every_visit_is_timed_and_counted(void **state)
{
	struct touch_area area = make_area();
	struct progress p;

	(void)state;
	assert_int_equal(progress_create(1, 1, &p), 0);
	touch_measured(&area, &p, 0, progress_hist(&p, 0, 0), VISITS, 1);
	assert_int_equal(progress_hist(&p, 0, 0)->count, VISITS);
	assert_int_equal(progress_done(&p),
			 VISITS * (1 + TOUCH_ROUNDS * area.page_bytes / sizeof(uint64_t)));
	assert_int_equal(progress_longest_access_ns(&p, UINT64_MAX), 0);
	progress_destroy(&p);
	free_area(&area);
}

/* 4,096 visits of 64 pages: a page that none of them hit has a chance of 64 x (63/64)^4096 = 6e-27. */
static void all_pages_are_visited_and_none_beside(void **state)
{
	struct touch_area area = make_area();
	uint64_t *words = (uint64_t *)(void *)area.base;
	size_t words_per_page = area.page_bytes / sizeof(*words);

	(void)state;
	area.pages--; /* the last page must stay untouched */
	touch_unmeasured(&area, VISITS, 7);
	for (size_t page = 0; page < area.pages; page++)
		assert_true(words[page * words_per_page + words_per_page - 1] != 0);
	assert_true(words[area.pages * words_per_page] == 0);
	area.pages++;
	free_area(&area);
}

/* The same seed gives the same visits, measured or not: the comparison in bench/ rests on it. */
static void equal_seeds_do_equal_work(void **state)
{
	struct touch_area a = make_area(), b = make_area();
	struct progress p;

	(void)state;
	assert_int_equal(progress_create(1, 1, &p), 0);
	touch_measured(&a, &p, 0, progress_hist(&p, 0, 0), 50, 3);
	touch_unmeasured(&b, 50, 3);
	assert_memory_equal(a.base, b.base, PAGES * a.page_bytes);
	touch_unmeasured(&b, 50, 4);
	assert_true(memcmp(a.base, b.base, PAGES * a.page_bytes) != 0);
	progress_destroy(&p);
	free_area(&a);
	free_area(&b);
}

/* zram stores a page that it can compress in a fraction: the load would be on nothing. */
static void pages_do_not_repeat_themselves(void **state)
{
	struct touch_area area = make_area();
	uint64_t *words = (uint64_t *)(void *)area.base;

	(void)state;
	area.pages = 1;
	touch_unmeasured(&area, 1, 1);
	for (size_t i = 1; i < area.page_bytes / sizeof(*words); i++)
		for (size_t k = 0; k < i; k++)
			assert_true(words[i] != words[k]);
	area.pages = PAGES;
	free_area(&area);
}

static void parts_tile_the_area(void **state)
{
	struct touch_area area = { .base = NULL, .pages = 100, .page_bytes = 4096 }, part;

	(void)state;
	for (size_t of = 1; of <= 130; of += 43) {
		unsigned char *at = area.base;

		for (size_t nr = 0; nr < of; nr++) {
			touch_part(&area, nr, of, &part);
			assert_ptr_equal(part.base, at);
			at += part.pages * part.page_bytes;
		}
		assert_ptr_equal(at, area.base + 100 * 4096);
	}
}

struct runner {
	struct touch_area *area;
	struct progress *p;
};

static void *run_touch(void *arg)
{
	struct runner *r = arg;

	touch_run(r->area, r->area, r->p, 0, progress_hist(r->p, 0, 0), 1);
	return NULL;
}

static void the_stop_flag_ends_the_loop(void **state)
{
	struct touch_area area = make_area();
	struct progress p;
	struct runner r = { &area, &p };
	pthread_t thread;

	(void)state;
	assert_int_equal(progress_create(1, 1, &p), 0);
	assert_int_equal(pthread_create(&thread, NULL, run_touch, &r), 0);
	while (progress_done(&p) == 0)
		(void)sched_yield();
	progress_stop(&p);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(progress_hist(&p, 0, 0)->count > 0);
	progress_destroy(&p);
	free_area(&area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_visit_is_timed_and_counted),
		cmocka_unit_test(all_pages_are_visited_and_none_beside),
		cmocka_unit_test(equal_seeds_do_equal_work),
		cmocka_unit_test(pages_do_not_repeat_themselves),
		cmocka_unit_test(parts_tile_the_area),
		cmocka_unit_test(the_stop_flag_ends_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
