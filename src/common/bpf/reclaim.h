/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs (reclaim.bpf.c) and their reader (probe_bpf.c) share: one slot per CPU in a
 * mapped array. The programs only ever add to the slot of the CPU they run on; the reader sums over
 * the slots. Nothing is queued, so nothing can overflow and be lost.
 *
 * Included by both sides, so it brings no header and uses the kernel's own integer types.
 */
#pragma once

/* Log-linear buckets as in hist.h, in which the index does not depend on the highest value; page
 * counts stop at 2^24 (64 GiB in 4 KiB pages), which halves their memory. */
#define RECLAIM_SUB_BITS 7
#define RECLAIM_SUB (1U << RECLAIM_SUB_BITS)
#define RECLAIM_TIME_BITS 40
#define RECLAIM_PAGES_BITS 24
#define RECLAIM_BUCKETS(bits) (((bits)-RECLAIM_SUB_BITS + 1) * RECLAIM_SUB)

#define RECLAIM_REASONS 4 /* enum throttle_reason */
#define RECLAIM_WORST 20  /* WORST_PASSES_MAX */

struct reclaim_range {
	__u64 min; /* stored as its complement, so that an empty slot is all zeroes */
	__u64 max;
	__u64 sum;
	__u64 overflow;
};

struct reclaim_worst {
	__u64 latency_ns;
	__u64 scanned;
	__u64 reclaimed;
	__u64 goal;
	char comm[16];
};

struct reclaim_slot {
	__u64 begun;
	__u64 ended;
	__u64 softlimit_begun;
	__u64 softlimit_reclaimed;
	__u64 active_scanned;
	__u64 throttled_total;
	__u64 throttled[RECLAIM_REASONS];
	__u64 throttled_us;
	__u64 throttled_reason_us[RECLAIM_REASONS];
	__u64 oom_victims;
	__u64 lost; /* passes for which there was no room in the table of threads */
	__u64 in_flight_peak;
	struct reclaim_range latency;
	struct reclaim_range scanned;
	struct reclaim_range reclaimed;
	struct reclaim_range overshoot; /* reclaimed, in percent of the goal */
	__u64 least_worst_ns;		/* of worst[]; a shorter pass need not look there */
	struct reclaim_worst worst[RECLAIM_WORST];
	__u64 latency_buckets[RECLAIM_BUCKETS(RECLAIM_TIME_BITS)];
	__u64 scanned_buckets[RECLAIM_BUCKETS(RECLAIM_PAGES_BITS)];
	__u64 reclaimed_buckets[RECLAIM_BUCKETS(RECLAIM_PAGES_BITS)];
	__u64 overshoot_buckets[RECLAIM_BUCKETS(RECLAIM_PAGES_BITS)];
} __attribute__((aligned(64)));

/* The index of the highest bit of @value > 0; BPF has no instruction for it. */
static inline unsigned int reclaim_highest_bit(__u64 value)
{
	unsigned int bit = 0;

	for (unsigned int step = 32; step; step >>= 1) {
		if (value >> step) {
			value >>= step;
			bit += step;
		}
	}
	return bit;
}

/* The bucket of @value among RECLAIM_BUCKETS(@bits); equals hist_index() below 2^@bits. */
static inline unsigned int reclaim_bucket(__u64 value, unsigned int bits)
{
	unsigned int group;

	if (value < RECLAIM_SUB)
		return (unsigned int)value;
	if (value >> bits)
		return RECLAIM_BUCKETS(bits) - 1;
	group = reclaim_highest_bit(value) - RECLAIM_SUB_BITS + 1;
	return (group << RECLAIM_SUB_BITS) + (unsigned int)(value >> (group - 1)) - RECLAIM_SUB;
}
