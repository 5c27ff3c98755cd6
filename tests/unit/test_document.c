/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "document.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "docset.h"
#include "report.h"
#include "sample_documents.h"

#define HEAD \
	"{\"schema\":\"squeeze-result/1\",\"tool\":\"t\",\"scenario\":\"s\",\"verdict\":\"pass\""
#define RUN(x) HEAD ",\"runs\":[{\"verdict\":\"pass\"," x "}]}"

static struct document *good(const char *text)
{
	struct document *doc = NULL;
	struct fail f = { 0 };

	if (document_parse("name", text, strlen(text), &doc, &f) < 0)
		fail_msg("%s", f.what);
	return doc;
}

/* What is wrong with each, and the words that must say so. One line each, with the file's name. */
static const struct bad {
	const char *text;
	int err;
	const char *words;
} bads[] = {
	{ "", EINVAL, "empty" },
	{ "{", EINVAL, "cut short" },
	{ HEAD ",\"runs\":[", EINVAL, "cut short" },
	{ "\x7f\x45\x4c\x46", EINVAL, "damaged" },
	{ "{\"a\":1,\"a\":2}", EINVAL, "duplicate" },
	{ HEAD ",\"reason\":\"\xff\xfe\"}", EINVAL, "decode byte" },
	{ HEAD ",\"params\":{\"x\":1e999}}", EINVAL, "damaged" },
	{ "[]", ENOMSG, "not a Squeeze result" },
	{ "{}", ENOMSG, "not a Squeeze result" },
	{ "{\"schema\":1}", ENOMSG, "not a Squeeze result" },
	{ "{\"schema\":\"squeeze-compare/1\"}", ENOMSG, "not a Squeeze result" },
	{ "{\"schema\":\"squeeze-result/0\"}", EPROTONOSUPPORT, "older" },
	{ "{\"schema\":\"squeeze-result/2\"}", EPROTONOSUPPORT, "newer" },
	{ "{\"schema\":\"squeeze-result/1x\"}", EPROTONOSUPPORT, "unknown schema" },
	{ "{\"schema\":\"squeeze-result/\"}", EPROTONOSUPPORT, "unknown schema" },
	{ "{\"schema\":\"squeeze-result/1\",\"verdict\":\"pass\"}", EINVAL, "no \"tool\"" },
	{ "{\"schema\":\"squeeze-result/1\",\"tool\":\"t\",\"verdict\":\"pass\"}", EINVAL,
	  "no \"scenario\"" },
	{ "{\"schema\":\"squeeze-result/1\",\"tool\":\"t\",\"scenario\":\"s\"}", EINVAL,
	  "no verdict" },
	{ HEAD ",\"runs\":{}}", EINVAL, "\"runs\" is an object" },
	{ HEAD ",\"runs\":[1]}", EINVAL, "run 1 is an integer" },
	{ HEAD ",\"runs\":[{}]}", EINVAL, "no verdict" },
	{ HEAD ",\"host\":[]}", EINVAL, "\"host\" is an array" },
	{ RUN("\"checks\":3"), EINVAL, "\"checks\"" },
	{ RUN("\"checks\":[{\"op\":\"<\"}]"), EINVAL, "operator" },
	{ RUN("\"checks\":[{\"op\":\"<=\",\"outcome\":\"maybe\"}]"), EINVAL, "outcome" },
	{ RUN("\"histograms\":{\"h\":1}"), EINVAL, "histogram \"h\"" },
	{ RUN("\"histograms\":{\"h\":{\"buckets\":[[1,2]]}}"), EINVAL, "bucket" },
	{ RUN("\"histograms\":{\"h\":{\"buckets\":[[1,2,-1]]}}"), EINVAL, "bucket" },
	{ RUN("\"histograms\":{\"h\":{\"buckets\":[[1,2,0.5]]}}"), EINVAL, "bucket" },
	{ RUN("\"histograms\":{\"h\":{\"buckets\":[[2,1,1]]}}"), EINVAL, "bucket" },
	{ RUN("\"histograms\":{\"h\":{\"buckets\":[[1,1,9223372036854775807]]}}"), EINVAL,
	  "bucket" },
	{ RUN("\"histograms\":{\"h\":{\"count\":3,\"buckets\":[[1,1,2]]}}"), EINVAL, "add up" },
	{ RUN("\"timeline\":{\"progress\":[1]}"), EINVAL, "t_ns" },
	{ RUN("\"timeline\":{\"t_ns\":[1,2],\"progress\":[1]}"), EINVAL, "as long as" },
};

static void damage_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bads); i++) {
		struct document *doc = NULL;
		struct fail f = { 0 };
		int r = document_parse("name.json", bads[i].text, strlen(bads[i].text), &doc, &f);

		if (r != -bads[i].err || !strstr(f.what, bads[i].words))
			fail_msg("%zu: %d, %s", i, r, f.what);
		assert_null(doc);
		assert_ptr_equal(strstr(f.what, "name.json: "), f.what);
		assert_null(strchr(f.what, '\n'));
	}
}

