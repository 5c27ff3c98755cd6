/* SPDX-License-Identifier: GPL-2.0-only */
/* squeeze: runs suites of the tools, compares what they found, draws the report. */
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "cmd.h"
#include "opt.h"

static const struct cmd *const cmds[] = { &cmd_list, &cmd_run, &cmd_compare, &cmd_report };

/* A report that did not arrive whole must not look like one that did: a full disk is exit 2, also
 * after argp's own exit for --help. */
static void close_stdout(void)
{
	bool failed_before = ferror(stdout) != 0;

	if (fclose(stdout) == 0) {
		if (!failed_before)
			return;
		errno = EIO; /* which it was then is not known any more */
	}
	fprintf(stderr, "squeeze: standard output: %s\n", strerror(errno));
	_exit(EXIT_BROKEN);
}

static const struct cmd *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		if (!strcmp(cmds[i]->name, name))
			return cmds[i];
	}
	opt_usage("'%s' is not a command (list, run, compare, report, help)", name);
}

static int print_help(void)
{
	printf("Usage: squeeze COMMAND [OPTION...]\n\n"
	       "Runs suites of memory reclaim scenarios, compares their results, draws the "
	       "report.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++)
		printf("  %-10s %s\n", cmds[i]->name, cmds[i]->summary);
	printf("  %-10s %s\n\n'squeeze COMMAND --help' and squeeze(1) say more.\n", "help",
	       "Show this, or the help of a command");
	return EXIT_SUCCESS;
}

static int help(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc < 2)
		return print_help();
	cmd = find(argv[1]);
	argp_help(cmd->argp, stdout, ARGP_HELP_STD_HELP & ~(ARGP_HELP_EXIT_ERR | ARGP_HELP_EXIT_OK),
		  (char *)cmd->full_name);
	return EXIT_SUCCESS;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argv[0];
	const struct cmd *cmd;

	if (!strcmp(name, "help"))
		return help(argc, argv);
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "-?"))
		return print_help();
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		printf("squeeze %s\n", SQUEEZE_VERSION);
		return EXIT_SUCCESS;
	}
	if (name[0] == '-')
		opt_usage("unknown option '%s'", name);
	cmd = find(name);
	return cmd->run(cmd, argc, argv);
}

int main(int argc, char **argv)
{
	/* Numbers in documents have a point in every locale. */
	(void)setlocale(LC_CTYPE, "");
	if (atexit(close_stdout) != 0)
		return EXIT_BROKEN;
	if (argc < 2)
		opt_usage("COMMAND is missing (list, run, compare, report, help)");
	return dispatch(argc - 1, argv + 1);
}
