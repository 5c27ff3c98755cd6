/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "make -jN" of synthetic compile jobs, as a worker inside the memcg.
 *
 * A round compiles `objects` files from scratch, at most `jobs` at once. As with make, the first job
 * that is killed ends the round: no new ones are started, those under way are waited for, the
 * objects are removed, and the next round begins. It goes on until it is told to stop, and then
 * kills what is under way and leaves.
 *
 * With pods, every job moves itself into the next pod's group before it executes.
 */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hist.h"
#include "progress.h"
#include "workshop.h"

/* Rounds that are remembered one by one; the sums go on. */
#define MAKE_ROUNDS_MAX 256

struct make_round {
	uint64_t wall_ns;
	uint32_t objects;
	uint32_t killed;
};

/* In memory that the supervisor shares with the worker; one writer. */
struct make_log {
	_Atomic uint32_t nr_rounds; /* ended, by completion or a kill */
	_Atomic uint32_t nr_completed;
	_Atomic uint32_t nr_killed; /* jobs */
	_Atomic uint32_t nr_failed; /* rounds of a command that ended otherwise */
	_Atomic uint64_t completed_wall_ns;
	_Atomic uint64_t major_faults; /* of the jobs that have ended */
	struct make_round rounds[MAKE_ROUNDS_MAX];
};

struct make {
	const struct workshop *shop;
	const char *objects_dir;
	char **command; /* instead of compile jobs; NULL: none */
	bool verbose;	/* the command's output goes to standard error */
	unsigned int jobs;
	unsigned int objects;
	unsigned int scale_percent;
	uint64_t seed;
	/* Groups of the jobs: PODS_PATH/pod-N/cgroup.procs; nr_pods 0: they stay where the worker is. */
	const char *pods_path;
	const char *pods_twin; /* the same in the v2 hierarchy of a hybrid host, "" without */
	unsigned int nr_pods;
	struct make_log *log;
	const _Atomic uint32_t *stop; /* besides progress_stopped(); may be NULL */
};

/* Until it is to stop. Counts objects in the slot's `done`; a job's wall time goes to @hist (may be
 * NULL). 0 or -errno after progress_fail(). */
int make_run(const struct make *m, struct progress *p, size_t slot, struct hist *hist);
