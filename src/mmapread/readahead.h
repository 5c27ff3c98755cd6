/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of readahead-livelock: readahead_livelock.c has its life (plan, files, window, metrics),
 * readahead_work.c the reader in its process, readahead_judge.c the verdict.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "dataset.h"
#include "verdict.h"
#include "worker.h"

/* run->state */
struct readahead_state {
	struct dataset set;
	char readahead_file[PATH_MAX];
	uint64_t readahead_was_kib;
	uint64_t window_bytes;
	uint64_t wrote_ns; /* 0: a kept data set was there */
	int lock_fd;
};

/* The whole of a worker: maps its file, waits at the barrier, reads until it is stopped. 0 or -errno
 * after progress_fail(); ends the process itself on SIGBUS. */
int readahead_work(const struct worker *w);

struct window_watch {
	uint64_t median_pages; /* read by the group in a window */
	/* The slowest window in which reclaim went on, and the slowest in which it did not; UINT64_MAX:
	 * there was none. */
	uint64_t slowest_reclaiming_pages;
	uint64_t slowest_waiting_pages;
	size_t nr_windows;
};
/* Slides a window of @window_ns over @timeline (may be NULL). */
struct window_watch readahead_watch(const struct timeline *timeline, uint64_t window_ns);
void readahead_judge(const struct measurement *m, struct run_result *res);
