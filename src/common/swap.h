/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which swap the memcg under test uses: --swap auto|existing|none|zram[:SIZE]|file[:SIZE]|
 * delay:MS[:SIZE], the policy on top of the arena's mechanisms.
 *
 * auto: existing swap with enough room, else zram, else a loop file. Our own device gets the
 * highest free priority above existing swap only if @shared_ok (--swap-shared-ok): it would divert
 * everybody's swap. zram made by `zram` under the same condition.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "cgroup.h"
#include "fail.h"
#include "result.h"

enum swap_kind { SWAP_AUTO, SWAP_EXISTING, SWAP_NONE, SWAP_ZRAM, SWAP_FILE, SWAP_DELAY };
extern const char *const swap_kind_names[];

struct swap_spec {
	enum swap_kind kind;
	uint64_t size_bytes;   /* 0: chosen by the plan */
	unsigned int delay_ms; /* SWAP_DELAY */
};

/* "auto", "zram:1G", "delay:50ms", "delay:50:512M" (plain number = ms). 0, -EINVAL, -ERANGE. */
int swap_spec_parse(const char *s, struct swap_spec *ret);

struct swap_state {
	enum swap_kind kind;   /* what was really taken; never SWAP_AUTO after swap_prepare() */
	char device[PATH_MAX]; /* ours, "" for existing and none */
	uint64_t usable_bytes; /* what the memcg can use: free, and every ancestor's limit */
	struct swap_info infos[4];
	size_t nr_infos;
};

/* What is active now: total, free, and whether there is any. Reads /proc/swaps. */
int swap_active(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes);
/* Decides without making anything (for the plan and --dry-run): resolves auto and the size
 * (@needed_bytes plus a quarter, at least 64 MiB), says in @f what is missing: -EPERM "needs
 * CAP_SYS_ADMIN for swapon", -EOPNOTSUPP "no device-mapper", -EEXIST "other swap is active …
 * --swap-shared-ok", -ENOSPC. */
int swap_plan(const struct swap_spec *spec, uint64_t needed_bytes, bool shared_ok,
	      struct swap_spec *ret_resolved, struct fail *f);
/* Makes what swap_plan() resolved. */
int swap_prepare(struct arena *a, const struct swap_spec *resolved, struct swap_state *ret,
		 struct fail *f);
