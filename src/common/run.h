/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine: drives one scenario through its life.
 *
 *   probe the host → plan → arena (guard, swap) → per run: memcg, workers, barrier, watch, stop,
 *   collect, judge, undo → conclude → undo everything
 *
 * run_scenario() does all of it and fills the result document; whatever happens, what was made is
 * undone before it returns. The pieces below it are public for scenarios with a `drive` of their own.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "cgroup.h"
#include "fail.h"
#include "opt.h"
#include "probe.h"
#include "progress.h"
#include "result.h"
#include "sampler.h"
#include "scenario.h"
#include "swap.h"
#include "verdict.h"
#include "worker.h"

/* Set by SIGINT and SIGTERM; the only writable global. */
extern volatile sig_atomic_t run_stop_requested;

struct run {
	const char *tool;
	const struct scenario *scenario;
	const struct options *opt;
	const void *tool_options; /* the tool's own parsed options */
	struct cgroup_host host;
	struct plan plan;
	struct swap_spec swap_spec; /* resolved */
	struct swap_state swap;
	struct arena *arena;
	char parent_memory[PATH_MAX];
	char parent_unified[PATH_MAX];
	void *state; /* the scenario's own, freed by it */

	/* Of the run under way. */
	unsigned int run_index;
	struct cgroup group;
	struct progress progress;
	struct probe *probe;
	struct sampler *sampler;
	struct worker_handle *workers; /* plan.nr_procs */
	struct snapshot before, last;
	struct probe_counts counts;
	struct measurement m;
	struct result_doc doc;
	struct run_result *res; /* doc.runs[run_index] */
};

/* Plans only: fills run->plan. 0 or -EINVAL (usage; @f has the sentence). */
int run_plan(struct run *run, struct fail *f);
/* Whether the host has what the plan needs, before anything is made: memcg, rights, swap, LRU,
 * memory and disk to spare. 0; else -errno and the one thing that is missing in @f (SKIP). */
int run_check_host(struct run *run, struct fail *f);
/* Everything; never fails as such: the document's verdict tells. */
void run_scenario(struct run *run);

/* The pieces of one run. */
/* Changes the limit of the run's group (UINT64_MAX: none), and what it says of swap with it; for a
 * scenario's prepare(), when groups below it have been charged already. */
int run_set_limit(struct run *run, uint64_t bytes, struct fail *f);
int run_spawn_workers(struct run *run, struct fail *f);
int run_wait_ready(struct run *run, struct fail *f);
/* Releases the workers, samples at 10 Hz, returns when the run has ended (m.end). */
int run_watch(struct run *run, struct fail *f);
/* What run_watch() does for scenarios with a drive of their own: reads the state before the load, then
 * a sample of the timeline, @t_ns after the release. Nothing without a memcg. */
void run_sample_begin(struct run *run);
void run_sample(struct run *run, uint64_t t_ns);
/* Stops and reaps the workers: by flag, then by SIGKILL; fills m.workers_stuck. */
void run_stop_workers(struct run *run);
