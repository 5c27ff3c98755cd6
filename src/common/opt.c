/* SPDX-License-Identifier: GPL-2.0-only */
#include "opt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "kfile.h"

const char *const lru_choice_names[] = { "keep", "classic", "mglru" };

/* Keys without a short form; a tool's own options start at 2000. */
enum {
	KEY_SCENARIO = 1000,
	KEY_LIST,
	KEY_EXPLAIN,
	KEY_DRY_RUN,
	KEY_CLEAN,
	KEY_MEMCG,
	KEY_SWAP,
	KEY_SWAP_SHARED_OK,
	KEY_TIME,
	KEY_RUNS,
	KEY_CGROUP_PARENT,
	KEY_NODE,
	KEY_CPUS,
	KEY_SEED,
	KEY_LRU,
	KEY_TIME_SCALE,
	KEY_PROBE,
	KEY_FORMAT,
	KEY_JSON,
	KEY_HGRM,
	KEY_QUIET,
	KEY_VERBOSE,
	KEY_ALLOW_GLOBAL,
	KEY_USAGE,
};

#define GROUP_WHAT 10
#define GROUP_RUN 11
#define GROUP_OUT 12

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What to do:", GROUP_WHAT },
	{ "scenario", KEY_SCENARIO, "NAME", 0, "The failure mode to provoke (see --list)", 0 },
	{ "list", KEY_LIST, NULL, 0, "List the scenarios", 0 },
	{ "explain", KEY_EXPLAIN, "NAME", OPTION_ARG_OPTIONAL,
	  "Say what a scenario does and what FAIL means", 0 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "Show the plan and what is missing; change nothing", 0 },
	{ "clean", KEY_CLEAN, NULL, 0, "Only remove what dead runs have left behind", 0 },
	{ NULL, 0, NULL, 0, "The run:", GROUP_RUN },
	{ "memcg", KEY_MEMCG, "SIZE", 0, "Limit of the memory cgroup", 0 },
	{ "swap", KEY_SWAP, "KIND", 0,
	  "auto, existing, none, zram[:SIZE], file[:SIZE] or delay:MS[:SIZE] (auto)", 0 },
	{ "swap-shared-ok", KEY_SWAP_SHARED_OK, NULL, 0, "Allow own swap above other active swap",
	  0 },
	{ "time", KEY_TIME, "DURATION", 0, "How long the load runs", 0 },
	{ "runs", KEY_RUNS, "N", 0, "Repeat; FAIL if any run fails (1)", 0 },
	{ "cgroup-parent", KEY_CGROUP_PARENT, "PATH", 0, "Make the memcg below this group", 0 },
	{ "node", KEY_NODE, "LIST", 0, "NUMA nodes to take memory from", 0 },
	{ "cpus", KEY_CPUS, "LIST", 0, "CPUs to run on", 0 },
	{ "seed", KEY_SEED, "N", 0, "Of everything random (1)", 0 },
	{ "lru", KEY_LRU, "KIND", 0, "keep, classic or mglru; restored afterwards (keep)", 0 },
	{ "time-scale", KEY_TIME_SCALE, "X", 0,
	  "Stretch time bounds on slow machines, never counts (1)", 0 },
	{ "probe", KEY_PROBE, "KIND", 0, "auto, bpf, perf or files: how reclaim is seen (auto)",
	  0 },
	{ "allow-global", KEY_ALLOW_GLOBAL, NULL, 0,
	  "Allow pressure on the whole machine (small virtual machines only)", 0 },
	{ NULL, 0, NULL, 0, "Output:", GROUP_OUT },
	{ "format", KEY_FORMAT, "NAME", 0,
	  "text, json, ktap, ltp, csv or lava; sets the exit code too (text)", 0 },
	{ "json", KEY_JSON, "FILE", 0, "Also write the result document to FILE", 0 },
	{ "hgrm", KEY_HGRM, "FILE", 0, "Also write the first histogram for HdrHistogram plotters",
	  0 },
	{ "quiet", KEY_QUIET, NULL, 0, "No progress line", 0 },
	{ "verbose", KEY_VERBOSE, NULL, 0, "Say more on stderr (the BPF verifier's log)", 0 },
	/* argp shows its own --help and --usage, but says nothing when told to print no errors. */
	{ "help", '?', NULL, OPTION_HIDDEN, NULL, -1 },
	{ "usage", KEY_USAGE, NULL, OPTION_HIDDEN, NULL, -1 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 },
	{ 0 },
};

static void hint(void)
{
	fprintf(stderr, "Try '%s --help' for more information.\n", program_invocation_short_name);
	exit(EXIT_USAGE);
}

void opt_usage(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	hint();
	abort(); /* not reached: hint() exits */
}

void opt_bad_value(const char *option, const char *value, const char *what)
{
	opt_usage("--%s: '%s' is not %s", option, value, what);
}

uint64_t opt_size(const char *option, const char *value)
{
	uint64_t bytes;

	if (parse_size(value, &bytes) < 0)
		opt_bad_value(option, value, "a size (digits, then k m g t)");
	return bytes;
}

uint64_t opt_duration_ns(const char *option, const char *value)
{
	uint64_t ns;

	if (parse_duration_ns(value, &ns) < 0)
		opt_bad_value(option, value, "a duration (digits, then ms s m h)");
	if (ns == 0)
		opt_usage("--%s: '%s' is too short", option, value);
	return ns;
}

uint64_t opt_count(const char *option, const char *value, uint64_t min, uint64_t max)
{
	uint64_t n;

	if (parse_u64(value, &n) < 0)
		opt_bad_value(option, value, "a whole number");
	if (n < min || n > max)
		opt_usage("--%s: %s is out of range (%llu to %llu)", option, value,
			  (unsigned long long)min, (unsigned long long)max);
	return n;
}

