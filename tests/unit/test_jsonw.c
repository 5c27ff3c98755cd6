/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "jsonw.h"

struct fixture {
	struct jsonw w;
	FILE *out;
	char *text;
	size_t size;
};

static void begin(struct fixture *f)
{
	f->text = NULL;
	f->out = open_memstream(&f->text, &f->size);
	assert_non_null(f->out);
	jsonw_init(&f->w, f->out);
}

static void expect(struct fixture *f, const char *text)
{
	assert_int_equal(fclose(f->out), 0);
	assert_string_equal(f->text, text);
	free(f->text);
}

static void expect_text(const char *in, const char *out)
{
	struct fixture f;

	begin(&f);
	jsonw_string(&f.w, in);
	expect(&f, out);
}

static void expect_real(double in, const char *out)
{
	struct fixture f;

	begin(&f);
	jsonw_real(&f.w, in);
	expect(&f, out);
}

static void nesting_and_commas(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	jsonw_object_begin(&f.w);
	jsonw_kv_string(&f.w, "a", "b");
	jsonw_key(&f.w, "empty");
	jsonw_array_begin(&f.w);
	jsonw_array_end(&f.w);
	jsonw_key(&f.w, "none");
	jsonw_object_begin(&f.w);
	jsonw_object_end(&f.w);
	jsonw_key(&f.w, "list");
	jsonw_array_begin(&f.w);
	jsonw_null(&f.w);
	jsonw_object_begin(&f.w);
	jsonw_kv_bool(&f.w, "yes", true);
	jsonw_kv_bool(&f.w, "no", false);
	jsonw_object_end(&f.w);
	jsonw_array_end(&f.w);
	jsonw_kv_u64(&f.w, "n", 1);
	jsonw_object_end(&f.w);
	expect(&f,
	       "{\n  \"a\": \"b\",\n  \"empty\": [],\n  \"none\": {},\n  \"list\": [\n    null,\n"
	       "    {\n      \"yes\": true,\n      \"no\": false\n    }\n  ],\n  \"n\": 1\n}\n");
}

static void inline_containers_stay_on_their_line(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	jsonw_array_begin(&f.w);
	jsonw_object_begin_inline(&f.w);
	jsonw_kv_u64(&f.w, "a", 1);
	jsonw_key(&f.w, "b");
	jsonw_array_begin(&f.w);
	jsonw_u64(&f.w, 2);
	jsonw_u64(&f.w, 3);
	jsonw_array_end(&f.w);
	jsonw_object_end(&f.w);
	jsonw_array_begin_inline(&f.w);
	jsonw_array_begin_inline(&f.w);
	jsonw_u64(&f.w, 4);
	jsonw_array_end(&f.w);
	jsonw_array_begin_inline(&f.w);
	jsonw_array_end(&f.w);
	jsonw_array_end(&f.w);
	jsonw_array_end(&f.w);
	expect(&f, "[\n  { \"a\": 1, \"b\": [2, 3] },\n  [[4], []]\n]\n");
}

static void strings_are_escaped(void **state)
{
	(void)state;
	expect_text("", "\"\"");
	expect_text("plain", "\"plain\"");
	expect_text("a\"b\\c/", "\"a\\\"b\\\\c/\"");
	expect_text("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
	expect_text("\x01\x1b\x1f\x7f", "\"\\u0001\\u001b\\u001f\\u007f\"");
}

static void utf8_is_kept_and_the_rest_replaced(void **state)
{
	(void)state;
#define BAD "\xef\xbf\xbd"
	/* Well formed, at the edges of each form. */
	expect_text("\xc2\x80\xdf\xbf", "\"\xc2\x80\xdf\xbf\"");
	expect_text("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
		    "\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"");
	expect_text("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
	/* A stray continuation, a Latin-1 byte, what never occurs. */
	expect_text("\x80", "\"" BAD "\"");
	expect_text("caf\xe9!", "\"caf" BAD "!\"");
	expect_text("\xc0\xaf", "\"" BAD BAD "\""); /* overlong */
	expect_text("\xe0\x80\xaf", "\"" BAD BAD BAD "\"");
	expect_text("\xed\xa0\x80", "\"" BAD BAD BAD "\""); /* a surrogate */
	expect_text("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");
	expect_text("\xff\xfe", "\"" BAD BAD "\"");
	/* Cut short: one replacement for what was well formed so far. */
	expect_text("\xe2\x82", "\"" BAD "\"");
	expect_text("\xf0\x9f\x98", "\"" BAD "\"");
	expect_text("\xf0\x9f\x98\"", "\"" BAD "\\\"\"");
	expect_text("\xc3", "\"" BAD "\"");
#undef BAD
}

static void integers_are_exact(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	jsonw_array_begin_inline(&f.w);
	jsonw_u64(&f.w, 0);
	jsonw_u64(&f.w, 9007199254740993); /* 2^53 + 1 */
	jsonw_value(&f.w, value_u64(UINT64_MAX));
	jsonw_array_end(&f.w);
	expect(&f, "[0, 9007199254740993, 18446744073709551615]\n");
}

static void reals_are_shortest_and_stay_real(void **state)
{
	(void)state;
	expect_real(0, "0.0");
	expect_real(24, "24.0");
	expect_real(0.1, "0.1");
	expect_real(-1.5, "-1.5");
	expect_real(1.0 / 3, "0.3333333333333333");
	expect_real(1e300, "1e+300");
	expect_real((double)NAN, "null");
	expect_real((double)INFINITY, "null");
}

static void reals_read_back(void **state)
{
	const double values[] = { DBL_MAX, DBL_MIN, DBL_EPSILON, 4.9e-324, 8e5 / 1.9e6, 1e15 + 0.3 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct fixture f;
		double back;

		begin(&f);
		jsonw_real(&f.w, values[i]);
		assert_int_equal(fclose(f.out), 0);
		back = strtod(f.text, NULL);
		assert_memory_equal(&back, &values[i], sizeof(back));
		free(f.text);
	}
}

static void absent_values_are_null(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	jsonw_object_begin_inline(&f.w);
	jsonw_kv_value(&f.w, "a", value_absent());
	jsonw_kv_value(&f.w, "b", value_real(2.5));
	jsonw_object_end(&f.w);
	expect(&f, "{ \"a\": null, \"b\": 2.5 }\n");
}

/* Debian's minimal images have no locale with a comma: then there is nothing to see here. */
static void the_point_is_a_point(void **state)
{
	(void)state;
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
		skip();
	expect_real(1.5, "1.5");
	(void)setlocale(LC_NUMERIC, "C");
}

static void errors_are_the_streams(void **state)
{
	FILE *full = fopen("/dev/full", "we");
	struct jsonw w;

	(void)state;
	if (!full)
		skip();
	jsonw_init(&w, full);
	jsonw_array_begin(&w);
	for (unsigned int i = 0; i < 10000; i++)
		jsonw_u64(&w, i);
	jsonw_array_end(&w);
	assert_true(ferror(full) || fflush(full) != 0);
	(void)fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_and_commas),
		cmocka_unit_test(inline_containers_stay_on_their_line),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(utf8_is_kept_and_the_rest_replaced),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(reals_are_shortest_and_stay_real),
		cmocka_unit_test(reals_read_back),
		cmocka_unit_test(absent_values_are_null),
		cmocka_unit_test(the_point_is_a_point),
		cmocka_unit_test(errors_are_the_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
