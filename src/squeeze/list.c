/* SPDX-License-Identifier: GPL-2.0-only */
/* squeeze list: what the suites hold, and what of it can be run here. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "cmd.h"
#include "launch.h"
#include "opt.h"
#include "suite.h"

enum { KEY_SUITE = 2000 };

static const struct argp_option options[] = {
	{ "suite", KEY_SUITE, "NAME", 0, "Only the quick or the full suite (both)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	enum suite *only = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cmd_parse_init(state);
		break;
	case KEY_SUITE:
		*only = suite_parse(arg);
		if (*only == SUITE_NR)
			opt_bad_value("suite", arg, "quick or full");
		break;
	case ARGP_KEY_ARG:
		opt_usage("'%s': no operand is taken here", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_suite(enum suite suite)
{
	unsigned int seconds = 0;

	printf("%s:\n", suite_names[suite]);
	for (size_t i = 0; i < suite_table_nr; i++) {
		const struct suite_entry *e = &suite_table[i];
		char path[PATH_MAX];

		if (e->suite != suite)
			continue;
		seconds += e->seconds;
		printf("  %-24s %4u s  %s\n", e->name, e->seconds, e->summary);
		printf("  %-24s         %s", "", e->tool);
		for (size_t j = 0; j < SUITE_ARGS_MAX && e->args[j]; j++)
			printf(" %s", e->args[j]);
		printf("\n  %-24s         needs %s%s%s\n", "", e->needs,
		       launch_find(e->tool, path) < 0 ? "; missing here: " : "",
		       launch_find(e->tool, path) < 0 ? e->tool : "");
	}
	printf("  about %u:%02u minutes in all\n", seconds / 60, seconds % 60);
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	enum suite only = SUITE_NR;

	cmd_parse(cmd, argc, argv, 0, &only);
	for (unsigned int s = 0; s < SUITE_NR; s++) {
		if (only == SUITE_NR || only == (enum suite)s)
			print_suite((enum suite)s);
	}
	return EXIT_SUCCESS;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Lists the scenarios of the suites: how long each takes, what is run, what it "
	       "needs.",
};

const struct cmd cmd_list = {
	.name = "list",
	.full_name = "squeeze list",
	.summary = "List the suites and their scenarios",
	.argp = &argp,
	.run = run,
};
