/* SPDX-License-Identifier: GPL-2.0-only */
#include "verdict.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kfile.h"
#include "parse.h"

#define NS_PER_S 1000000000ULL

static struct check *add_check(struct run_result *res, const char *name, const char *unit)
{
	struct check *c;

	if (res->nr_checks == CHECKS_MAX)
		return NULL;
	c = &res->checks[res->nr_checks++];
	*c = (struct check){ .unit = unit };
	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	return c;
}

static bool holds(struct value value, enum check_op op, struct value bound)
{
	double v = value_as_real(value), b = value_as_real(bound);

	/* Exact where both are integers: doubles would merge neighbours above 2^53. */
	if (value.kind == VALUE_COUNT && bound.kind == VALUE_COUNT) {
		switch (op) {
		case OP_LE:
			return value.u <= bound.u;
		case OP_GE:
			return value.u >= bound.u;
		case OP_EQ:
			return value.u == bound.u;
		}
	}
	switch (op) {
	case OP_LE:
		return v <= b;
	case OP_GE:
		return v >= b;
	case OP_EQ:
		break;
	}
	return fabs(v - b) <= 0.0;
}

void verdict_check(struct run_result *res, const char *name, const char *unit, struct value value,
		   enum check_op op, struct value bound, const char *fmt, ...)
{
	struct check *c = add_check(res, name, unit);
	va_list ap;

	if (!c)
		return;
	c->value = value;
	c->op = op;
	c->bound = bound;
	if (!value_is_present(value)) {
		c->outcome = OUTCOME_SKIP;
		(void)snprintf(c->why, sizeof(c->why), "could not be measured here");
		return;
	}
	c->outcome = holds(value, op, bound) ? OUTCOME_PASS : OUTCOME_FAIL;
	va_start(ap, fmt);
	(void)vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
}

void verdict_skip(struct run_result *res, const char *name, const char *unit, const char *fmt, ...)
{
	struct check *c = add_check(res, name, unit);
	va_list ap;

	if (!c)
		return;
	c->outcome = OUTCOME_SKIP;
	va_start(ap, fmt);
	(void)vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
}

bool verdict_any_failed(const struct run_result *res)
{
	for (size_t i = 0; i < res->nr_checks; i++)
		if (res->checks[i].outcome == OUTCOME_FAIL)
			return true;
	return false;
}

const struct check *verdict_find(const struct run_result *res, const char *name)
{
	for (size_t i = 0; i < res->nr_checks; i++)
		if (strcmp(res->checks[i].name, name) == 0)
			return &res->checks[i];
	return NULL;
}

void verdict_no_oom(const struct measurement *m, struct run_result *res)
{
	struct value kills = m->metrics[METRIC_OOM_KILLS];
	struct value zero = value_u64(0);

	/* A kernel that does not count its kills must not hide one: the engine says
	 * END_WORKER_KILLED only where a counter moved or there is none. */
	if (m->end == END_WORKER_KILLED && value_as_real(kills) < 1)
		kills = value_u64(1);
	verdict_check(res, "no_oom_kill", "count", kills, OP_EQ, zero, "%s",
		      value_as_real(kills) > 0 ? "a worker was OOM-killed"
					       : "no worker was OOM-killed");
	if (m->memcg_version == 2)
		verdict_check(res, "no_oom_event", "count", m->metrics[METRIC_OOM_EVENTS], OP_EQ,
			      zero, "memory.events oom");
	else
		verdict_skip(res, "no_oom_event", "count", "cgroup v1 does not count oom events");
}

static bool reclaim_between(const struct sample *a, const struct sample *b)
{
	if (b->v[SERIES_RECLAIM_PASSES] != KFILE_ABSENT &&
	    a->v[SERIES_RECLAIM_PASSES] != KFILE_ABSENT)
		return b->v[SERIES_RECLAIM_PASSES] > a->v[SERIES_RECLAIM_PASSES] ||
		       (b->v[SERIES_PASSES_IN_FLIGHT] != KFILE_ABSENT &&
			b->v[SERIES_PASSES_IN_FLIGHT] > 0);
	return b->v[SERIES_LIMIT_HITS] != KFILE_ABSENT &&
	       b->v[SERIES_LIMIT_HITS] > a->v[SERIES_LIMIT_HITS];
}

