/* SPDX-License-Identifier: GPL-2.0-only */
#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "opt.h"

void cmd_enter(const struct cmd *cmd)
{
	/* glibc declares it without const, and never writes to it. */
	program_invocation_short_name = (char *)cmd->full_name;
}

void cmd_parse_init(struct argp_state *state)
{
	state->err_stream = NULL;
}

void cmd_parse(const struct cmd *cmd, int argc, char **argv, unsigned int flags, void *input)
{
	cmd_enter(cmd);
	argv[0] = (char *)cmd->full_name; /* getopt's messages begin with it */
	if (argp_parse(cmd->argp, argc, argv, flags, NULL, input) == 0)
		return;
	/* getopt has named the option. */
	fprintf(stderr, "Try '%s --help' for more information.\n", cmd->full_name);
	exit(EXIT_USAGE);
}

void cmd_say(const struct cmd *cmd, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", cmd->full_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int cmd_verdict_code(enum verdict v)
{
	static const int codes[VERDICT_NR] = {
		[VERDICT_PASS] = 0,	    [VERDICT_FAIL] = 1,	 [VERDICT_SKIP] = 4,
		[VERDICT_INCONCLUSIVE] = 4, [VERDICT_ERROR] = 2,
	};

	return codes[v];
}

enum verdict cmd_worse(enum verdict a, enum verdict b)
{
	/* The order in which result_conclude() takes the runs of one document. */
	static const int rank[VERDICT_NR] = {
		[VERDICT_PASS] = 0,  [VERDICT_SKIP] = 1, [VERDICT_INCONCLUSIVE] = 2,
		[VERDICT_ERROR] = 3, [VERDICT_FAIL] = 4,
	};

	return rank[b] > rank[a] ? b : a;
}
