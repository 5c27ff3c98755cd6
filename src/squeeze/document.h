/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A result document as it is read back: squeeze-result/1 (docs/result-document.md) as plain data.
 *
 * This is the only place that touches jansson, and nothing it lets through needs a second look:
 *  - strings are valid UTF-8 without control characters (they become '?': a host name must not
 *    steer a terminal) and of bounded length; they are never NULL, "" where the document has none;
 *  - numbers are finite; a number that is not there is VALUE_ABSENT, in a series NaN;
 *  - counts of things are bounded, histogram buckets add up to their count, all columns of a
 *    timeline have one length;
 *  - metrics that this Squeeze does not know are kept: a later version's document of the same
 *    schema can be compared.
 *
 * What cannot be read gives -errno and one sentence that names the file and what is wrong with it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fail.h"
#include "hist.h"
#include "metric.h"
#include "pool.h"
#include "result.h"

/* A day at 10 Hz in 20 runs is 40 MiB; jansson needs up to 20 bytes of memory a byte of text. */
#define DOCUMENT_SIZE_MAX (64u << 20)

struct doc_metric {
	const char *name;
	const char *unit;
	struct value value;
};

struct doc_check {
	const char *name;
	const char *unit;
	const char *why;
	struct value value;
	struct value bound;
	enum check_op op;
	enum outcome outcome;
};

struct doc_hist {
	const char *name;
	const char *unit;
	struct hist *hist;
};

struct doc_series {
	const char *name;
	const double *v; /* NaN: not measured */
};

struct doc_pass {
	uint64_t latency_ns;
	uint64_t scanned;
	uint64_t reclaimed;
	uint64_t goal; /* 0: not recorded */
	const char *comm;
};

struct doc_run {
	enum verdict verdict;
	const char *reason;
	uint64_t duration_ns;
	struct doc_check *checks;
	size_t nr_checks;
	struct doc_metric *metrics;
	size_t nr_metrics;
	struct doc_hist *hists;
	size_t nr_hists;
	struct doc_pass *worst;
	size_t nr_worst;
	struct doc_series *series; /* with "t_ns" among them, or none at all */
	size_t nr_series;
	size_t nr_samples;
	const char **notes;
	size_t nr_notes;
};

/* A parameter or a fact about the host: its text, and its number if it is one. */
struct doc_fact {
	const char *name;
	const char *text;
	struct value number;
};

struct document {
	struct pool pool;
	const char *path;
	const char *tool;
	const char *version;
	const char *scenario;
	const char *described; /* "document": where the failure mode is described */
	const char *fix;
	const char *started;
	const char *command; /* quoted for a shell */
	enum verdict verdict;
	const char *reason;
	struct doc_fact *host;
	size_t nr_host;
	struct doc_fact *params;
	size_t nr_params;
	struct doc_run *runs;
	size_t nr_runs;
};

/* Reads @path. -EFBIG above DOCUMENT_SIZE_MAX; -EINVAL damaged; -EPROTONOSUPPORT another version of
 * the schema; -ENOMSG JSON, but no result document at all (something else in the same folder). */
int document_load(const char *path, struct document **ret, struct fail *f);
/* As above, from memory; @path is only a name. */
int document_parse(const char *path, const void *data, size_t size, struct document **ret,
		   struct fail *f);
void document_free(struct document *doc); /* accepts NULL */
static inline void document_freep(struct document **doc)
{
	document_free(*doc);
}

/* The text of a parameter or host fact; '-' and '_' in names are the same. "" if there is none. */
const char *document_param(const struct document *doc, const char *name);
const char *document_host(const struct document *doc, const char *name);
/* As a number, absent if it is none. */
struct value document_param_number(const struct document *doc, const char *name);
/* NULL if there is none of that name. */
const double *doc_run_series(const struct doc_run *run, const char *name);
const struct hist *doc_run_hist(const struct doc_run *run, const char *name);
/* Whether two option names are the same but for '-' and '_'. */
int document_same_name(const char *a, const char *b);
