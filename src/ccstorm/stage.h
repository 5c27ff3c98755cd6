/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acts of a play: workers that are all there from the start, and take part one after another when the
 * supervisor says so. In memory shared with the workers and charged to none of them.
 *
 * An actor is a worker process; its cue tells it to begin, and later to leave. It says how far it is.
 * The supervisor looks at every tick and never waits for anybody.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fail.h"
#include "progress.h"

#define STAGE_ACTORS_MAX 16

enum cue { CUE_WAIT, CUE_BEGIN, CUE_LEAVE };
enum part { PART_NONE, PART_FULL, PART_GONE };

struct actor {
	_Atomic uint32_t cue;	/* enum cue; futex */
	_Atomic uint32_t leave; /* 1 with CUE_LEAVE: for loads that look at a flag */
	_Atomic uint32_t part;	/* enum part */
	_Atomic uint64_t size;	/* bytes that it is to take, set before CUE_BEGIN */
};

struct stage {
	struct actor actors[STAGE_ACTORS_MAX];
};

int stage_create(struct stage **ret, struct fail *f);
void stage_destroy(struct stage *s); /* accepts NULL */
void stage_reset(struct stage *s);

/* Supervisor. */
void stage_cue(struct stage *s, unsigned int actor, enum cue cue);
enum part stage_part(const struct stage *s, unsigned int actor);

/* Worker: waits for CUE_BEGIN; false when it is to leave without having begun. */
bool stage_wait_begin(struct stage *s, unsigned int actor, const struct progress *p);
/* Whether to leave now. */
bool stage_left(const struct stage *s, unsigned int actor, const struct progress *p);
/* Rests until it is told to leave, for at most @ns. */
void stage_rest(struct stage *s, unsigned int actor, uint64_t ns);
void stage_say(struct stage *s, unsigned int actor, enum part part);
