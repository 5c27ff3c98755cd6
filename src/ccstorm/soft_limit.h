/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of soft-limit: the judge, and two kinds of cases behind one table of functions.
 *   duel      A, which has no protection, against B, which has: the document's three tests
 *   siblings  C and D, which share the protection of their parent unequally
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ccstorm.h"
#include "fail.h"
#include "run.h"

struct soft_case_ops {
	int (*plan)(struct run *run, struct fail *f);
	int (*check)(struct run *run, struct fail *f);
	int (*setup)(struct run *run, struct fail *f);
	int (*prepare)(struct run *run, struct fail *f);
	int (*work)(const struct worker *w);
	int (*drive)(struct run *run, struct fail *f);
	bool (*tick)(struct run *run, uint64_t t_ns);
	void (*collect)(struct run *run, struct run_result *res);
	void (*finish)(struct run *run);
};

extern const struct soft_case_ops duel_ops;
extern const struct soft_case_ops siblings_ops;

/* The part of the limit by which C must keep more than D (soft_limit_judge.c says where from). */
#define SIBLING_MARGIN_SHARE 80

void soft_limit_judge(const struct measurement *m, struct run_result *res);

/* Spawns worker i into groups[i], waits until all are ready, and watches. */
int soft_limit_drive(struct run *run, const struct cgroup *groups, struct fail *f);
