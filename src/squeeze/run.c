/* SPDX-License-Identifier: GPL-2.0-only */
/* squeeze run: the tools of a suite one after the other, a result document each, and what they say
 * together. Rounds go over all scenarios in turn, so that a drift of the machine hits all alike. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "cmd.h"
#include "document.h"
#include "launch.h"
#include "opt.h"
#include "parse.h"
#include "session.h"
#include "suite.h"

/* A tool that takes three times as long as it should, and a minute more, is stuck. */
#define LIMIT_FACTOR 3
#define LIMIT_EXTRA_S 60
#define NS_PER_S UINT64_C(1000000000)
#define ROUNDS_MAX 1000
#define EXIT_SIGNAL_BASE 128

enum {
	KEY_SUITE = 2000,
	KEY_OUT,
	KEY_RUNS,
	KEY_TIME_SCALE,
	KEY_QUIET,
};

static const struct argp_option options[] = {
	{ "suite", KEY_SUITE, "NAME", 0, "quick (3 minutes) or full (half an hour) (quick)", 0 },
	{ "out", KEY_OUT, "DIR", 0,
	  "Folder for the results (squeeze-KERNEL-TIME); runs are added to those there", 0 },
	{ "runs", KEY_RUNS, "N", 0, "Run each scenario N times (1)", 0 },
	{ "time-scale", KEY_TIME_SCALE, "X", 0, "Handed to the tools; waits longer for them, too",
	  0 },
	{ "quiet", KEY_QUIET, NULL, 0, "Only the table at the end", 0 },
	{ 0 },
};

