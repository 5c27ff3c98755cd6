/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "page.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "cleanup.h"
#include "html.h"

struct fixture {
	struct docset base, new;
	struct pool pool;
	struct cohorts base_cohorts, new_cohorts;
	struct pairs pairs;
	struct comparison comparisons[64];
	char *page;
	size_t size;
};
static struct fixture x;

static void add_text(struct docset *set, const char *text)
{
	struct fail f = { 0 };

	set->docs = realloc(set->docs, (set->nr + 1) * sizeof(*set->docs));
	assert_non_null(set->docs);
	if (document_parse("made here", text, strlen(text), &set->docs[set->nr], &f) < 0)
		fail_msg("%s", f.what);
	set->nr++;
}

static void draw(bool with_base, size_t points)
{
	const struct allowance all = { .all = true };
	struct report r = {
		.pairs = &x.pairs,
		.comparisons = x.comparisons,
		.pool = &x.pool,
		.new_name = "\"><script>alert(1)</script>",
		.base_name = with_base ? "b&w" : NULL,
		.new_set = &x.new,
		.base_set = with_base ? &x.base : NULL,
		.points = points,
	};
	FILE *out = open_memstream(&x.page, &x.size);

	assert_non_null(out);
	assert_int_equal(cohorts_build(&x.base, &x.pool, &x.base_cohorts), 0);
	assert_int_equal(cohorts_build(&x.new, &x.pool, &x.new_cohorts), 0);
	assert_int_equal(cohorts_pair(&x.base_cohorts, &x.new_cohorts, &all, &x.pool, &x.pairs), 0);
	for (size_t i = 0; i < x.pairs.nr; i++) {
		struct pair pair = x.pairs.items[i];

		pair.base = pair.base ? pair.base : pair.new;
		pair.new = pair.new ? pair.new : pair.base;
		assert_int_equal(
			comparison_make(&pair, COMPARISON_ALPHA, &x.pool, &x.comparisons[i]), 0);
	}
	assert_int_equal(page_write(&r, out), 0);
	assert_int_equal(fclose(out), 0);
}

static void drop(void)
{
	docset_free(&x.base);
	docset_free(&x.new);
	pool_free(&x.pool);
	free(x.page);
	memset(&x, 0, sizeof(x));
}

/* Also after a test that failed half-way. */
static int teardown(void **state)
{
	(void)state;
	drop();
	return 0;
}

static size_t count(const char *needle)
{
	size_t n = 0;

	for (const char *p = x.page; (p = strstr(p, needle)); p++)
		n++;
	return n;
}

/* Every tag is one that we write; nothing loads or runs; no number is broken. */
static void page_is_ours(void)
{
	static const char *const tags[] = {
		"!DOCTYPE", "html",	  "head",    "meta",	"link",	 "title", "style",  "body",
		"header",   "main",	  "footer",  "section", "h1",	 "h2",	  "h3",	    "p",
		"a",	    "strong",	  "span",    "small",	"br",	 "ul",	  "li",	    "pre",
		"div",	    "table",	  "caption", "thead",	"tbody", "tr",	  "th",	    "td",
		"figure",   "figcaption", "svg",     "path",	"text",	 "rect",  "circle",
	};

	for (const char *p = x.page; (p = strchr(p, '<')); p++) {
		const char *name = p + 1 + (p[1] == '/');
		size_t length = strcspn(name, " >/\n"), i = 0;

		while (i < ARRAY_SIZE(tags) &&
		       (strlen(tags[i]) != length || strncmp(tags[i], name, length) != 0))
			i++;
		if (i == ARRAY_SIZE(tags))
			fail_msg("an element that is not ours: %.40s", p);
	}
	assert_int_equal(count("<script"), 0);
	assert_int_equal(count(" src=\""), 0);
	assert_int_equal(count(" href=\"http"), 0);
	assert_int_equal(count("http:"), 0);
	assert_int_equal(count("https:"), 0);
	assert_int_equal(count("nan"), 0);
	assert_int_equal(count("inf "), 0);
	assert_int_equal(count("default-src 'none'"), 1);
}

