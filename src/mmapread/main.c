/* SPDX-License-Identifier: GPL-2.0-only */
#include "tool.h"

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "content.h"
#include "mmapread.h"
#include "parse.h"
#include "text.h"

/* Options common to all tools have keys below 2000. */
enum {
	KEY_PROCS = 2000,
	KEY_PATTERN,
	KEY_ADVICE,
	KEY_FILE_SIZE,
	KEY_READAHEAD,
	KEY_DIR,
	KEY_FS,
	KEY_IMAGE_SIZE,
	KEY_COMPRESS,
	KEY_KEEP_FILES,
};

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The load:", 1 },
	{ "procs", KEY_PROCS, "N[,N...]", 0,
	  "Processes that read, each its own file (104); several: one run of all for each, and one "
	  "table",
	  0 },
	{ "pattern", KEY_PATTERN, "ORDER", 0, "seq or rand: which page is next (seq)", 0 },
	{ "advice", KEY_ADVICE, "KIND", 0, "normal, random or sequential, as madvise(2) (normal)",
	  0 },
	{ "file-size", KEY_FILE_SIZE, "SIZE", 0, "Of each file (together 3 x the memcg)", 0 },
	{ "readahead", KEY_READAHEAD, "SIZE", 0,
	  "Readahead window of the device for the run, or keep; restored afterwards (4M)", 0 },
	{ NULL, 0, NULL, 0, "The files:", 2 },
	{ "dir", KEY_DIR, "PATH", 0, "Where they are made (/var/tmp)", 0 },
	{ "fs", KEY_FS, "TYPE", 0,
	  "On a filesystem of their own in an image: btrfs[:zstd[:LEVEL]], ext4 or xfs", 0 },
	{ "image-size", KEY_IMAGE_SIZE, "SIZE", 0, "Of that image (fits the files)", 0 },
	{ "compress", KEY_COMPRESS, "RATIO", 0,
	  "How well their bytes compress: 1 not at all, 3.0 about 3:1 (1)", 0 },
	{ "keep-files", KEY_KEEP_FILES, NULL, 0,
	  "Leave them in PATH/mmapread-files, and use what fits there", 0 },
	{ 0 },
};

static struct mmapread_options mmapread_options = { .compress = 1 };

static void parse_procs(const char *arg, struct mmapread_options *o)
{
	const char *at = arg;
	uint64_t n;

	o->nr_rungs = 0;
	do {
		if (o->nr_rungs == MMAPREAD_RUNGS_MAX)
			opt_usage("--procs: at most %d numbers", MMAPREAD_RUNGS_MAX);
		if (o->nr_rungs > 0)
			at++;
		if (parse_u64_at(&at, &n) < 0 || n < 1 || n > MMAPREAD_PROCS_MAX)
			opt_usage("--procs: '%s' is not a list of numbers from 1 to %d", arg,
				  MMAPREAD_PROCS_MAX);
		o->ladder[o->nr_rungs++] = (unsigned int)n;
	} while (*at == ',');
	if (*at != '\0')
		opt_bad_value("procs", arg, "a list of numbers such as 1,26,52,104");
	o->procs = o->ladder[0];
}

static enum advice parse_advice(const char *arg)
{
	for (int i = ADVICE_NORMAL; i <= ADVICE_SEQUENTIAL; i++)
		if (strcmp(arg, advice_names[i]) == 0)
			return (enum advice)i;
	opt_bad_value("advice", arg, "normal, random or sequential");
}

static double parse_compress(const char *arg)
{
	double ratio;

	if (parse_real(arg, &ratio) < 0 || !(ratio >= 1 && ratio <= CONTENT_RATIO_MAX))
		opt_usage("--compress: '%s' is not a ratio from 1 to %.0f", arg, CONTENT_RATIO_MAX);
	return ratio;
}

static void parse_readahead(const char *arg, struct mmapread_options *o)
{
	o->readahead_keep = strcmp(arg, "keep") == 0;
	if (o->readahead_keep)
		return;
	o->readahead_bytes = opt_size("readahead", arg);
	/* The kernel counts it in KiB; over 1 GiB it would be all of a file. */
	if (o->readahead_bytes < 4096 || o->readahead_bytes > (1u << 30))
		opt_usage("--readahead: %s is out of range (4k to 1g)", arg);
}

