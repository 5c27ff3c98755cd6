/* SPDX-License-Identifier: GPL-2.0-only */
/* squeeze compare BASE… --to NEW…: the command line around cohort, comparison and its
 * renderings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "cmd.h"
#include "comparison_print.h"
#include "opt.h"
#include "parse.h"

#define EXIT_WORSE 1

enum {
	KEY_TO = 2000,
	KEY_FORMAT,
	KEY_ALPHA,
	KEY_FAIL_ON,
	KEY_ALLOW,
	KEY_FORCE,
};

static const struct argp_option options[] = {
	{ "to", KEY_TO, "NEW", 0, "Result files or folders of the new side; more may follow", 0 },
	{ "format", KEY_FORMAT, "NAME", 0, "text, markdown or json (text)", 0 },
	{ "fail-on", KEY_FAIL_ON, "worse", 0, "Exit 1 if anything is worse", 0 },
	{ "alpha", KEY_ALPHA, "P", 0, "Mark differences with a p below this (0.05)", 0 },
	{ "allow-unlike", KEY_ALLOW, "NAME,...", OPTION_ARG_OPTIONAL,
	  "Compare although these parameters or host facts differ (all)", 0 },
	{ "force", KEY_FORCE, NULL, 0, "Compare whatever differs", 0 },
	{ 0 },
};

struct compare {
	const struct cmd *cmd;
	struct docset base, new;
	struct pool pool;
	bool to_seen;
	const struct comparison_format *format;
	double alpha;
	bool fail_on_worse;
	struct allowance allow;
	const char **allowed_names;
};

static void add_allowed(struct compare *c, char *list)
{
	char *rest = list, *name;

	while ((name = strsep(&rest, ","))) {
		const char **more = reallocarray(c->allowed_names, c->allow.nr + 1, sizeof(*more));

		if (!more)
			opt_usage("--allow-unlike: %s", strerror(ENOMEM));
		c->allowed_names = more;
		more[c->allow.nr++] = name;
	}
	c->allow.names = c->allowed_names;
}

static void add_side(struct compare *c, bool new, const char *path)
{
	if (docset_add(new ? &c->new : &c->base, path) < 0) {
		cmd_say(c->cmd, "%s: %s", path, strerror(ENOMEM));
		exit(EXIT_BROKEN);
	}
}

static const struct comparison_format *find_format(const char *name)
{
	for (size_t i = 0; i < comparison_formats_nr; i++) {
		if (!strcmp(comparison_formats[i].name, name))
			return &comparison_formats[i];
	}
	opt_bad_value("format", name, "text, markdown or json");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct compare *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cmd_parse_init(state);
		break;
	case KEY_TO:
		c->to_seen = true;
		add_side(c, true, arg);
		break;
	case ARGP_KEY_ARG:
		add_side(c, c->to_seen, arg);
		break;
	case KEY_FORMAT:
		c->format = find_format(arg);
		break;
	case KEY_ALPHA:
		if (parse_real(arg, &c->alpha) < 0 || !(c->alpha > 0 && c->alpha < 1))
			opt_bad_value("alpha", arg, "between 0 and 1");
		break;
	case KEY_FAIL_ON:
		if (strcmp(arg, "worse") != 0)
			opt_bad_value("fail-on", arg, "'worse'");
		c->fail_on_worse = true;
		break;
	case KEY_ALLOW:
		if (arg)
			add_allowed(c, arg);
		else
			c->allow.all = true;
		break;
	case KEY_FORCE:
		c->allow.all = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static size_t complain(const struct compare *c)
{
	const struct docset *sets[] = { &c->base, &c->new };
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		for (size_t j = 0; j < sets[i]->nr_complaints; j++)
			cmd_say(c->cmd, "%s", sets[i]->complaints[j]);
		nr += sets[i]->nr_complaints;
	}
	return nr;
}

/* Names everything in which an unlike pair differs. */
static size_t refuse_unlike(const struct compare *c, const struct pairs *pairs)
{
	size_t nr = 0;

	for (size_t i = 0; i < pairs->nr; i++) {
		const struct pair *pair = &pairs->items[i];

		if (!pair->unlike)
			continue;
		nr++;
		for (size_t j = 0; j < pair->nr_differences; j++) {
			const struct difference *d = &pair->differences[j];

			if (!likeness_allowed(&c->allow, d->name))
				cmd_say(c->cmd, "%s %s: %s differs: base %s, new %s",
					pair->base->like->tool, pair->base->like->scenario, d->name,
					d->base, d->new);
		}
	}
	if (nr)
		cmd_say(c->cmd, "unlike things are compared only with --force or "
				"--allow-unlike=NAME,...");
	return nr;
}

static int compare_pairs(struct compare *c, const struct pairs *pairs)
{
	struct comparison_set set = { .pairs = pairs, .pool = &c->pool, .alpha = c->alpha };
	bool worse = false;

	set.items = pool_array(&c->pool, pairs->nr, sizeof(*set.items));
	if (!set.items)
		return -ENOMEM;
	for (size_t i = 0; i < pairs->nr; i++) {
		const struct pair *pair = &pairs->items[i];

		if (!pair->base || !pair->new)
			continue;
		if (comparison_make(pair, c->alpha, &c->pool, &set.items[set.nr]) < 0)
			return -ENOMEM;
		worse |= comparison_has(&set.items[set.nr], MARK_WORSE);
		set.nr++;
	}
	if (!set.nr) {
		cmd_say(c->cmd, "nothing to compare: the two sides have no scenario in common");
		return EXIT_BROKEN;
	}
	c->format->write(&set, stdout); /* main.c looks after the stream */
	return worse && c->fail_on_worse ? EXIT_WORSE : EXIT_SUCCESS;
}

static int compare(struct compare *c)
{
	struct cohorts base, new;
	struct pairs pairs;

	if (complain(c))
		return EXIT_BROKEN; /* a table without the damaged runs would mislead */
	if (cohorts_build(&c->base, &c->pool, &base) < 0 ||
	    cohorts_build(&c->new, &c->pool, &new) < 0 ||
	    cohorts_pair(&base, &new, &c->allow, &c->pool, &pairs) < 0)
		return -ENOMEM;
	if (refuse_unlike(c, &pairs))
		return EXIT_BROKEN;
	return compare_pairs(c, &pairs);
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct compare c = {
		.cmd = cmd,
		.format = &comparison_formats[0],
		.alpha = COMPARISON_ALPHA,
	};
	int code;

	/* In order: what follows --to is of the new side. */
	cmd_parse(cmd, argc, argv, ARGP_IN_ORDER, &c);
	if (!c.base.nr && !c.base.nr_complaints)
		opt_usage("BASE: no result files or folders are given");
	if (!c.to_seen)
		opt_usage("--to: no result files or folders to compare with are given");
	code = compare(&c);
	if (code < 0) {
		cmd_say(cmd, "%s", strerror(-code));
		code = EXIT_BROKEN;
	}
	docset_free(&c.base);
	docset_free(&c.new);
	pool_free(&c.pool);
	free(c.allowed_names);
	return code;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "BASE... --to NEW...",
	.doc = "Compares result documents: base against new, each metric with its spread and "
	       "whether the difference is more than noise.\vBASE and NEW are result files or "
	       "folders of them. "
	       "Exit status: 0 compared, 1 something is worse (with --fail-on), 2 could not "
	       "compare, "
	       "64 bad command line.",
};

const struct cmd cmd_compare = {
	.name = "compare",
	.full_name = "squeeze compare",
	.summary = "Compare the results of two kernels",
	.argp = &argp,
	.run = run,
};
