/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reclaim inside our memcgs, seen from outside: how many passes began and ended, how long they took,
 * what they scanned and freed, how often and why they were throttled, who was OOM-killed.
 *
 * Three back ends behind one table of functions (struct probe_ops, probe_impl.h), best first:
 *   bpf    every pass as an event, aggregated in the kernel (probe_bpf.c, bpf/reclaim.bpf.c)
 *   perf   counts of tracepoints by perf_event_open (probe_perf.c): no times, no page counts
 *   files  what the memcg's own files tell (probe_files.c): v2 memory.stat, v1 failcnt
 * A field that the back end in use cannot see is KFILE_ABSENT, never 0.
 *
 * Reclaim for a memcg limit fires mm_vmscan_memcg_reclaim_begin/end, not mm_vmscan_direct_reclaim_*
 * (measured on 6.18; 0 against 468): both are counted as passes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "fail.h"
#include "result.h"

enum probe_kind { PROBE_AUTO, PROBE_BPF, PROBE_PERF, PROBE_FILES };
/* "auto", "bpf", "perf", "files"; -EINVAL else. */
int probe_kind_parse(const char *s, enum probe_kind *ret);

/* enum vmscan_throttle_state, include/linux/mmzone.h; the tracepoint reports 1 << state. */
enum throttle_reason {
	THROTTLE_WRITEBACK,
	THROTTLE_ISOLATED,
	THROTTLE_NOPROGRESS,
	THROTTLE_CONGESTED,
	THROTTLE_NR
};

struct probe_counts {
	/* Memcg and direct reclaim. In flight are begun - ended; the counts of different CPUs are read one
	 * after the other, so ended may be ahead by what went on meanwhile: then 0 are in flight. */
	uint64_t passes_begun;
	uint64_t passes_ended;
	uint64_t passes_in_flight_peak; /* the most at one time, also between two reads */
	uint64_t softlimit_passes;
	uint64_t softlimit_reclaimed_pages;
	uint64_t scanned_pages;	       /* on the inactive lists, as the kernel's pgscan */
	uint64_t active_scanned_pages; /* taken off the active lists, to age them */
	uint64_t reclaimed_pages;
	uint64_t reclaim_time_ns;
	uint64_t throttled_total; /* for whatever reason, also one that we do not know */
	uint64_t throttled[THROTTLE_NR];
	uint64_t throttled_ns;
	uint64_t throttled_reason_ns[THROTTLE_NR];
	uint64_t oom_victims; /* oom:mark_victim */
};

struct probe;

struct probe_options {
	enum probe_kind kind;
	bool verbose; /* the BPF verifier's log goes to stderr */
};

/* Opens the best back end that works (or the one forced) for @groups, before any worker is spawned.
 * 0, or -errno when the forced one does not work; `auto` ends at files and cannot fail but for
 * memory. @ret_why says why a better one was passed over ("" if none was). @host and @groups must
 * outlive the probe. Groups below @groups are counted with them: pass the top ones only. */
int probe_open(const struct probe_options *options, const struct cgroup_host *host,
	       const struct cgroup *groups, size_t nr_groups, struct probe **ret,
	       char ret_why[TEXT_SIZE], struct fail *f);
/* Tells the probe of a worker that is forked and not yet released (back ends that count by task). */
int probe_add_worker(struct probe *p, pid_t pid, struct fail *f);
/* Zeroes and starts counting. */
int probe_start(struct probe *p, struct fail *f);
/* The counts so far; cheap, allocates nothing; called at every tick. */
int probe_read(struct probe *p, struct probe_counts *ret);
/* At the end, before the groups are removed: adds the histograms reclaim_latency (ns), pass_scanned
 * and pass_reclaimed (pages), pass_overshoot (reclaimed in percent of the pass's goal) and the worst
 * passes to @run where the back end has them, and a note where it knows that it missed something.
 * 0 or -ENOMEM. */
int probe_collect(struct probe *p, struct run_result *run);
void probe_close(struct probe *p); /* accepts NULL */
/* "bpf", "perf" or "files". */
const char *probe_name(const struct probe *p);
/* A clause that says what this back end cannot see, "" for bpf. */
const char *probe_blind_to(const struct probe *p);
void probe_counts_init(struct probe_counts *c); /* all KFILE_ABSENT */