static void add_entry(struct session *s, const char *name)
{
	const struct suite_entry *entry = suite_find(s->suite, name);

	if (!entry)
		opt_usage("SCENARIO: '%s' is not in the %s suite (see 'squeeze list')", name,
			  suite_names[s->suite]);
	if (s->nr == SESSION_ENTRIES_MAX)
		opt_usage("SCENARIO: '%s' is one too many", name);
	s->items[s->nr++] = (struct session_item){ .entry = entry, .verdict = VERDICT_PASS };
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct session *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cmd_parse_init(state);
		break;
	case KEY_SUITE:
		s->suite = suite_parse(arg);
		if (s->suite == SUITE_NR)
			opt_bad_value("suite", arg, "quick or full");
		break;
	case KEY_OUT:
		s->out = arg;
		break;
	case KEY_RUNS:
		s->rounds = (unsigned int)opt_count("runs", arg, 1, ROUNDS_MAX);
		break;
	case KEY_TIME_SCALE:
		s->time_scale_text = arg;
		if (parse_real(arg, &s->time_scale) < 0 || !(s->time_scale >= 1))
			opt_bad_value("time-scale", arg, "a number of at least 1");
		break;
	case KEY_QUIET:
		s->quiet = true;
		break;
	case ARGP_KEY_ARG:
		/* Looked up when all options are known: --suite may come later. */
		return ARGP_ERR_UNKNOWN;
	case ARGP_KEY_ARGS:
		for (int i = state->next; i < state->argc; i++)
			add_entry(s, state->argv[i]);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void add_whole_suite(struct session *s)
{
	for (size_t i = 0; i < suite_table_nr; i++) {
		if (suite_table[i].suite == s->suite)
			add_entry(s, suite_table[i].name);
	}
}

/* The folder; its default name says what a later comparison will want to know. */
static int make_out(struct session *s)
{
	struct utsname uts;
	time_t now = time(NULL);
	struct stat st;
	struct tm tm;
	char stamp[32];

	if (!s->out) {
		(void)uname(&uts);
		(void)localtime_r(&now, &tm);
		(void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
		(void)snprintf(s->out_buf, sizeof(s->out_buf), "squeeze-%s-%s", uts.release, stamp);
		s->out = s->out_buf;
	}
	if (mkdir(s->out, 0777) < 0 && errno != EEXIST)
		return -errno;
	if (stat(s->out, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return access(s->out, W_OK) == 0 ? 0 : -errno;
}

/* OUT/NAME-RUN, RUN the first whose result is not there yet: results are added, never replaced. */
static int free_stem(const struct session *s, const struct suite_entry *e, char stem[PATH_MAX])
{
	for (unsigned int run = 1; run < UINT32_MAX; run++) {
		char path[PATH_MAX];
		int n = snprintf(path, sizeof(path), "%s/%s-%u.json", s->out, e->name, run);

		if (n < 0 || (size_t)n >= sizeof(path))
			return -ENAMETOOLONG;
		if (access(path, F_OK) != 0) {
			(void)snprintf(stem, PATH_MAX, "%.*s", n - (int)strlen(".json"), path);
			return 0;
		}
	}
	return -EOVERFLOW;
}

struct command {
	const char *argv[SUITE_ARGS_MAX + 8];
	char json[PATH_MAX + 8], txt[PATH_MAX + 8], log[PATH_MAX + 8];
};

static void make_command(const struct session *s, const struct suite_entry *e, const char *stem,
			 struct command *c)
{
	size_t n = 0;

	(void)snprintf(c->json, sizeof(c->json), "%s.json", stem);
	(void)snprintf(c->txt, sizeof(c->txt), "%s.txt", stem);
	(void)snprintf(c->log, sizeof(c->log), "%s.log", stem);
	c->argv[n++] = e->tool;
	for (size_t i = 0; i < SUITE_ARGS_MAX && e->args[i]; i++)
		c->argv[n++] = e->args[i];
	if (s->time_scale_text) {
		c->argv[n++] = "--time-scale";
		c->argv[n++] = s->time_scale_text;
	}
	c->argv[n++] = "--json";
	c->argv[n++] = c->json;
	c->argv[n] = NULL;
}

static void tick(uint64_t elapsed_ns, void *data)
{
	session_show_progress(data, elapsed_ns);
}

/* What the tool's end means when it left no document that can be read. */
static enum verdict verdict_without_document(const struct launch_end *end, const struct command *c,
					     const struct fail *f, char reason[TEXT_SIZE])
{
	char last[TEXT_SIZE / 2];
	bool said = session_last_line(c->log, last, sizeof(last));

	if (end->timed_out)
		(void)snprintf(reason, TEXT_SIZE, "it did not end in time and was %s",
			       WIFSIGNALED(end->status) ? "killed" : "interrupted");
	else if (WIFSIGNALED(end->status))
		(void)snprintf(reason, TEXT_SIZE, "it died of signal %d", WTERMSIG(end->status));
	else if (said)
		(void)snprintf(reason, TEXT_SIZE, "exit %d without a result: %s",
			       WEXITSTATUS(end->status), last);
	else
		(void)snprintf(reason, TEXT_SIZE, "exit %d without a result: %.200s",
			       WEXITSTATUS(end->status), f->what);
	return VERDICT_ERROR;
}

static void take_result(const struct launch_end *end, const struct command *c, enum verdict *ret,
			char reason[TEXT_SIZE])
{
	__attribute__((cleanup(document_freep))) struct document *doc = NULL;
	struct fail f = { 0 };

	if (document_load(c->json, &doc, &f) < 0) {
		*ret = verdict_without_document(end, c, &f, reason);
		return;
	}
	*ret = doc->verdict;
	(void)snprintf(reason, TEXT_SIZE, "%s", doc->reason);
	if (end->timed_out) {
		*ret = cmd_worse(*ret, VERDICT_ERROR);
		(void)snprintf(reason, TEXT_SIZE, "it did not end in time; it said: %.400s",
			       doc->reason);
	}
}

static void run_tool(struct session *s, struct session_item *item, const char *program,
		     const char *stem)
{
	const struct suite_entry *e = item->entry;
	struct command c;
	struct launch l = {
		.program = program,
		.argv = (char *const *)c.argv,
		.stdout_path = c.txt,
		.stderr_path = c.log,
		.limit_ns = (uint64_t)((double)(e->seconds * LIMIT_FACTOR + LIMIT_EXTRA_S) *
				       s->time_scale * (double)NS_PER_S),
		.tick = s->live ? tick : NULL,
		.data = s,
	};
	struct launch_end end = { 0 };
	enum verdict verdict;
	char reason[TEXT_SIZE];
	struct fail f = { 0 };

	make_command(s, e, stem, &c);
	if (launch_run(&l, &end, &f) < 0) {
		session_record(s, item, VERDICT_ERROR, f.what, 0);
		return;
	}
	take_result(&end, &c, &verdict, reason);
	s->signal = end.signal;
	session_record(s, item, verdict, reason, end.elapsed_ns);
}

static void run_item(struct session *s, struct session_item *item)
{
	char program[PATH_MAX], stem[PATH_MAX], reason[TEXT_SIZE];

	s->current = item;
	if (launch_find(item->entry->tool, program) < 0) {
		(void)snprintf(reason, sizeof(reason), "%s is neither beside squeeze nor in PATH",
			       item->entry->tool);
		session_record(s, item, VERDICT_SKIP, reason, 0);
		return;
	}
	if (free_stem(s, item->entry, stem) < 0) {
		session_record(s, item, VERDICT_ERROR, "the name of the folder is too long", 0);
		return;
	}
	if (s->live)
		session_show_progress(s, 0);
	run_tool(s, item, program, stem);
}

static void run_all(struct session *s)
{
	launch_block_signals();
	for (s->round = 1; s->round <= s->rounds; s->round++) {
		for (size_t i = 0; i < s->nr; i++) {
			if (!s->signal)
				s->signal = launch_pending_signal();
			if (s->signal)
				return;
			run_item(s, &s->items[i]);
		}
	}
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct session s = {
		.suite = SUITE_QUICK,
		.rounds = 1,
		.time_scale = 1,
		.live = isatty(STDERR_FILENO),
	};
	int r;

	cmd_parse(cmd, argc, argv, 0, &s);
	if (s.nr == 0)
		add_whole_suite(&s);
	s.live = s.live && !s.quiet;
	r = make_out(&s);
	if (r < 0)
		opt_usage("--out: '%s': %s", s.out, strerror(-r));
	run_all(&s);
	session_summary(&s, stdout);
	return s.signal ? EXIT_SIGNAL_BASE + s.signal : cmd_verdict_code(session_verdict(&s));
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[SCENARIO...]",
	.doc = "Runs a suite, or some scenarios of it: a result document each, a table at the "
	       "end.\vExit status: that of the worst verdict (0 PASS, 1 FAIL, 2 ERROR, 4 SKIP or "
	       "INCONCLUSIVE), 64 bad command line, 128 + N after signal N. Ctrl-C ends the tool "
	       "that "
	       "is running; what was measured so far is kept.",
};

const struct cmd cmd_run = {
	.name = "run",
	.full_name = "squeeze run",
	.summary = "Run a suite of scenarios",
	.argp = &argp,
	.run = run,
};
