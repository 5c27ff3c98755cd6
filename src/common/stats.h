/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The statistics a reclaim developer puts beside a table: mean and deviation of a few runs, whether
 * two sets of runs differ (Welch's t), whether two latency distributions differ (Mann-Whitney),
 * how sure "k of n failed" is (Clopper-Pearson), and whether two such rates differ (Fisher).
 *
 * Sources: B. L. Welch, Biometrika 34 (1947); Mann and Whitney, Ann. Math. Statist. 18 (1947), with
 * tie correction; Clopper and Pearson, Biometrika 26 (1934); R. A. Fisher, J. R. Statist. Soc. 85
 * (1922); regularised incomplete beta function by its continued fraction (DLMF 8.17.22, Lentz).
 * tests/unit/test_stats.c checks each against published values to 1e-6.
 */
#pragma once

#include <stddef.h>

#include "hist.h"

struct stats {
	size_t n;
	double min, max; /* INFINITY, -INFINITY while n is 0 */
	double mean;
	double m2; /* sum of squared deviations (Welford, Technometrics 4, 1962) */
};

void stats_init(struct stats *s);
void stats_add(struct stats *s, double value); /* finite */
/* Sample variance and standard deviation (n - 1); 0 for fewer than two values. */
double stats_variance(const struct stats *s);
double stats_deviation(const struct stats *s);

struct welch {
	double t, df, p; /* t > 0: a's mean is the larger; p two-sided */
};
/* 0, or -EINVAL when a side has fewer than two values or both deviations are 0. */
int stats_welch(const struct stats *a, const struct stats *b, struct welch *ret);

struct mann_whitney {
	double u;	    /* pairs in which b is the larger, and half of those that tie */
	double z, p;	    /* normal approximation with tie and continuity correction (as R's
			     * wilcox.test(exact = FALSE)), p two-sided */
	double superiority; /* P(b > a) + P(b = a) / 2 */
};
/* Of two histograms, each bucket a tie. 0, or -EINVAL when a side is empty or all values tie. */
int stats_mann_whitney(const struct hist *a, const struct hist *b, struct mann_whitney *ret);

/* Two-sided Clopper-Pearson interval of @k of @n at @confidence (0.95); @n >= 1, @k <= @n. */
void stats_binomial_bound(size_t k, size_t n, double confidence, double *ret_low, double *ret_high);

/* Fisher's exact test of @k_a of @n_a against @k_b of @n_b: p two-sided, the sum over all tables with these
 * margins that are no likelier than the one seen (as R's fisher.test). 1 when a side is empty. */
double stats_fisher(size_t k_a, size_t n_a, size_t k_b, size_t n_b);

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1. */
double stats_beta_inc(double a, double b, double x);
