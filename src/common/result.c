/* SPDX-License-Identifier: GPL-2.0-only */
#include "result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "stats.h"

/* The confidence of every "k of n" (design.md 4.2). */
#define CONFIDENCE 0.95

const char *verdict_name(enum verdict v)
{
	static const char *const names[VERDICT_NR] = {
		[VERDICT_PASS] = "pass",   [VERDICT_FAIL] = "fail",
		[VERDICT_SKIP] = "skip",   [VERDICT_INCONCLUSIVE] = "inconclusive",
		[VERDICT_ERROR] = "error",
	};

	return names[v];
}

const char *outcome_name(enum outcome o)
{
	static const char *const names[OUTCOME_NR] = {
		[OUTCOME_PASS] = "pass",
		[OUTCOME_FAIL] = "fail",
		[OUTCOME_SKIP] = "skip",
	};

	return names[o];
}

const char *check_op_text(enum check_op op)
{
	static const char *const texts[] = { [OP_LE] = "<=", [OP_GE] = ">=", [OP_EQ] = "==" };

	return texts[op];
}

void result_init(struct result_doc *doc)
{
	memset(doc, 0, sizeof(*doc));
}

void run_result_free(struct run_result *r)
{
	for (size_t i = 0; i < r->nr_hists; i++)
		free(r->hists[i].hist);
	r->nr_hists = 0;
	timeline_free(&r->timeline);
}

void result_free(struct result_doc *doc)
{
	for (size_t i = 0; i < doc->nr_runs; i++)
		run_result_free(&doc->runs[i]);
	free(doc->runs);
	doc->runs = NULL;
	doc->nr_runs = 0;
}

struct run_result *result_add_run(struct result_doc *doc)
{
	struct run_result *runs = reallocarray(doc->runs, doc->nr_runs + 1, sizeof(*runs));
	struct run_result *run;

	if (!runs)
		return NULL;
	doc->runs = runs;
	run = &runs[doc->nr_runs++];
	memset(run, 0, sizeof(*run));
	for (size_t i = 0; i < METRIC_COUNT; i++)
		run->metrics[i] = value_absent();
	return run;
}

struct hist *run_result_add_hist(struct run_result *r, const char *name, const char *unit)
{
	struct named_hist *named;
	struct hist *hist;

	if (r->nr_hists == HISTS_MAX)
		return NULL;
	hist = malloc(sizeof(*hist));
	if (!hist)
		return NULL;
	hist_init(hist);
	named = &r->hists[r->nr_hists++];
	(void)snprintf(named->name, sizeof(named->name), "%s", name);
	named->unit = unit;
	named->hist = hist;
	return hist;
}

void run_result_note(struct run_result *r, const char *fmt, ...)
{
	va_list ap;

	if (r->nr_notes == ARRAY_SIZE(r->notes))
		return;
	va_start(ap, fmt);
	if (vsnprintf(r->notes[r->nr_notes], TEXT_SIZE, fmt, ap) >= 0)
		r->nr_notes++;
	va_end(ap);
}

/* The next free row, or NULL when the table is full: PARAMS_MAX is far above what any tool has. */
static struct param *add_param(struct result_doc *doc, const char *name)
{
	struct param *p;

	if (doc->nr_params == PARAMS_MAX)
		return NULL;
	p = &doc->params[doc->nr_params++];
	memset(p, 0, sizeof(*p));
	p->name = name;
	return p;
}

void result_param_text(struct result_doc *doc, const char *name, const char *value)
{
	struct param *p = add_param(doc, name);

	if (!p)
		return;
	p->kind = PARAM_TEXT;
	(void)snprintf(p->text, sizeof(p->text), "%s", value);
}

void result_param_u64(struct result_doc *doc, const char *name, uint64_t value)
{
	struct param *p = add_param(doc, name);

	if (!p)
		return;
	p->kind = PARAM_NUMBER;
	p->number = value;
}

void result_param_real(struct result_doc *doc, const char *name, double value)
{
	struct param *p = add_param(doc, name);

	if (!p)
		return;
	p->kind = PARAM_REAL;
	p->real = value;
}

void result_param_flag(struct result_doc *doc, const char *name, bool value)
{
	struct param *p = add_param(doc, name);

	if (!p)
		return;
	p->kind = PARAM_FLAG;
	p->flag = value;
}

static size_t count_runs(const struct result_doc *doc, enum verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < doc->nr_runs; i++)
		n += doc->runs[i].verdict == v;
	return n;
}

static const struct run_result *first_run(const struct result_doc *doc, enum verdict v)
{
	for (size_t i = 0; i < doc->nr_runs; i++) {
		if (doc->runs[i].verdict == v)
			return &doc->runs[i];
	}
	return NULL;
}

/* "2 of 3 runs failed (95 % bound of the rate: 9 % to 99 %)". Only runs that passed or failed are
 * trials; the others say nothing about the rate and are named apart. */
static void describe_rate(const struct result_doc *doc, char *buf, size_t size)
{
	size_t failed = count_runs(doc, VERDICT_FAIL);
	size_t judged = failed + count_runs(doc, VERDICT_PASS);
	size_t others = doc->nr_runs - judged;
	char apart[48] = "";
	double low, high;

	stats_binomial_bound(failed, judged, CONFIDENCE, &low, &high);
	if (others)
		(void)snprintf(apart, sizeof(apart), "; %zu more not judged", others);
	(void)snprintf(buf, size, "%zu of %zu runs failed (95 %% bound: %.0f %% to %.0f %%%s)",
		       failed, judged, low * 100, high * 100, apart);
}

void result_conclude(struct result_doc *doc)
{
	static const enum verdict precedence[] = {
		VERDICT_FAIL, VERDICT_ERROR, VERDICT_INCONCLUSIVE, VERDICT_SKIP, VERDICT_PASS,
	};
	const struct run_result *deciding = NULL;
	char lead[160];

	for (size_t i = 0; i < ARRAY_SIZE(precedence) && !deciding; i++)
		deciding = first_run(doc, precedence[i]);
	if (!deciding)
		return;
	doc->verdict = deciding->verdict;
	if (doc->nr_runs == 1) {
		memcpy(doc->reason, deciding->reason, sizeof(doc->reason));
		return;
	}
	if (doc->verdict == VERDICT_FAIL || doc->verdict == VERDICT_PASS)
		describe_rate(doc, lead, sizeof(lead));
	else
		(void)snprintf(lead, sizeof(lead), "run %zu of %zu",
			       (size_t)(deciding - doc->runs) + 1, doc->nr_runs);
	/* A sentence that does not fit is cut: the run keeps it whole. */
	(void)snprintf(doc->reason, sizeof(doc->reason), "%s: %.*s", lead,
		       (int)(sizeof(doc->reason) - sizeof(lead) - 3), deciding->reason);
}
