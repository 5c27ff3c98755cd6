/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guard: the process that makes things on the host and undoes them, so that they go away whatever
 * happens to the supervisor.
 *
 * Model. It is forked first, leads a session of its own, ignores the terminal's signals, is locked in
 * memory and hard to OOM-kill, prints nothing, and serves requests over a SOCK_SEQPACKET socket (one
 * request, one reply). Each kind of thing is a row of guard_ops: how it is made and how it is undone.
 * A make() writes the intent to the undo log (guard_log.h) first; an undo() must stand being called on
 * what was never made, half made, or is gone already.
 *
 * When the supervisor asks, or its socket end or itself is gone, everything is undone from the top:
 * first whatever lives in our cgroups is killed, then pass after pass over the stack, each passing
 * over what the kernel refuses to let go, so that one stuck swapoff does not block the rest.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fail.h"
#include "guard_log.h"

/* dev, point, type, mkfs options, mount options: the longest request. */
#define REQUEST_ARGS 5
#define REQUEST_TEXT_SIZE (4 * PATH_MAX)

enum guard_verb { GUARD_MAKE, GUARD_UNDO_TO, GUARD_CLOSE };

struct guard_request {
	uint32_t verb;
	uint32_t kind;	 /* GUARD_MAKE: enum thing_kind */
	uint64_t number; /* GUARD_UNDO_TO: the mark; GUARD_CLOSE: the time limit in ns */
	uint32_t arg_at[REQUEST_ARGS]; /* offsets in text */
	char text[REQUEST_TEXT_SIZE];  /* sent only as far as used */
};

struct guard_reply {
	int32_t err;   /* positive errno or 0 */
	uint32_t mark; /* the last ID given out */
	char what[FAIL_TEXT_SIZE];
	char value[PATH_MAX];
};

struct guard;

struct thing_op {
	/* Pushes the thing, logs, makes. @ret_value: what the supervisor is told (a device). */
	int (*make)(struct guard *g, const char *const args[REQUEST_ARGS], char ret_value[PATH_MAX],
		    struct fail *f);
	/* 0: gone (or not ours any more); -errno: still there, ask again. */
	int (*undo)(struct guard *g, struct thing *t, struct fail *f);
	/* Called for everything before the first undo; may be NULL. */
	void (*halt)(struct guard *g, struct thing *t);
	/* Not undone while anything above is left: it would harm what is still alive. */
	bool waits;
};
extern const struct thing_op *const guard_ops[THING_KINDS];
/* Rows that have files of their own: guard_ops_cgroup.c, guard_ops_dev.c. */
extern const struct thing_op guard_op_cgroup, guard_op_leaf, guard_op_subtree;
extern const struct thing_op guard_op_loop, guard_op_zram, guard_op_delay, guard_op_swap;

struct guard {
	int sock;	   /* -1 when replaying a stale log */
	int supervisor_fd; /* pidfd, -1 when replaying */
	int run_dir;
	int log_fd; /* -1: nothing is logged */
	pid_t supervisor;
	struct thing_stack stack;
	const struct thing_op *const *ops;
};

/* For make(): pushes the thing and logs the intent. NULL with @f filled. */
struct thing *guard_intend(struct guard *g, enum thing_kind kind,
			   const char *const args[THING_ARGS], struct fail *f);
/* Logs a changed argument, or that it is made. 0 or -errno with @f filled. */
int guard_note(struct guard *g, struct thing *t, enum thing_state state, struct fail *f);

/* Undoes everything with an ID above @mark, for at most @timeout_ns. 0, or -EBUSY with what is left
 * and why in @f; call again to go on. */
int guard_undo(struct guard *g, unsigned int mark, uint64_t timeout_ns, struct fail *f);
/* One pass; how many are left. */
size_t guard_undo_pass(struct guard *g, unsigned int mark);

/* The guard's whole life, in the child after fork(); never returns. */
void guard_main(int sock, pid_t supervisor, const char *tool) __attribute__((noreturn));
