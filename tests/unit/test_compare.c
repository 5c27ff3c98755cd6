/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "comparison_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "figure.h"

/* Both sides of a comparison, from folders or built here. */
struct fixture {
	struct docset base, new;
	struct pool pool;
	struct cohorts base_cohorts, new_cohorts;
	struct pairs pairs;
	struct comparison all[64];
	size_t nr;
};

static const struct allowance nothing_allowed = { .all = false };

static void match(struct fixture *x, const struct allowance *allow)
{
	assert_int_equal(cohorts_build(&x->base, &x->pool, &x->base_cohorts), 0);
	assert_int_equal(cohorts_build(&x->new, &x->pool, &x->new_cohorts), 0);
	assert_int_equal(
		cohorts_pair(&x->base_cohorts, &x->new_cohorts, allow, &x->pool, &x->pairs), 0);
	for (size_t i = 0; i < x->pairs.nr; i++) {
		if (!x->pairs.items[i].base || !x->pairs.items[i].new)
			continue;
		assert_in_range(x->nr, 0, ARRAY_SIZE(x->all) - 1);
		assert_int_equal(comparison_make(&x->pairs.items[i], COMPARISON_ALPHA, &x->pool,
						 &x->all[x->nr++]),
				 0);
	}
}

static void add_text(struct docset *set, const char *text)
{
	struct fail f = { 0 };

	set->docs = realloc(set->docs, (set->nr + 1) * sizeof(*set->docs));
	assert_non_null(set->docs);
	if (document_parse("made here", text, strlen(text), &set->docs[set->nr], &f) < 0)
		fail_msg("%s", f.what);
	set->nr++;
}

/* A document with @params (inside the braces) and @runs (inside the brackets). */
static void add(struct docset *set, const char *params, const char *host, const char *runs)
{
	_cleanup_free_ char *text = NULL;

	assert_true(asprintf(&text,
			     "{\"schema\":\"squeeze-result/1\",\"tool\":\"t\",\"scenario\":\"s\","
			     "\"verdict\":\"pass\",\"params\":{%s},\"host\":{%s},\"runs\":[%s]}",
			     params, host, runs) > 0);
	add_text(set, text);
}

static void drop(struct fixture *x)
{
	docset_free(&x->base);
	docset_free(&x->new);
	pool_free(&x->pool);
	memset(x, 0, sizeof(*x));
}

static struct fixture x;

static void load_seeds(void)
{
	assert_int_equal(docset_add(&x.base, TEST_DATA "/seeds/base"), 0);
	assert_int_equal(docset_add(&x.new, TEST_DATA "/seeds/new"), 0);
	assert_int_equal(x.base.nr_complaints + x.new.nr_complaints, 0);
	match(&x, &nothing_allowed);
	assert_int_equal(x.nr, 8);
}

static const struct comparison *find(const char *scenario, const char *param, const char *value)
{
	for (size_t i = 0; i < x.nr; i++) {
		const struct document *d = x.all[i].pair->base->like;

		if (!strcmp(d->scenario, scenario) && !strcmp(document_param(d, param), value))
			return &x.all[i];
	}
	fail_msg("%s with %s %s is not compared", scenario, param, value);
	return NULL;
}

