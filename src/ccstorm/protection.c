/* SPDX-License-Identifier: GPL-2.0-only */
#include "protection.h"

/* A step takes a tenth of what is not shielded, as the kernel's simulation does (its alpha); at least
 * what reclaim takes at a time, SWAP_CLUSTER_MAX pages. */
#define STEP 10
#define CLUSTER (32ULL * 4096)
/* A tenth of the rest each time: 150 MiB are within a cluster of the end after 70 steps. */
#define STEPS_MAX 10000

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a * b / c without overflow; c > 0. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

uint64_t protection_effective(uint64_t usage, uint64_t parent_usage, uint64_t low,
			      uint64_t parent_effective, uint64_t siblings_protected,
			      bool recursive)
{
	uint64_t claimed = least(usage, low);
	uint64_t unprotected;

	/* More is claimed and used than the parent has: in proportion. */
	if (siblings_protected > parent_effective)
		return share(claimed, parent_effective, siblings_protected);
	if (!recursive || parent_effective == siblings_protected ||
	    parent_usage <= siblings_protected || usage <= claimed)
		return claimed;
	/* What nobody claims shields the rest in proportion to its size. */
	unprotected = least(usage - claimed, parent_usage - siblings_protected);
	return claimed + share(parent_effective - siblings_protected, unprotected,
			       parent_usage - siblings_protected);
}

struct totals {
	uint64_t usage;
	uint64_t claimed;
};

static struct totals add_up(const struct protection_group *groups, size_t nr_groups)
{
	struct totals t = { 0 };

	for (size_t i = 0; i < nr_groups; i++) {
		t.usage += groups[i].usage;
		t.claimed += least(groups[i].usage, groups[i].low);
	}
	return t;
}

/* What one step takes from a group: in proportion to what is not shielded. */
static uint64_t taken(const struct protection_group *g, uint64_t effective)
{
	uint64_t open = g->usage > effective ? g->usage - effective : 0;
	uint64_t step = open / STEP;

	return least(open, step > CLUSTER ? step : CLUSTER);
}

void protection_settle(struct protection_group *groups, size_t nr_groups, uint64_t parent_effective,
		       bool recursive, uint64_t target)
{
	bool at_root = parent_effective == UINT64_MAX;

	for (int step = 0; step < STEPS_MAX; step++) {
		struct totals t = add_up(groups, nr_groups);
		uint64_t moved = 0, over = t.usage > target ? t.usage - target : 0;
		uint64_t take[PROTECTION_GROUPS_MAX];

		for (size_t i = 0; i < nr_groups && i < PROTECTION_GROUPS_MAX; i++) {
			/* Children of the root have what they claim, no less and no more. */
			uint64_t e = at_root ? least(groups[i].usage, groups[i].low)
					     : protection_effective(groups[i].usage, t.usage,
								    groups[i].low, parent_effective,
								    t.claimed, recursive);

			take[i] = taken(&groups[i], e);
			moved += take[i];
		}
		if (moved == 0 || over == 0)
			return;
		for (size_t i = 0; i < nr_groups && i < PROTECTION_GROUPS_MAX; i++)
			groups[i].usage -= moved > over ? share(take[i], over, moved) : take[i];
	}
}
