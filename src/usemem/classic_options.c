/* SPDX-License-Identifier: GPL-2.0-only */
/* vm-scalability's options, with its letters and long names. */
#include "classic.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>

#include "opt.h"

/* Letters are the keys of the others; the tool's own begin at 2000. */
enum { KEY_INIT_TIME = 3000 };

/* kernel.pid_max on 64-bit machines. */
#define TASKS_MAX (4u << 20)
/* More passes than anybody can wait for. */
#define REPEAT_MAX 1000000000u
#define SLEEP_MAX_NS (1000000ULL * 1000000000ULL)

#define GROUP_CLASSIC 20

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0,
	  "vm-scalability's command line, usemem [options] SIZE:", GROUP_CLASSIC },
	{ "nproc", 'n', "N", 0, "Do the job in N processes (1)", 0 },
	{ "thread", 't', "M", 0, "… in M threads of each process", 0 },
	{ "malloc", 'a', NULL, 0, "Take the memory from malloc()", 0 },
	{ "file", 'f', "FILE", 0, "mmap FILE, shared", 0 },
	{ "anonymous", 'O', NULL, 0, "mmap with MAP_ANONYMOUS", 0 },
	{ "prefault", 'F', NULL, 0, "mmap with MAP_POPULATE", 0 },
	{ "prealloc", 'P', NULL, 0, "Allocate before the processes are forked", 0 },
	{ "unit", 'u', "SIZE", 0, "Allocate in chunks of SIZE", 0 },
	{ "step", 'j', "SIZE", 0, "Access one word of every SIZE bytes (8)", 0 },
	{ "repeat", 'r', "N", 0, "Repeat the accesses N times (1)", 0 },
	{ "random", 'R', NULL, 0, "Access at random", 0 },
	{ "readonly", 'o', NULL, 0, "Only read", 0 },
	{ "open-rw", 'w', NULL, 0, "Open and map the file for writing all the same", 0 },
	{ "mlock", 'M', NULL, 0, "mlock() the memory after the accesses", 0 },
	{ "msync", 'S', NULL, 0, "msync(MS_SYNC) after each repetition", 0 },
	{ "sleep", 's', "SEC", 0, "Sleep before the memory is freed; -1: for ever", 0 },
	{ "runtime", 'T', "SEC", 0, "Stop accessing after SEC seconds", 0 },
	{ "sync-rw", 'y', NULL, 0, "Wait for each other between allocation and access", 0 },
	{ "sync-free", 'x', NULL, 0, "Wait for each other before the memory is freed", 0 },
	{ "bind", 'b', "N", 0, "Bind task i to CPU i x N", 0 },
	{ NULL, 'q', NULL, 0, "No dots for repetitions", 0 },
	{ "init-time", KEY_INIT_TIME, NULL, 0, "Show the time before the fork separately", 0 },
	{ 0 },
};

void classic_options_init(struct classic_options *o)
{
	*o = (struct classic_options){ .procs = 1, .repeat = 1, .step_bytes = sizeof(uint64_t) };
}

/* Any negative number of seconds means for ever. */
static uint64_t sleep_time(const char *arg)
{
	uint64_t ns;

	if (arg[0] == '-' && isdigit((unsigned char)arg[1]))
		return CLASSIC_SLEEP_FOREVER;
	if (arg[0] == '0' && arg[1] == '\0')
		return 0;
	ns = opt_duration_ns("sleep", arg);
	return ns < SLEEP_MAX_NS ? ns : SLEEP_MAX_NS;
}

static void set_size(struct classic_options *o, const char *arg)
{
	if (o->has_size)
		opt_usage("'%s': only one SIZE is taken", arg);
	if (parse_size(arg, &o->size_bytes) < 0)
		opt_usage("SIZE: '%s' is not a size (digits, then k m g t)", arg);
	o->has_size = true;
}

