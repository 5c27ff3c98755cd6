/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text into HTML and SVG. Whatever comes from a document goes through html_text(), in element
 * content and in quoted attributes alike; nothing of a document is ever a name of an element, an
 * attribute, a class, a style or an address.
 */
#pragma once

#include <stdio.h>

/* Escapes & < > " '. */
void html_text(FILE *out, const char *s);
/* "<TAG>text</TAG>" with the text escaped; @tag is ours. */
void html_element(FILE *out, const char *tag, const char *s);
/* As printf, and the whole result escaped. */
void html_printf(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
