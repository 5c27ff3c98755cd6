/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The undo log: which things a run has made on the host, in the order of making, as text that another
 * process can replay after everybody of that run has died.
 *
 * Model. One file per run, /run/squeeze/<supervisor pid>, locked (flock) by its guard alone for as
 * long as that lives: a log whose lock is free is stale. First line: "squeeze-guard 1 BOOT PID TOOL";
 * after a reboot (another boot id) only files can be left. Then one line each time a thing's state
 * changes: "ID KIND STATE ARG…"; the last line of an ID counts. The intent is written before the thing
 * is made. Blanks, control characters, % and non-ASCII bytes in arguments are written %XX, an empty
 * argument as a lone %. A last line without its newline was never acted upon and is passed over.
 *
 * The run directory also holds .lock, which serialises the choice of devices and shared settings
 * between runs. A user who is not root has a directory of his own.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "fail.h"

enum thing_kind {
	THING_DIR,     /* path */
	THING_FILE,    /* path */
	THING_PATH,    /* path: somebody else makes it */
	THING_CGROUP,  /* directory, its v2 twin or "" */
	THING_LEAF,    /* v2 group that our processes were in, the leaf they were moved to */
	THING_SUBTREE, /* v2 group whose children were given the memory controller */
	THING_LOOP,    /* number, file */
	THING_ZRAM,  /* number, "hot" (added by us) or "reuse" (was there unused), size in bytes */
	THING_DELAY, /* device-mapper name */
	THING_SWAP,  /* device, label */
	THING_MOUNT, /* point, "MAJOR:MINOR" of what is mounted ("" until it is) */
	THING_SET,   /* file, old text, new text */
	THING_KINDS
};
const char *thing_kind_name(enum thing_kind kind);

enum thing_state { THING_INTENT, THING_MADE, THING_GONE, THING_STATES };

#define THING_ARGS 3

struct thing {
	unsigned int id; /* ascending from 1 in the order of making */
	enum thing_kind kind;
	enum thing_state state;
	char *args[THING_ARGS]; /* owned; missing ones are "" */
	/* Of the process that undoes it, not in the log: */
	int kept_fd;		 /* -1, or what keeps the thing from vanishing (loop) */
	pid_t child;		 /* 0, or who is undoing it (swapoff) */
	unsigned int nr_refused; /* how often the kernel refused to undo it */
};

struct thing_stack {
	struct thing *things;
	size_t nr;
	size_t capacity;
	unsigned int last_id; /* never given out again, also when the thing is gone */
};

/* Appends. NULL: no memory. The pointer is good until the next push. @args has THING_ARGS strings. */
struct thing *thing_push(struct thing_stack *s, enum thing_kind kind, const char *const args[]);
/* Replaces one argument by a copy of @text. 0 or -ENOMEM. */
int thing_set_arg(struct thing *t, size_t nr, const char *text);
void thing_stack_free(struct thing_stack *s);

/* "3 loop made 0 /var/tmp/a%20b\n" into @buf. The length, or -E2BIG. */
ssize_t guard_log_format(const struct thing *t, char *buf, size_t size);
/* Takes one line (without its newline) into the stack: a new thing, or a new state of a known one.
 * 0, -EINVAL (malformed; the stack is as before) or -ENOMEM. */
int guard_log_take_line(struct thing_stack *s, const char *line, size_t len);

struct guard_log_head {
	char boot[40]; /* /proc/sys/kernel/random/boot_id */
	pid_t supervisor;
	char tool[32];
};
/* Parses a whole log. Malformed lines are passed over and counted in *ret_bad (may be NULL): the rest
 * must still be undone. 0, -EINVAL (not an undo log at all) or -ENOMEM; free the stack in any case. */
int guard_log_parse(const char *text, struct guard_log_head *ret_head, struct thing_stack *s,
		    unsigned int *ret_bad);

/* Opens the run directory, making it if needed. Descriptor or -errno. */
int guard_run_dir(char ret_path[PATH_MAX], struct fail *f);
/* Takes .lock in the run directory, waiting a bounded time. Close the descriptor to let go. */
int guard_run_lock(int run_dir, struct fail *f);
/* Opens, locks and empties the log of @supervisor. Descriptor, -EBUSY (its owner lives) or -errno. If
 * a stale log of the same pid was there, it is parsed into @ret_stale first. */
int guard_log_create(int run_dir, pid_t supervisor, const char *tool, struct thing_stack *ret_stale,
		     struct fail *f);
/* Appends the thing's present state by one write. 0 or -errno. */
int guard_log_append(int log_fd, const struct thing *t);
/* Whether a live guard has the log of @supervisor. */
bool guard_log_is_live(int run_dir, pid_t supervisor);
/* Opens and locks a stale log and parses it. The descriptor (holding the lock), -EBUSY: its guard
 * lives, or -errno. */
int guard_log_take_stale(int run_dir, const char *name, struct guard_log_head *ret_head,
			 struct thing_stack *s);
/* Whether live runs other than @self have things of @kind with this first argument (NULL: any). They
 * are appended to @ret (may be NULL; thing_stack_free() it), *ret_pid is one of the runs. Call with
 * .lock held. */
bool guard_log_shared(int run_dir, pid_t self, enum thing_kind kind, const char *arg0,
		      struct thing_stack *ret, pid_t *ret_pid);
/* This boot's id, "" if unknown. */
void guard_boot_id(char ret[40]);