/* Options with a value. */
static error_t parse_value(int key, char *arg, struct classic_options *o)
{
	switch (key) {
	case ARGP_KEY_ARG:
		set_size(o, arg);
		break;
	case 'n':
		o->procs = (unsigned int)opt_count("nproc", arg, 1, TASKS_MAX);
		break;
	case 't':
		o->threads = (unsigned int)opt_count("thread", arg, 0, TASKS_MAX);
		break;
	case 'b':
		o->bind = (unsigned int)opt_count("bind", arg, 0, PARSE_LIST_MAX);
		break;
	case 'r':
		o->repeat = (unsigned int)opt_count("repeat", arg, 0, REPEAT_MAX);
		break;
	case 'f':
		o->file = arg;
		break;
	case 'u':
		o->unit_bytes = opt_size("unit", arg);
		break;
	case 'j':
		o->step_bytes = opt_size("step", arg);
		break;
	case 's':
		o->sleep_ns = sleep_time(arg);
		break;
	case 'T':
		o->runtime_ns = opt_duration_ns("runtime", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool *flag(int key, struct classic_options *o)
{
	switch (key) {
	case 'a':
		return &o->heap;
	case 'F':
		return &o->prefault;
	case 'P':
		return &o->prealloc;
	case 'o':
		return &o->readonly;
	case 'w':
		return &o->open_rw;
	case 'R':
		return &o->random;
	case 'M':
		return &o->lock;
	case 'O':
		return &o->anonymous;
	case 'S':
		return &o->msync;
	case 'y':
		return &o->sync_rw;
	case 'x':
		return &o->sync_free;
	case 'q':
		return &o->quiet;
	case KEY_INIT_TIME:
		return &o->init_time;
	default:
		return NULL;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct classic_options *o = state->input;
	bool *set = flag(key, o);

	if (set)
		*set = true;
	else if (parse_value(key, arg, o) != 0)
		return ARGP_ERR_UNKNOWN;
	o->given = true;
	return 0;
}

const struct argp classic_argp = { .options = option_table, .parser = parse };

int classic_refuse(const struct classic_options *o, struct fail *f)
{
	return o->given ? fail_say(f, EINVAL,
				   "SIZE and vm-scalability's options are for --scenario classic")
			: 0;
}

unsigned int classic_slots(const struct classic_options *o)
{
	return o->procs * (o->threads ? o->threads : 1);
}

static uint64_t times(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t classic_memory_bytes(const struct classic_options *o)
{
	uint64_t copies = o->prealloc ? o->procs : classic_slots(o);

	if (o->file && !o->heap && !o->anonymous)
		return 0;
	if (o->readonly)
		return 0;
	/* Shared anonymous memory is there once; a populated private one once more than it is copied. */
	if (o->file && o->prealloc)
		copies = 1;
	else if (o->prealloc && o->prefault)
		copies++;
	return times(o->size_bytes, copies);
}

int classic_check(const struct classic_options *o, unsigned int cpus, struct fail *f)
{
	if (!o->has_size)
		return fail_say(f, EINVAL, "SIZE is missing: usemem [options] SIZE");
	if ((uint64_t)o->procs * (o->threads ? o->threads : 1) > TASKS_MAX)
		return fail_say(f, EINVAL, "--thread: %u processes of %u threads are too many",
				o->procs, o->threads);
	if (o->sync_rw && o->unit_bytes && o->unit_bytes != o->size_bytes)
		return fail_say(f, EINVAL,
				"--sync-rw: tasks can wait for each other after allocation only if "
				"--unit is SIZE");
	if (o->lock && o->unit_bytes && !o->prealloc &&
	    o->size_bytes / o->unit_bytes > CLASSIC_UNITS_KEPT)
		return fail_say(f, EINVAL, "--mlock: at most %d chunks of --unit can be locked",
				CLASSIC_UNITS_KEPT);
	if (o->bind && o->bind >= cpus)
		return fail_say(f, EINVAL, "--bind: %u is not below the number of CPUs (%u)",
				o->bind, cpus);
	return 0;
}
