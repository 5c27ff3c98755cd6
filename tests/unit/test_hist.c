/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "hist.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "support.h"

#define LIMIT (1ULL << HIST_MAX_BITS)

/* The buckets tile 0 … 2^40 - 1 in order, without gap or overlap. */
static void bounds_tile_the_range(void **state)
{
	uint64_t lo, hi, expected_lo = 0;

	(void)state;
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		hist_bounds(i, &lo, &hi);
		assert_true(lo == expected_lo && hi >= lo);
		assert_int_equal(hist_index(lo), i);
		assert_int_equal(hist_index(hi), i);
		assert_int_equal(hist_index(lo + (hi - lo) / 2), i);
		expected_lo = hi + 1;
	}
	assert_true(expected_lo == LIMIT);
}

static void index_is_monotonic(void **state)
{
	uint64_t random = random_seed("hist monotonic");
	size_t previous = 0;

	(void)state;
	for (uint64_t v = 0; v < 1 << 20; v++) {
		size_t i = hist_index(v);

		assert_true(i == previous || i == previous + 1);
		previous = i;
	}
	for (int n = 0; n < 200000; n++) {
		uint64_t a = random_magnitude(&random, 64), b = random_magnitude(&random, 64);

		assert_true(hist_index(a) < HIST_BUCKETS);
		assert_true(a <= b ? hist_index(a) <= hist_index(b)
				   : hist_index(a) >= hist_index(b));
	}
	assert_int_equal(hist_index(LIMIT - 1), HIST_BUCKETS - 1);
	assert_int_equal(hist_index(LIMIT), HIST_BUCKETS - 1);
	assert_int_equal(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
}

/* 2^-8 of the value, against the bucket's midpoint: 0.4 %. */
static void error_is_bounded(void **state)
{
	uint64_t random = random_seed("hist error");
	double worst = 0;

	(void)state;
	for (int n = 0; n < 500000; n++) {
		uint64_t v = random_magnitude(&random, HIST_MAX_BITS), lo, hi;
		double middle;

		if (v == 0)
			continue;
		hist_bounds(hist_index(v), &lo, &hi);
		assert_true(lo <= v && v <= hi);
		middle = ((double)lo + (double)hi) / 2;
		worst = fmax(worst, fabs(middle - (double)v) / (double)v);
	}
	assert_true(worst <= 1.0 / 256);
	assert_true(worst > 1.0 / 1024); /* or the measurement itself is broken */
}

static void fits_its_budget(void **state)
{
	(void)state;
	assert_true(sizeof(struct hist) <= 36 * 1024); /* design.md, section 8 */
}

static struct hist *new_hist(void)
{
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	hist_init(h);
	return h;
}

static void check_same(const struct hist *a, const struct hist *b)
{
	assert_true(a->count == b->count && a->sum == b->sum && a->overflow == b->overflow);
	assert_true(a->min == b->min && a->max == b->max);
	assert_memory_equal(a->buckets, b->buckets, sizeof(a->buckets));
}

static void merge_is_concatenation(void **state)
{
	uint64_t random = random_seed("hist merge");

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct hist *parts[3];
		_cleanup_free_ struct hist *all = new_hist();
		_cleanup_free_ struct hist *merged = new_hist();

		for (int p = 0; p < 3; p++) {
			uint64_t n = random_next(&random) % 300; /* also empty ones */

			parts[p] = new_hist();
			while (n--) {
				uint64_t v = random_magnitude(&random, 42);

				hist_record(parts[p], v);
				hist_record(all, v);
			}
		}
		for (int p = 0; p < 3; p++) {
			hist_merge(merged, parts[p]);
			free(parts[p]);
		}
		check_same(merged, all);
	}
}

