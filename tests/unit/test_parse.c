/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "parse.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "cleanup.h"
#include "support.h"

/* What a failed parse must leave alone. */
#define UNTOUCHED 0xdeadbeefULL

struct number_case {
	const char *text;
	int r;
	uint64_t value;
};

static void check_numbers(int (*parse)(const char *, uint64_t *), const struct number_case *cases,
			  size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t value = UNTOUCHED;
		int r = parse(cases[i].text, &value);

		if (r != cases[i].r || value != (r ? UNTOUCHED : cases[i].value))
			print_error("\"%s\": %d, %" PRIu64 "\n", cases[i].text, r, value);
		assert_int_equal(r, cases[i].r);
		assert_true(value == (r ? UNTOUCHED : cases[i].value));
	}
}

static void u64_is_digits_only(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "007", 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "99999999999999999999999x", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1\n", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
	};

	(void)state;
	check_numbers(parse_u64, cases, ARRAY_SIZE(cases));
}

static void u64_at_steps_over_the_digits(void **state)
{
	const char *text = "12:x99999999999999999999,";
	uint64_t value = 0;

	(void)state;
	assert_int_equal(parse_u64_at(&text, &value), 0);
	assert_true(value == 12);
	assert_string_equal(text, ":x99999999999999999999,");
	assert_int_equal(parse_u64_at(&text, &value), -EINVAL);
	text += 2;
	assert_int_equal(parse_u64_at(&text, &value), -ERANGE);
	assert_string_equal(text, ",");
	assert_true(value == 12);
}

static void sizes(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "4096B", 0, 4096 },
		{ "4096b", 0, 4096 },
		{ "16M", 0, 16 << 20 },
		{ "16m", 0, 16 << 20 },
		{ "16MiB", 0, 16 << 20 },
		{ "16mib", 0, 16 << 20 },
		{ "16mb", 0, 16 << 20 },
		{ "1k", 0, 1024 },
		{ "2G", 0, 2ULL << 30 },
		{ "3T", 0, 3ULL << 40 },
		{ "1.5g", 0, 3ULL << 29 },
		{ "0.5k", 0, 512 },
		{ "0.0001k", 0, 0 },	      /* a tenth of a byte: down */
		{ "1.0009765624k", 0, 1024 }, /* just under 1,025 */
		{ "1.0009765625k", 0, 1025 },
		/* 2^-40: one byte exactly, in 40 digits */
		{ "0.0000000000009094947017729282379150390625t", 0, 1 },
		{ "0.0000000000009094947017729282379150390624t", 0, 0 },
		{ "16777215t", 0, 16777215ULL << 40 },
		{ "16777216t", -ERANGE, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "18446744073709551616k", -ERANGE, 0 },
		{ "18446744073709551616q", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "M", -EINVAL, 0 },
		{ ".5M", -EINVAL, 0 },
		{ "1.M", -EINVAL, 0 },
		{ "1..5M", -EINVAL, 0 },
		{ "1.5", -EINVAL, 0 }, /* half a byte */
		{ "1.5B", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "-1M", -EINVAL, 0 },
		{ "+1M", -EINVAL, 0 },
		{ "1 M", -EINVAL, 0 },
		{ " 1M", -EINVAL, 0 },
		{ "1M ", -EINVAL, 0 },
		{ "1i", -EINVAL, 0 },
		{ "1iB", -EINVAL, 0 },
		{ "1Mi", -EINVAL, 0 },
		{ "1MM", -EINVAL, 0 },
		{ "1MBB", -EINVAL, 0 },
		{ "50%", -EINVAL, 0 },
		{ "1,5M", -EINVAL, 0 },
	};

	(void)state;
	check_numbers(parse_size, cases, ARRAY_SIZE(cases));
}

static int percent_of_1000(const char *s, uint64_t *ret)
{
	return parse_size_or_percent(s, 1000, ret);
}

static int percent_of_all(const char *s, uint64_t *ret)
{
	return parse_size_or_percent(s, UINT64_MAX, ret);
}

