/* SPDX-License-Identifier: GPL-2.0-only */
#include "tool.h"

#include <string.h>

#include "ccstorm.h"
#include "cleanup.h"

/* Options common to all tools have keys below 2000. */
enum {
	KEY_JOBS = 2000,
	KEY_LEVEL,
	KEY_OBJECTS,
	KEY_JOB_MEMORY,
	KEY_PODS,
	KEY_DIR,
	KEY_COUNT,
	KEY_IN,
	KEY_CASE,
	KEY_PRESSURE,
	KEY_LOAD,
	KEY_ALLOCATORS,
	KEY_DEMAND,
	KEY_POD_SIZE,
	KEY_POD_REST,
};

#define OBJECTS_MAX 100000

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The compile jobs:", 1 },
	{ "jobs", KEY_JOBS, "N", 0, "At once, as make -jN (20; in soft-limit 4)", 0 },
	{ "objects", KEY_OBJECTS, "N", 0, "Files of a build from scratch (100)", 0 },
	{ "job-memory", KEY_JOB_MEMORY, "PERCENT", 0, "Memory of a job, of a real cc1's (100%)",
	  0 },
	{ "level", KEY_LEVEL, "NAME", 0,
	  "Limit from what the jobs want: light 2/3, heavy 1/2, extreme 1/3 (heavy)", 0 },
	{ "pods", KEY_PODS, "N", 0,
	  "Groups: the jobs take turns in them (none); in over-scan each has pages (300)", 0 },
	{ "dir", KEY_DIR, "PATH", 0, "Where headers and objects are (/var/tmp)", 0 },
	{ NULL, 0, NULL, 0, "With a command:", 2 },
	{ "count", KEY_COUNT, "GLOB", 0, "Names of the objects it leaves", 0 },
	{ "in", KEY_IN, "DIR", 0, "The folder in and below which they are", 0 },
	{ NULL, 0, NULL, 0, "Scenario soft-limit:", 3 },
	{ "case", KEY_CASE, "NAME", 0,
	  "build-build, stream-eater, build-eater, siblings (siblings on cgroup v2)", 0 },
	{ NULL, 0, NULL, 0, "Scenario over-scan:", 4 },
	{ "pressure", KEY_PRESSURE, "KIND", 0, "global or memcg (global)", 0 },
	{ "load", KEY_LOAD, "KIND", 0, "pods or cache: what is there to be scanned (pods)", 0 },
	{ "allocators", KEY_ALLOCATORS, "N", 0, "Processes that press (4)", 0 },
	{ "demand", KEY_DEMAND, "PERCENT", 0, "What all want, of the available memory (110%)", 0 },
	{ "pod-size", KEY_POD_SIZE, "SIZE", 0, "Pages of a pod (2M)", 0 },
	{ "pod-rest", KEY_POD_REST, "DURATION", 0, "Between two reads of new ones (500ms)", 0 },
	{ 0 },
};

static struct ccstorm_options ccstorm_options = { .job_percent = 100,
						  .level = LEVEL_HEAVY,
						  .count_in = "." };

const char *const soft_case_names[CASE_NR] = { "build-build", "stream-eater", "build-eater",
					       "siblings" };
static const char *const pressure_names[] = { "global", "memcg" };
static const char *const load_names[] = { "pods", "cache" };

static unsigned int choose(const char *option, const char *arg, const char *const *names,
			   unsigned int nr, const char *what)
{
	for (unsigned int i = 0; i < nr; i++)
		if (strcmp(arg, names[i]) == 0)
			return i;
	opt_bad_value(option, arg, what);
}

static unsigned int count_option(const char *option, const char *arg, unsigned int max)
{
	return (unsigned int)opt_count(option, arg, 1, max);
}