static const struct metric_row *row_of(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->nr_metrics; i++) {
		if (!strcmp(c->metrics[i].name, name))
			return &c->metrics[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

/* The changes that the first document prints beside its figures. */
static void printed_changes_of_the_isolation_throttle(void **state)
{
	static const struct {
		const char *scenario, *param, *value, *metric, *change;
	} printed[] = {
		{ "over-isolation", "threads", "64", "touches", "+22%" },
		{ "build-pod", "memcg", "1073741824", "objects_compiled", "+52%" },
		{ "build-pod", "memcg", "1073741824", "pgscan_direct", "-23%" },
		{ "build-pod", "memcg", "1610612736", "objects_compiled", "+32%" },
		{ "build-pod", "memcg", "1610612736", "pgscan_direct", "-33%" },
		{ "build-pod", "memcg", "1610612736", "workingset_refault", "-30%" },
		{ "build-pod", "memcg", "1610612736", "memcg_charge_fails", "-30%" },
	};
	char change[FIGURE_SIZE];

	(void)state;
	load_seeds();
	for (size_t i = 0; i < ARRAY_SIZE(printed); i++) {
		const struct metric_row *row =
			row_of(find(printed[i].scenario, printed[i].param, printed[i].value),
			       printed[i].metric);

		assert_string_equal(figure_change(row->base.mean, row->new.mean, change,
						  sizeof(change)),
				    printed[i].change);
		/* One run a side: nothing may be said about noise. */
		assert_int_equal(row->mark, MARK_UNJUDGED);
	}
	drop(&x);
}

/* "Welch t=1.95, p~0.11", "means within that noise". */
static void printed_test_of_the_redis_table(void **state)
{
	const struct metric_row *row;

	(void)state;
	load_seeds();
	row = row_of(find("shards", "shards", "8"), "throughput");
	assert_true(fabs(row->base.mean - 376) < 1e-9 && fabs(row->new.mean - 335) < 1e-9);
	assert_true(fabs(row->welch.t - 1.95) < 0.005);
	assert_true(fabs(row->welch.p - 0.11) < 0.005);
	assert_int_equal(row->better, BETTER_MORE); /* by its unit, ops/s */
	assert_int_equal(row->mark, MARK_NOISE);
	drop(&x);
}

static void printed_table(const char *test, const char *metric, const char *min, const char *max,
			  const char *avg, double base_std, double new_std)
{
	const struct metric_row *row = row_of(find("soft-limit", "test", test), metric);
	double n = (double)row->base.n, population = sqrt((n - 1) / n);
	char text[FIGURE_SIZE];

	assert_string_equal(figure_percent_of(row->base.min, row->new.min, text, sizeof(text)),
			    min);
	assert_string_equal(figure_percent_of(row->base.max, row->new.max, text, sizeof(text)),
			    max);
	assert_string_equal(figure_percent_of(row->base.mean, row->new.mean, text, sizeof(text)),
			    avg);
	/* The document's std divides by n, ours by n - 1. */
	assert_true(fabs(stats_deviation(&row->base) * population - base_std) < 0.0051);
	assert_true(fabs(stats_deviation(&row->new) * population - new_std) < 0.0051);
}

/* The second document's percent of base, to the printed digit. */
static void printed_percents_of_the_soft_limit_tables(void **state)
{
	(void)state;
	load_seeds();
	printed_table("0-limit", "elapsed_time", "30.9%", "30.1%", "30.4%", 90.86, 22.68);
	printed_table("0-limit", "major_faults", "1.7%", "4.5%", "2.9%", 18217.01, 2252.71);
	printed_table("0-limit", "minor_faults", "98.8%", "98.6%", "98.7%", 54772.71, 17109.03);
	printed_table("0-limit", "user_time", "112.6%", "110.0%", "112.2%", 12.21, 7.77);
	printed_table("no-limit", "elapsed_time", "97.0%", "103.8%", "101.8%", 7.74, 18.85);
	printed_table("3", "elapsed_time", "81.6%", "47.8%", "62.6%", 45.12, 2.61);
	printed_table("3", "major_faults", "2.1%", "0.8%", "1.2%", 16202.24, 47.22);
	assert_int_equal(row_of(find("soft-limit", "test", "0-limit"), "elapsed_time")->mark,
			 MARK_BETTER);
	assert_int_equal(row_of(find("soft-limit", "test", "no-limit"), "elapsed_time")->mark,
			 MARK_NOISE);
	drop(&x);
}

static const struct {
	const char *base_params, *base_host, *new_params, *new_host;
	const char *named; /* NULL: alike */
} likenesses[] = {
	{ "", "", "", "", NULL },
	{ "\"seed\":1", "", "\"seed\":2", "", NULL },
	{ "\"cgroup-parent\":\"a\"", "", "", "", NULL },
	{ "", "\"kernel\":\"6.1\"", "", "\"kernel\":\"6.12\"", NULL },
	{ "", "\"mem_total_bytes\":1000", "", "\"mem_total_bytes\":950", NULL },
	{ "\"a-b\":1", "", "\"a_b\":1", "", NULL },
	{ "\"threads\":64", "", "\"threads\":192", "", "threads" },
	{ "\"memcg_bytes\":1", "", "\"memcg_bytes\":2", "", "memcg_bytes" },
	{ "\"threads\":64", "", "", "", "threads" },
	{ "", "", "\"threads\":64", "", "threads" },
	{ "", "\"memcg_version\":1", "", "\"memcg_version\":2", "host memcg_version" },
	{ "", "\"cpus\":1", "", "\"cpus\":2", "host cpus" },
	{ "", "\"lru\":\"classic\"", "", "\"lru\":\"mglru\"", "host lru" },
	{ "", "\"mem_total_bytes\":1000", "", "\"mem_total_bytes\":800", "host mem_total_bytes" },
	{ "", "\"swap\":[{\"kind\":\"zram\"}]", "", "\"swap\":[{\"kind\":\"delay\"}]",
	  "host swap" },
};

static void unlike_things_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(likenesses); i++) {
		const struct pair *pair;

		add(&x.base, likenesses[i].base_params, likenesses[i].base_host, "");
		add(&x.new, likenesses[i].new_params, likenesses[i].new_host, "");
		match(&x, &nothing_allowed);
		assert_int_equal(x.pairs.nr, 1);
		pair = &x.pairs.items[0];
		assert_int_equal(pair->unlike, likenesses[i].named != NULL);
		assert_int_equal(pair->nr_differences, likenesses[i].named != NULL);
		if (likenesses[i].named)
			assert_string_equal(pair->differences[0].name, likenesses[i].named);
		drop(&x);
	}
}

