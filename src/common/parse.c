/* SPDX-License-Identifier: GPL-2.0-only */
#include "parse.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

typedef unsigned __int128 u128;

#define KIB (1ULL << 10)
#define MIB (1ULL << 20)
#define GIB (1ULL << 30)
#define TIB (1ULL << 40)
#define US_NS 1000ULL
#define MS_NS (1000 * US_NS)
#define S_NS (1000 * MS_NS)
#define MIN_NS (60 * S_NS)
#define HOUR_NS (60 * MIN_NS)

/* Not <ctype.h>: its answers depend on the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

int parse_u64_at(const char **cursor, uint64_t *ret)
{
	const char *p = *cursor;
	bool fits = true;
	uint64_t value = 0;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
	}
	*cursor = p;
	if (!fits)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_u64(const char *s, uint64_t *ret)
{
	uint64_t value = 0;
	int r = parse_u64_at(&s, &value);

	if (*s)
		return -EINVAL;
	if (!r)
		*ret = value;
	return r;
}

/* digits[.digits], kept as text so that scaling can be exact; what follows is the suffix. */
struct decimal {
	uint64_t whole;
	bool whole_fits;
	const char *fraction; /* first digit behind the point */
	size_t nr_fraction;
	const char *suffix;
};

static int decimal_read(const char *s, struct decimal *ret)
{
	struct decimal d = { 0 };
	int r = parse_u64_at(&s, &d.whole);

	if (r == -EINVAL)
		return r;
	d.whole_fits = r == 0;
	if (*s == '.') {
		d.fraction = ++s;
		while (is_digit(*s))
			s++;
		d.nr_fraction = (size_t)(s - d.fraction);
		if (d.nr_fraction == 0)
			return -EINVAL;
	}
	d.suffix = s;
	*ret = d;
	return 0;
}

/*
 * floor(d × unit / divisor), exact for any number of digits: Horner's rule from the last digit of
 * the fraction, where floor((a + x) / 10) = floor((a + floor(x)) / 10) lets every step round down.
 */
static int decimal_scale(const struct decimal *d, uint64_t unit, uint64_t divisor, uint64_t *ret)
{
	u128 fraction = 0;
	u128 total;

	if (!d->whole_fits)
		return -ERANGE;
	for (size_t i = d->nr_fraction; i > 0; i--)
		fraction = ((u128)unit * (unsigned int)(d->fraction[i - 1] - '0') + fraction) / 10;
	total = ((u128)d->whole * unit + fraction) / divisor;
	if (total > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)total;
	return 0;
}

int parse_real(const char *s, double *ret)
{
	struct decimal d;
	locale_t c_locale;
	double value;
	int r = decimal_read(s, &d);

	if (r < 0)
		return r;
	if (*d.suffix)
		return -EINVAL;
	/* The form is checked; the conversion is libc's because correct rounding is hard.
	 * glibc's "C" locale is a static object: this neither allocates nor fails there. */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -errno;
	value = strtod_l(s, NULL, c_locale);
	freelocale(c_locale);
	if (!isfinite(value))
		return -ERANGE;
	*ret = value;
	return 0;
}

/* The multiple's letter, then nothing, "b" or "ib"; plain bytes may have "b" alone. 0: no such
 * suffix. */
static uint64_t size_unit(const char *suffix)
{
	static const struct {
		char letter;
		uint64_t unit;
	} units[] = { { 'k', KIB }, { 'm', MIB }, { 'g', GIB }, { 't', TIB } };
	uint64_t unit = 1;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (to_lower(*suffix) == units[i].letter) {
			unit = units[i].unit;
			suffix++;
			break;
		}
	}
	if (unit > 1 && to_lower(suffix[0]) == 'i' && to_lower(suffix[1]) == 'b')
		suffix++;
	if (to_lower(*suffix) == 'b')
		suffix++;
	return *suffix ? 0 : unit;
}

int parse_size(const char *s, uint64_t *ret_bytes)
{
	struct decimal d;
	uint64_t unit;
	int r = decimal_read(s, &d);

	if (r < 0)
		return r;
	unit = size_unit(d.suffix);
	if (unit == 0 || (unit == 1 && d.fraction))
		return -EINVAL;
	return decimal_scale(&d, unit, 1, ret_bytes);
}

int parse_size_or_percent(const char *s, uint64_t whole_bytes, uint64_t *ret_bytes)
{
	struct decimal d;
	int r = decimal_read(s, &d);

	if (r < 0)
		return r;
	if (strcmp(d.suffix, "%") != 0)
		return parse_size(s, ret_bytes);
	return decimal_scale(&d, whole_bytes, 100, ret_bytes);
}

