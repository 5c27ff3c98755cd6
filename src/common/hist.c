/* SPDX-License-Identifier: GPL-2.0-only */
#include "hist.h"

#include <math.h>
#include <string.h>

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void hist_bounds(size_t index, uint64_t *ret_lo, uint64_t *ret_hi)
{
	size_t group = index >> HIST_SUB_BITS;
	uint64_t sub = index & (HIST_SUB - 1);
	unsigned int shift = group ? (unsigned int)group - 1 : 0;
	uint64_t lo = group ? (HIST_SUB + sub) << shift : sub;

	*ret_lo = lo;
	*ret_hi = lo + (1ULL << shift) - 1;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
	to->count += from->count;
	to->sum += from->sum;
	to->overflow += from->overflow;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
}

void hist_record_n(struct hist *h, uint64_t value, uint64_t n)
{
	if (n == 0)
		return;
	h->buckets[hist_index(value)] += n;
	h->count += n;
	h->sum += value * n;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	if (value >= (1ULL << HIST_MAX_BITS))
		h->overflow += n;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

/* How many of the sorted values must be counted off, at least one. */
static uint64_t rank_of(double percent, uint64_t count)
{
	long double rank = (long double)percent * (long double)count / 100;

	/* 99.9 has no exact binary form: without taking its rounding error off again, 99.9 % of
	 * 1,000 values would be the thousandth. 2^-52 is twice the relative error of a double. */
	rank = ceill(rank * (1 - 0x1p-52L));
	if (rank < 1)
		return 1;
	return rank > (long double)count ? count : (uint64_t)rank;
}

uint64_t hist_percentile(const struct hist *h, double percent)
{
	uint64_t rank, lo, hi, below = 0;

	if (h->count == 0)
		return 0;
	rank = rank_of(percent, h->count);
	/* What overflowed shares the top bucket, whose bound says nothing about it. */
	if (rank > h->count - h->overflow)
		return h->max;
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		below += h->buckets[i];
		if (below >= rank) {
			hist_bounds(i, &lo, &hi);
			return hi < h->max ? hi : h->max;
		}
	}
	/* Only a histogram that is read while it is written has fewer in the buckets than
	 * counted. */
	return h->max;
}

void hist_settle(struct hist *h)
{
	size_t first = HIST_BUCKETS, last = 0;
	uint64_t count = 0, lo, hi;

	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		if (first == HIST_BUCKETS)
			first = i;
		last = i;
		count += h->buckets[i];
	}
	h->count = count;
	if (count == 0) {
		hist_init(h);
		return;
	}
	if (h->overflow > h->buckets[HIST_BUCKETS - 1])
		h->overflow = h->buckets[HIST_BUCKETS - 1];
	hist_bounds(first, &lo, &hi);
	if (h->min < lo || h->min > hi)
		h->min = lo;
	hist_bounds(last, &lo, &hi);
	/* An overflowed maximum lies above the top bucket, and is exact. */
	if (h->max < lo || (h->max > hi && !h->overflow))
		h->max = hi;
}
