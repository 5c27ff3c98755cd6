/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From measurement to verdict: pure functions over plain data. No I/O, so recorded measurements (the
 * documents' own figures among them) test them.
 *
 * A judge adds checks to the run_result with the helpers here, then calls verdict_conclude() with
 * what it knows of proof and excuses:
 *   a failed check           FAIL; needs no proof of pressure
 *   … with a legitimate excuse    INCONCLUSIVE
 *   no proof of pressure     INCONCLUSIVE
 *   otherwise                PASS
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fail.h"
#include "result.h"

enum run_end {
	END_TIME,	   /* the time was up */
	END_WORKER_KILLED, /* a worker died of SIGKILL that we did not send */
	END_WORKER_FAILED, /* a worker said why it cannot go on, or crashed */
	END_WORKERS_DONE,  /* all workers ended by themselves */
	END_INTERRUPTED,   /* SIGINT or SIGTERM to the supervisor */
};

/* What was so just before a worker was killed; fields KFILE_ABSENT where not known. */
struct kill_scene {
	uint64_t at_ns; /* since release */
	uint64_t sample_age_ns;
	uint64_t usage_bytes;
	uint64_t reclaimable_bytes; /* on the LRU lists, and with somewhere to go */
	uint64_t swap_free_bytes;
	uint64_t swap_total_bytes;
};

struct measurement {
	unsigned int memcg_version;
	bool mglru;
	bool default_params;
	bool huge_pages;
	bool swap_in_use;  /* --swap is not none */
	bool swap_at_once; /* on zram: a page written is clean again before its writer goes on */
	uint64_t page_size;
	uint64_t limit_bytes;
	uint64_t demand_bytes; /* of the plan; 0: not known */
	uint64_t swap_bytes;   /* usable */
	unsigned int workers;  /* threads */
	double time_scale;
	uint64_t duration_ns;
	enum run_end end;
	int end_signal;			   /* END_WORKER_FAILED by a signal: which */
	char worker_error[FAIL_TEXT_SIZE]; /* END_WORKER_FAILED: its own words */
	struct kill_scene kill;
	unsigned int workers_stuck;	       /* not reaped within 10 s of SIGKILL */
	char stuck[TEXT_SIZE];		       /* the first one's state, wchan and stack */
	struct value node_inactive_anon_pages; /* before the run */
	bool siblings;			       /* soft-limit: the case of siblings */
	uint64_t window_pages;		       /* readahead-livelock: of one readahead window */
	bool random_advice;		       /* and whether readahead was switched off for it */
	struct value metrics[METRIC_COUNT];
	const struct timeline *timeline;
};

/* Adds a check of @value against @bound; absent values give a skipped check. @fmt is the `why`. */
void verdict_check(struct run_result *res, const char *name, const char *unit, struct value value,
		   enum check_op op, struct value bound, const char *fmt, ...)
	__attribute__((format(printf, 7, 8)));
void verdict_skip(struct run_result *res, const char *name, const char *unit, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool verdict_any_failed(const struct run_result *res);
const struct check *verdict_find(const struct run_result *res, const char *name);

/* no_oom_kill: oom_kills == 0. no_oom_event: oom_events == 0 (v2). */
void verdict_no_oom(const struct measurement *m, struct run_result *res);
/* progress: the longest stand-still of progress while reclaim goes on, at most @window_ns x
 * time_scale. Skipped where that exceeds a third of the run (no such window could be seen). */
void verdict_progress(const struct measurement *m, uint64_t window_ns, struct run_result *res);
/* workers_die: none is left 10 s after SIGKILL. */
void verdict_workers_die(const struct measurement *m, struct run_result *res);

/* The longest stretch of @timeline in which progress stood still while passes were counted or under
 * way (or, where no passes can be seen, limit hits were counted). ns. */
uint64_t verdict_longest_standstill_ns(const struct timeline *timeline);

/* Sets verdict and reason. @excuse: NULL, or why a failure may be legitimate. @unproven: NULL, or
 * which proof of pressure is missing. @passed: the sentence for PASS. Interruptions and failed
 * workers are handled here, before anything else. A reason the judge has already set for FAIL is kept. */
void verdict_conclude(const struct measurement *m, struct run_result *res, const char *excuse,
		      const char *unproven, const char *passed);
