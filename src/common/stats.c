/* SPDX-License-Identifier: GPL-2.0-only */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>

void stats_init(struct stats *s)
{
	*s = (struct stats){ .min = INFINITY, .max = -INFINITY };
}

void stats_add(struct stats *s, double value)
{
	double from_old_mean = value - s->mean;

	s->n++;
	s->mean += from_old_mean / (double)s->n;
	/* Welford: no difference of two large sums of squares. */
	s->m2 += from_old_mean * (value - s->mean);
	s->min = fmin(s->min, value);
	s->max = fmax(s->max, value);
}

double stats_variance(const struct stats *s)
{
	return s->n < 2 ? 0 : s->m2 / (double)(s->n - 1);
}

double stats_deviation(const struct stats *s)
{
	return sqrt(stats_variance(s));
}

/* Lentz's method divides by its running denominators: a zero is replaced by this. */
#define LENTZ_TINY 1e-300
/* Convergence takes O(sqrt(max(a, b))) steps (DLMF 8.17): this serves a and b up to 10^9. */
#define LENTZ_STEPS_MAX 200000
/* As in R's fisher.test: probabilities this near (relatively) are the same. */
#define FISHER_TIE 1e-7

static double not_zero(double x)
{
	return fabs(x) < LENTZ_TINY ? LENTZ_TINY : x;
}

/* The continued fraction of DLMF 8.17.22: 1 / (1 + d1 / (1 + d2 / (1 + …))). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1));
	double f = d;

	for (int m = 1; m <= LENTZ_STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		f *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

static double log_gamma(double x)
{
	int sign; /* lgamma() would write the global signgam */

	return lgamma_r(x, &sign);
}

double stats_beta_inc(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	/* The fraction converges fast on this side of the mean; I_x(a, b) = 1 - I_1-x(b, a). */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

int stats_welch(const struct stats *a, const struct stats *b, struct welch *ret)
{
	double va, vb, sum;
	struct welch w;

	if (a->n < 2 || b->n < 2)
		return -EINVAL;
	va = stats_variance(a) / (double)a->n;
	vb = stats_variance(b) / (double)b->n;
	sum = va + vb;
	if (!(sum > 0))
		return -EINVAL;
	w.t = (a->mean - b->mean) / sqrt(sum);
	/* Shares instead of variances: squares of tiny or huge variances would leave the range. */
	w.df = 1 / (va / sum * (va / sum) / (double)(a->n - 1) +
		    vb / sum * (vb / sum) / (double)(b->n - 1));
	w.p = stats_beta_inc(w.df / 2, 0.5, w.df / (w.df + w.t * w.t));
	*ret = w;
	return 0;
}

int stats_mann_whitney(const struct hist *a, const struct hist *b, struct mann_whitney *ret)
{
	double na = (double)a->count, nb = (double)b->count, n = na + nb;
	double u = 0, ties = 0, a_below = 0, variance, distance;
	struct mann_whitney m;

	if (a->count == 0 || b->count == 0)
		return -EINVAL;
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		double in_a = (double)a->buckets[i], in_b = (double)b->buckets[i];
		double in_both = in_a + in_b;

		u += in_b * (a_below + in_a / 2);
		a_below += in_a;
		/* (t^3 - t) / (n^3 - n), as fractions of n: n^3 of 10^12 values is no integer
		 * any more. */
		ties += in_both / n * ((in_both - 1) / (n - 1)) * ((in_both + 1) / (n + 1));
	}
	variance = na * nb / 12 * (n + 1) * (1 - ties);
	if (!(variance > 0))
		return -EINVAL;
	distance = u - na * nb / 2;
	/* Continuity correction: U moves in halves, so |distance| is 0 or at least 1/2. */
	m.z = distance == 0 ? 0 : copysign(fabs(distance) - 0.5, distance) / sqrt(variance);
	m.u = u;
	m.p = erfc(fabs(m.z) / sqrt(2));
	m.superiority = u / (na * nb);
	*ret = m;
	return 0;
}

/* The x for which I_x(a, b) = @target, by bisection until the interval cannot be halved. */
static double beta_inverse(double a, double b, double target)
{
	double low = 0, high = 1, middle = 0.5;

	while (middle > low && middle < high) {
		if (stats_beta_inc(a, b, middle) < target)
			low = middle;
		else
			high = middle;
		middle = low + (high - low) / 2;
	}
	return middle;
}

void stats_binomial_bound(size_t k, size_t n, double confidence, double *ret_low, double *ret_high)
{
	double tail = (1 - confidence) / 2;
	double failures = (double)k, successes = (double)(n - k);

	*ret_low = k == 0 ? 0 : beta_inverse(failures, successes + 1, tail);
	*ret_high = k == n ? 1 : beta_inverse(failures + 1, successes, 1 - tail);
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double stats_fisher(size_t k_a, size_t n_a, size_t k_b, size_t n_b)
{
	double a = (double)n_a, b = (double)n_b, p = 0;
	size_t k = k_a + k_b;
	double all = log_choose(a + b, (double)k);
	double seen = log_choose(a, (double)k_a) + log_choose(b, (double)k_b) - all;

	for (size_t i = k > n_b ? k - n_b : 0; i <= n_a && i <= k; i++) {
		double one = log_choose(a, (double)i) + log_choose(b, (double)(k - i)) - all;

		/* Tables that are equally likely must not be told apart by rounding. */
		if (one <= seen + FISHER_TIE)
			p += exp(one);
	}
	return fmin(p, 1);
}
