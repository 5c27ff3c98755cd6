/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was sampled at each tick: parallel columns of 64-bit numbers that grow together.
 *
 * A column whose values are all KFILE_ABSENT could not be measured and is left out of documents.
 *
 * Memory is bounded and the run's length is not: when the reserved room is full, every second sample
 * goes and from then on only every second new one stays, so all ages keep the same density. The
 * newest sample is always the last entry, whatever its turn.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum series {
	SERIES_T_NS, /* since the workers were released */
	SERIES_PROGRESS,
	SERIES_MEMCG_CURRENT_BYTES,
	SERIES_MEMCG_SWAP_BYTES,
	SERIES_RECLAIMABLE_BYTES, /* on the LRU lists and evictable */
	SERIES_SWAP_FREE_BYTES,
	SERIES_LIMIT_HITS,
	SERIES_OOM_KILLS,
	SERIES_RECLAIM_PASSES,
	SERIES_PASSES_IN_FLIGHT,
	SERIES_THROTTLED,
	SERIES_NR_ISOLATED, /* node-wide, anon and file */
	SERIES_PSI_SOME_US,
	SERIES_PSI_FULL_US,
	SERIES_COUNT
};
/* "t_ns", "progress", … as in the result document. */
extern const char *const series_names[SERIES_COUNT];

struct sample {
	uint64_t v[SERIES_COUNT];
};

struct timeline {
	struct sample *samples;
	size_t nr;
	size_t capacity;
	uint64_t added;	       /* samples offered so far */
	unsigned int halvings; /* one of 2^halvings samples stays */
};

void sample_init(struct sample *s); /* all KFILE_ABSENT */
/* Room for @capacity samples (at least 2), touched. 0 or -ENOMEM. Call it before the run: the
 * supervisor must not allocate while it samples. */
int timeline_reserve(struct timeline *t, size_t capacity);
/* Makes @s the last entry. 0, or -ENOMEM when nothing was reserved. */
int timeline_add(struct timeline *t, const struct sample *s);
/* Whether any sample has a value in @series. */
bool timeline_has(const struct timeline *t, enum series series);
void timeline_free(struct timeline *t);
