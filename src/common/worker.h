/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Worker processes inside the memcg and the threads in them.
 *
 * A worker is forked into the memcg (cgroup_fork), makes itself the preferred victim of any OOM kill,
 * dies with the supervisor, and drops the capabilities that touching memory does not need. Threads
 * are made after the fork, with small stacks; each waits at the barrier of progress.h.
 *
 * The supervisor never reads /proc/PID/{cmdline,maps,smaps,environ,numa_maps} of a worker: they take
 * its mmap lock and hang with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "fail.h"
#include "progress.h"

struct run;

/* How a worker ends when it is not killed. Other codes: the sanitizer's, a crash of ours. */
enum { WORKER_DONE = 0, WORKER_FAILED = 3 };

struct worker {
	const struct run *run;
	struct progress *progress;
	unsigned int index; /* of the process */
	size_t first_slot;
	unsigned int threads;
};

/* The supervisor's side of one worker process. */
struct worker_handle {
	pid_t pid; /* 0: reaped or never there */
	int pidfd;
	int status; /* as wait(2), once reaped */
	bool reaped;
};

/* Forks worker @index of @run into @cg; never returns in the child. 0 or -errno. */
int worker_spawn(struct run *run, unsigned int index, const struct cgroup *cg,
		 struct worker_handle *ret, struct fail *f);
/* In a worker: runs @body in w->threads threads (slots first_slot …) and waits for all of them.
 * Returns 0, or -errno after progress_fail(). */
int worker_run_threads(const struct worker *w, void (*body)(const struct worker *w, size_t slot));
/* Reaps without blocking. True when the worker is gone (h->status is set). */
bool worker_reap(struct worker_handle *h);
void worker_kill(struct worker_handle *h);
void worker_handle_close(struct worker_handle *h);
/* "pid 12 (usemem) state D in shrink_lruvec; stack: …" from the files that do not take its lock. */
void worker_describe(pid_t pid, char *buf, size_t size);
/* What a thread costs the memcg besides its set: 26 KiB of kernel memory (stack, task_struct, …) and
 * two pages of its own (measured natively on 6.18: 34 KiB with 4 KiB pages). */
uint64_t worker_thread_overhead_bytes(uint64_t page_size);