/* What over-scan takes from the memory that is free is never the same twice; a limit elsewhere is. */
static void sizes_of_the_machine_may_differ_a_little(void **state)
{
	static const struct {
		const char *scenario, *bytes;
		size_t differences;
	} cases[] = { { "over-scan", "1029", 0 }, { "over-scan", "1040", 1 }, { "s", "1001", 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct difference found[DIFFERENCES_MAX];

		add(&x.base, "\"memcg_bytes\":1000", "", "");
		add(&x.new, "\"memcg_bytes\":0", "", "");
		x.base.docs[0]->scenario = cases[i].scenario;
		x.new.docs[0]->params[0].text = cases[i].bytes;
		assert_int_equal(likeness_differences(x.base.docs[0], x.new.docs[0], found),
				 cases[i].differences);
		drop(&x);
	}
}

static void allowed_differences_pair(void **state)
{
	static const char *const names[] = { "lru" };
	const struct allowance some = { .names = names, .nr = 1 };

	(void)state;
	add(&x.base, "", "\"lru\":\"classic\",\"cpus\":2", "");
	add(&x.new, "", "\"lru\":\"mglru\",\"cpus\":2", "");
	match(&x, &some);
	assert_false(x.pairs.items[0].unlike);
	assert_int_equal(x.pairs.items[0].nr_differences, 1);
	drop(&x);
	add(&x.base, "", "\"lru\":\"classic\",\"cpus\":2", "");
	add(&x.new, "", "\"lru\":\"mglru\",\"cpus\":4", "");
	match(&x, &some);
	assert_true(x.pairs.items[0].unlike);
	drop(&x);
}

static void exact_pairs_come_first(void **state)
{
	(void)state;
	add(&x.base, "\"threads\":64", "", "");
	add(&x.base, "\"threads\":192", "", "");
	add(&x.new, "\"threads\":192", "", "");
	match(&x, &nothing_allowed);
	assert_int_equal(x.pairs.nr, 2);
	assert_string_equal(document_param(x.pairs.items[0].base->like, "threads"), "192");
	assert_non_null(x.pairs.items[0].new);
	assert_null(x.pairs.items[1].new); /* 64 has no counterpart: not an unlike pair */
	assert_false(x.pairs.items[1].unlike);
	drop(&x);
}

/* @n runs with the metric @name at @start, @start + @step … */
static void add_runs(struct docset *set, const char *name, const char *unit, double start,
		     double step, int n, const char *verdict, double seconds)
{
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *run = NULL;

		assert_true(asprintf(&run,
				     "{\"verdict\":\"%s\",\"duration_ns\":%.0f,\"metrics\":{\"%s\":"
				     "{\"value\":%.6f,\"unit\":\"%s\"}}}",
				     verdict, seconds * 1e9, name, start + step * i, unit) > 0);
		add(set, "\"time_ns\":60000000000", "", run);
	}
}

static const struct {
	const char *metric, *unit;
	double base, base_step, new, new_step;
	int n;
	enum mark mark;
} marks[] = {
	{ "touches", "count", 100, 1, 200, 1, 5, MARK_BETTER },
	{ "touches", "count", 200, 1, 100, 1, 5, MARK_WORSE },
	{ "touches", "count", 100, 10, 101, 10, 5, MARK_NOISE },
	{ "touches", "count", 100, 1, 200, 1, 1, MARK_UNJUDGED },
	{ "pages_scanned", "pages", 100, 1, 200, 1, 3, MARK_WORSE },
	{ "minor_faults", "count", 100, 1, 200, 1, 3, MARK_HIGHER },
	{ "minor_faults", "count", 200, 1, 100, 1, 3, MARK_LOWER },
	{ "oom_kills", "count", 0, 0, 1, 0, 3, MARK_WORSE }, /* no spread at all */
	{ "oom_kills", "count", 0, 0, 0, 0, 3, MARK_NOISE },
	{ "of a later version", "ns", 100, 1, 50, 1, 3, MARK_BETTER },
	{ "of a later version", "things", 100, 1, 50, 1, 3, MARK_LOWER },
};

