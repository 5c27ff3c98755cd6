/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which swap the memcg under test uses: --swap auto|existing|none|zram[:SIZE]|file[:SIZE]|
 * delay:MS[:SIZE], the policy on top of the arena's mechanisms.
 *
 * auto: existing swap with enough room, else zram, else a loop file. A scenario that lives on the time a
 * page spends under writeback (over-isolation) sets @slow: then, after existing swap, the device of
 * seeds/000, delay:50, where there is a device-mapper; else a loop file; else zram. Our own device gets the
 * highest free priority above existing swap only if @shared_ok (--swap-shared-ok): it would divert
 * everybody's swap. zram made by `zram` under the same condition.
 *
 * Swap that another run of ours has made (label sqz-<pid>) is not "existing": it goes away with that
 * run. Two runs may each have a zram or file device at the same time; the kernel fills them in turn, and
 * a guard takes a device away only when no other live run has pages on it. A slow (delay) device takes
 * no company: it would slow the other down.
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
	bool measure;	       /* time the device before swapon: latency_ns below */
	bool slow;	       /* SWAP_AUTO: what takes its time is wanted, see above */
};

/* "auto", "zram:1G", "delay:50ms", "delay:50:512M" (plain number = ms). 0, -EINVAL, -ERANGE. */
int swap_spec_parse(const char *s, struct swap_spec *ret);

/* What the decision rests on; gathered by swap_plan(), made up by tests. */
struct swap_host {
	bool may_swapon; /* CAP_SYS_ADMIN */
	bool have_zram, have_loop, have_delay;
	uint64_t foreign_total_bytes; /* active swap that is not of a run of ours */
	uint64_t foreign_free_bytes;
	bool own_kind_active;  /* another run of ours has swap active … */
	bool own_delay_active; /* … on a dm-delay device */
	uint64_t mem_available_bytes;
	uint64_t disk_free_bytes; /* where images go */
	bool disk_is_memory;	  /* images would be in tmpfs or ramfs */
};
/*
 * How much a load may swap: what cannot stay in memory, and what can have a slot at one time. On a slow
 * device these differ, since a page that is being written, or was read again, has both: 8 threads with
 * 288 MiB in 96 MiB and 241.6 MiB of swap behind dm-delay (50 ms) filled it with 70 MiB still in memory
 * (7.3.4, 2026-12-01).
 */
struct swap_need {
	uint64_t least_bytes;
	uint64_t most_bytes;
};

/* The pure part of swap_plan(). */
int swap_decide(const struct swap_spec *spec, const struct swap_need *need, bool shared_ok,
		const struct swap_host *host, struct swap_spec *ret_resolved, struct fail *f);

struct swap_state {
	enum swap_kind kind;   /* what was really taken; never SWAP_AUTO after swap_prepare() */
	char device[PATH_MAX]; /* ours, "" for existing and none */
	int priority;	       /* our device's, -1: the kernel's choice */
	uint64_t latency_ns;   /* of one page (device_latency.h); 0: not measured */
	uint64_t usable_bytes; /* our device, or what is free; the caller takes the least of this and
				* cgroup_swap_room() */
	struct swap_info infos[4];
	size_t nr_infos;
};

/* What is active now: total, free, and whether there is any. Reads /proc/swaps. */
int swap_active(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes);
/* Decides without making anything (for the plan and --dry-run): resolves auto and the size
 * (the least plus a quarter and at least 64 MiB; not on zram also the most plus an eighth), says in
 * @f what is missing: -EPERM "needs CAP_SYS_ADMIN for swapon", -EOPNOTSUPP "no device-mapper",
 * -EEXIST "other swap is active … --swap-shared-ok", -ENOSPC. */
int swap_plan(const struct swap_spec *spec, const struct swap_need *need, bool shared_ok,
	      struct swap_spec *ret_resolved, struct fail *f);
/* Makes what swap_plan() resolved. */
int swap_prepare(struct arena *a, const struct swap_spec *resolved, struct swap_state *ret,
		 struct fail *f);