static error_t parse_load(int key, char *arg, struct mmapread_options *o)
{
	switch (key) {
	case KEY_PROCS:
		parse_procs(arg, o);
		break;
	case KEY_PATTERN:
		if (strcmp(arg, "seq") != 0 && strcmp(arg, "rand") != 0)
			opt_bad_value("pattern", arg, "seq or rand");
		o->random = strcmp(arg, "rand") == 0;
		break;
	case KEY_ADVICE:
		o->advice = parse_advice(arg);
		break;
	case KEY_FILE_SIZE:
		o->file_bytes = opt_size("file-size", arg);
		break;
	case KEY_READAHEAD:
		parse_readahead(arg, o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_files(int key, char *arg, struct mmapread_options *o)
{
	switch (key) {
	case KEY_DIR:
		o->dir = arg;
		break;
	case KEY_FS:
		if (fsimage_parse(arg, &o->fs) < 0)
			opt_bad_value("fs", arg, "btrfs, btrfs:zstd, btrfs:zstd:3, ext4 or xfs");
		break;
	case KEY_IMAGE_SIZE:
		o->image_bytes = opt_size("image-size", arg);
		break;
	case KEY_COMPRESS:
		o->compress = parse_compress(arg);
		break;
	case KEY_KEEP_FILES:
		o->keep_files = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	error_t r = parse_load(key, arg, &mmapread_options);

	(void)state;
	return r == ARGP_ERR_UNKNOWN ? parse_files(key, arg, &mmapread_options) : r;
}

static size_t nr_rungs(const struct tool *tool)
{
	(void)tool;
	return mmapread_options.nr_rungs;
}

static void climb(const struct tool *tool, size_t rung, char *ret_label, size_t size)
{
	(void)tool;
	mmapread_options.procs = mmapread_options.ladder[rung];
	(void)snprintf(ret_label, size, "procs-%u", mmapread_options.procs);
}

static void cell(FILE *out, const struct run_result *r, enum metric_id id, int width)
{
	char text[TEXT_NUMBER_SIZE + 16];

	fprintf(out, "  %*s", width,
		r ? text_humane(r->metrics[id], metric_table[id].unit, text, sizeof(text)) : "-");
}

/* One row a rung, of its first run. */
static void table(const struct tool *tool, const struct result_doc *docs, size_t nr, FILE *out)
{
	(void)tool;
	fprintf(out, "\n%5s  %-12s  %13s  %12s  %12s  %12s  %12s\n", "procs", "verdict",
		"passes/window", "passes/major", "pages read", "bytes/s", "worst stall");
	for (size_t i = 0; i < nr; i++) {
		const struct run_result *r = docs[i].nr_runs ? &docs[i].runs[0] : NULL;

		fprintf(out, "%5u  %-12s", mmapread_options.ladder[i],
			verdict_name(docs[i].verdict));
		cell(out, r, METRIC_PASSES_PER_WINDOW, 13);
		cell(out, r, METRIC_PASSES_PER_MAJOR_FAULT, 12);
		cell(out, r, METRIC_PAGES_READ, 12);
		cell(out, r, METRIC_READ_BYTES_PER_S, 12);
		cell(out, r, METRIC_LONGEST_STALL_NS, 12);
		fputc('\n', out);
	}
}

/* One line a scenario; the first is the default. */
static const struct scenario *const scenarios[] = {
	&readahead_livelock,
};

int main(int argc, char **argv)
{
	static const struct tool tool = {
		.name = "mmapread",
		.doc = "Reads mapped files from many processes inside a memory cgroup of its own "
		       "and says whether readahead drowns in reclaim.",
		.doc_after =
			"Exit status: 0 PASS, 1 FAIL, 4 SKIP or INCONCLUSIVE, 2 ERROR, 64 usage "
			"(text and json; --format sets those of its dialect). A ladder (--procs "
			"1,26,52,104) exits with the worst.\n\n"
			"Example: mmapread --procs 104 --memcg 256M --time 10s",
		.scenarios = scenarios,
		.nr_scenarios = ARRAY_SIZE(scenarios),
		.options = options,
		.parse = parse,
		.tool_options = &mmapread_options,
		.nr_rungs = nr_rungs,
		.climb = climb,
		.table = table,
	};

	return tool_main(&tool, argc, argv);
}
