/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that all tools share, as one argp child, and the one way in which a tool refuses a bad
 * command line: a line that names the option and the value, a hint, exit 64.
 *
 * A tool lists opt_children in its own struct argp and sets state->child_inputs[0] to its
 * struct options (tool.c does both).
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "parse.h"
#include "probe.h"
#include "report.h"
#include "swap.h"

#define EXIT_USAGE 64 /* sysexits.h EX_USAGE; argp's own default */

enum lru_choice { LRU_KEEP, LRU_CLASSIC, LRU_MGLRU };
extern const char *const lru_choice_names[];

struct options {
	int argc;
	char **argv;
	const char *scenario;
	bool list;
	bool explain; /* of the scenario given, or the default one */
	bool dry_run;
	bool clean;
	bool quiet;
	bool verbose;
	bool swap_shared_ok;
	bool allow_global;
	uint64_t memcg_bytes; /* 0: the scenario's default */
	struct swap_spec swap;
	uint64_t time_ns; /* 0: the scenario's default */
	unsigned int runs;
	const char *cgroup_parent;
	const char *node_list;
	const char *cpu_list;
	struct number_set nodes;
	struct number_set cpus;
	uint64_t seed;
	enum lru_choice lru;
	double time_scale;
	enum probe_kind probe;
	const struct report_format *format;
	bool format_given; /* by --format, text too */
	const char *json_file;
	const char *hgrm_file;
};

void options_init(struct options *opt, int argc, char **argv);
extern const struct argp opt_argp;

/* Prints "TOOL: SENTENCE" and the hint, exits 64. */
void opt_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* For a value that a parser refused: "--OPTION: 'VALUE' is not WHAT". Exits 64. */
void opt_bad_value(const char *option, const char *value, const char *what)
	__attribute__((noreturn));
/* Parse or refuse. */
uint64_t opt_size(const char *option, const char *value);
uint64_t opt_count(const char *option, const char *value, uint64_t min, uint64_t max);
uint64_t opt_duration_ns(const char *option, const char *value);
/* The key that argp's parsers get for an option it does not know: says which, exits 64. */
void opt_unknown(const struct argp_state *state) __attribute__((noreturn));
