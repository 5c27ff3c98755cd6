/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "text.h"

static void digits_are_grouped(void **state)
{
	char buf[TEXT_NUMBER_SIZE];

	(void)state;
	assert_string_equal(text_grouped(0, buf, sizeof(buf)), "0");
	assert_string_equal(text_grouped(999, buf, sizeof(buf)), "999");
	assert_string_equal(text_grouped(1000, buf, sizeof(buf)), "1,000");
	assert_string_equal(text_grouped(123456, buf, sizeof(buf)), "123,456");
	assert_string_equal(text_grouped(UINT64_MAX, buf, sizeof(buf)),
			    "18,446,744,073,709,551,615");
}

static void check_humane(struct value v, const char *unit, const char *text)
{
	char buf[TEXT_NUMBER_SIZE * 2];

	assert_string_equal(text_humane(v, unit, buf, sizeof(buf)), text);
}

static void quantities_have_a_fitting_unit(void **state)
{
	(void)state;
	check_humane(value_u64(4560000), "ns", "4.56 ms");
	check_humane(value_real(850.4), "ns", "850 ns");
	check_humane(value_u64(1200000), "us", "1.20 s");
	check_humane(value_real(0.5), "s", "500 ms");
	check_humane(value_u64(16 << 20), "bytes", "16 MiB");
	check_humane(value_u64(16 << 20), "bytes_per_s", "16 MiB/s");
	check_humane(value_real(76570796.25), "per_s", "76,570,796 /s");
	check_humane(value_u64(1635), "pages", "1,635 pages");
	check_humane(value_u64(UINT64_MAX), "count", "18,446,744,073,709,551,615");
	check_humane(value_real(24.8), "ratio", "24.80");
	check_humane(value_real(0.0261), "ratio", "0.0261");
	check_humane(value_real(0.00001), "ratio", "1.00e-05");
	check_humane(value_real(3), "ratio", "3");
	check_humane(value_real(-1234.5), "ratio", "-1,235");
	check_humane(value_u64(3), "furlongs", "3 furlongs");
	check_humane(value_u64(3), NULL, "3");
	check_humane(value_absent(), "ns", "-");
	/* What would overflow in ns is the most there is, not what is left over. */
	check_humane(value_u64(UINT64_MAX), "us", "18446744074 s");
}

static void exact_figures_are_for_machines(void **state)
{
	char buf[TEXT_NUMBER_SIZE];

	(void)state;
	assert_string_equal(text_exact(value_u64(9007199254740993), buf, sizeof(buf)),
			    "9007199254740993");
	assert_string_equal(text_exact(value_real(0.1), buf, sizeof(buf)), "0.1");
	assert_string_equal(text_exact(value_absent(), buf, sizeof(buf)), "");
}

static void lines_are_cleaned(void **state)
{
	char buf[64], small[6];

	(void)state;
	assert_string_equal(text_clean("a\n\t b  c ", "", buf, sizeof(buf)), "a b c");
	assert_string_equal(text_clean(" \x1b[31mred\xc3\xa9", "", buf, sizeof(buf)), "?[31mred??");
	assert_string_equal(text_clean("run #1 'x'", "#'", buf, sizeof(buf)), "run _1 _x_");
	assert_string_equal(text_clean("", "", buf, sizeof(buf)), "");
	assert_string_equal(text_clean("abcdefgh", "", small, sizeof(small)), "abcde");
}

static char *paragraph(const char *text, size_t column, size_t indent)
{
	char *buf = NULL;
	size_t size;
	FILE *out = open_memstream(&buf, &size);

	assert_non_null(out);
	text_paragraph(out, text, column, indent);
	assert_int_equal(fclose(out), 0);
	return buf;
}

static void paragraphs_keep_to_the_width(void **state)
{
	char words[400] = "", *got;
	size_t column = 10;

	(void)state;
	for (int i = 0; i < 60; i++)
		strcat(words, i % 3 ? "words " : "of ");
	got = paragraph(words, column, 4);
	for (char *line = strtok(got, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(column + strlen(line) <= TEXT_WIDTH);
		if (column == 0)
			assert_memory_equal(line, "    ", 4);
		column = 0;
	}
	free(got);

	got = paragraph("", 0, 4);
	assert_string_equal(got, "\n");
	free(got);

	/* A path is not broken, however long. */
	memset(words, 'x', 100);
	words[100] = '\0';
	strcat(words, " y");
	got = paragraph(words, 0, 2);
	assert_int_equal(strcspn(got, "\n"), 100);
	assert_string_equal(got + 100, "\n  y\n");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_grouped),
		cmocka_unit_test(quantities_have_a_fitting_unit),
		cmocka_unit_test(exact_figures_are_for_machines),
		cmocka_unit_test(lines_are_cleaned),
		cmocka_unit_test(paragraphs_keep_to_the_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
