/* SPDX-License-Identifier: GPL-2.0-only */
#include "metric.h"

#include <math.h>
#include <string.h>

const struct metric metric_table[METRIC_COUNT] = {
	[METRIC_TOUCHES] = { "touches", "count", BETTER_MORE, "page visits the workers completed" },
	[METRIC_TOUCHES_PER_S] = { "touches_per_s", "per_s", BETTER_MORE,
				   "page visits per second of the run" },
	[METRIC_PAGES_READ] = { "pages_read", "pages", BETTER_MORE,
				"file pages the workers read through their mappings" },
	[METRIC_READ_BYTES_PER_S] = { "read_bytes_per_s", "bytes_per_s", BETTER_MORE,
				      "bytes the workers read per second" },
	[METRIC_MAJOR_FAULTS] = { "major_faults", "count", BETTER_LESS,
				  "page faults of the workers that waited for a device" },
	[METRIC_MINOR_FAULTS] = { "minor_faults", "count", BETTER_NEITHER,
				  "page faults of the workers that found their page in memory" },
	[METRIC_OBJECTS_COMPILED] = { "objects_compiled", "count", BETTER_MORE,
				      "compile jobs that ended with an object file" },
	[METRIC_ROUNDS] = { "rounds", "count", BETTER_MORE,
			    "builds from scratch that were completed" },
	[METRIC_ROUND_NS] = { "round_ns", "ns", BETTER_LESS,
			      "wall time of a completed build, the mean" },
	[METRIC_OOM_KILLS_PER_ROUND] = { "oom_kills_per_round", "ratio", BETTER_LESS,
					 "OOM kills for each build that ended, completed or not" },
	[METRIC_OOM_KILLS] = { "oom_kills", "count", BETTER_LESS,
			       "tasks of the memcg that the OOM killer killed" },
	[METRIC_OOM_EVENTS] = { "oom_events", "count", BETTER_LESS,
				"times the memcg was out of memory (cgroup v2 only)" },
	[METRIC_LIMIT_HITS] = { "limit_hits", "count", BETTER_NEITHER,
				"times a charge hit the memcg's limit" },
	[METRIC_RECLAIM_PASSES] = { "reclaim_passes", "count", BETTER_LESS,
				    "direct reclaim passes of the memcg's tasks" },
	[METRIC_RECLAIM_TIME_NS] = { "reclaim_time_ns", "ns", BETTER_LESS,
				     "time in reclaim passes, summed over the tasks" },
	[METRIC_PASSES_IN_FLIGHT_PEAK] = { "passes_in_flight_peak", "count", BETTER_NEITHER,
					   "most reclaim passes seen under way at once" },
	[METRIC_PAGES_SCANNED] = { "pages_scanned", "pages", BETTER_LESS,
				   "pages that reclaim looked at" },
	[METRIC_PAGES_RECLAIMED] = { "pages_reclaimed", "pages", BETTER_NEITHER,
				     "pages that reclaim freed" },
	[METRIC_SCAN_EFFICIENCY] = { "scan_efficiency", "ratio", BETTER_MORE,
				     "pages reclaimed for each page scanned" },
	[METRIC_PASSES_PER_MAJOR_FAULT] = { "passes_per_major_fault", "ratio", BETTER_LESS,
					    "reclaim passes for each major fault" },
	[METRIC_PASSES_PER_WINDOW] = { "passes_per_window", "ratio", BETTER_LESS,
				       "reclaim passes for each readahead window of pages reclaimed" },
	[METRIC_ISOLATION_REACH] = { "isolation_reach", "ratio", BETTER_NEITHER,
				     "peak passes in flight x 32 pages / the limit in pages" },
	[METRIC_THROTTLED_ISOLATED] = { "throttled_isolated", "count", BETTER_NEITHER,
					"sleeps in reclaim because too many pages were isolated" },
	[METRIC_THROTTLED_NOPROGRESS] = { "throttled_noprogress", "count", BETTER_LESS,
					  "sleeps in reclaim because nothing could be freed" },
	[METRIC_THROTTLED_WRITEBACK] = { "throttled_writeback", "count", BETTER_NEITHER,
					 "sleeps in reclaim to wait for writeback" },
	[METRIC_THROTTLED_CONGESTED] = { "throttled_congested", "count", BETTER_NEITHER,
					 "sleeps in reclaim because the lists were congested" },
	[METRIC_THROTTLED_NS] = { "throttled_ns", "ns", BETTER_LESS,
				  "time asleep in reclaim throttling, summed over the tasks" },
	[METRIC_NR_ISOLATED_PEAK] = { "nr_isolated_peak", "pages", BETTER_NEITHER,
				      "most isolated pages seen at once on the node" },
	[METRIC_REFAULT_ANON] = { "refault_anon", "count", BETTER_LESS,
				  "anonymous pages that came back soon after their eviction" },
	[METRIC_REFAULT_FILE] = { "refault_file", "count", BETTER_LESS,
				  "file pages that came back soon after their eviction" },
	[METRIC_SWAP_IN] = { "swap_in", "pages", BETTER_LESS, "pages read from swap" },
	[METRIC_SWAP_OUT] = { "swap_out", "pages", BETTER_LESS, "pages written to swap" },
	[METRIC_PSI_SOME_US] = { "psi_some_us", "us", BETTER_LESS,
				 "time in which at least one task waited for memory (PSI)" },
	[METRIC_PSI_FULL_US] = { "psi_full_us", "us", BETTER_LESS,
				 "time in which all tasks waited for memory (PSI)" },
	[METRIC_MEMCG_PEAK_BYTES] = { "memcg_peak_bytes", "bytes", BETTER_NEITHER,
				      "most memory charged to the memcg" },
	[METRIC_LONGEST_STALL_NS] = { "longest_stall_ns", "ns", BETTER_LESS,
				      "longest time in which no worker made progress" },
	[METRIC_KILL_LATENCY_NS] = { "kill_latency_ns", "ns", BETTER_LESS,
				     "time from SIGKILL to the task's end, the worst task" },
	[METRIC_LONGEST_D_STATE_NS] = { "longest_d_state_ns", "ns", BETTER_LESS,
					"longest uninterruptible sleep without progress" },
	[METRIC_SWAP_LATENCY_NS] = { "swap_latency_ns", "ns", BETTER_NEITHER,
				     "a page to the swap device or back before the run, the median" },
	[METRIC_DIRTY_NS] = { "dirty_ns", "ns", BETTER_LESS, "time to dirty the whole set once" },
	[METRIC_DIRTY_OOM_KILLS] = { "dirty_oom_kills", "count", BETTER_LESS,
				     "OOM kills while the set was dirtied" },
	[METRIC_MLOCK_NS] = { "mlock_ns", "ns", BETTER_LESS,
			      "time until mlock of more than the limit returned or was killed" },
	[METRIC_SWAPOFF_NS] = { "swapoff_ns", "ns", BETTER_LESS,
				"time until swapoff under pressure ended, however" },
	[METRIC_NOPROGRESS_SHARE] = { "noprogress_share", "ratio", BETTER_LESS,
				      "asleep for want of progress / length of the phase, the worst" },
	[METRIC_PROTECTED_BYTES] = { "protected_bytes", "bytes", BETTER_MORE,
				     "what the protected group kept under pressure" },
	[METRIC_PROTECTED_EXPECTED_BYTES] = { "protected_expected_bytes", "bytes", BETTER_NEITHER,
					      "what the kernel's protection model says it keeps" },
	[METRIC_PROTECTED_LOSS] = { "protected_loss", "ratio", BETTER_LESS,
				    "taken from the protected group / its protected size" },
	[METRIC_PROTECTED_RECLAIM_SHARE] = { "protected_reclaim_share", "ratio", BETTER_LESS,
					     "the protected group's part of what was reclaimed" },
	[METRIC_PROTECTED_MAJOR_FAULTS] = { "protected_major_faults", "count", BETTER_LESS,
					    "major faults of the protected group" },
	[METRIC_PROTECTED_MAJOR_FAULTS_BASE] = { "protected_major_faults_base", "count",
						 BETTER_NEITHER,
						 "its major faults while it was not protected" },
	[METRIC_PROTECTED_FAULT_RATIO] = { "protected_fault_ratio", "ratio", BETTER_LESS,
					   "its major faults with protection / without" },
	[METRIC_EXCESS_RECLAIMED] = { "excess_reclaimed", "ratio", BETTER_NEITHER,
				      "reclaimed from the unprotected group / its excess" },
	[METRIC_SIBLING_MARGIN_BYTES] = { "sibling_margin_bytes", "bytes", BETTER_MORE,
					  "kept by the sibling with more protection, less the other" },
	[METRIC_WORST_OVERSHOOT] = { "worst_overshoot", "ratio", BETTER_LESS,
				     "most pages freed in a pass / its goal" },
	[METRIC_OVERSHOOT_SHARE] = { "overshoot_share", "ratio", BETTER_LESS,
				     "passes that freed over 4 times their goal" },
};

struct value value_real(double d)
{
	if (!isfinite(d))
		return value_absent();
	return (struct value){ .kind = VALUE_REAL, .d = d };
}

double value_as_real(struct value v)
{
	switch (v.kind) {
	case VALUE_COUNT:
		return (double)v.u;
	case VALUE_REAL:
		return v.d;
	case VALUE_ABSENT:
		break;
	}
	return 0;
}

int metric_find(const char *name)
{
	for (int i = 0; i < METRIC_COUNT; i++) {
		if (strcmp(metric_table[i].name, name) == 0)
			return i;
	}
	return -1;
}
