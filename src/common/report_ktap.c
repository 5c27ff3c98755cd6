/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP version 1 as kselftest's runner and the kernel's Documentation/dev-tools/ktap.rst have it.
 * '#' starts a directive, so no text of ours may contain one.
 */
#include <errno.h>

#include "report.h"
#include "report_internal.h"
#include "text.h"

static void diagnostic(FILE *out, const char *lead, const char *text)
{
	char line[TEXT_SIZE * 2];

	fprintf(out, "# %s%s\n", lead, text_clean(text, "#", line, sizeof(line)));
}

static void put_item(FILE *out, size_t number, const struct report_item *item)
{
	static const struct {
		const char *word;
		const char *directive;
	} forms[ITEM_NR] = {
		[ITEM_PASS] = { "ok", "" },
		[ITEM_FAIL] = { "not ok", "" },
		[ITEM_SKIP] = { "ok", " # SKIP " },
		[ITEM_ERROR] = { "not ok", " # ERROR " },
	};
	char figures[REPORT_CHECK_SIZE];
	char line[TEXT_SIZE * 2];
	const char *directive = forms[item->outcome].directive;

	if (item->check && report_check_figures(item->check, figures, sizeof(figures))[0])
		fprintf(out, "# %s: %s\n", item->id, figures);
	if (!directive[0] && item->why[0])
		diagnostic(out, "", item->why);
	fprintf(out, "%s %zu %s%s%s\n", forms[item->outcome].word, number, item->id, directive,
		directive[0] ? text_clean(item->why, "#", line, sizeof(line)) : "");
}

static void put_head(const struct result_doc *doc, FILE *out)
{
	char lead[192];

	(void)snprintf(lead, sizeof(lead), "%s %s %s on %s: ", doc->tool, doc->version,
		       doc->scenario, doc->host.kernel);
	diagnostic(out, lead, verdict_name(doc->verdict));
	diagnostic(out, "", doc->reason);
	if (doc->verdict == VERDICT_FAIL && doc->fix)
		diagnostic(out, "fix: ", doc->fix);
}

int report_ktap(const struct result_doc *doc, FILE *out)
{
	struct report_items it = { .doc = doc };
	struct report_item item;
	size_t totals[ITEM_NR] = { 0 };
	char line[TEXT_SIZE * 2];
	size_t number = 0;

	errno = 0;
	fputs("KTAP version 1\n", out);
	if (doc->verdict == VERDICT_SKIP && doc->nr_runs == 0) {
		fprintf(out, "1..0 # SKIP %s\n", text_clean(doc->reason, "#", line, sizeof(line)));
		return report_stream_status(out);
	}
	fprintf(out, "1..%zu\n", report_items_count(doc));
	put_head(doc, out);
	while (report_items_next(&it, &item)) {
		/* A broken run ends the whole only when the whole is broken: a failure seen by
		 * another run stands. */
		if (item.outcome == ITEM_ERROR && doc->verdict == VERDICT_ERROR) {
			fprintf(out, "Bail out! %s\n",
				text_clean(item.why, "#", line, sizeof(line)));
			return report_stream_status(out);
		}
		totals[item.outcome]++;
		put_item(out, ++number, &item);
	}
	fprintf(out, "# Totals: pass:%zu fail:%zu xfail:0 xpass:0 skip:%zu error:%zu\n",
		totals[ITEM_PASS], totals[ITEM_FAIL], totals[ITEM_SKIP], totals[ITEM_ERROR]);
	return report_stream_status(out);
}