static void record_n_is_n_records(void **state)
{
	_cleanup_free_ struct hist *one = new_hist();
	_cleanup_free_ struct hist *many = new_hist();
	static const struct {
		uint64_t value, n;
	} cases[] = { { 100, 3 }, { 5, 0 }, { LIMIT + 7, 2 }, { 100000, 1 }, { UINT64_MAX, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		hist_record_n(many, cases[i].value, cases[i].n);
		for (uint64_t k = 0; k < cases[i].n; k++)
			hist_record(one, cases[i].value);
	}
	check_same(one, many);
	assert_true(many->count == 6 && many->overflow == 2 && many->min == 100);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The nearest-rank percentile in integers: the rank is rounded up. */
static uint64_t exact(const uint64_t *sorted, uint64_t n, uint64_t permyriad)
{
	uint64_t rank = (permyriad * n + 9999) / 10000;

	return sorted[rank ? rank - 1 : 0];
}

static void percentiles_match_a_sorted_array(void **state)
{
	static const struct {
		double percent;
		uint64_t permyriad;
	} points[] = { { 0, 0 },       { 0.01, 1 },	{ 1, 100 },    { 12.5, 1250 },
		       { 50, 5000 },   { 90, 9000 },	{ 95, 9500 },  { 99, 9900 },
		       { 99.9, 9990 }, { 99.99, 9999 }, { 100, 10000 } };
	uint64_t random = random_seed("hist percentiles");
	static uint64_t values[10000];

	(void)state;
	for (int round = 0; round < 60; round++) {
		_cleanup_free_ struct hist *h = new_hist();
		/* Round numbers too: there 99.9 % of 1,000 must be the 999th. */
		uint64_t n = round % 3 == 0 ? 1000 : random_next(&random) % ARRAY_SIZE(values) + 1;

		for (uint64_t i = 0; i < n; i++) {
			values[i] = random_magnitude(&random, HIST_MAX_BITS);
			hist_record(h, values[i]);
		}
		qsort(values, n, sizeof(values[0]), compare_u64);
		for (size_t p = 0; p < ARRAY_SIZE(points); p++) {
			uint64_t want = exact(values, n, points[p].permyriad);
			uint64_t got = hist_percentile(h, points[p].percent);

			/* The same bucket, its upper end, never beyond max. */
			assert_int_equal(hist_index(got), hist_index(want));
			assert_true(got >= want && got <= values[n - 1]);
			assert_true((double)(got - want) <= (double)want / HIST_SUB);
		}
		assert_true(hist_percentile(h, 100) == values[n - 1]);
	}
}

static void overflow_is_counted_and_bounds_stay_true(void **state)
{
	_cleanup_free_ struct hist *h = new_hist();

	(void)state;
	hist_record_n(h, 10, 98);
	hist_record(h, LIMIT - 1);
	hist_record(h, 4 * LIMIT);
	assert_true(h->overflow == 1 && h->max == 4 * LIMIT && h->min == 10);
	assert_true(hist_percentile(h, 98) == 10);
	assert_true(hist_percentile(h, 99) == LIMIT - 1);
	assert_true(hist_percentile(h, 99.5) == 4 * LIMIT);
	assert_true(hist_percentile(h, 100) == 4 * LIMIT);
}

static void mean_and_empty(void **state)
{
	_cleanup_free_ struct hist *h = new_hist();

	(void)state;
	assert_true(hist_mean(h) == 0 && hist_percentile(h, 50) == 0);
	assert_true(h->min == UINT64_MAX && h->max == 0);
	hist_record(h, 1000);
	hist_record(h, 1001);
	hist_record(h, 0);
	/* From the exact sum, not from the buckets. */
	assert_true(fabs(hist_mean(h) - 667) < 1e-9);
	assert_true(hist_percentile(h, 0) == 0 && hist_percentile(h, 1) == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_tile_the_range),
		cmocka_unit_test(index_is_monotonic),
		cmocka_unit_test(error_is_bounded),
		cmocka_unit_test(fits_its_budget),
		cmocka_unit_test(merge_is_concatenation),
		cmocka_unit_test(record_n_is_n_records),
		cmocka_unit_test(percentiles_match_a_sorted_array),
		cmocka_unit_test(overflow_is_counted_and_bounds_stay_true),
		cmocka_unit_test(mean_and_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