static void percent(void **state)
{
	static const struct number_case of_1000[] = {
		{ "50%", 0, 500 },
		{ "0%", 0, 0 },
		{ "12.55%", 0, 125 },
		{ "300%", 0, 3000 },
		{ "0.1%", 0, 1 },
		{ "0.099999%", 0, 0 },
		{ "16k", 0, 16384 },
		{ "16", 0, 16 },
		{ "%", -EINVAL, 0 },
		{ "50 %", -EINVAL, 0 },
		{ "50%%", -EINVAL, 0 },
		{ "-5%", -EINVAL, 0 },
		{ "18446744073709551616%", -ERANGE, 0 },
	};
	static const struct number_case of_all[] = {
		{ "100%", 0, UINT64_MAX },
		{ "100.0%", 0, UINT64_MAX },
		{ "100.00000000000000000001%", 0, UINT64_MAX },
		{ "101%", -ERANGE, 0 },
		{ "18446744073709551615%", -ERANGE, 0 },
	};

	(void)state;
	check_numbers(percent_of_1000, of_1000, ARRAY_SIZE(of_1000));
	check_numbers(percent_of_all, of_all, ARRAY_SIZE(of_all));
}

static void durations(void **state)
{
	static const struct number_case cases[] = {
		{ "50ms", 0, 50000000 },
		{ "20s", 0, 20000000000 },
		{ "20", 0, 20000000000 },
		{ "0.5", 0, 500000000 },
		{ "2m", 0, 120000000000 },
		{ "1h", 0, 3600000000000 },
		{ "1.5s", 0, 1500000000 },
		{ "7us", 0, 7000 },
		{ "7ns", 0, 7 },
		{ "1.9ns", 0, 1 },
		{ "5124095h", 0, 5124095ULL * 3600000000000 },
		{ "5124096h", -ERANGE, 0 },
		{ "18446744073709551615ns", 0, UINT64_MAX },
		{ "18446744073709551615", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1M", -EINVAL, 0 },
		{ "1min", -EINVAL, 0 },
		{ "1..5s", -EINVAL, 0 },
		{ "1e3s", -EINVAL, 0 },
		{ "0x10s", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
	};

	(void)state;
	check_numbers(parse_duration_ns, cases, ARRAY_SIZE(cases));
}

static void reals(void **state)
{
	static const char *const bad[] = { "",	  ".5",	 "5.",	"-1", "+1", "1e3",   "nan",
					   "inf", "0x1", "1,5", " 1", "1 ", "1.2.3", "1f" };
	char huge[400];
	double value = 0;

	(void)state;
	assert_int_equal(parse_real("0.5", &value), 0);
	assert_true(value == 0.5);
	assert_int_equal(parse_real("3", &value), 0);
	assert_true(value == 3);
	assert_int_equal(parse_real("0.1", &value), 0);
	assert_true(value == 0.1);
	/* Above 2^64 is a real as good as any. */
	assert_int_equal(parse_real("100000000000000000000", &value), 0);
	assert_true(value == 1e20);
	value = 7;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_real(bad[i], &value), -EINVAL);
	memset(huge, '9', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_int_equal(parse_real(huge, &value), -ERANGE);
	assert_true(value == 7);
}

static void reals_know_no_locale(void **state)
{
	double value;

	(void)state;
	/* Every Debian has C.UTF-8 only; one with a decimal comma is a matter of luck. */
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		skip();
	assert_int_equal(parse_real("0.5", &value), 0);
	assert_true(value == 0.5);
	assert_int_equal(parse_real("0,5", &value), -EINVAL);
	(void)setlocale(LC_ALL, "C");
}

static void lists(void **state)
{
	struct number_set set;

	(void)state;
	assert_int_equal(parse_list("0-3,8,10-11\n", &set), 0);
	assert_int_equal(number_set_count(&set), 7);
	for (unsigned int n = 0; n < 16; n++)
		assert_int_equal(number_set_has(&set, n), n <= 3 || n == 8 || n == 10 || n == 11);
	assert_int_equal(parse_list("63-64", &set), 0);
	assert_true(number_set_has(&set, 63) && number_set_has(&set, 64));
	assert_int_equal(number_set_count(&set), 2);
	assert_int_equal(parse_list("5,5,4-6", &set), 0);
	assert_int_equal(number_set_count(&set), 3);
	assert_int_equal(parse_list("0-8191", &set), 0);
	assert_int_equal(number_set_count(&set), PARSE_LIST_MAX);
	assert_true(number_set_has(&set, 8191));
	assert_false(number_set_has(&set, 8192));
	assert_int_equal(parse_list("", &set), 0);
	assert_int_equal(number_set_count(&set), 0);
	assert_int_equal(parse_list("\n", &set), 0);
	assert_int_equal(number_set_count(&set), 0);
}

static void bad_lists(void **state)
{
	static const struct {
		const char *text;
		int r;
	} cases[] = {
		{ "3-1", -EINVAL },
		{ ",", -EINVAL },
		{ "1,", -EINVAL },
		{ "1,,2", -EINVAL },
		{ "-1", -EINVAL },
		{ "1-", -EINVAL },
		{ "1-2-3", -EINVAL },
		{ "1 2", -EINVAL },
		{ "a", -EINVAL },
		{ "1\n\n", -EINVAL },
		{ "0-7:2/4", -EINVAL },
		{ "1,\n", -EINVAL },
		{ "8192", -ERANGE },
		{ "0-8192", -ERANGE },
		{ "99999999999999999999", -ERANGE },
		{ "0-99999999999999999999", -ERANGE },
		{ "8192,x", -EINVAL },
	};
	struct number_set set;

	(void)state;
	assert_int_equal(parse_list("7", &set), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (parse_list(cases[i].text, &set) != cases[i].r)
			print_error("\"%s\"\n", cases[i].text);
		assert_int_equal(parse_list(cases[i].text, &set), cases[i].r);
	}
	assert_true(number_set_has(&set, 7) && number_set_count(&set) == 1);
}

static void sizes_as_people_read_them(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 4096, "4096 B" },
		{ 9999, "9999 B" },
		{ 10000, "9.76 KiB" },
		{ 10240, "10 KiB" },
		{ 16 << 20, "16 MiB" },
		{ (16 << 20) + 1, "16.0 MiB" },
		{ (1 << 20) - 1, "1023.99 KiB" },
		{ 3ULL << 29, "1.5 GiB" },
		{ 5ULL << 28, "1.25 GiB" },
		{ (1ULL << 30) + (53ULL << 20), "1.05 GiB" },
		{ 2048ULL << 40, "2048 TiB" },
		{ UINT64_MAX, "16777215.99 TiB" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(format_size(cases[i].bytes, buf, sizeof(buf)), cases[i].text);
	assert_string_equal(format_size(4096, buf, 4), "409");
}

static void durations_as_people_read_them(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },
		{ 850, "850 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 12345, "12.3 us" },
		{ 9994, "9.99 us" },
		{ 9995, "10.0 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 4560000, "4.56 ms" },
		{ 1200000000, "1.20 s" },
		{ 59999999999, "60.0 s" },
		{ 1234000000000, "1234 s" },
		{ UINT64_MAX, "18446744074 s" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(format_duration(cases[i].ns, buf, sizeof(buf)), cases[i].text);
}

/* Takes the blank out: what people read becomes what people type. */
static const char *without_blank(char *s)
{
	char *blank = strchr(s, ' ');

	assert_non_null(blank);
	memmove(blank, blank + 1, strlen(blank));
	return s;
}

static void formats_parse_again(void **state)
{
	uint64_t random = random_seed("parse");
	char buf[32];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t value = random_magnitude(&random, 64), back = 0;

		assert_int_equal(
			parse_size(without_blank((char *)format_size(value, buf, sizeof(buf))),
				   &back),
			0);
		/* Two decimals, down: never above, less than 1 % below. */
		assert_true(back <= value && value - back <= value / 100);
		if (value > 999000000000) /* whole seconds: up to half a second off */
			continue;
		assert_int_equal(parse_duration_ns(without_blank((char *)format_duration(
							   value, buf, sizeof(buf))),
						   &back),
				 0);
		/* Three digits, to nearest: half a step of at least 100 steps. */
		assert_true((back > value ? back - value : value - back) <= value / 200 + 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64_is_digits_only),
		cmocka_unit_test(u64_at_steps_over_the_digits),
		cmocka_unit_test(sizes),
		cmocka_unit_test(percent),
		cmocka_unit_test(durations),
		cmocka_unit_test(reals),
		cmocka_unit_test(reals_know_no_locale),
		cmocka_unit_test(lists),
		cmocka_unit_test(bad_lists),
		cmocka_unit_test(sizes_as_people_read_them),
		cmocka_unit_test(durations_as_people_read_them),
		cmocka_unit_test(formats_parse_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