static void deep_nesting_is_refused(void **state)
{
	const size_t depth = 1000000;
	_cleanup_free_ char *text = malloc(depth);
	struct document *doc = NULL;
	struct fail f = { 0 };

	(void)state;
	memset(text, '[', depth);
	assert_int_equal(document_parse("x", text, depth, &doc, &f), -EINVAL);
	assert_non_null(strstr(f.what, "depth"));
}

static char *rendered(const char *name, size_t *ret_size)
{
	struct result_doc *doc = calloc(1, sizeof(*doc));
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	assert_non_null(doc);
	assert_non_null(out);
	sample_document_find(name)->fill(doc);
	assert_int_equal(report_json(doc, out), 0);
	assert_int_equal(fclose(out), 0);
	result_free(doc);
	free(doc);
	return text;
}

/* What report_json() writes is what document_parse() reads. */
static void a_document_comes_back(void **state)
{
	__attribute__((cleanup(document_freep))) struct document *doc = NULL;
	struct result_doc *original = calloc(1, sizeof(*original));
	_cleanup_free_ char *text = NULL;
	struct fail f = { 0 };
	size_t size;

	(void)state;
	text = rendered("fail", &size);
	assert_non_null(original);
	sample_document_find("fail")->fill(original);
	if (document_parse("x", text, size, &doc, &f) < 0)
		fail_msg("%s", f.what);
	assert_int_equal(doc->verdict, original->verdict);
	assert_string_equal(doc->reason, original->reason);
	assert_int_equal(doc->nr_runs, original->nr_runs);
	for (size_t i = 0; i < doc->nr_runs; i++) {
		const struct doc_run *run = &doc->runs[i];
		const struct run_result *first = &original->runs[i];

		assert_int_equal(run->nr_checks, first->nr_checks);
		assert_int_equal(run->nr_worst, first->nr_worst);
		assert_int_equal(run->nr_hists, first->nr_hists);
		for (size_t j = 0; j < run->nr_hists; j++) {
			const struct hist *a = run->hists[j].hist, *b = first->hists[j].hist;

			assert_int_equal(a->count, b->count);
			assert_memory_equal(a->buckets, b->buckets, sizeof(a->buckets));
			if (b->count) {
				assert_int_equal(a->min, b->min);
				assert_int_equal(a->max, b->max);
			}
		}
		for (size_t j = 0; j < run->nr_metrics; j++) {
			struct value v = first->metrics[metric_find(run->metrics[j].name)];

			assert_int_equal(run->metrics[j].value.kind, v.kind);
			if (v.kind == VALUE_COUNT)
				assert_true(run->metrics[j].value.u == v.u);
		}
	}
	result_free(original);
	free(original);
}

/* Wherever a document is cut, it is refused or whole: never read as something else. */
static void any_cut_is_refused(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t size;

	(void)state;
	text = rendered("skip", &size);
	for (size_t cut = 0; cut < size; cut++) {
		struct document *doc = NULL;
		struct fail f = { 0 };
		int r = document_parse("x", text, cut, &doc, &f);

		if (text[cut] == '\n' && cut + 1 == size)
			assert_int_equal(r, 0); /* only the last newline is missing */
		else
			assert_int_equal(r, -EINVAL);
		document_free(doc);
	}
}

static void integers_are_exact_to_64_bits(void **state)
{
	struct document *doc = good(HEAD ",\"params\":{\"seed\":18446744073709551615,\"a\":\"x 99"
					 "99999999999999999999 \\\" 5\"},\"runs\":[{\"verdict\":"
					 "\"pass\",\"metrics\":{\"touches\":{\"value\":"
					 "9223372036854775808,\"unit\":\"count\"}}}]}");

	(void)state;
	assert_string_equal(document_param(doc, "seed"), "18446744073709551615");
	assert_true(document_param_number(doc, "seed").u == UINT64_MAX);
	assert_string_equal(document_param(doc, "a"), "x 9999999999999999999999 \" 5");
	assert_true(doc->runs[0].metrics[0].value.u == UINT64_C(1) << 63);
	document_free(doc);
}

static void control_characters_do_not_get_through(void **state)
{
	struct document *doc = good(HEAD ",\"reason\":\"a\\u001b[31m\\nb\\u009bc\\u007f\",\"host\":"
					 "{\"kernel\":\"\\u0007\\u00e9\"}}");

	(void)state;
	assert_string_equal(doc->reason, "a?[31m b??c?");
	assert_string_equal(document_host(doc, "kernel"), "?\xc3\xa9");
	document_free(doc);
}

