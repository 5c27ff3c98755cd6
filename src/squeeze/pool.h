/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is freed all at once. What is read from a result document lives as long as the
 * document does, so no string or array in it has an owner of its own and no error path frees
 * halves.
 *
 * Everything handed out is zeroed and aligned for any type. A failed allocation gives NULL.
 */
#pragma once

#include <stddef.h>

struct pool_chunk;
struct pool {
	struct pool_chunk *chunks;
};
#define POOL_EMPTY ((struct pool){ .chunks = NULL })

void *pool_alloc(struct pool *p, size_t size);
/* An array of @n elements of @size bytes; NULL also when the product overflows. */
void *pool_array(struct pool *p, size_t n, size_t size);
char *pool_strdup(struct pool *p, const char *s);
/* The first @length bytes, which the string has. */
char *pool_strndup(struct pool *p, const char *s, size_t length);
char *pool_printf(struct pool *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pool_free(struct pool *p); /* the pool is empty and usable afterwards */