static double opt_scale(const char *option, const char *value)
{
	double x;

	if (parse_real(value, &x) < 0)
		opt_bad_value(option, value, "a number");
	/* Emulation is 20 to 50 times slower than the metal; beyond 1000 no bound means anything. */
	if (!(x >= 1 && x <= 1000))
		opt_usage("--%s: %s is out of range (1 to 1000)", option, value);
	return x;
}

static void opt_list(const char *option, const char *value, struct number_set *ret)
{
	if (parse_list(value, ret) < 0 || number_set_count(ret) == 0)
		opt_bad_value(option, value, "a list such as 0-3,8");
}

static enum lru_choice opt_lru(const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(lru_choice_names); i++)
		if (strcmp(value, lru_choice_names[i]) == 0)
			return (enum lru_choice)i;
	opt_bad_value("lru", value, "keep, classic or mglru");
}

static void show_help(struct argp_state *state, unsigned int what)
{
	state->flags &= ~(unsigned int)ARGP_NO_ERRS;
	argp_state_help(state, stdout, what);
}

static error_t parse_what(int key, char *arg, struct options *opt, struct argp_state *state)
{
	switch (key) {
	case 'h':
	case '?':
		show_help(state, ARGP_HELP_STD_HELP);
		break;
	case KEY_USAGE:
		show_help(state, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		break;
	case KEY_SCENARIO:
		opt->scenario = arg;
		break;
	case KEY_LIST:
		opt->list = true;
		break;
	case KEY_EXPLAIN:
		opt->explain = true;
		if (arg)
			opt->scenario = arg;
		break;
	case KEY_DRY_RUN:
		opt->dry_run = true;
		break;
	case KEY_CLEAN:
		opt->clean = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_run(int key, char *arg, struct options *opt)
{
	switch (key) {
	case KEY_MEMCG:
		opt->memcg_bytes = opt_size("memcg", arg);
		/* B: less than this and no kernel can even start a process in the group. */
		if (opt->memcg_bytes < (1u << 20))
			opt_usage("--memcg: %s is too small (at least 1M)", arg);
		break;
	case KEY_SWAP:
		if (swap_spec_parse(arg, &opt->swap) < 0)
			opt_bad_value("swap", arg,
				      "auto, existing, none, zram[:SIZE], file[:SIZE] or "
				      "delay:MS[:SIZE]");
		break;
	case KEY_SWAP_SHARED_OK:
		opt->swap_shared_ok = true;
		break;
	case KEY_TIME:
		opt->time_ns = opt_duration_ns("time", arg);
		break;
	case KEY_RUNS:
		opt->runs = (unsigned int)opt_count("runs", arg, 1, 1000);
		break;
	case KEY_CGROUP_PARENT:
		opt->cgroup_parent = arg;
		break;
	case KEY_NODE:
		opt_list("node", arg, &opt->nodes);
		opt->node_list = arg;
		break;
	case KEY_CPUS:
		opt_list("cpus", arg, &opt->cpus);
		opt->cpu_list = arg;
		break;
	case KEY_SEED:
		/* JSON readers keep integers signed. */
		opt->seed = opt_count("seed", arg, 0, INT64_MAX);
		break;
	case KEY_LRU:
		opt->lru = opt_lru(arg);
		break;
	case KEY_TIME_SCALE:
		opt->time_scale = opt_scale("time-scale", arg);
		break;
	case KEY_PROBE:
		if (probe_kind_parse(arg, &opt->probe) < 0)
			opt_bad_value("probe", arg, "auto, bpf, perf or files");
		break;
	case KEY_ALLOW_GLOBAL:
		opt->allow_global = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_output(int key, char *arg, struct options *opt)
{
	switch (key) {
	case KEY_FORMAT:
		opt->format = report_format_find(arg);
		if (!opt->format)
			opt_bad_value("format", arg, "text, json, ktap, ltp, csv or lava");
		opt->format_given = true;
		break;
	case KEY_JSON:
		opt->json_file = arg;
		break;
	case KEY_HGRM:
		opt->hgrm_file = arg;
		break;
	case KEY_QUIET:
		opt->quiet = true;
		break;
	case KEY_VERBOSE:
		opt->verbose = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;
	error_t r = parse_what(key, arg, opt, state);

	if (r == ARGP_ERR_UNKNOWN)
		r = parse_run(key, arg, opt);
	if (r == ARGP_ERR_UNKNOWN)
		r = parse_output(key, arg, opt);
	return r;
}

const struct argp opt_argp = { .options = option_table, .parser = parse };

void options_init(struct options *opt, int argc, char **argv)
{
	*opt = (struct options){
		.argc = argc,
		.argv = argv,
		.runs = 1,
		.seed = 1,
		.time_scale = 1,
		.swap = { .kind = SWAP_AUTO },
		.format = report_format_find("text"),
	};
}

static bool names_option(const struct argp *argp, const char *name, size_t length)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name && strncmp(o->name, name, length) == 0)
			return true;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		if (names_option(c->argp, name, length))
			return true;
	return false;
}

void opt_unknown(const struct argp_state *state)
{
	/* getopt has already stepped over the word it did not like. */
	int at = state->next > 1 ? state->next - 1 : 1;
	const char *word = at < state->argc ? state->argv[at] : "";
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);

	if (length > 2 && word[0] == '-' && word[1] == '-' &&
	    names_option(state->root_argp, word + 2, length - 2))
		opt_usage("%.*s: %s", (int)length, word,
			  equals ? "takes no value, or the name is ambiguous"
				 : "needs a value, or the name is ambiguous");
	opt_usage("unknown option '%s'", word);
}
