/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets share. An assertion that holds in every build type (NDEBUG or not), and the
 * input as the terminated text that all parsers take, in memory of exactly that size so that the
 * address sanitizer sees the first byte read beyond it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition)                                                                       \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                              \
		}                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The caller frees it. */
static inline char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}