/* "50%" or "50", from 10 to 400. */
static unsigned int percent(const char *option, const char *arg)
{
	char digits[16];
	size_t n = strcspn(arg, "%");

	if (n >= sizeof(digits) || (arg[n] && arg[n + 1]))
		opt_bad_value(option, arg, "a percentage");
	memcpy(digits, arg, n);
	digits[n] = '\0';
	return (unsigned int)opt_count(option, digits, 10, 400);
}

static error_t parse_jobs(int key, char *arg, struct ccstorm_options *o)
{
	switch (key) {
	case KEY_JOBS:
		o->jobs = count_option("jobs", arg, CCSTORM_JOBS_MAX);
		break;
	case KEY_OBJECTS:
		o->objects = count_option("objects", arg, OBJECTS_MAX);
		break;
	case KEY_JOB_MEMORY:
		/* Under a tenth the process itself is the larger part. */
		o->job_percent = percent("job-memory", arg);
		break;
	case KEY_LEVEL:
		o->level = (enum compile_level)choose("level", arg, compile_level_names, LEVEL_NR,
						      "light, heavy or extreme");
		o->level_given = true;
		break;
	case KEY_PODS:
		o->pods = count_option("pods", arg, CCSTORM_PODS_MAX);
		break;
	case KEY_DIR:
		if (arg[0] != '/')
			opt_bad_value("dir", arg, "an absolute path");
		o->dir = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_scenarios(int key, char *arg, struct ccstorm_options *o)
{
	switch (key) {
	case KEY_CASE:
		o->soft_case = (enum soft_case)choose(
			"case", arg, soft_case_names, CASE_NR,
			"build-build, stream-eater, build-eater or siblings");
		o->case_given = true;
		break;
	case KEY_PRESSURE:
		o->pressure = (enum pressure)choose("pressure", arg, pressure_names,
						    ARRAY_SIZE(pressure_names), "global or memcg");
		break;
	case KEY_LOAD:
		o->load = (enum scan_load)choose("load", arg, load_names, ARRAY_SIZE(load_names),
						 "pods or cache");
		break;
	case KEY_ALLOCATORS:
		o->allocators = count_option("allocators", arg, 256);
		break;
	case KEY_DEMAND:
		o->demand_percent = percent("demand", arg);
		break;
	case KEY_POD_SIZE:
		o->pod_bytes = opt_size("pod-size", arg);
		break;
	case KEY_POD_REST:
		o->pod_rest_ns = opt_duration_ns("pod-rest", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct ccstorm_options *o = &ccstorm_options;
	error_t r;

	switch (key) {
	case KEY_COUNT:
		o->count = arg;
		return 0;
	case KEY_IN:
		o->count_in = arg;
		return 0;
	case ARGP_KEY_ARG:
		/* All that is left belongs to the command. */
		o->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	default:
		break;
	}
	r = parse_jobs(key, arg, o);
	return r == ARGP_ERR_UNKNOWN ? parse_scenarios(key, arg, o) : r;
}

/* One line a scenario; the first is the default. */
static const struct scenario *const scenarios[] = {
	&build_pod,
	&soft_limit,
	&over_scan,
};

int main(int argc, char **argv)
{
	static const struct tool tool = {
		.name = "ccstorm",
		.doc = "Runs storms of compiler-like processes in memory cgroups of its own and says "
		       "whether reclaim fails them.",
		.doc_after =
			"Exit status: 0 PASS, 1 FAIL, 4 SKIP or INCONCLUSIVE, 2 ERROR, 64 usage "
			"(text and json; --format sets those of its dialect).\n\n"
			"Example: ccstorm --jobs 20 --level extreme\n"
			"Example: ccstorm --memcg 1G --count '*.o' --in obj -- make -j20 vmlinux",
		.scenarios = scenarios,
		.nr_scenarios = ARRAY_SIZE(scenarios),
		.options = options,
		.parse = parse,
		.tool_options = &ccstorm_options,
		.args_doc = "[-- COMMAND [ARGUMENT...]]",
	};

	return tool_main(&tool, argc, argv);
}
