/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting what a command makes: files of a pattern below a folder, by the time of their last change.
 * A file counts in the walk in whose window its change falls, so a rebuilt object counts again and
 * none counts twice.
 */
#pragma once

#include <stdint.h>
#include <time.h>

struct count {
	const char *dir;
	const char *pattern;   /* fnmatch(3), of the name without its folder */
	struct timespec since; /* files changed from here on … */
	struct timespec until; /* … to here, not included, are counted by the next walk */
	uint64_t nr;	       /* so far */
	uint64_t next_ns;      /* when the next walk is due */
};

/* From now on; @now_ns as clock_now_ns(). */
void count_start(struct count *c, const char *dir, const char *pattern, uint64_t now_ns);
/* Walks when it is due: at most once a second, and at most a twentieth of the time. */
void count_tick(struct count *c, uint64_t now_ns);
/* The last walk: takes all that is left. */
void count_finish(struct count *c);
