/* SPDX-License-Identifier: GPL-2.0-only */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kfile.h"

const char *const series_names[SERIES_COUNT] = {
	[SERIES_T_NS] = "t_ns",
	[SERIES_PROGRESS] = "progress",
	[SERIES_MEMCG_CURRENT_BYTES] = "memcg_current_bytes",
	[SERIES_MEMCG_SWAP_BYTES] = "memcg_swap_bytes",
	[SERIES_RECLAIMABLE_BYTES] = "reclaimable_bytes",
	[SERIES_SWAP_FREE_BYTES] = "swap_free_bytes",
	[SERIES_LIMIT_HITS] = "limit_hits",
	[SERIES_OOM_KILLS] = "oom_kills",
	[SERIES_RECLAIM_PASSES] = "reclaim_passes",
	[SERIES_PASSES_IN_FLIGHT] = "passes_in_flight",
	[SERIES_THROTTLED] = "throttled",
	[SERIES_NR_ISOLATED] = "nr_isolated",
	[SERIES_PSI_SOME_US] = "psi_some_us",
	[SERIES_PSI_FULL_US] = "psi_full_us",
};

void sample_init(struct sample *s)
{
	for (size_t i = 0; i < SERIES_COUNT; i++)
		s->v[i] = KFILE_ABSENT;
}

int timeline_reserve(struct timeline *t, size_t capacity)
{
	struct sample *samples;

	if (capacity < 2)
		capacity = 2; /* one to keep and one to be the newest */
	if (capacity <= t->capacity)
		return 0;
	samples = reallocarray(t->samples, capacity, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	/* Writing the new part faults it in now and not between two ticks. */
	memset(samples + t->nr, 0, (capacity - t->nr) * sizeof(*samples));
	t->samples = samples;
	t->capacity = capacity;
	return 0;
}

static uint64_t stride_mask(const struct timeline *t)
{
	return (1ULL << t->halvings) - 1;
}

/* Sample number n (from 0) has its turn when n is a multiple of the stride. Entry i is number
 * i * stride, except that the last one may be a newcomer out of turn. */
static bool last_is_out_of_turn(const struct timeline *t)
{
	return t->nr && ((t->added - 1) & stride_mask(t));
}

static void halve(struct timeline *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr; i += 2)
		t->samples[kept++] = t->samples[i];
	t->nr = kept;
	t->halvings++;
}

int timeline_add(struct timeline *t, const struct sample *s)
{
	if (t->capacity == 0)
		return -ENOMEM;
	if (last_is_out_of_turn(t)) {
		t->nr--;
	} else if (t->nr == t->capacity) {
		/* All entries are in turn here, so what halving keeps is in turn of the new stride;
		 * with an even capacity the dropped last one would have been out of turn. */
		halve(t);
	}
	t->samples[t->nr++] = *s;
	t->added++;
	return 0;
}

bool timeline_has(const struct timeline *t, enum series series)
{
	for (size_t i = 0; i < t->nr; i++) {
		if (t->samples[i].v[series] != KFILE_ABSENT)
			return true;
	}
	return false;
}

void timeline_free(struct timeline *t)
{
	free(t->samples);
	*t = (struct timeline){ 0 };
}
