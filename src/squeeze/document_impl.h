/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the two halves of reading: document_parse.c (the document) and document_run.c (one
 * run). Each reader_… returns 0, or -errno with the reader's fail filled.
 */
#pragma once

#include <jansson.h>

#include "document.h"

struct reader {
	struct document *doc;
	const char *path;
	struct fail *f;
	size_t nr_hists; /* in the whole document so far: they are 34 KiB each */
};

int reader_nomem(const struct reader *r);
/* The member @key: NULL in *ret if it is missing or null, -EINVAL if it is of another type. */
int reader_field(struct reader *r, const json_t *obj, const char *key, json_type type,
		 json_t **ret);
/* A copy without control characters and of bounded length; NULL: no memory. */
const char *reader_clean(struct reader *r, const char *s);
/* The string member @key, "" if it is missing. */
int reader_text(struct reader *r, const json_t *obj, const char *key, const char **ret);
int reader_verdict(struct reader *r, const json_t *obj, enum verdict *ret);
/* Absent if @j (may be NULL) is no number. */
struct value reader_number(const json_t *j);
/* The member @key as an unsigned integer; 0 if it is missing, negative or too large. */
uint64_t reader_u64(const json_t *obj, const char *key);
/* 2^63 has 19 digits: fewer always fit. */
#define READER_LARGE_DIGITS 19
/* A copy of JSON text in which integers of so many digits are strings. NULL: no memory. */
char *reader_quote_large(const char *text, size_t size, size_t *ret_size);
int reader_run(struct reader *r, const json_t *run, struct doc_run *ret);
