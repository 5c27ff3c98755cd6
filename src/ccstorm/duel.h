/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a duel (duel.c), and what is made of it at the end (duel_seen.c). */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cgroup.h"
#include "make.h"
#include "memstat.h"
#include "run.h"
#include "soft_limit.h"
#include "stage.h"
#include "workshop.h"

enum side { SIDE_A, SIDE_B, SIDES };
enum kind { KIND_BUILD, KIND_STREAM, KIND_EATER };
#define ACTS 2

enum step { STEP_BEGIN, STEP_RUNNING, STEP_LEAVING, STEP_DONE };

/* What an act has shown of its two groups. */
struct act {
	struct memstat begin[SIDES], end[SIDES];
	uint64_t most[SIDES];
	uint64_t kept; /* by B at the end */
	uint64_t out;  /* v1: pages that A was charged for and no longer is */
	bool complete;
};

struct duel {
	struct stage *stage;
	enum kind kind[SIDES];
	unsigned int scale_percent[SIDES]; /* of the jobs of its build */
	uint64_t memory;		   /* that they fight for */
	uint64_t set_bytes;
	uint64_t low_bytes;
	uint64_t act_ns;
	struct workshop shops[SIDES];
	char objects[SIDES][PATH_MAX];
	char stream[PATH_MAX];
	struct make_log *logs;
	struct cgroup groups[ACTS * SIDES];
	enum step step;
	unsigned int nr; /* of the act under way */
	uint64_t since_ns;
	struct act acts[ACTS];
};

/* Metrics and notes of the acts that were completed. The groups are still open. */
void duel_measure(struct run *run, const struct duel *d, struct run_result *res);
