/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people type: numbers, sizes, durations, lists. Pure text to value, strict: the whole string
 * must be consumed, nothing may overflow, no locale takes part.
 *
 * All return 0, -EINVAL (not of that form) or -ERANGE (of that form, but too large), and write
 * *ret only on success. tests/fuzz/fuzz_parse.c feeds them anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits only. */
int parse_u64(const char *s, uint64_t *ret);
/* The number at *cursor, which is moved behind its last digit (also on -ERANGE): for parsers of
 * longer texts. -EINVAL leaves the cursor where there is no digit. */
int parse_u64_at(const char **cursor, uint64_t *ret);
/* A decimal real, non-negative and finite ("0.5", "3"); no exponent. */
int parse_real(const char *s, double *ret);
/* "16M", "16m", "16MiB", "1.5g", "4096", "4096B": binary multiples k m g t, either case, with or
 * without iB or B. Fractions are allowed with a multiple and are rounded down to the byte. */
int parse_size(const char *s, uint64_t *ret_bytes);
/* As parse_size(), and "50%" or "12.5%" of @whole_bytes, rounded down. More than 100% is
 * allowed. */
int parse_size_or_percent(const char *s, uint64_t whole_bytes, uint64_t *ret_bytes);
/* "50ms", "20s", "20" (seconds), "2m", "1h", "1.5s", also us and ns; lower case only (M is not a
 * minute). Rounded down to the nanosecond. */
int parse_duration_ns(const char *s, uint64_t *ret_ns);

/* A set of small numbers (CPUs, NUMA nodes): bit n of word n / 64. */
#define PARSE_LIST_MAX 8192
struct number_set {
	uint64_t words[PARSE_LIST_MAX / 64];
};
/* The kernel's list form "0-3,8,10-11" (Documentation/admin-guide/cputopology.rst); empty text or a
 * trailing newline is allowed, a reversed range is not. */
int parse_list(const char *s, struct number_set *ret);
bool number_set_has(const struct number_set *set, unsigned int n);
unsigned int number_set_count(const struct number_set *set);

/* Writes @bytes as people read it, and as parse_size() reads it once the blank is gone: "16
 * MiB", "1.5 GiB", and below 10,000 in bytes: "4096 B". Rounded down to two decimals; an exact
 * multiple has no fraction, anything else has one ("16.0 MiB" is a little more than 16 MiB).
 * Returns @buf. */
const char *format_size(uint64_t bytes, char *buf, size_t size);
/* Writes @ns with a fitting unit and three digits, rounded to nearest: "850 ns", "12.3 us",
 * "4.56 ms", "1.20 s", "1234 s". Returns @buf. */
const char *format_duration(uint64_t ns, char *buf, size_t size);
