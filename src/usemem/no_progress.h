/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * no-progress: reclaim that sleeps uninterruptibly without making progress. shared/seeds/003.
 *
 * Phases, one after the other, each with a task of its own in the memcg and a limit of its own in time:
 *
 *   dirty     a buffer of twice the limit is dirtied once
 *   mlock     as much is locked: cannot be had, and must end in a return or an OOM kill
 *   swapoff   a buffer is dirtied over and over; the swap device is taken away meanwhile, by a child of
 *             the supervisor outside the memcg, and given back
 *   kill      (three times) a task that dirties is killed when it stalls
 *
 * The supervisor looks at the task every 10 ms, never waits for it without a limit, and stops going
 * on when one cannot be killed. no_progress.c plans and judges, no_progress_drive.c is the supervisor,
 * no_progress_work.c the tasks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "run.h"

/* In spawning order: the index of the worker process. */
enum no_progress_task {
	TASK_DIRTY,
	TASK_MLOCK,
	TASK_SWAPOFF,
	TASK_KILL,
	TASK_KILL_2,
	TASK_KILL_3,
	TASKS
};

/* How a task of mlock ends when the call returned an error: this plus errno, above WORKER_FAILED. */
#define MLOCK_ERROR_BASE 16

/* Longest stretch of samples, 10 ms apart, that all show D and no progress. Pure. */
struct stretch {
	uint64_t began_ns;
	uint64_t last_ns; /* of the last sample */
	uint64_t done;
	bool open;
	uint64_t longest_ns;
};
void stretch_add(struct stretch *s, uint64_t now_ns, char state, uint64_t done);

/* One in swapoff, three in kill. */
#define NO_PROGRESS_KILLS_MAX 4

/* What the supervisor keeps in run->state. */
struct no_progress {
	int go_fds[2]; /* a byte a task: it may begin */
	uint64_t start_ns;
	uint64_t longest_touch_ns; /* of the dirty phase */
	uint64_t dirty_ns;	   /* these are 0 until known */
	uint64_t mlock_ns;
	uint64_t swapoff_ns;
	uint64_t kills_ns[NO_PROGRESS_KILLS_MAX]; /* of tasks that were to be killed */
	unsigned int nr_kills;
	unsigned int nr_asleep; /* of these: in D when they were killed */
	uint64_t forced_kill_ns; /* the worst of tasks that had to be, at the end of a phase; 0: none */
	bool dirty_killed;
	bool share_known;
	double noprogress_share; /* the worst phase's */
	uint64_t longest_d_ns;
	bool stuck; /* a task outlived SIGKILL: no further phase */
};

/* Bounds (design.md, section 5), before --time-scale. @latency_ns: of one page to the swap device. */
uint64_t no_progress_dirty_bound_ns(uint64_t latency_ns, uint64_t excess_pages);
uint64_t no_progress_swapoff_bound_ns(uint64_t latency_ns);
uint64_t no_progress_mlock_bound_ns(void);
uint64_t no_progress_kill_bound_ns(uint64_t latency_ns);

/* How long SIGKILL takes: the median of those that were to be killed, so that one hiccup of a busy machine
 * is no stall, and the worst of those that had to be. 0: none was. */
uint64_t no_progress_kill_latency_ns(const struct no_progress *np);

int no_progress_drive(struct run *run, struct fail *f);
int no_progress_work(const struct worker *w);
