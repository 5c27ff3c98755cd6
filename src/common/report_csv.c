/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A row for each number, for spreadsheets and data frames. Quoting as in RFC 4180, lines end with LF.
 *
 * Columns: run (1 …; 0 is the document as a whole), kind (verdict, check, metric, histogram), name,
 * value, unit, bound ("<= 0"), outcome (of a verdict or a check).
 */
#include <errno.h>
#include <string.h>

#include "report.h"
#include "report_internal.h"
#include "text.h"

struct row {
	size_t run;
	const char *kind;
	const char *name;
	struct value value;
	const char *unit;
	const char *bound;
	const char *outcome;
};

static void put_field(FILE *out, const char *s)
{
	putc(',', out);
	if (!s)
		return;
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, out);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
}

static void put_row(FILE *out, const struct row *row)
{
	char number[TEXT_NUMBER_SIZE];

	fprintf(out, "%zu", row->run);
	put_field(out, row->kind);
	put_field(out, row->name);
	put_field(out, text_exact(row->value, number, sizeof(number)));
	put_field(out, row->unit);
	put_field(out, row->bound);
	put_field(out, row->outcome);
	putc('\n', out);
}

static void put_verdict(FILE *out, size_t run, const char *name, enum verdict v)
{
	put_row(out,
		&(struct row){
			.run = run, .kind = "verdict", .name = name, .outcome = verdict_name(v) });
}

static void put_check(FILE *out, size_t run, const struct check *check)
{
	char bound[TEXT_NUMBER_SIZE + 8] = "";
	char number[TEXT_NUMBER_SIZE];

	if (value_is_present(check->bound))
		(void)snprintf(bound, sizeof(bound), "%s %s", check_op_text(check->op),
			       text_exact(check->bound, number, sizeof(number)));
	put_row(out, &(struct row){ .run = run,
				    .kind = "check",
				    .name = check->name,
				    .value = check->value,
				    .unit = check->unit,
				    .bound = bound,
				    .outcome = outcome_name(check->outcome) });
}

static void put_hist_row(FILE *out, size_t run, const struct named_hist *named, const char *what,
			 struct value v, const char *unit)
{
	char name[sizeof(named->name) + 16];

	(void)snprintf(name, sizeof(name), "%s.%s", named->name, what);
	put_row(out,
		&(struct row){
			.run = run, .kind = "histogram", .name = name, .value = v, .unit = unit });
}

static void put_hist(FILE *out, size_t run, const struct named_hist *named)
{
	const struct hist *h = named->hist;

	put_hist_row(out, run, named, "count", value_u64(h->count), "count");
	if (h->count == 0)
		return;
	put_hist_row(out, run, named, "min", value_u64(h->min), named->unit);
	put_hist_row(out, run, named, "mean", value_real(hist_mean(h)), named->unit);
	for (size_t i = 0; i < REPORT_PERCENTILES; i++)
		put_hist_row(out, run, named, report_percentiles[i].key,
			     value_u64(hist_percentile(h, report_percentiles[i].percent)),
			     named->unit);
	put_hist_row(out, run, named, "max", value_u64(h->max), named->unit);
}

int report_csv(const struct result_doc *doc, FILE *out)
{
	errno = 0;
	fputs("run,kind,name,value,unit,bound,outcome\n", out);
	put_verdict(out, 0, doc->scenario, doc->verdict);
	for (size_t r = 0; r < doc->nr_runs; r++) {
		const struct run_result *run = &doc->runs[r];

		put_verdict(out, r + 1, doc->scenario, run->verdict);
		for (size_t i = 0; i < run->nr_checks; i++)
			put_check(out, r + 1, &run->checks[i]);
		for (size_t i = 0; i < METRIC_COUNT; i++) {
			if (!value_is_present(run->metrics[i]))
				continue;
			put_row(out, &(struct row){ .run = r + 1,
						    .kind = "metric",
						    .name = metric_table[i].name,
						    .value = run->metrics[i],
						    .unit = metric_table[i].unit });
		}
		for (size_t i = 0; i < run->nr_hists; i++)
			put_hist(out, r + 1, &run->hists[i]);
	}
	return report_stream_status(out);
}