int parse_duration_ns(const char *s, uint64_t *ret_ns)
{
	static const struct {
		const char *suffix;
		uint64_t unit_ns;
	} units[] = { { "", S_NS },  { "ns", 1 },     { "us", US_NS }, { "ms", MS_NS },
		      { "s", S_NS }, { "m", MIN_NS }, { "h", HOUR_NS } };
	struct decimal d;
	int r = decimal_read(s, &d);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(d.suffix, units[i].suffix) == 0)
			return decimal_scale(&d, units[i].unit_ns, 1, ret_ns);
	}
	return -EINVAL;
}

/* One "N" or "N-M" at *cursor. */
static int list_range(const char **cursor, uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t first = 0, last;
	int r = parse_u64_at(cursor, &first);
	int r_last = 0;

	if (r == -EINVAL)
		return r;
	last = first;
	if (**cursor == '-') {
		++*cursor;
		r_last = parse_u64_at(cursor, &last);
	}
	if (r_last == -EINVAL)
		return r_last;
	if (r < 0 || r_last < 0)
		return -ERANGE;
	if (last < first)
		return -EINVAL;
	if (last >= PARSE_LIST_MAX)
		return -ERANGE;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

int parse_list(const char *s, struct number_set *ret)
{
	struct number_set set = { 0 };
	uint64_t first = 0, last = 0;
	int range_error = 0;

	while (*s && strcmp(s, "\n") != 0) {
		int r = list_range(&s, &first, &last);

		if (r == -EINVAL)
			return r;
		if (r < 0)
			range_error = r; /* the form of the rest decides between the two errors */
		for (uint64_t n = first; !r && n <= last; n++)
			set.words[n / 64] |= 1ULL << (n % 64);
		if (*s == ',' && is_digit(s[1]))
			s++;
		else if (*s && strcmp(s, "\n") != 0)
			return -EINVAL;
	}
	if (range_error)
		return range_error;
	*ret = set;
	return 0;
}

bool number_set_has(const struct number_set *set, unsigned int n)
{
	return n < PARSE_LIST_MAX && (set->words[n / 64] >> (n % 64) & 1);
}

unsigned int number_set_count(const struct number_set *set)
{
	unsigned int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(set->words); i++)
		count += (unsigned int)__builtin_popcountll(set->words[i]);
	return count;
}

const char *format_size(uint64_t bytes, char *buf, size_t size)
{
	static const struct {
		const char *name;
		uint64_t unit;
	} units[] = { { "TiB", TIB }, { "GiB", GIB }, { "MiB", MIB }, { "KiB", KIB } };
	unsigned int hundredths;
	size_t i = 0;

	/* "4096 B" says more than "4 KiB" where page sizes and single records are meant. */
	if (bytes < 10000) {
		(void)snprintf(buf, size, "%" PRIu64 " B", bytes);
		return buf;
	}
	while (bytes < units[i].unit)
		i++;
	if (bytes % units[i].unit == 0) {
		(void)snprintf(buf, size, "%" PRIu64 " %s", bytes / units[i].unit, units[i].name);
		return buf;
	}
	hundredths = (unsigned int)(bytes % units[i].unit * 100 / units[i].unit);
	(void)snprintf(buf, size, "%" PRIu64 ".%0*u %s", bytes / units[i].unit,
		       hundredths % 10 ? 2 : 1, hundredths % 10 ? hundredths : hundredths / 10,
		       units[i].name);
	return buf;
}

const char *format_duration(uint64_t ns, char *buf, size_t size)
{
	/* The finest step in which the rounded number has at most three digits: so 999.6 us becomes
	 * "1.00 ms" and never "1000 us". */
	static const struct {
		const char *name;
		uint64_t step_ns;
		unsigned int decimals;
	} forms[] = {
		{ "ns", 1, 0 },	    { "us", US_NS / 100, 2 }, { "us", US_NS / 10, 1 },
		{ "us", US_NS, 0 }, { "ms", MS_NS / 100, 2 }, { "ms", MS_NS / 10, 1 },
		{ "ms", MS_NS, 0 }, { "s", S_NS / 100, 2 },   { "s", S_NS / 10, 1 },
		{ "s", S_NS, 0 },
	};
	static const unsigned int powers[] = { 1, 10, 100 };
	uint64_t steps = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		steps = ns / forms[i].step_ns;
		steps += ns % forms[i].step_ns * 2 >= forms[i].step_ns && forms[i].step_ns > 1;
		if (steps < 1000 || i == ARRAY_SIZE(forms) - 1)
			break;
	}
	if (forms[i].decimals == 0)
		(void)snprintf(buf, size, "%" PRIu64 " %s", steps, forms[i].name);
	else
		(void)snprintf(buf, size, "%" PRIu64 ".%0*u %s", steps / powers[forms[i].decimals],
			       (int)forms[i].decimals,
			       (unsigned int)(steps % powers[forms[i].decimals]), forms[i].name);
	return buf;
}
