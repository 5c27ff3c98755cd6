/* SPDX-License-Identifier: GPL-2.0-only */
/* What two acts have shown of A and B: metrics for the judge, and notes. */
#include <inttypes.h>
#include <stdio.h>

#include "duel.h"
#include "kfile.h"
#include "parse.h"
#include "protection.h"

/* SOFTLIMIT_EVENTS_TARGET x THRESHOLDS_EVENTS_TARGET of mm/memcontrol-v1.c: charges after which the
 * kernel looks whether a group is over its soft limit. */
#define V1_EVENTS (128 * 1024)

static struct value grown(uint64_t now, uint64_t before)
{
	if (now == KFILE_ABSENT || before == KFILE_ABSENT || now < before)
		return value_absent();
	return value_u64(now - before);
}

static struct value faults(const struct act *act, enum side side)
{
	return act->complete ? grown(act->end[side].pgmajfault, act->begin[side].pgmajfault)
			     : value_absent();
}

static struct value stolen(const struct act *act, enum side side)
{
	return grown(act->end[side].pgsteal, act->begin[side].pgsteal);
}

/* What reclaim took from B and B wanted back: all that v1 tells. */
static struct value refaulted(const struct act *act, enum side side)
{
	struct value anon = grown(act->end[side].refault_anon, act->begin[side].refault_anon);
	struct value file = grown(act->end[side].refault_file, act->begin[side].refault_file);

	return value_is_present(anon) && value_is_present(file) ? value_u64(anon.u + file.u)
								: value_absent();
}

/* Pages that reclaim took of A. v1 does not say, and what soft-limit reclaim takes is not in the
 * machine's pgsteal either, as the kernel counts only reclaim without a target group there. A stream
 * gives nothing back by itself, so what it lost was reclaimed; a build's jobs do, and the proof of
 * pressure is then left to B's major faults. */
static struct value taken_of_a(const struct duel *d, const struct act *act)
{
	struct value a = stolen(act, SIDE_A);

	if (value_is_present(a) || d->kind[SIDE_A] != KIND_STREAM || !act->out)
		return a;
	return value_u64(act->out);
}

static void measure_protected(const struct run *run, const struct duel *d, struct value *m)
{
	const struct act *act = &d->acts[1];
	double page = (double)run->m.page_size;
	struct value a = stolen(act, SIDE_A), b = stolen(act, SIDE_B);
	struct value lost = value_is_present(b) ? b : refaulted(act, SIDE_B);
	struct value taken = taken_of_a(d, act);
	double excess = (double)act->most[SIDE_A];

	m[METRIC_PROTECTED_BYTES] = value_u64(act->kept);
	if (value_is_present(lost))
		m[METRIC_PROTECTED_LOSS] = value_real((double)lost.u * page / (double)d->low_bytes);
	if (value_is_present(a) && value_is_present(b) && a.u + b.u > 0)
		m[METRIC_PROTECTED_RECLAIM_SHARE] =
			value_real((double)b.u / ((double)a.u + (double)b.u));
	if (excess > 0 && value_is_present(taken))
		m[METRIC_EXCESS_RECLAIMED] = value_real((double)taken.u * page / excess);
}

static void note_act(const struct duel *d, unsigned int nr, struct run_result *res)
{
	const struct act *act = &d->acts[nr];
	struct value b = stolen(act, SIDE_B);
	char most[2][32], kept[32];

	if (!act->complete)
		return;
	run_result_note(res,
			"%s: A grew to %s, B to %s and had %s at the end; major faults A %.0f, B "
			"%.0f; refaults A %.0f, B %.0f; reclaimed from A %.0f, B %.0f pages%s",
			nr == 0 ? "without protection" : "with protection",
			format_size(act->most[SIDE_A], most[0], sizeof(most[0])),
			format_size(act->most[SIDE_B], most[1], sizeof(most[1])),
			format_size(act->kept, kept, sizeof(kept)),
			value_as_real(faults(act, SIDE_A)), value_as_real(faults(act, SIDE_B)),
			value_as_real(refaulted(act, SIDE_A)),
			value_as_real(refaulted(act, SIDE_B)), value_as_real(stolen(act, SIDE_A)),
			value_as_real(b), value_is_present(b) ? "" : " (v1 does not say)");
}

/* What the limit leaves them when B is shielded. */
static void note_expected(const struct duel *d, struct value *m, struct run_result *res)
{
	const struct act *act = &d->acts[1];
	struct protection_group g[SIDES] = {
		[SIDE_A] = { .low = 0, .usage = d->memory },
		[SIDE_B] = { .low = d->low_bytes, .usage = act->most[SIDE_B] },
	};
	char kept[32], wanted[32];

	protection_settle(g, SIDES, UINT64_MAX, false, d->memory);
	m[METRIC_PROTECTED_EXPECTED_BYTES] = value_u64(g[SIDE_B].usage);
	run_result_note(res, "the kernel's protection model: B keeps %s; it kept %s",
			format_size(g[SIDE_B].usage, wanted, sizeof(wanted)),
			format_size(act->kept, kept, sizeof(kept)));
}

/* Three things are called soft limit; which of them is in force, and whether it can have been seen. */
static void note_v1(const struct run *run, const struct duel *d, struct run_result *res)
{
	char text[KFILE_SIZE];
	uint64_t in = 0, out = 0;

	if (cgroup_read(&d->groups[1 * SIDES + SIDE_A], "memory.stat", text, sizeof(text)) > 0) {
		(void)kfile_key_u64(text, "total_pgpgin", &in);
		(void)kfile_key_u64(text, "total_pgpgout", &out);
	}
	run_result_note(res,
			"soft limit in force: %s; A had %" PRIu64
			" charge events, and the kernel looks every %d",
			run->m.mglru ? "MGLRU's hint (v1)"
				     : "the soft-limit tree (v1, classic LRU)",
			in + out, V1_EVENTS);
}

void duel_measure(struct run *run, const struct duel *d, struct run_result *res)
{
	struct value *m = run->m.metrics;
	struct value base = faults(&d->acts[0], SIDE_B), with = faults(&d->acts[1], SIDE_B);

	for (unsigned int nr = 0; nr < ACTS; nr++)
		note_act(d, nr, res);
	m[METRIC_PROTECTED_MAJOR_FAULTS_BASE] = base;
	m[METRIC_PROTECTED_MAJOR_FAULTS] = with;
	if (value_as_real(base) > 0 && value_is_present(with))
		m[METRIC_PROTECTED_FAULT_RATIO] =
			value_real(value_as_real(with) / value_as_real(base));
	if (d->acts[1].complete) {
		measure_protected(run, d, m);
		if (run->m.memcg_version == 2)
			note_expected(d, m, res);
	}
	if (run->m.memcg_version == 1)
		note_v1(run, d, res);
}
