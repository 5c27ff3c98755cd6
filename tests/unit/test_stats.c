/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "stats.h"

#include <errno.h>
#include <math.h>

#include "cleanup.h"
#include "support.h"

/*
 * Reference values. "published": as R and SciPy print them for the named example. "computed":
 * stats_reference.py beside this file, in 60-digit decimals: tails and I_x(a, b) by quadrature of
 * the density (not by a continued fraction), binomial tails by exact sums. The computed values agree
 * with the published ones in every published digit.
 */
#define NEAR(a, b) assert_near(a, b, 1e-6, __LINE__)

static void assert_near(double a, double b, double tolerance, int line)
{
	if (!(fabs(a - b) <= tolerance))
		print_error("line %d: %.12g is not %.12g\n", line, a, b);
	assert_true(fabs(a - b) <= tolerance);
}

static struct stats stats_of(const double *values, size_t n)
{
	struct stats s;

	stats_init(&s);
	for (size_t i = 0; i < n; i++)
		stats_add(&s, values[i]);
	return s;
}

/* Student's sleep data (Biometrika 6, 1908), R's data set "sleep". */
static const double sleep_1[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
static const double sleep_2[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };

static void mean_and_deviation(void **state)
{
	struct stats s = stats_of(sleep_1, ARRAY_SIZE(sleep_1));

	(void)state;
	assert_int_equal(s.n, 10);
	NEAR(s.mean, 0.75);
	NEAR(s.min, -1.6);
	NEAR(s.max, 3.7);
	NEAR(stats_deviation(&s),
	     1.789010); /* published: R, sd(); Student's own 1.70 divides by n */
	s = stats_of(sleep_1, 1);
	assert_true(stats_deviation(&s) == 0);
	s = stats_of(sleep_1, 0);
	assert_true(stats_deviation(&s) == 0 && isinf(s.min) && isinf(s.max));
}

/* Where sums of squares would lose every digit. The form of NIST's StRD set NumAcc4 (10000000.2,
 * then 10000000.1 and .3 in turn; certified deviation 0.1), and one at 10^15, where doubles are
 * eighths. */
static void deviation_beside_a_large_mean(void **state)
{
	struct stats near, far;

	(void)state;
	stats_init(&near);
	stats_add(&near, 10000000.2);
	stats_init(&far);
	stats_add(&far, 1e15 + 2);
	for (int i = 0; i < 1000; i++) {
		stats_add(&near, i % 2 ? 10000000.3 : 10000000.1);
		stats_add(&far, i % 2 ? 1e15 + 3 : 1e15 + 1);
	}
	NEAR(near.mean, 10000000.2);
	NEAR(stats_deviation(&near), 0.1);
	/* The mean itself is only good to an eighth there, the deviation much better. */
	assert_near(far.mean, 1e15 + 2, 0.25, __LINE__);
	assert_near(stats_deviation(&far), 1, 1e-3, __LINE__);
}

static void incomplete_beta(void **state)
{
	static const struct {
		double a, b, x, value;
	} cases[] = {
		/* computed */
		{ 0.5, 0.5, 0.3, 0.369010119565545 },
		{ 2.5, 1.5, 0.7, 0.584312147701975 },
		{ 50, 0.5, 0.99, 0.317304397874198 },
		{ 1000, 2000, 0.34, 0.781215091160642 },
		{ 0.1, 9, 0.01, 0.816145733986814 },
		/* closed forms: uniform, x^a, 1 - (1 - x)^b, symmetry, arcsine law (DLMF 8.17) */
		{ 1, 1, 0.123, 0.123 },
		{ 3, 1, 0.5, 0.125 },
		{ 1, 4, 0.1, 1 - 0.9 * 0.9 * 0.9 * 0.9 },
		{ 7.25, 7.25, 0.5, 0.5 },
		{ 1e8, 1e8, 0.5, 0.5 },
		{ 0.5, 0.5, 0.5, 0.5 },
		{ 2, 3, 0, 0 },
		{ 2, 3, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		NEAR(stats_beta_inc(cases[i].a, cases[i].b, cases[i].x), cases[i].value);
}

static void incomplete_beta_is_symmetric(void **state)
{
	uint64_t random = random_seed("stats beta");

	(void)state;
	for (int i = 0; i < 2000; i++) {
		double a = (double)(random_magnitude(&random, 20) + 1) / 16;
		double b = (double)(random_magnitude(&random, 20) + 1) / 16;
		double x = (double)(random_next(&random) >> 11) * 0x1p-53;
		double here = stats_beta_inc(a, b, x);

		assert_true(here >= -1e-12 && here <= 1 + 1e-12);
		NEAR(here, 1 - stats_beta_inc(b, a, 1 - x));
	}
}

static void welch_of_the_sleep_data(void **state)
{
	struct stats a = stats_of(sleep_1, ARRAY_SIZE(sleep_1));
	struct stats b = stats_of(sleep_2, ARRAY_SIZE(sleep_2));
	struct welch w, back;

	(void)state;
	assert_int_equal(stats_welch(&a, &b, &w), 0);
	/* published: R, t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776, p-value =
	 * 0.07939; computed further. */
	NEAR(w.t, -1.860813467487);
	NEAR(w.df, 17.776473516178);
	NEAR(w.p, 0.079394140187);
	assert_int_equal(stats_welch(&b, &a, &back), 0);
	NEAR(back.t, -w.t);
	NEAR(back.p, w.p);
}

/* With one degree of freedom Student's t is Cauchy: p = 1 - 2 atan(t) / pi. Two pairs whose one
 * side does not vary have df = 1. */
static void welch_with_one_degree_of_freedom(void **state)
{
	static const double still[] = { 3, 3 }, moving[] = { 5, 6 };
	struct stats a = stats_of(moving, 2), b = stats_of(still, 2);
	struct welch w;

	(void)state;
	assert_int_equal(stats_welch(&a, &b, &w), 0);
	NEAR(w.t, 5);
	NEAR(w.df, 1);
	NEAR(w.p, 1 - 2 * atan(5) / M_PI);
}

/* The tables' 97.5 % point for df = 10 is 2.228139 (published in every table since Fisher's). */
static void student_table(void **state)
{
	(void)state;
	NEAR(stats_beta_inc(5, 0.5, 10 / (10 + 2.228138852 * 2.228138852)), 0.05);
}

static void welch_refuses(void **state)
{
	static const double still[] = { 3, 3, 3 };
	struct stats one = stats_of(sleep_1, 1), two = stats_of(sleep_1, 2),
		     same = stats_of(still, 3);
	struct welch w = { .t = 7 };

	(void)state;
	assert_int_equal(stats_welch(&one, &two, &w), -EINVAL);
	assert_int_equal(stats_welch(&two, &one, &w), -EINVAL);
	assert_int_equal(stats_welch(&same, &same, &w), -EINVAL);
	assert_true(w.t == 7);
}

/*
 * seeds/000, redis table: 333-419 (mean 376) against 310-358 (mean 335), 4 runs each, "Welch
 * t=1.95, p~0.11". Of each four values the mail gives the extremes and, through the mean, the sum:
 * one number a side stays unknown. So try them all: 1.95 must be among the possible t, and wherever
 * t is 1.95, p must be 0.11.
 */
static void the_mail_is_consistent(void **state)
{
	double t_low = INFINITY, t_high = 0;
	int hits = 0;

	(void)state;
	for (double x = 376; x <= 419; x += 0.25) {
		double base[] = { 333, 419, x, 4 * 376 - 333 - 419 - x };
		struct stats a = stats_of(base, 4);

		for (double y = 336; y <= 358; y += 0.25) {
			double new[] = { 310, 358, y, 4 * 335 - 310 - 358 - y };
			struct stats b = stats_of(new, 4);
			struct welch w;

			assert_int_equal(stats_welch(&a, &b, &w), 0);
			t_low = fmin(t_low, w.t);
			t_high = fmax(t_high, w.t);
			if (fabs(w.t - 1.95) >= 0.005)
				continue;
			hits++;
			assert_true(w.p >= 0.105 && w.p < 0.115);
		}
	}
	assert_true(t_low < 1.95 && t_high > 1.95);
	assert_true(hits > 0);
}

static struct hist *hist_of(const uint64_t *values, size_t n)
{
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	hist_init(h);
	for (size_t i = 0; i < n; i++)
		hist_record(h, values[i]);
	return h;
}

static void mann_whitney_without_ties(void **state)
{
	static const uint64_t males[] = { 19, 22, 16, 29, 24 }, females[] = { 20, 11, 17, 12 };
	_cleanup_free_ struct hist *a = hist_of(males, 5);
	_cleanup_free_ struct hist *b = hist_of(females, 4);
	struct mann_whitney m;

	(void)state;
	assert_int_equal(stats_mann_whitney(a, b, &m), 0);
	/* published: SciPy, scipy.stats.mannwhitneyu, the example of the diabetes ages: U1 = 17,
	 * U2 = 3, asymptotic p = 0.11134688653314041 (with continuity correction) */
	NEAR(m.u, 3);
	NEAR(m.p, 0.11134688653314041);
	NEAR(m.z, -1.592168332809066); /* computed */
	NEAR(m.superiority, 3.0 / 20);
	assert_int_equal(stats_mann_whitney(b, a, &m), 0);
	NEAR(m.u, 17);
	NEAR(m.z, 1.592168332809066);
}

static void mann_whitney_with_ties(void **state)
{
	uint64_t shifted[2][10];
	_cleanup_free_ struct hist *a = NULL, *b = NULL;
	struct mann_whitney m;

	(void)state;
	/* Tenths above -1.6, all below 128, where each value has a bucket of its own. */
	for (size_t i = 0; i < 10; i++) {
		shifted[0][i] = (uint64_t)lround(sleep_1[i] * 10 + 16);
		shifted[1][i] = (uint64_t)lround(sleep_2[i] * 10 + 16);
	}
	a = hist_of(shifted[0], 10);
	b = hist_of(shifted[1], 10);
	assert_int_equal(stats_mann_whitney(a, b, &m), 0);
	/* published: R, wilcox.test(extra ~ group, data = sleep, exact = FALSE): W = 25.5 (the
	 * other side's U), p-value = 0.06933; computed further. Three pairs tie. */
	NEAR(m.u, 100 - 25.5);
	NEAR(m.z, 1.816279061914);
	NEAR(m.p, 0.069327575434);
	NEAR(m.superiority, 0.745);
}

static void mann_whitney_extremes(void **state)
{
	static const uint64_t few[] = { 1, 2, 3 };
	_cleanup_free_ struct hist *a = hist_of(few, 3);
	_cleanup_free_ struct hist *same = hist_of(few, 3);
	_cleanup_free_ struct hist *none = hist_of(few, 0);
	_cleanup_free_ struct hist *tie = hist_of(few, 1);
	_cleanup_free_ struct hist *big = hist_of(few, 0);
	struct mann_whitney m = { .u = 7 };

	(void)state;
	assert_int_equal(stats_mann_whitney(a, none, &m), -EINVAL);
	assert_int_equal(stats_mann_whitney(none, a, &m), -EINVAL);
	assert_int_equal(stats_mann_whitney(tie, tie, &m), -EINVAL);
	assert_true(m.u == 7);
	assert_int_equal(stats_mann_whitney(a, same, &m), 0);
	assert_true(m.z == 0 && m.p == 1 && m.superiority == 0.5);
	/* 10^12 values a side: nothing overflows, and a clear difference is one. */
	hist_record_n(big, 100, 500000000000);
	hist_record_n(big, 200, 500000000000);
	hist_record_n(none, 101, 1000000000000);
	assert_int_equal(stats_mann_whitney(big, none, &m), 0);
	NEAR(m.superiority, 0.5);
	hist_record_n(none, 300, 1000000000000);
	assert_int_equal(stats_mann_whitney(big, none, &m), 0);
	NEAR(m.superiority, 0.75);
	assert_true(m.p == 0 && isfinite(m.z) && m.z > 1000);
}

static void clopper_pearson(void **state)
{
	static const struct {
		size_t k, n;
		double confidence, low, high;
	} cases[] = {
		/* computed; the counts are Conover's (Practical Nonparametric Statistics, 1971,
		 * p. 97), the example of R's binom.test */
		{ 682, 925, 0.95, 0.707668264079, 0.765406558242 },
		/* published: SciPy, scipy.stats.binomtest(3, n=15, alternative='greater'),
		 * one-sided 95 % low = 0.05684686759024681, which is the low end at 90 %
		 * two-sided */
		{ 3, 15, 0.9, 0.05684686759024681, 0.439784435982 },
		/* computed; 6 of 8 is design.md's 192 threads on 7.3.4 */
		{ 6, 8, 0.95, 0.349144205587, 0.968145973750 },
		{ 1, 20, 0.99, 0.000250595687, 0.317141734757 },
		/* closed forms: 0 and 1 - 0.025^(1/10); 0.025^(1/10) and 1 */
		{ 0, 10, 0.95, 0, 0.308497107819 },
		{ 10, 10, 0.95, 0.691502892181, 1 },
		{ 0, 1, 0.95, 0, 0.975 },
	};
	double low, high;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		stats_binomial_bound(cases[i].k, cases[i].n, cases[i].confidence, &low, &high);
		NEAR(low, cases[i].low);
		NEAR(high, cases[i].high);
	}
}

static void fisher_exact(void **state)
{
	static const struct {
		size_t k_a, n_a, k_b, n_b;
		double p;
	} cases[] = {
		/* published: Fisher's lady tasting tea, 34/70, the first example of R's fisher.test
		 * (which tests it one-sided: 17/70) */
		{ 3, 4, 1, 4, 34.0 / 70 },
		/* published: R's fisher.test, convictions of like-sex twins of criminals, p-value
		 * = 0.0005367 */
		{ 10, 13, 2, 17, 0.000536724 },
		/* closed forms: 2 of C(10, 5) and 10 of C(10, 4) tables, and one table only */
		{ 5, 5, 0, 5, 2.0 / 252 },
		{ 4, 5, 0, 5, 10.0 / 210 },
		{ 0, 3, 0, 3, 1 },
		{ 0, 0, 2, 3, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		NEAR(stats_fisher(cases[i].k_a, cases[i].n_a, cases[i].k_b, cases[i].n_b),
		     cases[i].p);
		NEAR(stats_fisher(cases[i].k_b, cases[i].n_b, cases[i].k_a, cases[i].n_a),
		     cases[i].p);
	}
}

static void clopper_pearson_mirrors(void **state)
{
	double low, high, mirrored_low, mirrored_high, previous_low = 0;

	(void)state;
	for (size_t k = 0; k <= 20; k++) {
		stats_binomial_bound(k, 20, 0.95, &low, &high);
		stats_binomial_bound(20 - k, 20, 0.95, &mirrored_low, &mirrored_high);
		NEAR(low, 1 - mirrored_high);
		NEAR(high, 1 - mirrored_low);
		assert_true(low <= (double)k / 20 && high >= (double)k / 20);
		assert_true(low >= previous_low);
		previous_low = low;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_deviation),
		cmocka_unit_test(deviation_beside_a_large_mean),
		cmocka_unit_test(incomplete_beta),
		cmocka_unit_test(incomplete_beta_is_symmetric),
		cmocka_unit_test(welch_of_the_sleep_data),
		cmocka_unit_test(welch_with_one_degree_of_freedom),
		cmocka_unit_test(student_table),
		cmocka_unit_test(welch_refuses),
		cmocka_unit_test(the_mail_is_consistent),
		cmocka_unit_test(mann_whitney_without_ties),
		cmocka_unit_test(mann_whitney_with_ties),
		cmocka_unit_test(mann_whitney_extremes),
		cmocka_unit_test(clopper_pearson),
		cmocka_unit_test(fisher_exact),
		cmocka_unit_test(clopper_pearson_mirrors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