static void marks_follow_the_direction(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		add_runs(&x.base, marks[i].metric, marks[i].unit, marks[i].base, marks[i].base_step,
			 marks[i].n, "pass", 60);
		add_runs(&x.new, marks[i].metric, marks[i].unit, marks[i].new, marks[i].new_step,
			 marks[i].n, "pass", 60);
		match(&x, &nothing_allowed);
		assert_int_equal(x.all[0].pair->base->nr_runs, marks[i].n);
		if (x.all[0].metrics[0].mark != marks[i].mark)
			fail_msg("%zu: %s", i, mark_text(x.all[0].metrics[0].mark));
		assert_int_equal(comparison_has(&x.all[0], MARK_WORSE),
				 marks[i].mark == MARK_WORSE);
		drop(&x);
	}
}

/* A kernel that kills after 3 s scans less than one that lives for 60: that is no merit. */
static void counts_of_uneven_runs_are_not_judged(void **state)
{
	static const struct {
		const char *metric, *unit;
		enum mark mark;
	} cases[] = {
		{ "pages_scanned", "pages", MARK_UNEVEN },
		{ "reclaim_time_ns", "ns", MARK_UNEVEN },
		{ "touches_per_s", "per_s", MARK_BETTER },
		{ "longest_stall_ns", "ns", MARK_WORSE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		add_runs(&x.base, cases[i].metric, cases[i].unit, 100, 1, 3, "fail", 3);
		add_runs(&x.new, cases[i].metric, cases[i].unit, 2000, 1, 3, "pass", 60);
		match(&x, &nothing_allowed);
		assert_true(x.all[0].uneven_time);
		assert_int_equal(x.all[0].metrics[0].mark, cases[i].mark);
		drop(&x);
	}
}

static void failed_rates_have_bounds(void **state)
{
	(void)state;
	add_runs(&x.base, "touches", "count", 1, 1, 8, "fail", 60);
	add_runs(&x.new, "touches", "count", 1, 1, 8, "pass", 60);
	add_runs(&x.new, "touches", "count", 9, 1, 2, "inconclusive", 60);
	match(&x, &nothing_allowed);
	assert_int_equal(x.all[0].base_rate.failed, 8);
	assert_int_equal(x.all[0].new_rate.judged, 8);
	assert_int_equal(x.all[0].new_rate.others, 2);
	/* 8 of 8: the lower bound is 0.025^(1/8) = 0.6306 (Clopper-Pearson, closed form). */
	assert_true(fabs(x.all[0].base_rate.low - 0.630583) < 1e-5);
	assert_int_equal(x.all[0].rate_mark, MARK_BETTER);
	assert_true(fabs(x.all[0].rate_p - 2.0 / 12870) < 1e-9); /* 2 of C(16, 8) */
	drop(&x);
	add_runs(&x.base, "touches", "count", 1, 1, 5, "pass", 60);
	add_runs(&x.new, "touches", "count", 1, 1, 5, "fail", 60);
	match(&x, &nothing_allowed);
	assert_int_equal(x.all[0].rate_mark, MARK_WORSE); /* p = 0.008; the bounds overlap */
	assert_true(comparison_has(&x.all[0], MARK_WORSE));
	drop(&x);
	add_runs(&x.base, "touches", "count", 1, 1, 2, "fail", 60);
	add_runs(&x.new, "touches", "count", 1, 1, 2, "pass", 60);
	match(&x, &nothing_allowed);
	assert_int_equal(x.all[0].rate_mark, MARK_NOISE); /* two each prove nothing */
	drop(&x);
}

static void add_hist(struct docset *set, unsigned int low, unsigned int high)
{
	_cleanup_free_ char *run = NULL;

	assert_true(asprintf(&run,
			     "{\"verdict\":\"pass\",\"histograms\":{\"touch\":{\"unit\":\"ns\","
			     "\"buckets\":[[10,10,%u],[100,100,%u]]}}}",
			     low, high) > 0);
	add(set, "", "", run);
}

static void latencies_need_an_effect_in_every_pair_of_runs(void **state)
{
	(void)state;
	/* Plainly slower, in all runs. */
	add_hist(&x.base, 9000, 1000);
	add_hist(&x.base, 9000, 1000);
	add_hist(&x.new, 5000, 5000);
	add_hist(&x.new, 5000, 5000);
	match(&x, &nothing_allowed);
	assert_int_equal(x.all[0].nr_latencies, 1);
	assert_true(fabs(x.all[0].latencies[0].test.superiority - 0.7) < 1e-9);
	assert_int_equal(x.all[0].latencies[0].mark, MARK_WORSE);
	drop(&x);
	/* Significant by mere numbers, but negligible. */
	add_hist(&x.base, 9000000, 1000000);
	add_hist(&x.base, 9000000, 1000000);
	add_hist(&x.new, 8900000, 1100000);
	add_hist(&x.new, 8900000, 1100000);
	match(&x, &nothing_allowed);
	assert_true(x.all[0].latencies[0].test.p < 1e-6);
	assert_int_equal(x.all[0].latencies[0].mark, MARK_NOISE);
	drop(&x);
	/* Large in the sum, but runs of one side differ as much. */
	add_hist(&x.base, 9000, 1000);
	add_hist(&x.base, 5000, 5000);
	add_hist(&x.new, 1000, 9000);
	add_hist(&x.new, 8000, 2000);
	match(&x, &nothing_allowed);
	assert_true(fabs(x.all[0].latencies[0].test.superiority - 0.5) > 0.06);
	assert_int_equal(x.all[0].latencies[0].mark, MARK_NOISE);
	drop(&x);
}

/* Each rendering says what was computed, and nothing of a document can break its form. */
static void renderings_hold(void **state)
{
	struct comparison_set set = { .alpha = COMPARISON_ALPHA };
	static const char *const words[][2] = {
		{ "text", "avg:  434.81 [30.4%]" },
		{ "text", "Welch t = 1.95, p = 0.11" },
		{ "markdown", "| touches | 246,499,132,369 | 301,456,426,692 (+22%) |" },
		{ "json", "\"mark\": \"within noise\"" },
	};

	(void)state;
	load_seeds();
	set.items = x.all;
	set.nr = x.nr;
	set.pairs = &x.pairs;
	set.pool = &x.pool;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_free_ char *text = NULL;
		size_t size, f = 0;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		while (strcmp(comparison_formats[f].name, words[i][0]) != 0)
			f++;
		comparison_formats[f].write(&set, out);
		assert_int_equal(fclose(out), 0);
		if (!strstr(text, words[i][1]))
			fail_msg("no '%s' in: %s", words[i][1], text);
	}
	drop(&x);
}

