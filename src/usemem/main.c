/* SPDX-License-Identifier: GPL-2.0-only */
#include "tool.h"

#include <string.h>

#include "cleanup.h"
#include "usemem.h"

/* Options common to all tools have keys below 2000. */
enum { KEY_THREADS = 2000, KEY_SET, KEY_THP };

/* 4,096 threads take 136 MiB besides their set: more belongs into several processes. */
#define THREADS_MAX 4096

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The load:", 1 },
	{ "threads", KEY_THREADS, "N", 0, "Threads that touch the working set (192)", 0 },
	{ "set", KEY_SET, "SIZE", 0,
	  "Working set, or a percentage of the memcg (300%; no-progress 200%)", 0 },
	{ "thp", KEY_THP, "POLICY", 0, "never or keep: transparent huge pages (never)", 0 },
	{ 0 },
};

static struct usemem_options usemem_options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case KEY_THREADS:
		usemem_options.threads = (unsigned int)opt_count("threads", arg, 1, THREADS_MAX);
		break;
	case KEY_SET:
		usemem_options.set = arg;
		break;
	case KEY_THP:
		if (strcmp(arg, "never") != 0 && strcmp(arg, "keep") != 0)
			opt_bad_value("thp", arg, "never or keep");
		usemem_options.thp_keep = strcmp(arg, "keep") == 0;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* One line a scenario; the first is the default. */
static const struct scenario *const scenarios[] = {
	&over_isolation,
	&no_progress,
	&classic,
};

static const struct scenario *choose(const struct tool *tool)
{
	const struct usemem_options *o = tool->tool_options;

	return o->classic.given ? &classic : scenarios[0];
}

int main(int argc, char **argv)
{
	static const struct tool tool = {
		.name = "usemem",
		.doc = "Puts anonymous memory under pressure inside a memory cgroup of its own and "
		       "says whether reclaim fails.",
		.doc_after =
			"Exit status: 0 PASS, 1 FAIL, 4 SKIP or INCONCLUSIVE, 2 ERROR, 64 usage "
			"(text and json; --format sets those of its dialect).\n\n"
			"Example: usemem --threads 192 --memcg 16M",
		.scenarios = scenarios,
		.nr_scenarios = ARRAY_SIZE(scenarios),
		.options = options,
		.parse = parse,
		.tool_options = &usemem_options,
		.more = &classic_argp,
		.more_options = &usemem_options.classic,
		.args_doc = "[SIZE]",
		.choose = choose,
	};

	classic_options_init(&usemem_options.classic);
	return tool_main(&tool, argc, argv);
}
