/* SPDX-License-Identifier: GPL-2.0-only */
#include "page.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "comparison_print.h"
#include "figure.h"
#include "html.h"
#include "parse.h"
#include "page_impl.h"
#include "page_style.h"

static void page_head(const struct report *r, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; img-src data:\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>Squeeze report: ",
	      out);
	html_text(out, r->new_name);
	fprintf(out, "</title>\n<style>\n%s</style></head>\n<body>\n", page_style);
	fputs("<a class=\"jump\" href=\"#verdicts\">To the verdicts</a>\n", out);
}

static void verdict_badge(FILE *out, const struct cohort *c)
{
	enum verdict worst = VERDICT_PASS;
	/* The order of result_conclude(). */
	static const enum verdict order[] = {
		VERDICT_FAIL, VERDICT_ERROR, VERDICT_INCONCLUSIVE, VERDICT_SKIP, VERDICT_PASS,
	};

	for (size_t i = ARRAY_SIZE(order); i-- > 0;) {
		for (size_t j = 0; j < c->nr_docs; j++) {
			if (c->docs[j]->verdict == order[i])
				worst = order[i];
		}
	}
	fprintf(out, "<span class=\"badge %s\">%s</span>", verdict_name(worst),
		verdict_name(worst));
}

/* @head: the column's, for a narrow window in which there are no columns. */
static void verdict_cell(FILE *out, const char *head, const struct cohort *c,
			 const struct rate *rate)
{
	if (!c) {
		fputs("<td></td>", out);
		return;
	}
	fprintf(out, "<td data-head=\"%s\">", head);
	verdict_badge(out, c);
	if (rate->judged > 1)
		html_printf(out, " %zu of %zu failed", rate->failed, rate->judged);
	if (rate->judged > 1)
		fprintf(out, "<small>95 %% bound: %.0f to %.0f %%</small>", 100 * rate->low,
			100 * rate->high);
	fputs("</td>", out);
}

/* The reason of the document that decides: the first with the worst verdict is near enough. */
static const char *main_reason(const struct cohort *c)
{
	for (size_t i = 0; i < c->nr_docs; i++) {
		if (c->docs[i]->verdict == VERDICT_FAIL)
			return c->docs[i]->reason;
	}
	return c->like->reason;
}

static void verdict_row(const struct report *r, size_t i, FILE *out)
{
	const struct pair *pair = &r->pairs->items[i];
	const struct cohort *shown = pair->new ? pair->new : pair->base;
	const char *title = comparison_title(shown, r->pool);

	fprintf(out, "<tr><th scope=\"row\"><a href=\"#s%zu\">", i + 1);
	html_text(out, title ? title : shown->like->scenario);
	fputs("</a></th>", out);
	if (r->base_name)
		verdict_cell(out, "base", pair->base, &r->comparisons[i].base_rate);
	verdict_cell(out, r->base_name ? "new" : "", pair->new, &r->comparisons[i].new_rate);
	fputs("<td class=\"why\">", out);
	html_text(out, main_reason(shown));
	fputs("</td></tr>\n", out);
}

static void page_top(const struct report *r, FILE *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	(void)localtime_r(&now, &tm);
	(void)strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M", &tm);
	fputs("<header><h1>Squeeze report</h1><p>", out);
	html_printf(out, "%s; results of ", stamp);
	html_element(out, "strong", r->new_name);
	if (r->base_name) {
		fputs(" (<span class=\"key new\">new</span>) against ", out);
		html_element(out, "strong", r->base_name);
		fputs(" (<span class=\"key base\">base</span>)", out);
	}
	fputs(".</p></header>\n<main>\n", out);
}

static void page_complaints(const struct report *r, FILE *out)
{
	const struct docset *sets[] = { r->base_set, r->new_set };
	size_t nr = r->new_set->nr_complaints + (r->base_set ? r->base_set->nr_complaints : 0);

	if (!nr)
		return;
	fputs("<section class=\"warning\"><h2>Could not be read</h2><ul>\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		for (size_t j = 0; sets[i] && j < sets[i]->nr_complaints; j++)
			html_element(out, "li", sets[i]->complaints[j]);
	}
	fputs("</ul></section>\n", out);
}

static void page_verdicts(const struct report *r, FILE *out)
{
	fputs("<section id=\"verdicts\"><h2>Verdicts</h2>\n"
	      "<div class=\"scroll\" tabindex=\"0\"><table class=\"verdicts\"><thead><tr>"
	      "<th scope=\"col\">scenario</th>",
	      out);
	if (r->base_name)
		fputs("<th scope=\"col\">base</th><th scope=\"col\">new</th>", out);
	else
		fputs("<th scope=\"col\">verdict</th>", out);
	fputs("<th scope=\"col\">reason</th></tr></thead><tbody>\n", out);
	for (size_t i = 0; i < r->pairs->nr; i++)
		verdict_row(r, i, out);
	fputs("</tbody></table></div>\n", out);
	if (r->base_name) {
		size_t judged = 0;

		for (size_t i = 0; i < r->pairs->nr; i++)
			judged += r->comparisons[i].judged;
		if (judged)
			fprintf(out,
				"<p class=\"note\">%zu rows below are judged at p &lt; %g: about "
				"%.0f would be marked by chance alone.</p>\n",
				judged, r->comparisons[0].alpha,
				(double)judged * r->comparisons[0].alpha + 0.5);
	}
	fputs("</section>\n", out);
}

static void quote_line(const struct view *v, const char *label, const char *text)
{
	if (*text)
		html_printf(v->out, "%-9s %s\n", label, text);
}

/* A fact about the host, "?" where it was not recorded. */
static const char *known(const struct document *d, const char *name)
{
	const char *text = document_host(d, name);

	return *text ? text : "?";
}