/* From each chart to its end there is a curve with something in it. */
static void charts_have_marks(void)
{
	size_t charts = 0;

	for (const char *p = x.page; (p = strstr(p, "<svg class=\"chart\"")); p++, charts++) {
		const char *end = strstr(p, "</svg>"), *curve = strstr(p, "<path class=\"curve");

		assert_non_null(end);
		assert_true(curve && curve < end);
		assert_non_null(strpbrk(strstr(curve, " d=\"M"), "Lh"));
	}
	assert_int_equal(charts, count("<figure"));
}

static void recorded_results_are_drawn(void **state)
{
	(void)state;
	assert_int_equal(docset_add(&x.new, TEST_DATA "/results"), 0);
	assert_int_equal(x.new.nr_complaints, 0);
	draw(false, 1200);
	page_is_ours();
	charts_have_marks();
	assert_true(count("<svg class=\"chart\"") >= 5);
	assert_true(count("by percentile") >= 1);
	assert_in_range(x.size, 10000, 1000000);
	drop();
}

static void both_sides_are_drawn(void **state)
{
	(void)state;
	assert_int_equal(docset_add(&x.base, TEST_DATA "/results"), 0);
	assert_int_equal(docset_add(&x.new, TEST_DATA "/results"), 0);
	draw(true, 1200);
	page_is_ours();
	charts_have_marks();
	assert_true(count("class=\"curve base\"") > 0);
	assert_int_equal(count("class=\"curve base\""), count("class=\"curve new\""));
	drop();
}

#define EVIL "\\\"'><script>alert(1)</script><img src=x onerror=y>&"

/* A document that tries in every string it has. */
static const char evil[] =
	"{\"schema\":\"squeeze-result/1\",\"tool\":\"" EVIL "\",\"scenario\":\"" EVIL
	"\",\"version\":\"" EVIL "\",\"document\":\"" EVIL "\",\"fix\":\"" EVIL
	"\",\"started\":\"" EVIL "\",\"command\":[\"" EVIL "\"],\"verdict\":\"fail\","
	"\"reason\":\"" EVIL "\",\"host\":{\"kernel\":\"" EVIL "\",\"arch\":\"" EVIL
	"\",\"cpus\":\"" EVIL "\",\"cgroup\":\"" EVIL "\",\"lru\":\"" EVIL "\",\"probe\":\"" EVIL
	"\",\"mem_total_bytes\":\"" EVIL "\",\"swap\":[{\"kind\":\"" EVIL
	"\"}]},\"params\":{\"swap\":\"" EVIL "\",\"memcg_bytes\":\"" EVIL "\",\"" EVIL
	"\":1},\"runs\":[{\"verdict\":\"fail\",\"reason\":\"" EVIL "\",\"notes\":[\"" EVIL
	"\"],\"checks\":[{\"name\":\"" EVIL "\",\"unit\":\"" EVIL "\",\"why\":\"" EVIL
	"\",\"op\":\"<=\",\"outcome\":\"fail\",\"value\":1,\"bound\":0}],\"metrics\":{\"" EVIL
	"\":{\"value\":1,\"unit\":\"" EVIL "\"}},\"histograms\":{\"" EVIL "\":{\"unit\":\"" EVIL
	"\",\"buckets\":[[1,1,5],[9,9,1]]}},\"worst_passes\":[{\"latency_ns\":1,\"comm\":\"" EVIL
	"\"}],\"timeline\":{\"t_ns\":[0,1000000000],\"progress\":[0,5]}}]}";

static void nothing_is_injected(void **state)
{
	(void)state;
	add_text(&x.base, evil);
	add_text(&x.new, evil);
	draw(true, 100);
	page_is_ours();
	charts_have_marks();
	assert_true(count("&lt;script&gt;") > 20);
	drop();
}