uint64_t verdict_longest_standstill_ns(const struct timeline *timeline)
{
	uint64_t longest = 0, began_ns = 0;
	bool standing = false;

	for (size_t i = 1; timeline && i < timeline->nr; i++) {
		const struct sample *a = &timeline->samples[i - 1];
		const struct sample *b = &timeline->samples[i];

		if (b->v[SERIES_PROGRESS] != a->v[SERIES_PROGRESS] || !reclaim_between(a, b)) {
			standing = false;
			continue;
		}
		if (!standing)
			began_ns = a->v[SERIES_T_NS];
		standing = true;
		if (b->v[SERIES_T_NS] - began_ns > longest)
			longest = b->v[SERIES_T_NS] - began_ns;
	}
	return longest;
}

void verdict_progress(const struct measurement *m, uint64_t window_ns, struct run_result *res)
{
	uint64_t bound_ns = (uint64_t)((double)window_ns * m->time_scale);
	uint64_t longest_ns = verdict_longest_standstill_ns(m->timeline);
	char text[32], whole[32];

	if (bound_ns > m->duration_ns / 3) {
		verdict_skip(res, "progress", "ns", "a window of %s exceeds a third of a run of %s",
			     format_duration(bound_ns, text, sizeof(text)),
			     format_duration(m->duration_ns, whole, sizeof(whole)));
		return;
	}
	verdict_check(res, "progress", "ns", value_u64(longest_ns), OP_LE, value_u64(bound_ns),
		      "longest time without progress while reclaim went on: %s",
		      format_duration(longest_ns, text, sizeof(text)));
}

void verdict_workers_die(const struct measurement *m, struct run_result *res)
{
	verdict_check(res, "workers_die", "count", value_u64(m->workers_stuck), OP_EQ, value_u64(0),
		      "%s",
		      m->workers_stuck ? m->stuck : "every worker was gone within 10 s of its end");
}

static void set(struct run_result *res, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void set(struct run_result *res, enum verdict verdict, const char *fmt, ...)
{
	va_list ap;

	res->verdict = verdict;
	va_start(ap, fmt);
	(void)vsnprintf(res->reason, sizeof(res->reason), fmt, ap);
	va_end(ap);
}

static void blame_first_check(struct run_result *res)
{
	for (size_t i = 0; i < res->nr_checks; i++) {
		const struct check *c = &res->checks[i];

		if (c->outcome == OUTCOME_FAIL) {
			set(res, VERDICT_FAIL, "%s: %s", c->name, c->why);
			return;
		}
	}
}

void verdict_conclude(const struct measurement *m, struct run_result *res, const char *excuse,
		      const char *unproven, const char *passed)
{
	char text[32];

	if (m->end == END_WORKER_FAILED && !m->workers_stuck) {
		if (m->worker_error[0])
			set(res, VERDICT_ERROR, "a worker could not work: %s", m->worker_error);
		else
			set(res, VERDICT_ERROR, "a worker ended by signal %d (%s)", m->end_signal,
			    strsignal(m->end_signal));
		return;
	}
	if (verdict_any_failed(res)) {
		if (excuse) {
			set(res, VERDICT_INCONCLUSIVE, "%s", excuse);
			return;
		}
		res->verdict = VERDICT_FAIL;
		if (!res->reason[0])
			blame_first_check(res);
		return;
	}
	if (m->end == END_INTERRUPTED)
		set(res, VERDICT_INCONCLUSIVE, "interrupted after %s",
		    format_duration(m->duration_ns, text, sizeof(text)));
	else if (unproven)
		set(res, VERDICT_INCONCLUSIVE, "%s", unproven);
	else
		set(res, VERDICT_PASS, "%s", passed);
}
