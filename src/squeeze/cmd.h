/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sub-commands of squeeze: each is a name, an argp and a function. What they share is how a
 * command line is refused: one line that names the option and the value, a hint, exit 64.
 */
#pragma once

#include <argp.h>
#include <stddef.h>

#include "result.h"

#define EXIT_BROKEN 2 /* Squeeze could not do its work (design.md 4.2) */

struct cmd {
	const char *name;
	const char *full_name; /* "squeeze compare" */
	const char *summary;
	const struct argp *argp;
	int (*run)(const struct cmd *cmd, int argc, char **argv);
};

extern const struct cmd cmd_list;
extern const struct cmd cmd_run;
extern const struct cmd cmd_compare;
extern const struct cmd cmd_report;

/* Parses; returns only if the command line was good. Every parser hands ARGP_KEY_INIT to
 * cmd_parse_init(), so that argp's own hint is not printed besides ours. */
void cmd_parse(const struct cmd *cmd, int argc, char **argv, unsigned int flags, void *input);
void cmd_parse_init(struct argp_state *state);
/* Makes the messages of opt.h speak as "squeeze compare". */
void cmd_enter(const struct cmd *cmd);
/* "squeeze compare: SENTENCE" on stderr. */
void cmd_say(const struct cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The exit code of a verdict (design.md 4.2, text). */
int cmd_verdict_code(enum verdict v);
/* The worse of two: FAIL, ERROR, INCONCLUSIVE, SKIP, PASS. */
enum verdict cmd_worse(enum verdict a, enum verdict b);