static void figures_read_well(void **state)
{
	char buf[FIGURE_SIZE + 24];

	(void)state;
	assert_string_equal(figure_humane(301456426692.0, "count", buf, sizeof(buf)),
			    "301,456,426,692");
	assert_string_equal(figure_humane(0.0261, "ratio", buf, sizeof(buf)), "0.0261");
	assert_string_equal(figure_humane(4560000, "ns", buf, sizeof(buf)), "4.56 ms");
	assert_string_equal(figure_humane(16777216, "bytes", buf, sizeof(buf)), "16.00 MiB");
	assert_string_equal(figure_humane(376, "ops/s", buf, sizeof(buf)), "376 ops/s");
	assert_string_equal(figure_change(0, 5, buf, sizeof(buf)), "");
	assert_string_equal(figure_change(1000, 1004, buf, sizeof(buf)), "+0.4%");
	assert_string_equal(figure_change(-10, -5, buf, sizeof(buf)), "+50%");
	assert_string_equal(figure_percent_of(0, 5, buf, sizeof(buf)), "");
	assert_string_equal(figure_p(1e-20, buf, sizeof(buf)), "< 1e-15");
	assert_string_equal(figure_fact("memcg_bytes", "16777216", buf, sizeof(buf)), "16 MiB");
	assert_string_equal(figure_fact("threads", "16777216", buf, sizeof(buf)), "16777216");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printed_changes_of_the_isolation_throttle),
		cmocka_unit_test(printed_test_of_the_redis_table),
		cmocka_unit_test(printed_percents_of_the_soft_limit_tables),
		cmocka_unit_test(unlike_things_are_named),
		cmocka_unit_test(sizes_of_the_machine_may_differ_a_little),
		cmocka_unit_test(allowed_differences_pair),
		cmocka_unit_test(exact_pairs_come_first),
		cmocka_unit_test(marks_follow_the_direction),
		cmocka_unit_test(counts_of_uneven_runs_are_not_judged),
		cmocka_unit_test(failed_rates_have_bounds),
		cmocka_unit_test(latencies_need_an_effect_in_every_pair_of_runs),
		cmocka_unit_test(renderings_hold),
		cmocka_unit_test(figures_read_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
