/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>

#include "build_pod.h"
#include "parse.h"

#define NS_PER_S 1000000000ULL
/* An object takes 0.3 to 4 s where there is no pressure; natively on 6.18 under extreme pressure none
 * took longer than 5 s with 20 at once. */
#define PROGRESS_WINDOW_NS (20 * NS_PER_S)
/* Limit hits or reclaim passes, far above what a start at the limit makes by itself (design.md,
 * section 5). Either: v1 does not count the hits of a limit on memory and swap together. */
#define PROOF_PRESSURE 100

static bool kills_are_legitimate(const struct measurement *m)
{
	return m->demand_bytes == 0 || m->demand_bytes > m->limit_bytes + m->swap_bytes;
}

/* What cannot fit goes in circles for a while before a kill makes room, and a command may link for as
 * long as it likes without leaving an object. */
static void check_progress(const struct measurement *m, struct run_result *res)
{
	if (!kills_are_legitimate(m))
		verdict_progress(m, PROGRESS_WINDOW_NS, res);
	else if (m->demand_bytes == 0)
		verdict_skip(res, "progress", "ns", "how a command proceeds is not known");
	else
		verdict_skip(res, "progress", "ns",
			     "the jobs do not fit limit and swap: standing still before a kill is "
			     "legitimate");
}

static void check_kills(const struct measurement *m, struct run_result *res)
{
	char demand[32], room[32];

	if (!kills_are_legitimate(m)) {
		verdict_no_oom(m, res);
		return;
	}
	if (m->demand_bytes == 0)
		verdict_skip(res, "no_oom_kill", "count", "what the command wants is not known");
	else
		verdict_skip(
			res, "no_oom_kill", "count",
			"the jobs may want %s, and limit and swap hold %s: kills are legitimate",
			format_size(m->demand_bytes, demand, sizeof(demand)),
			format_size(m->limit_bytes + m->swap_bytes, room, sizeof(room)));
}

static double pressure(const struct measurement *m)
{
	double hits = value_as_real(m->metrics[METRIC_LIMIT_HITS]);
	double passes = value_as_real(m->metrics[METRIC_RECLAIM_PASSES]);

	return hits > passes ? hits : passes;
}

static const char *unproven(const struct measurement *m, char *buf, size_t size)
{
	const struct value *v = m->metrics;

	if (m->end == END_WORKER_KILLED)
		(void)snprintf(buf, size, "make itself was OOM-killed before its jobs");
	else if (value_as_real(v[METRIC_OBJECTS_COMPILED]) < 1)
		(void)snprintf(buf, size, "no object was compiled");
	else if (m->default_params && pressure(m) < PROOF_PRESSURE)
		(void)snprintf(buf, size,
			       "no pressure: %.0f limit hits or reclaim passes, and %d prove it",
			       pressure(m), PROOF_PRESSURE);
	else
		return NULL;
	return buf;
}

/* "412 objects in 4 rounds; scan efficiency 0.35; 12,345 refaults": what there is of it. */
static const char *passed(const struct measurement *m, char *buf, size_t size)
{
	const struct value *v = m->metrics;
	uint64_t refaults = v[METRIC_REFAULT_ANON].u + v[METRIC_REFAULT_FILE].u;
	int n = snprintf(buf, size, "%.0f objects compiled, %.0f rounds complete",
			 value_as_real(v[METRIC_OBJECTS_COMPILED]),
			 value_as_real(v[METRIC_ROUNDS]));

	if (value_is_present(v[METRIC_SCAN_EFFICIENCY]))
		n += snprintf(buf + n, size - (size_t)n, "; scan efficiency %.2f",
			      value_as_real(v[METRIC_SCAN_EFFICIENCY]));
	if (value_is_present(v[METRIC_REFAULT_FILE]))
		n += snprintf(buf + n, size - (size_t)n, "; %" PRIu64 " refaults", refaults);
	if (value_as_real(v[METRIC_OOM_KILLS]) > 0)
		(void)snprintf(buf + n, size - (size_t)n, "; %.0f jobs OOM-killed (%.1f a round)",
			       value_as_real(v[METRIC_OOM_KILLS]),
			       value_as_real(v[METRIC_OOM_KILLS_PER_ROUND]));
	return buf;
}

void build_pod_judge(const struct measurement *m, struct run_result *res)
{
	char proof[TEXT_SIZE], pass[TEXT_SIZE];

	check_kills(m, res);
	check_progress(m, res);
	verdict_workers_die(m, res);
	verdict_conclude(m, res, NULL, unproven(m, proof, sizeof(proof)),
			 passed(m, pass, sizeof(pass)));
}
