/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What workers and supervisor share: progress counters, histograms, the start barrier and the stop
 * flag, in memory that is not charged to the memcg.
 *
 * Model. A shared anonymous mapping is charged to the memcg of whoever touches a page first. The
 * supervisor maps, touches and (if it may) locks all of it before it forks, so a worker's records
 * cost the memcg nothing but page tables. 192 threads x 34 KiB of histogram would else be 40 % of a
 * 16 MiB memcg.
 *
 * Slots. One per worker thread. Its owner alone writes it, with relaxed atomics; the supervisor reads
 * the counters at any time and the histograms after the workers are gone. Counters that other
 * threads read are on a cache line of their own.
 *
 * Barrier. Each slot's owner calls progress_wait_start(), which reports ready and sleeps on a futex
 * until progress_release(). Nothing in it allocates.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fail.h"
#include "hist.h"

#define PROGRESS_CACHE_LINE 64
#define PROGRESS_HISTS_MAX 4

struct progress_slot {
	_Alignas(PROGRESS_CACHE_LINE) _Atomic uint64_t
		done;			  /* the scenario's unit: touches, pages, … */
	_Atomic uint64_t access_since_ns; /* when the access under way began, 0: none under way */
	_Atomic uint64_t minor_faults;
	_Atomic uint64_t major_faults;
	_Atomic int32_t tid;	   /* 0: not started */
	_Atomic uint64_t extra[2]; /* the scenario's own */
};

struct progress_head {
	_Atomic uint32_t go;	    /* futex: 0 wait, 1 run */
	_Atomic uint32_t stop;	    /* futex: 0 run, 1 end */
	_Atomic uint32_t ready;	    /* futex: slots that wait at the barrier */
	_Atomic uint32_t failed;    /* 1: `error` is set */
	_Atomic uint64_t start_ns;  /* CLOCK_MONOTONIC at release */
	char error[FAIL_TEXT_SIZE]; /* the first worker's sentence */
};

struct progress {
	struct progress_head *head;
	struct progress_slot *slots;
	struct hist *hists; /* slot-major: slot * nr_hists + which */
	size_t nr_slots;
	size_t nr_hists;
	void *map;
	size_t map_bytes;
};

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */

/* Bytes that progress_create() will take. */
size_t progress_bytes(size_t nr_slots, size_t nr_hists);
/* 0, -ENOMEM, or -EINVAL (too many histograms). The memory is touched, and locked if permitted. */
int progress_create(size_t nr_slots, size_t nr_hists, struct progress *ret);
void progress_destroy(struct progress *p);
/* Back to the state after creation, for the next run. No worker may be left. */
void progress_reset(struct progress *p);

static inline struct hist *progress_hist(const struct progress *p, size_t slot, size_t which)
{
	return &p->hists[slot * p->nr_hists + which];
}

/* In a worker: reports ready and waits for the start. Returns false when it is to end at once. */
bool progress_wait_start(struct progress *p, size_t slot);
static inline bool progress_stopped(const struct progress *p)
{
	return atomic_load_explicit(&p->head->stop, memory_order_relaxed) != 0;
}
/* In a worker: stores the sentence of the first failure. */
void progress_fail(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* In the supervisor. How many are ready now; waits for a change at most @timeout_ns. */
unsigned int progress_ready(const struct progress *p);
void progress_wait_ready_change(struct progress *p, unsigned int seen, uint64_t timeout_ns);
void progress_release(struct progress *p);
void progress_stop(struct progress *p);
/* The sum of `done` over all slots. */
uint64_t progress_done(const struct progress *p);
/* The longest access under way now, in ns (0: none); includes stalls that never return. */
uint64_t progress_longest_access_ns(const struct progress *p, uint64_t now_ns);
