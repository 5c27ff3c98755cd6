/* SPDX-License-Identifier: GPL-2.0-only */
#include "tool.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "cleanup.h"
#include "run.h"

#define EXIT_BROKEN 2 /* ERROR, as text and json say it */

struct parse_context {
	const struct tool *tool;
	struct options options;
};

/* argp finds the tool's table through state->input. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parse_context *ctx = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &ctx->options;
		if (ctx->tool->more)
			state->child_inputs[1] = ctx->tool->more_options;
		return 0;
	case ARGP_KEY_ERROR:
		opt_unknown(state);
	case ARGP_KEY_ARG:
		if (!ctx->tool->args_doc)
			opt_usage("'%s': no operand is taken here", arg);
		break;
	default:
		break;
	}
	return ctx->tool->parse ? ctx->tool->parse(key, arg, state) : ARGP_ERR_UNKNOWN;
}

/* argp hands this one no input. */
/* argp calls this with a state of its own, not ours. */
static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	fprintf(out, "%s (squeeze) %s\n", program_invocation_short_name, SQUEEZE_VERSION);
}

static const struct scenario *find_scenario(const struct tool *tool, const char *name)
{
	for (size_t i = 0; i < tool->nr_scenarios; i++)
		if (strcmp(tool->scenarios[i]->name, name) == 0)
			return tool->scenarios[i];
	opt_usage("--scenario: '%s' is not one of %s's (see --list)", name, tool->name);
}

static int print_list(const struct tool *tool)
{
	for (size_t i = 0; i < tool->nr_scenarios; i++)
		printf("%-20s %s\n", tool->scenarios[i]->name, tool->scenarios[i]->summary);
	return EXIT_SUCCESS;
}

static int print_explanation(const struct scenario *s)
{
	printf("%s: %s\n\n%s\n\nDescribed in: %s\nFixed by:     %s\n", s->name, s->summary,
	       s->explain, s->document, s->fix);
	return EXIT_SUCCESS;
}

static void say_cleaned(const char *sentence, void *data)
{
	(void)data;
	printf("%s\n", sentence);
}

static int clean(const struct tool *tool)
{
	struct fail f = { 0 };
	int n = arena_clean_stale(say_cleaned, NULL, &f);

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", tool->name, f.what);
		return EXIT_BROKEN;
	}
	if (n == 0)
		printf("nothing was left behind\n");
	return EXIT_SUCCESS;
}

static void print_size(const char *what, uint64_t bytes)
{
	char text[32];

	printf("  %-22s %s\n", what, format_size(bytes, text, sizeof(text)));
}

static int dry_run(struct run *run)
{
	const struct plan *p = &run->plan;
	struct fail f = { 0 };
	char text[32];
	int r = run_check_host(run, &f);

	printf("%s, scenario %s, would run %u time%s", run->tool, run->scenario->name,
	       run->opt->runs, run->opt->runs == 1 ? "" : "s");
	if (p->duration_ns)
		printf(" for %s", format_duration(p->duration_ns, text, sizeof(text)));
	printf(":\n  %-22s %u x %u\n", "processes x threads", p->nr_procs, p->threads_per_proc);
	if (!p->no_memcg)
		print_size("memcg limit", p->memcg_bytes);
	print_size("demand of the workers", p->demand_bytes);
	print_size("other memory", p->host_bytes);
	if (p->disk_bytes)
		printf("  %-22s %s in %s\n", "disk", format_size(p->disk_bytes, text, sizeof(text)),
		       p->disk_dir ? p->disk_dir : "/var/tmp");
	if (r == 0 && p->no_memcg) {
		printf("nothing would be made, and nothing is missing\n");
	} else if (r == 0) {
		printf("  %-22s %s\n", "swap", swap_kind_names[run->swap_spec.kind]);
		if (run->swap_spec.size_bytes)
			print_size("swap made", run->swap_spec.size_bytes);
		printf("  %-22s %s\n", "memcg made below", run->parent_memory);
		printf("nothing is missing\n");
	} else {
		printf("missing: %s\n", f.what);
	}
	return EXIT_SUCCESS;
}

static int write_file(const char *option, const char *path, const struct result_doc *doc,
		      int (*write)(const struct result_doc *doc, FILE *out))
{
	FILE *out = fopen(path, "we");
	int r = out ? write(doc, out) : -errno;

	if (out && fclose(out) != 0 && r == 0)
		r = -errno;
	if (r < 0)
		fprintf(stderr, "%s: --%s: %s: %s\n", doc->tool, option, path, strerror(-r));
	return r;
}

