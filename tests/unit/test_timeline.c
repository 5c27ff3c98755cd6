/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "kfile.h"
#include "timeline.h"

static void add(struct timeline *t, uint64_t n)
{
	struct sample s;

	sample_init(&s);
	s.v[SERIES_T_NS] = n;
	assert_int_equal(timeline_add(t, &s), 0);
}

static void names_are_all_there_and_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < SERIES_COUNT; i++) {
		assert_non_null(series_names[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(series_names[i], series_names[k]);
	}
	assert_string_equal(series_names[SERIES_T_NS], "t_ns");
}

static void nothing_reserved_is_an_error(void **state)
{
	struct timeline t = { 0 };
	struct sample s;

	(void)state;
	sample_init(&s);
	assert_int_equal(timeline_add(&t, &s), -ENOMEM);
	assert_int_equal(t.nr, 0);
}

static void keeps_everything_that_fits(void **state)
{
	struct timeline t = { 0 };

	(void)state;
	assert_int_equal(timeline_reserve(&t, 10), 0);
	for (uint64_t n = 0; n < 10; n++)
		add(&t, n);
	assert_int_equal(t.nr, 10);
	for (uint64_t n = 0; n < 10; n++)
		assert_int_equal(t.samples[n].v[SERIES_T_NS], n);
	timeline_free(&t);
	assert_null(t.samples);
}

/* However many samples: bounded, in order, first and newest there, evenly spaced but for the newest. */
static void check_long_run(size_t capacity, uint64_t nr)
{
	struct timeline t = { 0 };
	uint64_t stride;

	assert_int_equal(timeline_reserve(&t, capacity), 0);
	for (uint64_t n = 0; n < nr; n++) {
		add(&t, n);
		assert_true(t.nr <= capacity);
		assert_int_equal(t.samples[t.nr - 1].v[SERIES_T_NS], n);
		assert_int_equal(t.samples[0].v[SERIES_T_NS], 0);
	}
	stride = 1ULL << t.halvings;
	for (size_t i = 0; i + 1 < t.nr; i++)
		assert_int_equal(t.samples[i].v[SERIES_T_NS], i * stride);
	/* At least half of the room is in use, or the shape would be lost. */
	assert_true(t.nr >= capacity / 2);
	timeline_free(&t);
}

static void long_runs_keep_their_shape(void **state)
{
	(void)state;
	for (size_t capacity = 2; capacity < 12; capacity++) {
		for (uint64_t nr = capacity; nr < 300; nr += 7)
			check_long_run(capacity, nr);
	}
	check_long_run(600, 36000); /* an hour at 10 Hz in a minute's room */
}

static void reserving_more_keeps_what_is_there(void **state)
{
	struct timeline t = { 0 };

	(void)state;
	assert_int_equal(timeline_reserve(&t, 4), 0);
	add(&t, 1);
	assert_int_equal(timeline_reserve(&t, 100), 0);
	assert_int_equal(t.capacity, 100);
	assert_int_equal(t.samples[0].v[SERIES_T_NS], 1);
	assert_int_equal(timeline_reserve(&t, 8), 0);
	assert_int_equal(t.capacity, 100);
	timeline_free(&t);
}

static void columns_without_a_value_are_told_apart(void **state)
{
	struct timeline t = { 0 };
	struct sample s;

	(void)state;
	assert_int_equal(timeline_reserve(&t, 4), 0);
	assert_false(timeline_has(&t, SERIES_T_NS));
	add(&t, 1);
	sample_init(&s);
	s.v[SERIES_T_NS] = 2;
	s.v[SERIES_OOM_KILLS] = 0;
	assert_int_equal(timeline_add(&t, &s), 0);
	assert_true(timeline_has(&t, SERIES_T_NS));
	assert_true(timeline_has(&t, SERIES_OOM_KILLS)); /* 0 is a value */
	assert_false(timeline_has(&t, SERIES_NR_ISOLATED));
	timeline_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_all_there_and_differ),
		cmocka_unit_test(nothing_reserved_is_an_error),
		cmocka_unit_test(keeps_everything_that_fits),
		cmocka_unit_test(long_runs_keep_their_shape),
		cmocka_unit_test(reserving_more_keeps_what_is_there),
		cmocka_unit_test(columns_without_a_value_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
