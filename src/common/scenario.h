/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a scenario is: one failure mode, one load that provokes it, and the judge that says whether
 * it happened.
 *
 *   plan     pure: options → sizes and counts. Refuses what cannot work (usage error).
 *   check    what only this scenario needs of the host; the first thing missing is a SKIP. Makes nothing.
 *   setup    once per invocation, in the supervisor, after the arena and the swap are there: files, …
 *   prepare  before each run: evict files, make sub-groups, …
 *   work     in each worker process, inside the memcg. Reports ready at the barrier, works until
 *            progress_stopped(). May not log, may not touch the host.
 *   collect  after each run, before the memcg goes: what only this scenario measures
 *   judge    pure: measurement → checks, verdict, reason. No I/O, so that recorded measurements test it.
 *   finish   once, after the last run, also after a failed setup: frees run->state
 *
 * The engine (run.h) calls them in that order and does everything between. A scenario that needs
 * another order of spawning and stopping (phases) gives `drive` instead of relying on the default.
 *
 * To add one: write src/<tool>/<scenario>.c with its `const struct scenario`, and add one line to the
 * table in src/<tool>/main.c. docs/architecture.md shows it step by step.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fail.h"
#include "opt.h"
#include "progress.h"
#include "result.h"
#include "verdict.h"

struct run;
struct worker;

/* What a run will use and make; written by plan(), shown by --dry-run. */
struct plan {
	unsigned int nr_procs;
	unsigned int threads_per_proc; /* slots = nr_procs x threads_per_proc */
	uint64_t memcg_bytes;
	uint64_t set_bytes;    /* the working set of all workers together */
	uint64_t demand_bytes; /* what the workers want to keep in memory, their overhead included */
	bool needs_swap;       /* demand beyond the limit can only go to swap */
	bool slow_swap;	       /* --swap auto: swap that takes its time (swap.h) */
	uint64_t host_bytes;   /* RAM the run may take from the host, beyond the memcg */
	uint64_t disk_bytes;   /* of disk_dir, beyond a swap file */
	const char *disk_dir;  /* NULL: /var/tmp */
	uint64_t duration_ns;
	bool default_params; /* threads, memcg and set are the document's */
	bool huge_pages;     /* the load's memory may come in folios of many pages */
	bool survive_kill;   /* a killed worker does not end the run */
	bool no_memcg;	 /* nothing is made on the host: only drive() and judge() run (classic) */
	bool global;	 /* puts pressure on the whole machine: needs --allow-global */
	size_t nr_hists; /* per slot */
	const char *hist_names[PROGRESS_HISTS_MAX];
	const char *hist_units[PROGRESS_HISTS_MAX];
};

struct scenario {
	const char *name;
	const char *summary;	    /* a line for --list */
	const char *document;	    /* "seeds/000 (…)" */
	const char *fix;	    /* what a FAIL is fixed by */
	const char *explain;	    /* paragraphs for --explain */
	const char *unit;	    /* of progress, for the live line: "touches" */
	enum metric_id unit_metric; /* where its total goes; METRIC_COUNT: nowhere */
	bool speaks; /* prints lines of its own: the report follows only if --format is given */

	int (*plan)(struct run *run, struct fail *f);
	int (*check)(struct run *run, struct fail *f);
	int (*setup)(struct run *run, struct fail *f);
	int (*prepare)(struct run *run, struct fail *f);
	int (*work)(const struct worker *w);
	int (*drive)(struct run *run, struct fail *f);
	/* At every sample (10 Hz) of run_watch(), in the supervisor: moves phases on, counts. True ends
	 * the run as if its time were up. */
	bool (*tick)(struct run *run, uint64_t t_ns);
	void (*collect)(struct run *run, struct run_result *res);
	void (*judge)(const struct measurement *m, struct run_result *res);
	void (*finish)(struct run *run);
};
