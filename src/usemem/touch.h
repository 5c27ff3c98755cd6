/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hot loop of over-isolation: visits random pages of a working set.
 *
 * A visit is one timed write, which may fault, and then untimed writes over the whole page. The clock
 * is read twice a visit, so the untimed writes are there to keep measuring from slowing touching: at
 * TOUCH_ROUNDS the clock costs under 5 % of a visit that does not fault (bench/bench_touch).
 *
 * No allocation, no I/O and no log may happen here: the loop runs at the memcg's limit.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "progress.h"

/* Passes over the page in one visit: 8 x 512 words, about 1.3 us without a fault. */
#define TOUCH_ROUNDS 8

struct touch_area {
	unsigned char *base;
	size_t pages;
	size_t page_bytes;
};

/* Part @nr of @of equal parts of @area, in *ret; the parts together are the whole. */
void touch_part(const struct touch_area *area, size_t nr, size_t of, struct touch_area *ret);
/* Visits every page of @part once in order (so that the threads together dirty all of the set: no
 * page is waited for, each new one is a charge), then random pages of @area, until
 * progress_stopped(). Counts writes in slot->done, times in @hist. @seed: any; equal seeds visit
 * equal pages in equal order. */
void touch_run(const struct touch_area *area, const struct touch_area *part, struct progress *p,
	       size_t slot, struct hist *hist, uint64_t seed);
/* The same work without clock and histogram, @visits times: what measuring is compared with. */
void touch_unmeasured(const struct touch_area *area, uint64_t visits, uint64_t seed);
/* Exactly @visits measured visits. */
void touch_measured(const struct touch_area *area, struct progress *p, size_t slot,
		    struct hist *hist, uint64_t visits, uint64_t seed);
