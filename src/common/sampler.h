/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel files that are read at every tick: of the memcg under test (memory.stat, events,
 * current, swap, pressure) and of the host (node vmstat, meminfo), by one io_uring submission on
 * kept descriptors, or by plain preads where io_uring is refused (kernel.io_uring_disabled, seccomp).
 *
 * No allocation after sampler_open(): the supervisor must not wait for memory while it watches. The
 * ring is made outside the memcg, so its memory is not charged to it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cgroup.h"
#include "fail.h"
#include "memstat.h"
#include "psi.h"
#include "vmstat.h"

struct snapshot {
	struct memstat stat;
	struct memevents events; /* v1: oom_kill only; max comes from failcnt */
	uint64_t current_bytes;
	uint64_t swap_bytes; /* v1: memsw usage - usage */
	uint64_t limit_hits; /* v2 memory.events max, v1 memory.failcnt */
	struct psi psi;	     /* of the group in the v2 hierarchy, KFILE_ABSENT without */
	struct vmstat nodes; /* the sum of the nodes */
	uint64_t swap_free_bytes;
	uint64_t swap_total_bytes;
	uint64_t mem_available_bytes;
};

struct sampler;

/* Opens what there is; a file that is missing makes its fields KFILE_ABSENT. */
int sampler_open(const struct cgroup *cg, struct sampler **ret, struct fail *f);
/* Reads everything once. 0 or -errno (only when nothing at all could be read). */
int sampler_read(struct sampler *s, struct snapshot *ret);
bool sampler_uses_uring(const struct sampler *s);
/* Opens without io_uring (tests, and to compare the two). */
int sampler_open_plain(const struct cgroup *cg, struct sampler **ret, struct fail *f);
void sampler_close(struct sampler *s); /* accepts NULL */
