/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One result document, many renderings. A rendering is a row of report_formats: its name for
 * --format, the function that writes it, and the exit code of that dialect for each verdict
 * (design.md 4.2). A rendering never looks back into a worker or the host.
 */
#pragma once

#include <stdio.h>

#include "result.h"

struct report_format {
	const char *name;
	const char *help;
	int (*write)(const struct result_doc *doc, FILE *out); /* 0 or -errno */
	int exit_code[VERDICT_NR];
};

extern const struct report_format report_formats[];
extern const size_t report_formats_nr;
/* NULL when there is none of that name. */
const struct report_format *report_format_find(const char *name);

int report_text(const struct result_doc *doc, FILE *out);
int report_json(const struct result_doc *doc, FILE *out);
int report_ktap(const struct result_doc *doc, FILE *out);
int report_ltp(const struct result_doc *doc, FILE *out);
int report_csv(const struct result_doc *doc, FILE *out);
int report_lava(const struct result_doc *doc, FILE *out);
/* The percentile file that HdrHistogram plotters read, of the run's histogram @name. -ENOENT: no
 * such histogram. */
int report_hgrm(const struct run_result *run, const char *name, FILE *out);
