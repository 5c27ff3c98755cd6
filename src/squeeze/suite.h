/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The suites: one table of what is run, by which tool, with which arguments, for about how long.
 *
 * quick ends within 3 minutes on 2 cores and gives each failure mode one short look, with a
 * negative control for the first. full gives each the documents' own durations and controls
 * throughout.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum suite { SUITE_QUICK, SUITE_FULL, SUITE_NR };
extern const char *const suite_names[SUITE_NR];

#define SUITE_ARGS_MAX 12

struct suite_entry {
	const char *name; /* of the result file; unique within a suite */
	const char *tool;
	const char *args[SUITE_ARGS_MAX]; /* NULL-terminated */
	const char *needs;
	const char *summary;
	enum suite suite;
	unsigned int seconds; /* about, with setup and teardown: for the progress line */
};

extern const struct suite_entry suite_table[];
extern const size_t suite_table_nr;

/* NULL if @suite has no entry @name. */
const struct suite_entry *suite_find(enum suite suite, const char *name);
/* The suite of that name, or SUITE_NR. */
enum suite suite_parse(const char *name);
