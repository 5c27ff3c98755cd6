/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every tool's main() is: a table of scenarios and the tool's own options over one engine.
 */
#pragma once

#include <argp.h>
#include <stddef.h>
#include <stdio.h>

#include "scenario.h"

struct tool {
	const char *name;
	const char *doc;			 /* for --help, before the options */
	const char *doc_after;			 /* after them: examples */
	const struct scenario *const *scenarios; /* the first is the default */
	size_t nr_scenarios;
	const struct argp_option *options; /* the tool's own */
	/* Parses one of the tool's own options into @options; ARGP_ERR_UNKNOWN for others. */
	error_t (*parse)(int key, char *arg, struct argp_state *state);
	void *tool_options;
	const struct argp *more; /* a further group of options; its input is more_options */
	void *more_options;
	const char *args_doc; /* operands, NULL: none are taken */
	/* Chooses the scenario when --scenario was not given (NULL: the first). */
	const struct scenario *(*choose)(const struct tool *tool);
	/* A ladder: options that ask for several documents, one after the other. NULL: there is one.
	 * nr_rungs() says how many, 0 and 1 being no ladder; climb() sets the tool's options to @rung
	 * and names it ("procs-26"); table() is what text output ends with. */
	size_t (*nr_rungs)(const struct tool *tool);
	void (*climb)(const struct tool *tool, size_t rung, char *ret_label, size_t size);
	void (*table)(const struct tool *tool, const struct result_doc *docs, size_t nr, FILE *out);
};

/* Parses, runs, reports. Returns the exit code. */
int tool_main(const struct tool *tool, int argc, char **argv);
