/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report for people: the verdict and why, what was run and where, the bounds, the numbers, the
 * latencies. It keeps to TEXT_WIDTH columns of ASCII, so that it survives being pasted into a mail.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cleanup.h"
#include "parse.h"
#include "report.h"
#include "report_internal.h"
#include "text.h"

#define LABEL_WIDTH 10 /* "command   " */

static void put_labelled(FILE *out, const char *label, const char *text)
{
	fprintf(out, "%-*s", LABEL_WIDTH, label);
	text_paragraph(out, text, LABEL_WIDTH, LABEL_WIDTH);
}

static void put_heading(const struct result_doc *doc, FILE *out)
{
	static const char *const words[VERDICT_NR] = {
		[VERDICT_PASS] = "PASS",   [VERDICT_FAIL] = "FAIL",
		[VERDICT_SKIP] = "SKIP",   [VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
		[VERDICT_ERROR] = "ERROR",
	};
	char line[TEXT_SIZE * 3];

	(void)snprintf(line, sizeof(line), "%s: %s", doc->scenario, doc->reason);
	fprintf(out, "%s  ", words[doc->verdict]);
	text_paragraph(out, line, strlen(words[doc->verdict]) + 2, strlen(words[doc->verdict]) + 2);
	if (doc->verdict != VERDICT_FAIL)
		return;
	putc('\n', out);
	if (doc->document)
		put_labelled(out, "see", doc->document);
	if (doc->fix)
		put_labelled(out, "fix", doc->fix);
}

/* Quotes an argument as a shell would need it. */
static void append_argument(char *line, size_t size, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	size_t used = strlen(line);

	if (*arg && arg[strspn(arg, plain)] == '\0') {
		(void)snprintf(line + used, size - used, "%s%s", used ? " " : "", arg);
		return;
	}
	(void)snprintf(line + used, size - used, "%s'", used ? " " : "");
	for (; *arg; arg++) {
		used = strlen(line);
		(void)snprintf(line + used, size - used, *arg == '\'' ? "'\\''" : "%c", *arg);
	}
	used = strlen(line);
	(void)snprintf(line + used, size - used, "'");
}

static void put_command(const struct result_doc *doc, FILE *out)
{
	char line[2048] = "";

	for (int i = 0; i < doc->argc; i++)
		append_argument(line, sizeof(line), doc->argv[i]);
	put_labelled(out, "command", line);
}

static void append(char *line, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void append(char *line, size_t size, const char *fmt, ...)
{
	size_t used = strlen(line);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line + used, size - used, fmt, ap);
	va_end(ap);
}

static void put_memory(const struct host_info *host, FILE *out)
{
	char line[512] = "", size[TEXT_NUMBER_SIZE];

	if (host->memcg_version)
		append(line, sizeof(line), "cgroup %s, memory controller v%u", host->cgroup,
		       host->memcg_version);
	else
		append(line, sizeof(line), "cgroup %s, no memory controller", host->cgroup);
	if (host->lru[0])
		append(line, sizeof(line), ", %s LRU", host->lru);
	if (value_is_present(host->swappiness))
		append(line, sizeof(line), ", swappiness %.0f", value_as_real(host->swappiness));
	if (host->thp[0])
		append(line, sizeof(line), ", THP %s", host->thp);
	append(line, sizeof(line), ", zswap %s, PSI %s", host->zswap ? "on" : "off",
	       host->psi ? "on" : "off");
	put_labelled(out, "memory", line);

	line[0] = '\0';
	for (size_t i = 0; i < host->nr_swap; i++)
		append(line, sizeof(line), "%s%s %s", i ? ", " : "", host->swap[i].kind,
		       format_size(host->swap[i].size_bytes, size, sizeof(size)));
	put_labelled(out, "swap", line[0] ? line : "none");
}

static void put_host(const struct result_doc *doc, FILE *out)
{
	const struct host_info *host = &doc->host;
	char line[512] = "", size[TEXT_NUMBER_SIZE];

	append(line, sizeof(line), "%s %s, %u CPU%s, %u node%s, %s of memory, pages of %llu",
	       host->kernel, host->arch, host->cpus, host->cpus == 1 ? "" : "s", host->nodes,
	       host->nodes == 1 ? "" : "s", format_size(host->mem_total_bytes, size, sizeof(size)),
	       (unsigned long long)host->page_size);
	if (host->virtual_machine[0] && strcmp(host->virtual_machine, "none") != 0)
		append(line, sizeof(line), ", in %s",
		       strcmp(host->virtual_machine, "unknown") != 0 ? host->virtual_machine
								     : "a virtual machine");
	put_labelled(out, "kernel", line);
	put_memory(host, out);
	line[0] = '\0';
	append(line, sizeof(line), "%s %s", doc->tool, doc->version);
	if (host->probe[0])
		append(line, sizeof(line), ", reclaim seen by %s", host->probe);
	append(line, sizeof(line), ", started %s", doc->started);
	put_labelled(out, "tool", line);
}

/* Of one check in all runs: the instance that tells most, and how often it came out that way. */
struct check_summary {
	const struct check *worst;
	size_t nr, same; /* runs that have it; of them with the outcome of @worst */
};

static bool is_worse(const struct check *a, const struct check *b)
{
	static const int severity[OUTCOME_NR] = {
		[OUTCOME_PASS] = 0,
		[OUTCOME_SKIP] = 1,
		[OUTCOME_FAIL] = 2,
	};
	double va = value_as_real(a->value), vb = value_as_real(b->value);

	if (a->outcome != b->outcome)
		return severity[a->outcome] > severity[b->outcome];
	return a->op == OP_GE ? va < vb : va > vb;
}

static struct check_summary summarise(const struct result_doc *doc, const char *name)
{
	struct check_summary s = { 0 };

	for (size_t r = 0; r < doc->nr_runs; r++) {
		for (size_t i = 0; i < doc->runs[r].nr_checks; i++) {
			const struct check *c = &doc->runs[r].checks[i];

			if (strcmp(c->name, name) != 0)
				continue;
			s.nr++;
			if (!s.worst || c->outcome != s.worst->outcome) {
				if (!s.worst || is_worse(c, s.worst)) {
					s.worst = c;
					s.same = 1;
				}
				continue;
			}
			s.same++;
			if (is_worse(c, s.worst))
				s.worst = c;
		}
	}
	return s;
}

/* Whether an earlier run, or an earlier check of this one, has the name already. */
static bool is_repeated(const struct result_doc *doc, size_t run, size_t check)
{
	const char *name = doc->runs[run].checks[check].name;

	for (size_t r = 0; r <= run; r++) {
		size_t end = r == run ? check : doc->runs[r].nr_checks;

		for (size_t i = 0; i < end; i++) {
			if (strcmp(doc->runs[r].checks[i].name, name) == 0)
				return true;
		}
	}
	return false;
}

static void put_check(const struct result_doc *doc, const struct check_summary *s, int width,
		      FILE *out)
{
	static const char *const words[OUTCOME_NR] = {
		[OUTCOME_PASS] = "pass",
		[OUTCOME_FAIL] = "FAIL",
		[OUTCOME_SKIP] = "skip",
	};
	const struct check *c = s->worst;
	char value[TEXT_NUMBER_SIZE], bound[TEXT_NUMBER_SIZE], outcome[48];
	bool compared = value_is_present(c->value) && value_is_present(c->bound);
	size_t column;

	(void)snprintf(outcome, sizeof(outcome), "%s", words[c->outcome]);
	if (doc->nr_runs > 1)
		append(outcome, sizeof(outcome), " %zu/%zu", s->same, s->nr);
	column = (size_t)fprintf(
		out, "  %-*s %12s %2s %-10s %s", width, c->name,
		text_humane(c->value, c->unit, value, sizeof(value)),
		compared ? check_op_text(c->op) : "",
		compared ? text_humane(c->bound, c->unit, bound, sizeof(bound)) : "", outcome);
	if (!c->why[0]) {
		putc('\n', out);
	} else if (column + 2 + strlen(c->why) <= TEXT_WIDTH) {
		fputs("  ", out);
		text_paragraph(out, c->why, column + 2, column + 2);
	} else {
		fputs("\n      ", out);
		text_paragraph(out, c->why, 6, 6);
	}
}

static void put_checks(const struct result_doc *doc, FILE *out)
{
	int width = 16;
	bool headed = false;

	for (size_t r = 0; r < doc->nr_runs; r++) {
		for (size_t i = 0; i < doc->runs[r].nr_checks; i++) {
			int len = (int)strlen(doc->runs[r].checks[i].name);

			width = len > width ? len : width;
		}
	}
	for (size_t r = 0; r < doc->nr_runs; r++) {
		for (size_t i = 0; i < doc->runs[r].nr_checks; i++) {
			struct check_summary s;

			if (is_repeated(doc, r, i))
				continue;
			if (!headed)
				fprintf(out, "\nChecks%s\n",
					doc->nr_runs > 1 ? " (of all runs, the worst value)" : "");
			headed = true;
			s = summarise(doc, doc->runs[r].checks[i].name);
			put_check(doc, &s, width, out);
		}
	}
}

static void put_runs(const struct result_doc *doc, FILE *out)
{
	char duration[TEXT_NUMBER_SIZE], line[TEXT_SIZE * 2];

	if (doc->nr_runs < 2)
		return;
	fputs("\nRuns\n", out);
	for (size_t r = 0; r < doc->nr_runs; r++) {
		const struct run_result *run = &doc->runs[r];
		int column = fprintf(out, "  %3zu  %8s  ", r + 1,
				     format_duration(run->duration_ns, duration, sizeof(duration)));

		(void)snprintf(line, sizeof(line), "%s%s%s", verdict_name(run->verdict),
			       run->reason[0] ? ": " : "", run->reason);
		text_paragraph(out, line, (size_t)column, (size_t)column);
	}
}

static void put_notes(const struct result_doc *doc, FILE *out)
{
	bool headed = false;

	for (size_t r = 0; r < doc->nr_runs; r++) {
		for (size_t i = 0; i < doc->runs[r].nr_notes; i++) {
			int column;

			if (!headed)
				fputs("\nNotes\n", out);
			headed = true;
			column = doc->nr_runs > 1 ? fprintf(out, "  run %zu: ", r + 1)
						  : fprintf(out, "  ");
			text_paragraph(out, doc->runs[r].notes[i], (size_t)column, 4);
		}
	}
}

int report_text(const struct result_doc *doc, FILE *out)
{
	locale_t saved = text_locale_enter();
	int r;

	errno = 0;
	put_heading(doc, out);
	putc('\n', out);
	put_command(doc, out);
	put_host(doc, out);
	put_runs(doc, out);
	put_checks(doc, out);
	put_notes(doc, out);
	report_text_metrics(doc, out);
	r = report_text_hists(doc, out);
	report_text_worst(doc, out);
	text_locale_leave(saved);
	return r ? r : report_stream_status(out);
}