static int write_first_hgrm(const struct result_doc *doc, FILE *out)
{
	if (doc->nr_runs == 0 || doc->runs[0].nr_hists == 0)
		return 0;
	return report_hgrm(&doc->runs[0], doc->runs[0].hists[0].name, out);
}

/* A report that did not arrive whole must not look like a verdict: a full disk is exit 2. */
static int write_stdout(const struct options *opt, const struct result_doc *doc)
{
	int r = opt->format->write(doc, stdout);

	if (fflush(stdout) != 0 && r == 0)
		r = -errno;
	if (r < 0) {
		fprintf(stderr, "%s: standard output: %s\n", doc->tool, strerror(-r));
		/* Said once is enough: close_stdout() would find it again. */
		__fpurge(stdout);
		clearerr(stdout);
	}
	return r;
}

static int write_files(const struct result_doc *doc, const char *json, const char *hgrm)
{
	int r = json ? write_file("json", json, doc, report_json) : 0;

	if (hgrm && write_file("hgrm", hgrm, doc, write_first_hgrm) < 0)
		r = -EIO;
	return r;
}

static int report(const struct options *opt, const struct result_doc *doc)
{
	int r = write_stdout(opt, doc);

	if (write_files(doc, opt->json_file, opt->hgrm_file) < 0)
		r = -EIO;
	return r < 0 ? EXIT_BROKEN : opt->format->exit_code[doc->verdict];
}

/* The scenario has spoken for itself: only what went wrong is left to be said. */
static int report_briefly(const struct options *opt, const struct result_doc *doc)
{
	if (doc->verdict != VERDICT_PASS)
		fprintf(stderr, "%s: %s: %s\n", doc->tool, verdict_name(doc->verdict), doc->reason);
	if (write_files(doc, opt->json_file, opt->hgrm_file) < 0)
		return EXIT_BROKEN;
	return opt->format->exit_code[doc->verdict];
}

/* A result that cannot be written is better known before the run than after it. */
static void check_json_file(const struct options *opt)
{
	_cleanup_fclose_ FILE *out = NULL;

	if (!opt->json_file)
		return;
	out = fopen(opt->json_file, "ae");
	if (!out)
		opt_usage("--json: %s: %s", opt->json_file, strerror(errno));
}

static int run_and_report(struct run *run)
{
	struct fail f = { 0 };
	int code;

	if (run_plan(run, &f) < 0)
		opt_usage("%s", f.what);
	if (run->opt->dry_run)
		return dry_run(run);
	check_json_file(run->opt);
	run_scenario(run);
	code = run->scenario->speaks && !run->opt->format_given
		       ? report_briefly(run->opt, &run->doc)
		       : report(run->opt, &run->doc);
	result_free(&run->doc);
	return code;
}

static const struct scenario *choose(const struct tool *tool, const struct options *opt)
{
	if (opt->scenario)
		return find_scenario(tool, opt->scenario);
	return tool->choose ? tool->choose(tool) : tool->scenarios[0];
}

static void begin(struct run *run, const struct tool *tool, const struct scenario *scenario,
		  const struct options *opt)
{
	*run = (struct run){
		.tool = tool->name,
		.scenario = scenario,
		.opt = opt,
		.tool_options = tool->tool_options,
		.group = CGROUP_CLOSED,
	};
}

/* "r.json" is "r.procs-26.json" on that rung, "r" is "r.procs-26". */
static const char *rung_file(const char *file, const char *label, char *buf, size_t size)
{
	const char *slash, *dot;
	int stem;

	if (!file)
		return NULL;
	slash = strrchr(file, '/');
	dot = strrchr(slash ? slash : file, '.');
	stem = dot && dot > file && dot[-1] != '/' ? (int)(dot - file) : (int)strlen(file);
	(void)snprintf(buf, size, "%.*s.%s%s", stem, file, label, file + stem);
	return buf;
}

static int report_rung(const struct options *opt, const struct result_doc *doc, const char *label)
{
	char json[PATH_MAX], hgrm[PATH_MAX];
	int r = 0;

	if (strcmp(opt->format->name, "text") == 0)
		printf("%s: %s: %s\n", label, verdict_name(doc->verdict), doc->reason);
	else
		r = write_stdout(opt, doc);
	(void)fflush(stdout); /* what is wrong with it shows at the end */
	if (write_files(doc, rung_file(opt->json_file, label, json, sizeof(json)),
			rung_file(opt->hgrm_file, label, hgrm, sizeof(hgrm))) < 0)
		r = -EIO;
	return r;
}

