/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A streaming JSON writer: no heap, exact 64-bit integers, no NaN, every string escaped (invalid
 * UTF-8 becomes U+FFFD). Nesting and commas are kept by the writer; a misuse is an assertion.
 *
 * Indentation by two blanks; what is inside an inline container is on its line. The top-level value
 * ends with a newline when it is a container. The decimal point is a point in every
 * locale. Errors are the stream's: check ferror() or fclose().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "metric.h"

#define JSONW_DEPTH 16

struct jsonw {
	FILE *out;
	unsigned int depth;
	bool in_array[JSONW_DEPTH];
	bool inlined[JSONW_DEPTH];
	bool has_items[JSONW_DEPTH];
	bool after_key;
};

void jsonw_init(struct jsonw *w, FILE *out);
void jsonw_object_begin(struct jsonw *w);
void jsonw_object_begin_inline(struct jsonw *w); /* with all that is in it on one line */
void jsonw_object_end(struct jsonw *w);
void jsonw_array_begin(struct jsonw *w);
void jsonw_array_begin_inline(struct jsonw *w); /* whole array on one line */
void jsonw_array_end(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);
void jsonw_string(struct jsonw *w, const char *s);
void jsonw_u64(struct jsonw *w, uint64_t u);
void jsonw_real(struct jsonw *w, double d); /* NaN and infinities are written as null */
void jsonw_bool(struct jsonw *w, bool b);
void jsonw_null(struct jsonw *w);
void jsonw_value(struct jsonw *w, struct value v);
/* Key and value in one call. */
void jsonw_kv_string(struct jsonw *w, const char *key, const char *s);
void jsonw_kv_u64(struct jsonw *w, const char *key, uint64_t u);
void jsonw_kv_bool(struct jsonw *w, const char *key, bool b);
void jsonw_kv_value(struct jsonw *w, const char *key, struct value v);
