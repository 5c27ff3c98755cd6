/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one table of what Squeeze measures. A row is a metric's name in every output, its unit, which
 * direction is better (squeeze compare marks by it), and a sentence for people (man pages, HTML).
 *
 * Add a metric: one enumerator here, one row in metric.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum metric_id {
	METRIC_TOUCHES,
	METRIC_TOUCHES_PER_S,
	METRIC_PAGES_READ,
	METRIC_READ_BYTES_PER_S,
	METRIC_MAJOR_FAULTS,
	METRIC_MINOR_FAULTS,
	METRIC_OBJECTS_COMPILED,
	METRIC_ROUNDS,
	METRIC_ROUND_NS,
	METRIC_OOM_KILLS_PER_ROUND,
	METRIC_OOM_KILLS,
	METRIC_OOM_EVENTS,
	METRIC_LIMIT_HITS,
	METRIC_RECLAIM_PASSES,
	METRIC_RECLAIM_TIME_NS,
	METRIC_PASSES_IN_FLIGHT_PEAK,
	METRIC_PAGES_SCANNED,
	METRIC_PAGES_RECLAIMED,
	METRIC_SCAN_EFFICIENCY,
	METRIC_PASSES_PER_MAJOR_FAULT,
	METRIC_PASSES_PER_WINDOW,
	METRIC_ISOLATION_REACH,
	METRIC_THROTTLED_ISOLATED,
	METRIC_THROTTLED_NOPROGRESS,
	METRIC_THROTTLED_WRITEBACK,
	METRIC_THROTTLED_CONGESTED,
	METRIC_THROTTLED_NS,
	METRIC_NR_ISOLATED_PEAK,
	METRIC_REFAULT_ANON,
	METRIC_REFAULT_FILE,
	METRIC_SWAP_IN,
	METRIC_SWAP_OUT,
	METRIC_PSI_SOME_US,
	METRIC_PSI_FULL_US,
	METRIC_MEMCG_PEAK_BYTES,
	METRIC_LONGEST_STALL_NS,
	METRIC_KILL_LATENCY_NS,
	METRIC_LONGEST_D_STATE_NS,
	METRIC_SWAP_LATENCY_NS,
	METRIC_DIRTY_NS,
	METRIC_DIRTY_OOM_KILLS,
	METRIC_MLOCK_NS,
	METRIC_SWAPOFF_NS,
	METRIC_NOPROGRESS_SHARE,
	METRIC_PROTECTED_BYTES,
	METRIC_PROTECTED_EXPECTED_BYTES,
	METRIC_PROTECTED_LOSS,
	METRIC_PROTECTED_RECLAIM_SHARE,
	METRIC_PROTECTED_MAJOR_FAULTS,
	METRIC_PROTECTED_MAJOR_FAULTS_BASE,
	METRIC_PROTECTED_FAULT_RATIO,
	METRIC_EXCESS_RECLAIMED,
	METRIC_SIBLING_MARGIN_BYTES,
	METRIC_WORST_OVERSHOOT,
	METRIC_OVERSHOOT_SHARE,
	METRIC_COUNT
};

enum metric_better {
	BETTER_NEITHER, /* a fact about the run, not a merit */
	BETTER_MORE,
	BETTER_LESS,
};

struct metric {
	const char *name;
	const char *unit; /* "count", "ns", "us", "bytes", "pages", "ratio", "per_s", "bytes_per_s" */
	enum metric_better better;
	const char *help;
};

extern const struct metric metric_table[METRIC_COUNT];

/* A measured number, or none: a metric that could not be measured is absent, never 0. Integers
 * stay exact to 64 bits. */
enum value_kind { VALUE_ABSENT, VALUE_COUNT, VALUE_REAL };
struct value {
	enum value_kind kind;
	union {
		uint64_t u;
		double d;
	};
};

static inline struct value value_u64(uint64_t u)
{
	return (struct value){ .kind = VALUE_COUNT, .u = u };
}
/* NaN and infinities become absent. */
struct value value_real(double d);
static inline struct value value_absent(void)
{
	return (struct value){ .kind = VALUE_ABSENT };
}
static inline bool value_is_present(struct value v)
{
	return v.kind != VALUE_ABSENT;
}
/* The number as a double; 0 when absent. */
double value_as_real(struct value v);

/* The row's index for @name, or -1. */
int metric_find(const char *name);
