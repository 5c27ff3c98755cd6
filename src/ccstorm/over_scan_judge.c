/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>

#include "over_scan.h"

/* The bounds lie between what stock and patched kernels showed, 10 to 11.5 goals in 81 to 95 % of the
 * passes against 2.0 and none: docs/evidence/over-scan.md. */
#define WORST_MAX 8.0
#define SHARE_MAX 0.01
/* In percent of the goal, what counts as overshoot: 4 times. The classic LRU frees up to one batch
 * for each of its lists, four of 32 pages, before it looks. */
#define SHARE_OVER_PERCENT 400
/* Fewer passes than this say nothing of a tail. */
#define PROOF_PASSES 100

double over_scan_worst(const struct hist *overshoot)
{
	return (double)overshoot->max / 100;
}

double over_scan_share(const struct hist *overshoot)
{
	uint64_t over = 0, lo, hi;

	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		hist_bounds(i, &lo, &hi);
		if (lo > SHARE_OVER_PERCENT)
			over += overshoot->buckets[i];
	}
	return overshoot->count ? (double)over / (double)overshoot->count : 0;
}

/* As the document has it: of the slowest passes, the mean and the worst. */
static void note_worst(struct run_result *res)
{
	uint64_t scanned = 0, reclaimed = 0, most_scanned = 0, most_reclaimed = 0;

	for (size_t i = 0; i < res->nr_worst; i++) {
		const struct worst_pass *w = &res->worst[i];

		scanned += w->scanned;
		reclaimed += w->reclaimed;
		most_scanned = w->scanned > most_scanned ? w->scanned : most_scanned;
		most_reclaimed = w->reclaimed > most_reclaimed ? w->reclaimed : most_reclaimed;
	}
	if (res->nr_worst == 0)
		return;
	run_result_note(res,
			"the %zu slowest passes: scanned %.0f on average and %llu at most, "
			"reclaimed %.0f and %llu",
			res->nr_worst, (double)scanned / (double)res->nr_worst,
			(unsigned long long)most_scanned, (double)reclaimed / (double)res->nr_worst,
			(unsigned long long)most_reclaimed);
	run_result_note(res, "the document's 20 slowest: scanned 37,955 and 130,079, reclaimed 881 "
			     "and 1,635 before the fix; 6,399 and 45,593, 38 and 57 with it");
}

void over_scan_judge(const struct measurement *m, struct run_result *res)
{
	struct value worst = m->metrics[METRIC_WORST_OVERSHOOT];
	struct value share = m->metrics[METRIC_OVERSHOOT_SHARE];
	double passes = value_as_real(m->metrics[METRIC_RECLAIM_PASSES]);
	char proof[TEXT_SIZE], pass[TEXT_SIZE];
	const char *unproven = NULL;

	note_worst(res);
	verdict_check(res, "worst_overshoot", "ratio", worst, OP_LE, value_real(WORST_MAX),
		      "one pass freed %.1f times its goal", value_as_real(worst));
	verdict_check(res, "overshoot_share", "ratio", share, OP_LE, value_real(SHARE_MAX),
		      "%.2f %% of the passes freed over 4 times their goal",
		      value_as_real(share) * 100);
	verdict_workers_die(m, res);
	if (passes < PROOF_PASSES) {
		(void)snprintf(proof, sizeof(proof),
			       "no pressure: %.0f direct reclaim passes, and %d "
			       "prove it",
			       passes, PROOF_PASSES);
		unproven = proof;
	}
	(void)snprintf(pass, sizeof(pass),
		       "of %.0f direct reclaim passes none freed over %.1f times its goal", passes,
		       value_as_real(worst));
	verdict_conclude(m, res, NULL, unproven, pass);
	/* Without a probe of single passes there is nothing to judge. */
	if (!value_is_present(worst) && passes >= PROOF_PASSES && res->verdict == VERDICT_PASS) {
		res->verdict = VERDICT_SKIP;
		(void)snprintf(res->reason, sizeof(res->reason),
			       "needs a probe that sees single reclaim passes (bpf)");
	}
}
