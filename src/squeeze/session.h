/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One `squeeze run`: what is to be run, what came of it so far, and how that is shown: a line that
 * is rewritten each second on a terminal, a line for each finished run, a table at the end.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "result.h"
#include "suite.h"

#define SESSION_ENTRIES_MAX 64

struct session_item {
	const struct suite_entry *entry;
	size_t runs, failed, judged;
	enum verdict verdict;	/* the worst so far */
	char reason[TEXT_SIZE]; /* of the first with that verdict */
	uint64_t elapsed_ns;	/* of all its runs */
};

struct session {
	enum suite suite;
	const char *out;
	char out_buf[PATH_MAX];
	unsigned int rounds, round; /* from 1 */
	double time_scale;
	const char *time_scale_text; /* NULL: not given */
	bool quiet;
	bool live; /* rewrite a progress line on stderr */
	struct session_item items[SESSION_ENTRIES_MAX];
	size_t nr;
	const struct session_item *current;
	int signal; /* that ended it early */
};

/* Takes down one run's end and, unless quiet, says so on stderr. */
void session_record(struct session *s, struct session_item *item, enum verdict v,
		    const char *reason, uint64_t elapsed_ns);
/* "[3/7] over-scan, run 1 of 2: 12 s of about 20 s; about 1:40 left", over the last one. */
void session_show_progress(const struct session *s, uint64_t elapsed_ns);
/* The table and where the results are. */
void session_summary(const struct session *s, FILE *out);
/* The worst; INCONCLUSIVE if nothing was run. */
enum verdict session_verdict(const struct session *s);
/* How many seconds all that is left will take, of which @elapsed_ns of the current one are over. */
unsigned int session_seconds_left(const struct session *s, uint64_t elapsed_ns);
/* The last line of a text file that is not empty, without control characters. */
bool session_last_line(const char *path, char *ret, size_t size);
