/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and sentences as people read them in a terminal or a mail: grouped digits, quantities with
 * a fitting unit, paragraphs that keep to a width. ASCII only, and a point is a point in every locale.
 */
#pragma once

#include <locale.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "metric.h"

#define TEXT_WIDTH 78 /* what survives being quoted in a mail once */
#define TEXT_NUMBER_SIZE 48

/* Makes printf and strtod of this thread speak C until text_locale_leave(). No heap. */
locale_t text_locale_enter(void);
void text_locale_leave(locale_t saved);

/* The shortest decimal that reads back as exactly @d, with a point or an exponent, so that it stays
 * a real number ("24.0"); @d is finite. Returns @buf (TEXT_NUMBER_SIZE bytes suffice). */
const char *text_real(double d, char *buf, size_t size);
/* @v exactly, for machines: decimal digits or text_real(); "" when absent. Returns @buf. */
const char *text_exact(struct value v, char *buf, size_t size);
/* "1,234,567". Returns @buf. */
const char *text_grouped(uint64_t u, char *buf, size_t size);

/* A value as a figure and the unit that fits it: { "4.56", "ms" }, { "1,234", "" }. */
struct text_quantity {
	char figure[TEXT_NUMBER_SIZE];
	char unit[16];
};
/* @unit as in metric.h. An absent value is { "-", "" }. */
struct text_quantity text_quantity(struct value v, const char *unit);
/* The same as one string, "4.56 ms". Returns @buf. */
const char *text_humane(struct value v, const char *unit, char *buf, size_t size);

/* Copies @from as one printable ASCII line: control and other bytes become '?', blanks of any kind
 * one ' ', and each character of @forbidden '_'. Returns @buf. */
const char *text_clean(const char *from, const char *forbidden, char *buf, size_t size);

/* Writes @text (cleaned) as a paragraph of at most TEXT_WIDTH columns and ends the line. The cursor
 * is at @column; further lines are indented by @indent. Words longer than a line are not broken. */
void text_paragraph(FILE *out, const char *text, size_t column, size_t indent);
