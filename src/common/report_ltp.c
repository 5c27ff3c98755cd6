/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What LTP's runner kirk reads: a line for each check, and the summary block that its regular
 * expression knows (peers.md, a.1). Without that block kirk counts the result words anywhere in the
 * output, so they must not occur in any text of ours.
 *
 * kirk's screen says "skip" of a test as soon as it skipped anything, even above a TBROK. So only a run
 * that gave no verdict is told as skipped; a check that a judged run could not make is information.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "report.h"
#include "report_internal.h"
#include "text.h"

/* Cleans @text and breaks the result words in it ("T_FAIL"). */
static const char *clean(const char *text, char *buf, size_t size)
{
	static const char *const words[] = { "TPASS", "TFAIL", "TBROK", "TWARN",
					     "TCONF", "TSKIP", "TINFO" };

	(void)text_clean(text, "", buf, size);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		for (char *hit = buf; (hit = strstr(hit, words[i]));)
			hit[0] = '_';
	}
	return buf;
}

static void put_info(const struct result_doc *doc, FILE *out, const char *text)
{
	char line[TEXT_SIZE * 2];

	fprintf(out, "%s: TINFO: %s\n", doc->scenario, clean(text, line, sizeof(line)));
}

/* Whether the item that @it has just given counts for kirk. */
static bool is_counted(const struct report_items *it, const struct report_item *item)
{
	const struct result_doc *doc = it->doc;

	if (item->outcome != ITEM_SKIP)
		return true;
	if (doc->verdict == VERDICT_ERROR)
		return false;
	return doc->nr_runs == 0 || !report_is_judged(&doc->runs[it->run]);
}

static void put_item(const struct result_doc *doc, const struct report_item *item, bool counted,
		     FILE *out)
{
	static const char *const words[ITEM_NR] = {
		[ITEM_PASS] = "TPASS",
		[ITEM_FAIL] = "TFAIL",
		[ITEM_SKIP] = "TCONF",
		[ITEM_ERROR] = "TBROK",
	};
	const char *name = item->id + strcspn(item->id, ".");
	char figures[REPORT_CHECK_SIZE] = "";
	char line[TEXT_SIZE * 2];

	if (item->check)
		(void)report_check_figures(item->check, figures, sizeof(figures));
	fprintf(out, "%s: %s: %s%s%s%s%s%s\n", doc->scenario,
		counted ? words[item->outcome] : "TINFO", *name ? name + 1 : "run",
		counted ? "" : " was not checked", figures[0] ? ": " : "", figures,
		item->why[0] ? ": " : "", clean(item->why, line, sizeof(line)));
}

int report_ltp(const struct result_doc *doc, FILE *out)
{
	struct report_items it = { .doc = doc };
	struct report_item item;
	size_t totals[ITEM_NR] = { 0 };
	char line[TEXT_SIZE + 64];

	errno = 0;
	(void)snprintf(line, sizeof(line), "%s %s on %s, memcg v%u, LRU %s", doc->tool,
		       doc->version, doc->host.kernel, doc->host.memcg_version,
		       doc->host.lru[0] ? doc->host.lru : "unknown");
	put_info(doc, out, line);
	(void)snprintf(line, sizeof(line), "%s: %s", verdict_name(doc->verdict), doc->reason);
	put_info(doc, out, line);
	if (doc->verdict == VERDICT_FAIL && doc->fix) {
		(void)snprintf(line, sizeof(line), "the fix: %s", doc->fix);
		put_info(doc, out, line);
	}
	while (report_items_next(&it, &item)) {
		bool counted = is_counted(&it, &item);

		totals[item.outcome] += counted;
		put_item(doc, &item, counted, out);
	}
	fprintf(out,
		"\nSummary:\npassed   %zu\nfailed   %zu\nbroken   %zu\nskipped  %zu\nwarnings 0\n",
		totals[ITEM_PASS], totals[ITEM_FAIL], totals[ITEM_ERROR], totals[ITEM_SKIP]);
	return report_stream_status(out);
}