/* All rungs are planned before the first runs: a bad one is not to be found out half an hour later. */
static void plan_ladder(struct run *run, const struct tool *tool, const struct options *opt,
			const struct scenario *scenario, size_t nr)
{
	struct fail f = { 0 };
	char label[32];

	if (strcmp(opt->format->name, "text") != 0 && strcmp(opt->format->name, "json") != 0)
		opt_usage("--format: a ladder is written as text or json, not as %s",
			  opt->format->name);
	for (size_t i = 0; i < nr; i++) {
		tool->climb(tool, i, label, sizeof(label));
		begin(run, tool, scenario, opt);
		if (run_plan(run, &f) < 0)
			opt_usage("%s: %s", label, f.what);
		if (opt->dry_run)
			(void)dry_run(run);
		result_free(&run->doc);
	}
}

static enum verdict worse(enum verdict a, enum verdict b)
{
	/* As in result_conclude(). */
	static const unsigned int weight[VERDICT_NR] = {
		[VERDICT_PASS] = 0,  [VERDICT_SKIP] = 1, [VERDICT_INCONCLUSIVE] = 2,
		[VERDICT_ERROR] = 3, [VERDICT_FAIL] = 4,
	};

	return weight[b] > weight[a] ? b : a;
}

/* One document a rung, each with its own arena and memcg; the exit code is the worst verdict's. */
static int climb_ladder(struct run *run, const struct tool *tool, const struct options *opt,
			const struct scenario *scenario, size_t nr)
{
	_cleanup_free_ struct result_doc *docs = calloc(nr, sizeof(*docs));
	enum verdict worst = VERDICT_PASS;
	struct fail f = { 0 };
	char label[32];
	size_t done = 0;
	int r = 0;

	plan_ladder(run, tool, opt, scenario, nr);
	if (opt->dry_run)
		return EXIT_SUCCESS;
	for (; docs && done < nr && !run_stop_requested; done++) {
		tool->climb(tool, done, label, sizeof(label));
		begin(run, tool, scenario, opt);
		(void)run_plan(run, &f);
		run_scenario(run);
		docs[done] = run->doc;
		worst = worse(worst, docs[done].verdict);
		if (report_rung(opt, &docs[done], label) < 0)
			r = EXIT_BROKEN;
	}
	if (docs && strcmp(opt->format->name, "text") == 0)
		tool->table(tool, docs, done, stdout);
	for (size_t i = 0; i < done; i++)
		result_free(&docs[i]);
	if (!docs || fflush(stdout) != 0)
		r = EXIT_BROKEN;
	return r ? r : opt->format->exit_code[worst];
}

static int dispatch(const struct tool *tool, const struct options *opt)
{
	const struct scenario *scenario = choose(tool, opt);
	static struct run run; /* 100 KiB: too large for a stack that will be forked 1,000 times */
	size_t nr_rungs = tool->nr_rungs ? tool->nr_rungs(tool) : 0;

	if (opt->list)
		return print_list(tool);
	if (opt->explain)
		return print_explanation(scenario);
	if (opt->clean)
		return clean(tool);
	if (nr_rungs > 1)
		return climb_ladder(&run, tool, opt, scenario, nr_rungs);
	begin(&run, tool, scenario, opt);
	return run_and_report(&run);
}

/* Whatever was printed, --help included: a full disk is an error, not silence. */
static void close_stdout(void)
{
	/* An earlier write may have failed, and left nothing for fclose() to fail on. */
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return;
	fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name,
		errno ? strerror(errno) : "write error");
	_exit(EXIT_BROKEN);
}

int tool_main(const struct tool *tool, int argc, char **argv)
{
	const struct argp_child children[] = { { &opt_argp, 0, NULL, 0 },
					       { tool->more, 0, NULL, 0 },
					       { 0 } };
	char doc[2048];
	const struct argp argp = {
		.options = tool->options,
		.parser = parse,
		.args_doc = tool->args_doc,
		.doc = doc,
		.children = children,
	};
	struct parse_context ctx = { .tool = tool };

	/* Numbers in documents have a point in every locale. */
	(void)setlocale(LC_CTYPE, "");
	(void)snprintf(doc, sizeof(doc), "%s\v%s", tool->doc, tool->doc_after);
	argp_program_version_hook = print_version;
	(void)atexit(close_stdout);
	options_init(&ctx.options, argc, argv);
	/* NO_ERRS: argp's own messages lack the value, and its hint the form that we promise. */
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS, NULL, &ctx) != 0)
		opt_usage("bad command line");
	return dispatch(tool, &ctx.options);
}
