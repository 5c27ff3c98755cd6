/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of a table: one scale for all cells of a row, so that they can be compared by eye, and
 * changes in percent as patch authors write them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_SIZE 40

struct figure_scale {
	double divide;
	const char *unit; /* "" for counts */
	int decimals;
};

/* For values in @unit (metric.h) of which @largest is the largest: ns become ms or s, bytes MiB. */
struct figure_scale figure_scale(const char *unit, double largest);
/* "1306.14". Returns @buf. */
const char *figure_plain(double value, const struct figure_scale *scale, char *buf, size_t size);
/* "301,456,426,692", "4.56 ms", "0.0261": on its own, with its unit. Returns @buf. */
const char *figure_humane(double value, const char *unit, char *buf, size_t size);
/* "30.4%" of base, one digit; "" where base is 0. Returns @buf. */
const char *figure_percent_of(double base, double value, char *buf, size_t size);
/* "+22%", "-0.4%" below 1 %; "" where base is 0. Returns @buf. */
const char *figure_change(double base, double value, char *buf, size_t size);
/* "0.11", "0.0023", "< 1e-15". Returns @buf. */
const char *figure_p(double p, char *buf, size_t size);
/* For a sentence: "threads 192" but "memcg 16 MiB" for values that are sizes by their name or
 * "…_ns" durations. Returns @buf. */
const char *figure_fact(const char *name, const char *text, char *buf, size_t size);
