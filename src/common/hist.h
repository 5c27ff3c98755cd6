/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log-linear histogram of latencies (or of page counts): fixed memory, no lock, no allocation.
 *
 * Summary. Values 0 … 2^40 - 1 (18 minutes in ns) are kept with a relative error of at most
 * 2^-8 = 0.4 % of the bucket's midpoint, in 34 groups of 128 buckets of 8 bytes = 34 KiB. Larger
 * values go to the top bucket and are counted in `overflow`; min, max and sum stay exact.
 *
 * Derivation. Values below 128 have a bucket each (group 0). Above, group g >= 1 holds the values
 * with g + 6 as the index of their highest bit; the 7 bits below that bit choose one of 128 buckets
 * of width 2^(g-1). So index = (g << 7) + (value >> (g - 1)) - 128, monotonic and without a gap.
 *
 * Thread safety: none; one writer per histogram. A reader in another process that sees it in shared
 * memory while it is written gets counts that may be behind by the records under way.
 *
 * Form after fio's stat.h and HdrHistogram; measured choice in shared/field-notes (3.7).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HIST_SUB_BITS 7
#define HIST_SUB (1u << HIST_SUB_BITS)
#define HIST_MAX_BITS 40
#define HIST_GROUPS (HIST_MAX_BITS - HIST_SUB_BITS + 1)
#define HIST_BUCKETS (HIST_GROUPS * HIST_SUB)

struct hist {
	uint64_t count;
	uint64_t min; /* UINT64_MAX while count is 0 */
	uint64_t max;
	uint64_t sum; /* wraps only after 2^64 ns = 584 years of latency */
	uint64_t overflow;
	uint64_t buckets[HIST_BUCKETS];
};

static inline size_t hist_index(uint64_t value)
{
	unsigned int group;

	if (value < HIST_SUB)
		return (size_t)value;
	if (value >= (1ULL << HIST_MAX_BITS))
		return HIST_BUCKETS - 1;
	group = 64u - (unsigned int)__builtin_clzll(value) - HIST_SUB_BITS;
	return ((size_t)group << HIST_SUB_BITS) + (size_t)(value >> (group - 1)) - HIST_SUB;
}

static inline void hist_record(struct hist *h, uint64_t value)
{
	h->buckets[hist_index(value)]++;
	h->count++;
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->overflow += value >= (1ULL << HIST_MAX_BITS);
}

void hist_init(struct hist *h);
/* Lowest and highest value of bucket @index (< HIST_BUCKETS), both inclusive; the top bucket's
 * do not cover what overflowed. */
void hist_bounds(size_t index, uint64_t *ret_lo, uint64_t *ret_hi);
/* Adds @from to @to; the result is as if every value had been recorded in @to. */
void hist_merge(struct hist *to, const struct hist *from);
/* Adds @n values of @value (for histograms aggregated elsewhere, in BPF say). */
void hist_record_n(struct hist *h, uint64_t value, uint64_t n);
/* Makes a histogram whole whose writer was killed within hist_record(): count becomes the sum of the
 * buckets, min and max are brought into the outermost ones' bounds. No-op on a whole one. */
void hist_settle(struct hist *h);
double hist_mean(const struct hist *h);
/* The smallest bucket's upper bound that at least @percent (0 … 100) of the values do not exceed,
 * never above max; so it overstates by at most 2^-7 = 0.8 % and never understates. max where the
 * percentile is among what overflowed; 0 for an empty histogram. */
uint64_t hist_percentile(const struct hist *h, double percent);
