/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * render NAME FORMAT: writes a sample document in a format of report.h, or "hgrm" for its first
 * histogram, and exits as that dialect says. For tests/cli/checkers.bats and
 * tests/check/make-data. Exit 70: the rendering failed, 64: no such name or format.
 */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "sample_documents.h"

#define EXIT_USAGE 64
#define EXIT_OUTPUT 70

static int render(const struct result_doc *doc, const char *format_name)
{
	const struct report_format *format = report_format_find(format_name);

	if (strcmp(format_name, "hgrm") == 0) {
		if (doc->nr_runs == 0 || doc->runs[0].nr_hists == 0)
			return EXIT_USAGE;
		if (report_hgrm(&doc->runs[0], doc->runs[0].hists[0].name, stdout) ||
		    fflush(stdout))
			return EXIT_OUTPUT;
		return 0;
	}
	if (!format)
		return EXIT_USAGE;
	if (format->write(doc, stdout) || fflush(stdout))
		return EXIT_OUTPUT;
	return format->exit_code[doc->verdict];
}

int main(int argc, char **argv)
{
	const struct sample_document *sample = argc == 3 ? sample_document_find(argv[1]) : NULL;
	struct result_doc doc;
	int code;

	if (!sample) {
		fputs("usage: render NAME FORMAT\n", stderr);
		return EXIT_USAGE;
	}
	sample->fill(&doc);
	code = render(&doc, argv[2]);
	result_free(&doc);
	return code;
}
