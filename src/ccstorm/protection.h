/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's memory protection model: how much of a group memory.low shields from reclaim, and
 * where siblings end under pressure from outside.
 *
 * Model. Reclaim for a limit begins at the group that has it (the root of that reclaim). A direct
 * child of it is shielded by its own memory.low; further down, what a parent has is shared among its
 * children in proportion to the protection that they claim and use, and with the mount option
 * memory_recursiveprot what nobody claims goes to the unprotected rest in proportion to its size.
 * Reclaim scans a group in proportion to what is not shielded, and shares are computed anew all the
 * time, so siblings move to a fixed point. It is reached here as in the simulation that comes with the
 * kernel's self-tests (tools/testing/selftests/cgroup/memcg_protection.m).
 *
 * Everything is pure and in bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTECTION_GROUPS_MAX 16

struct protection_group {
	uint64_t low;	/* memory.low */
	uint64_t usage; /* memory.current, all of it reclaimable */
};

/* How much of a child's @usage is shielded (effective_protection() of mm/page_counter.c):
 * @siblings_protected is the sum of min(low, usage) over all children of its parent. */
uint64_t protection_effective(uint64_t usage, uint64_t parent_usage, uint64_t low,
			      uint64_t parent_effective, uint64_t siblings_protected,
			      bool recursive);
/* Presses on the children @groups[0 … nr_groups) of one parent until together they use no more than
 * @target, or nothing that is not shielded is left. Changes their usage. @parent_effective:
 * UINT64_MAX where the parent is the root of the reclaim. */
void protection_settle(struct protection_group *groups, size_t nr_groups, uint64_t parent_effective,
		       bool recursive, uint64_t target);