#define TIMELINE(columns)                                                     \
	"{\"schema\":\"squeeze-result/1\",\"tool\":\"t\",\"scenario\":\"s\"," \
	"\"verdict\":\"pass\",\"params\":{\"memcg_bytes\":1e300},\"runs\":[{" \
	"\"verdict\":\"pass\",\"timeline\":{" columns "}}]}"

/* Clocks that stand or run backwards, holes, numbers beyond all reason: drawn or not, never
 * broken. */
static void odd_numbers_do_not_break_charts(void **state)
{
	static const char *const odd[] = {
		TIMELINE("\"t_ns\":[],\"progress\":[]"),
		TIMELINE("\"t_ns\":[5],\"progress\":[5]"),
		TIMELINE("\"t_ns\":[0,0,0],\"progress\":[1,2,3]"),
		TIMELINE("\"t_ns\":[3,2,1],\"progress\":[1,2,3]"),
		TIMELINE("\"t_ns\":[0,1e9,2e9],\"progress\":[3,2,1]"),
		TIMELINE("\"t_ns\":[0,1e9,2e9,3e9],\"memcg_current_bytes\":[null,5,null,7]"),
		TIMELINE("\"t_ns\":[-5,null,1e300],\"memcg_current_bytes\":[-1e300,1e300,1e-300]"),
		TIMELINE("\"t_ns\":[0,1e9],\"progress\":[1.7e308,-1.7e308],"
			 "\"psi_some_us\":[0,1e308]"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		add_text(&x.new, odd[i]);
		draw(false, 100);
		page_is_ours();
		charts_have_marks();
		drop();
	}
}

static void coarser_is_smaller(void **state)
{
	size_t fine;

	(void)state;
	assert_int_equal(docset_add(&x.new, TEST_DATA "/results"), 0);
	draw(false, 1200);
	fine = x.size;
	drop();
	assert_int_equal(docset_add(&x.new, TEST_DATA "/results"), 0);
	draw(false, 40);
	charts_have_marks();
	assert_true(x.size < fine);
	drop();
}

static void axes_are_round(void **state)
{
	struct chart_axis a;
	char buf[32];

	(void)state;
	chart_axis_linear(&a, 77, "");
	assert_true(fabs(a.hi - 80) < 1e-9);
	assert_int_equal(a.nr_ticks, 5);
	chart_axis_linear(&a, 0, "");
	assert_true(a.hi > 0);
	chart_axis_linear(&a, (double)NAN, "");
	assert_true(a.hi > 0);
	chart_axis_log(&a, 850, 2.3e8, "");
	assert_true(fabs(a.lo - 100) < 1e-6 && fabs(a.hi - 1e9) < 1);
	assert_true(fabs(chart_axis_at(&a, 100) - 0) < 1e-9);
	assert_true(fabs(chart_axis_at(&a, 1e9) - 1) < 1e-9);
	assert_true(chart_axis_at(&a, 0) >= 0); /* no logarithm of 0 */
	assert_string_equal(chart_short_number(5e6, 15e6, buf, sizeof(buf)), "5 M");
	assert_string_equal(chart_short_number(2500, 2500, buf, sizeof(buf)), "2500");
}

static void text_is_escaped(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	html_text(out, "<a href=\"x\" b='y'>&amp;");
	html_printf(out, "%s", "<");
	html_element(out, "b", ">");
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;&lt;"
				  "<b>&gt;</b>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(recorded_results_are_drawn, teardown),
		cmocka_unit_test_teardown(both_sides_are_drawn, teardown),
		cmocka_unit_test_teardown(nothing_is_injected, teardown),
		cmocka_unit_test_teardown(odd_numbers_do_not_break_charts, teardown),
		cmocka_unit_test_teardown(coarser_is_smaller, teardown),
		cmocka_unit_test_teardown(axes_are_round, teardown),
		cmocka_unit_test_teardown(text_is_escaped, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
