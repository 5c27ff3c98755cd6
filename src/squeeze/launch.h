/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running one tool to its end, come what may: its output goes to files, a signal to us is forwarded
 * as SIGINT and waited for, one that does not end in time is interrupted and, if that does not
 * help, killed (its guard then cleans up).
 *
 * The tool is in a process group of its own, so that Ctrl-C reaches it once, through us; and if we
 * are killed it gets SIGINT from the kernel.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "fail.h"

struct launch {
	const char *program; /* a path */
	char *const *argv;
	const char *stdout_path; /* made anew */
	const char *stderr_path;
	uint64_t limit_ns;
	void (*tick)(uint64_t elapsed_ns, void *data); /* once a second; may be NULL */
	void *data;
};

struct launch_end {
	int status; /* of waitpid() */
	uint64_t elapsed_ns;
	bool timed_out;
	int signal; /* SIGINT or SIGTERM that came to us meanwhile, 0: none */
};

/* Blocks SIGCHLD and, unless they were ignored from the start, SIGINT, SIGTERM and SIGHUP, which
 * launch_run() then waits for. */
void launch_block_signals(void);
/* Which of the signals came between two runs (it is taken); 0: none. */
int launch_pending_signal(void);
/* 0, or -errno if the tool could not be started. */
int launch_run(const struct launch *l, struct launch_end *ret, struct fail *f);
/* Finds @tool beside our own program, then in PATH. 0 or -ENOENT. */
int launch_find(const char *tool, char ret_path[PATH_MAX]);
