/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result document: everything one invocation of a tool has to say, as plain data. The engine
 * fills it, the renderings (report.h) only read it. Its JSON form is squeeze-result/1, described in
 * docs/result-document.md; this header is that schema in C.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hist.h"
#include "metric.h"
#include "timeline.h"

#define RESULT_SCHEMA "squeeze-result/1"
#define TEXT_SIZE 512

enum verdict {
	VERDICT_PASS,	      /* pressure proven, every check within its bound */
	VERDICT_FAIL,	      /* a check broke its bound */
	VERDICT_SKIP,	      /* something needed is missing here, and named */
	VERDICT_INCONCLUSIVE, /* ran, but the pressure was not reached or has a legitimate reason */
	VERDICT_ERROR,	      /* Squeeze could not do its own work */
	VERDICT_NR
};
/* "pass", "fail", "skip", "inconclusive", "error". */
const char *verdict_name(enum verdict v);

enum outcome { OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_SKIP, OUTCOME_NR };
const char *outcome_name(enum outcome o);

enum check_op { OP_LE, OP_GE, OP_EQ };
const char *check_op_text(enum check_op op); /* "<=" ">=" "==" */

/* One bound held against one number. @why says in a clause what was seen, or why it was skipped. */
struct check {
	char name[48];
	const char *unit;
	struct value value;
	enum check_op op;
	struct value bound;
	enum outcome outcome;
	char why[TEXT_SIZE];
};

struct named_hist {
	char name[32];	   /* "touch", "reclaim_latency", … */
	const char *unit;  /* "ns" or "pages" */
	struct hist *hist; /* owned by the run_result */
};

struct worst_pass {
	uint64_t latency_ns;
	uint64_t scanned;
	uint64_t reclaimed;
	uint64_t goal;
	char comm[16];
};
#define WORST_PASSES_MAX 20

#define CHECKS_MAX 24
#define HISTS_MAX 12
#define PARAMS_MAX 48

struct run_result {
	enum verdict verdict;
	char reason[TEXT_SIZE]; /* one sentence */
	uint64_t duration_ns;
	struct check checks[CHECKS_MAX];
	size_t nr_checks;
	struct value metrics[METRIC_COUNT];
	struct named_hist hists[HISTS_MAX];
	size_t nr_hists;
	struct worst_pass worst[WORST_PASSES_MAX]; /* by latency, worst first */
	size_t nr_worst;
	struct timeline timeline;
	char notes[8][TEXT_SIZE]; /* further sentences for people: what was reclaimable at a kill … */
	size_t nr_notes;
};

struct swap_info {
	char kind[16]; /* "zram", "file", "delay", "existing" */
	uint64_t size_bytes;
};

struct host_info {
	char kernel[128];
	char arch[32];
	unsigned int cpus;
	unsigned int nodes;
	uint64_t page_size;
	uint64_t mem_total_bytes;
	char cgroup[8];		    /* "v1", "v2", "hybrid" */
	unsigned int memcg_version; /* 1, 2; 0: no memory controller */
	char lru[16];		    /* "classic", "mglru" */
	struct value swappiness;
	char thp[16]; /* "always", "madvise", "never", "" unknown */
	bool zswap;
	bool psi;
	char virtual_machine[32]; /* "none", "kvm", "qemu", … as far as it can be told */
	char probe[8];		  /* "bpf", "perf", "files" */
	struct value
		node_inactive_anon_pages; /* at the start: the classic isolation threshold's base */
	struct swap_info swap[4];
	size_t nr_swap;
};

/* An option's effective value. Numbers are written as numbers. */
struct param {
	const char *name;
	enum { PARAM_TEXT, PARAM_NUMBER, PARAM_REAL, PARAM_FLAG } kind;
	union {
		uint64_t number;
		double real;
		bool flag;
	};
	char text[128];
};

struct result_doc {
	const char *tool;
	const char *version;
	const char *scenario;
	const char *document; /* "seeds/000" and a title: where the failure mode is described */
	const char *fix;      /* the fix's subject */
	int argc;
	char **argv;
	char started[40]; /* RFC 3339 with offset */
	enum verdict verdict;
	char reason[TEXT_SIZE];
	struct host_info host;
	struct param params[PARAMS_MAX];
	size_t nr_params;
	struct run_result *runs;
	size_t nr_runs;
};

void result_init(struct result_doc *doc);
void result_free(struct result_doc *doc); /* accepts a half-filled document */
/* Appends an empty run (all metrics absent); NULL when there is no memory. Earlier pointers die. */
struct run_result *result_add_run(struct result_doc *doc);
void run_result_free(struct run_result *r);
/* Appends an empty histogram; NULL when full or no memory. @name is copied, @unit must be static. */
struct hist *run_result_add_hist(struct run_result *r, const char *name, const char *unit);
/* Appends a sentence; silently dropped when full. */
void run_result_note(struct run_result *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void result_param_text(struct result_doc *doc, const char *name, const char *value);
void result_param_u64(struct result_doc *doc, const char *name, uint64_t value);
void result_param_real(struct result_doc *doc, const char *name, double value);
void result_param_flag(struct result_doc *doc, const char *name, bool value);
/* The document's verdict and reason from its runs: FAIL if any failed (k of n with the 95 % bound in
 * the reason), else ERROR, else INCONCLUSIVE, else SKIP, else PASS. With no run it is left alone. */
void result_conclude(struct result_doc *doc);