/* What a mail quotes, as plain text; one click selects all of it. */
static void quote_side(const struct view *v, enum side side)
{
	const struct cohort *c = v->sides[side];
	const struct document *d = c->like;
	const char *kernels = cohort_kernels(c, v->pool);
	char memory[FIGURE_SIZE], swap[FIGURE_SIZE];

	if (v->sides[SIDE_BASE] && v->sides[SIDE_NEW])
		html_printf(v->out, "%s:\n", side_names[side]);
	quote_line(v, "command", d->command);
	quote_line(v, "started", d->started);
	html_printf(v->out, "%-9s ", "verdict");
	for (const char *p = verdict_name(d->verdict); *p; p++)
		fputc(toupper((unsigned char)*p), v->out);
	html_printf(v->out, ": %s\n", d->reason);
	quote_line(v, "kernel", kernels ? kernels : "");
	html_printf(v->out,
		    "%-9s %s, %s CPUs, %s of memory, cgroup %s (memory controller v%s), lru %s\n",
		    "host", known(d, "arch"), known(d, "cpus"),
		    figure_fact("bytes", known(d, "mem_total_bytes"), memory, sizeof(memory)),
		    known(d, "cgroup"), known(d, "memcg_version"), known(d, "lru"));
	html_printf(v->out, "%-9s %s %s, swappiness %s; probe %s; squeeze %s\n", "swap",
		    known(d, "swap"),
		    figure_fact("bytes", document_host(d, "swap_bytes"), swap, sizeof(swap)),
		    known(d, "swappiness"), known(d, "probe"), d->version);
}

static void section_quote(const struct view *v)
{
	fputs("<h3>To quote in a mail</h3>\n<pre tabindex=\"0\">", v->out);
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		if (v->sides[s])
			quote_side(v, (enum side)s);
	}
	fputs("</pre>\n", v->out);
}

static void section_notes(const struct view *v)
{
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		for (size_t i = 0; v->sides[s] && i < v->sides[s]->nr_runs; i++) {
			const struct doc_run *run = v->sides[s]->runs[i];

			for (size_t j = 0; j < run->nr_notes; j++) {
				fputs("<p class=\"note\">", v->out);
				html_printf(v->out, "%s: %s", view_run_name(v, (enum side)s, i),
					    run->notes[j]);
				fputs("</p>\n", v->out);
			}
		}
	}
}

static void section_head(const struct view *v, const struct pair *pair)
{
	const struct cohort *shown = pair->new ? pair->new : pair->base;
	const char *title = comparison_title(shown, v->pool);

	fprintf(v->out, "<section id=\"s%u\">", v->number);
	html_element(v->out, "h2", title ? title : shown->like->scenario);
	fputs("<p>", v->out);
	for (unsigned int s = 0; s < SIDE_NR; s++) {
		if (!v->sides[s])
			continue;
		if (pair->base && pair->new)
			fprintf(v->out, "<span class=\"key %s\">%s</span> ", side_names[s],
				side_names[s]);
		verdict_badge(v->out, v->sides[s]);
		html_printf(v->out, " %s", main_reason(v->sides[s]));
		fputs("<br>", v->out);
	}
	fputs("</p>\n", v->out);
	if (*shown->like->described) {
		fputs("<p class=\"note\">Described in ", v->out);
		html_text(v->out, shown->like->described);
		fputs("</p>\n", v->out);
	}
	for (size_t i = 0; i < pair->nr_differences; i++) {
		fputs("<p class=\"warning\">", v->out);
		html_printf(v->out, "Unlike: %s is %s in base and %s in new.",
			    pair->differences[i].name, pair->differences[i].base,
			    pair->differences[i].new);
		fputs("</p>\n", v->out);
	}
}

static bool has_charts(const struct view *v)
{
	const struct doc_hist *hists[VIEW_HISTS_MAX];

	for (unsigned int s = 0; s < SIDE_NR; s++) {
		for (size_t i = 0; i < v->sides[s]->nr_runs; i++) {
			if (v->sides[s]->runs[i]->nr_series)
				return true;
		}
	}
	return view_hists(v, hists) > 0;
}

static int page_section(const struct report *r, size_t i, FILE *out)
{
	const struct pair *pair = &r->pairs->items[i];
	const struct view v = {
		.out = out,
		.pool = r->pool,
		.sides = { pair->base, pair->new },
		.comparison = &r->comparisons[i],
		.number = (unsigned int)i + 1,
		.points = r->points,
	};

	section_head(&v, pair);
	if (v.comparison->uneven_time)
		fprintf(out, "<p class=\"warning\">%s</p>\n", comparison_uneven);
	page_checks(&v);
	if (pair->base && pair->new &&has_charts(&v))
		fputs("<p class=\"note\">In the charts a line is a run of "
		      "<span class=\"key base\">base</span> or "
		      "<span class=\"key new\">new</span>.</p>\n",
		      out);
	fputs("<div class=\"charts\">", out);
	if (page_curves(&v) < 0 || page_timelines(&v) < 0)
		return -ENOMEM;
	fputs("</div>\n", out);
	page_percentiles(&v);
	page_metrics(&v);
	page_worst_passes(&v);
	section_notes(&v);
	section_quote(&v);
	fputs("</section>\n", out);
	return 0;
}

int page_write(const struct report *r, FILE *out)
{
	page_head(r, out);
	page_top(r, out);
	page_complaints(r, out);
	page_verdicts(r, out);
	for (size_t i = 0; i < r->pairs->nr; i++) {
		if (page_section(r, i, out) < 0)
			return -ENOMEM;
	}
	fprintf(out, "</main>\n<footer>Made by squeeze %s.</footer>\n</body></html>\n",
		SQUEEZE_VERSION);
	return ferror(out) ? -EIO : 0;
}