static void long_strings_are_cut_between_characters(void **state)
{
	_cleanup_free_ char *text = NULL, *many = calloc(1, 20001);
	struct document *doc;

	(void)state;
	for (size_t i = 0; i < 20000; i += 2)
		memcpy(many + i, "\xc3\xa9", 2);
	assert_true(asprintf(&text, HEAD ",\"reason\":\"x%s\"}", many) > 0);
	doc = good(text);
	assert_in_range(strlen(doc->reason), 4000, 4096);
	assert_int_equal((unsigned char)doc->reason[strlen(doc->reason) - 1], 0xa9);
	document_free(doc);
}

static void a_command_can_be_pasted(void **state)
{
	struct document *doc =
		good(HEAD ",\"command\":[\"usemem\",\"--memcg=16M\",\"\",\"it's\",\"$(x)\"]}");

	(void)state;
	assert_string_equal(doc->command, "usemem --memcg=16M '' 'it'\\''s' '$(x)'");
	document_free(doc);
}

static void absent_is_not_zero(void **state)
{
	struct document *doc = good(RUN("\"metrics\":{\"a\":{\"value\":null},\"b\":{\"value\":0}},"
					"\"timeline\":{\"t_ns\":[0,1],\"progress\":[null,5]}"));
	const double *progress = doc_run_series(&doc->runs[0], "progress");

	(void)state;
	assert_int_equal(doc->runs[0].nr_metrics, 1);
	assert_string_equal(doc->runs[0].metrics[0].name, "b");
	assert_true(isnan(progress[0]));
	assert_true(progress[1] > 4.9 && progress[1] < 5.1);
	assert_null(doc_run_series(&doc->runs[0], "t"));
	assert_null(doc_run_hist(&doc->runs[0], "h"));
	document_free(doc);
}

static void swap_kinds_become_a_fact(void **state)
{
	struct document *doc = good(HEAD
				    ",\"host\":{\"swap\":[{\"kind\":\"zram\",\"size_bytes\":1},"
				    "{\"kind\":\"file\",\"size_bytes\":2}]}}");

	(void)state;
	assert_string_equal(document_host(doc, "swap"), "zram file");
	assert_string_equal(document_host(doc, "swap_bytes"), "3");
	assert_string_equal(document_host(doc, "lru"), "");
	document_free(doc);
}

static void folders_keep_going(void **state)
{
	char dir[] = "/tmp/squeeze-test-XXXXXX", path[128];
	struct docset set = DOCSET_EMPTY;
	static const struct {
		const char *name, *text;
	} files[] = {
		{ "b-10.json", HEAD "}" }, { "b-9.json", HEAD "}" },	 { "c.json", "{" },
		{ "d.json", "[1]" },	   { "report.txt", "not JSON" },
	};

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		FILE *out;

		(void)snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
		out = fopen(path, "we");
		assert_non_null(out);
		fputs(files[i].text, out);
		assert_int_equal(fclose(out), 0);
	}
	(void)snprintf(path, sizeof(path), "%s/pipe.json", dir);
	assert_int_equal(mkfifo(path, 0600), 0); /* must not hold us up */
	assert_int_equal(docset_add(&set, dir), 0);
	assert_int_equal(set.nr, 2);
	assert_non_null(strstr(set.docs[0]->path, "b-9.json")); /* run 9 before run 10 */
	assert_int_equal(set.nr_foreign, 1);
	assert_int_equal(set.nr_complaints, 2);
	assert_non_null(strstr(set.complaints[0], "c.json"));
	assert_non_null(strstr(set.complaints[1], "not a regular file"));
	(void)snprintf(path, sizeof(path), "%s/d.json", dir);
	assert_int_equal(docset_add(&set, path), 0); /* by its name it is not passed over */
	assert_int_equal(set.nr_complaints, 3);
	docset_free(&set);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/pipe.json", dir);
	(void)unlink(path);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
		(void)unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void huge_files_are_not_read(void **state)
{
	char path[] = "/tmp/squeeze-test-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	struct document *doc = NULL;
	struct fail f = { 0 };

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 200 << 20), 0);
	assert_int_equal(document_load(path, &doc, &f), -EFBIG);
	assert_non_null(strstr(f.what, "200 MiB"));
	(void)close(fd);
	(void)unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_named),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(a_document_comes_back),
		cmocka_unit_test(any_cut_is_refused),
		cmocka_unit_test(integers_are_exact_to_64_bits),
		cmocka_unit_test(control_characters_do_not_get_through),
		cmocka_unit_test(long_strings_are_cut_between_characters),
		cmocka_unit_test(a_command_can_be_pasted),
		cmocka_unit_test(absent_is_not_zero),
		cmocka_unit_test(swap_kinds_become_a_fact),
		cmocka_unit_test(folders_keep_going),
		cmocka_unit_test(huge_files_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
