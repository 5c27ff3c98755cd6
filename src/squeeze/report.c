/* SPDX-License-Identifier: GPL-2.0-only */
/* squeeze report DIR [--base DIR2] -o FILE.html: the command line around page_write. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "cmd.h"
#include "opt.h"
#include "page.h"

/* A report is mailed: it stays below a megabyte by drawing coarser curves. */
#define PAGE_SIZE_MAX 1000000
#define POINTS_FINEST 1200
#define POINTS_COARSEST 75

enum { KEY_BASE = 2000 };

static const struct argp_option options[] = {
	{ "base", KEY_BASE, "PATH", 0, "Results to show beside and compare with", 0 },
	{ "output", 'o', "FILE", 0, "Where the page goes (standard output)", 0 },
	{ 0 },
};

struct job {
	const struct cmd *cmd;
	struct docset new, base;
	struct pool pool;
	const char *new_name, *base_name;
	const char *output;
};

static void add(struct job *j, struct docset *set, const char *path)
{
	if (docset_add(set, path) < 0) {
		cmd_say(j->cmd, "%s: %s", path, strerror(ENOMEM));
		exit(EXIT_BROKEN);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct job *j = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cmd_parse_init(state);
		break;
	case KEY_BASE:
		j->base_name = arg;
		add(j, &j->base, arg);
		break;
	case 'o':
		j->output = arg;
		break;
	case ARGP_KEY_ARG:
		if (!j->new_name)
			j->new_name = arg;
		add(j, &j->new, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static size_t complain(const struct job *j, const struct docset *set)
{
	for (size_t i = 0; i < set->nr_complaints; i++)
		cmd_say(j->cmd, "%s", set->complaints[i]);
	return set->nr_complaints;
}

static int compare_all(struct job *j, const struct pairs *pairs, struct comparison **ret)
{
	struct comparison *all = pool_array(&j->pool, pairs->nr, sizeof(*all));

	for (size_t i = 0; all && i < pairs->nr; i++) {
		struct pair *pair = pool_alloc(&j->pool, sizeof(*pair));

		if (!pair)
			return -ENOMEM;
		*pair = pairs->items[i];
		/* A side alone is compared with itself: its figures are wanted, not the tests. */
		if (!pair->base)
			pair->base = pair->new;
		if (!pair->new)
			pair->new = pair->base;
		if (comparison_make(pair, COMPARISON_ALPHA, &j->pool, &all[i]) < 0)
			return -ENOMEM;
		if (pair->base == pair->new)
			all[i].judged = 0;
	}
	*ret = all;
	return all ? 0 : -ENOMEM;
}

static int render(const struct report *r, char **ret_page, size_t *ret_size)
{
	_cleanup_free_ char *page = NULL;
	FILE *out = open_memstream(&page, ret_size);
	int e;

	if (!out)
		return -errno;
	e = page_write(r, out);
	if (fclose(out) != 0 && e == 0)
		e = -errno;
	if (e < 0)
		return e;
	*ret_page = page;
	page = NULL;
	return 0;
}

static int write_page(const struct job *j, const char *page, size_t size)
{
	_cleanup_fclose_ FILE *out = NULL;
	FILE *file;

	if (!j->output) {
		(void)fwrite(page, 1, size, stdout); /* main.c looks after the stream */
		return 0;
	}
	out = fopen(j->output, "we");
	if (!out || fwrite(page, 1, size, out) != size || fflush(out) != 0) {
		cmd_say(j->cmd, "%s: %s", j->output, strerror(errno));
		return EXIT_BROKEN;
	}
	file = out;
	out = NULL;
	if (fclose(file) == 0)
		return 0;
	cmd_say(j->cmd, "%s: %s", j->output, strerror(errno));
	return EXIT_BROKEN;
}

static int draw(struct job *j, struct report *r)
{
	_cleanup_free_ char *page = NULL;
	size_t size = 0;
	int e;

	for (r->points = POINTS_FINEST;; r->points /= 2) {
		free(page);
		page = NULL;
		e = render(r, &page, &size);
		if (e < 0)
			return e;
		if (size <= PAGE_SIZE_MAX || r->points / 2 < POINTS_COARSEST)
			break;
	}
	if (size > PAGE_SIZE_MAX)
		cmd_say(j->cmd, "the page has %zu KiB: so many results do not fit in a megabyte",
			size / 1024);
	return write_page(j, page, size);
}

static int report(struct job *j)
{
	/* Whatever differs is shown together, and said. */
	const struct allowance all = { .all = true };
	struct report r = { .pool = &j->pool, .new_name = j->new_name, .base_name = j->base_name };
	struct comparison *comparisons;
	struct cohorts base, new;
	struct pairs pairs;
	size_t bad = complain(j, &j->new) + complain(j, &j->base);
	int e;

	if (!j->new.nr)
		return EXIT_BROKEN;
	if (cohorts_build(&j->base, &j->pool, &base) < 0 ||
	    cohorts_build(&j->new, &j->pool, &new) < 0 ||
	    cohorts_pair(&base, &new, &all, &j->pool, &pairs) < 0 ||
	    compare_all(j, &pairs, &comparisons) < 0)
		return -ENOMEM;
	r.pairs = &pairs;
	r.comparisons = comparisons;
	r.new_set = &j->new;
	r.base_set = j->base_name ? &j->base : NULL;
	e = draw(j, &r);
	return e ? e : bad ? EXIT_BROKEN : EXIT_SUCCESS;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct job j = { .cmd = cmd };
	int code;

	cmd_parse(cmd, argc, argv, 0, &j);
	if (!j.new_name)
		opt_usage("DIR: no result files or folders are given");
	if (!j.output && isatty(STDOUT_FILENO))
		opt_usage("--output: no file is given, and a terminal does not show HTML");
	code = report(&j);
	if (code < 0) {
		cmd_say(cmd, "%s", strerror(-code));
		code = EXIT_BROKEN;
	}
	docset_free(&j.new);
	docset_free(&j.base);
	pool_free(&j.pool);
	return code;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DIR|FILE...",
	.doc = "Draws one self-contained HTML page of result documents.\vExit status: 0 drawn, 2 "
	       "drawn "
	       "but not everything could be read, or not drawn at all, 64 bad command line.",
};

const struct cmd cmd_report = {
	.name = "report",
	.full_name = "squeeze report",
	.summary = "Draw results as a page",
	.argp = &argp,
	.run = run,
};
