/* SPDX-License-Identifier: GPL-2.0-only */
#include "pool.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* One malloc() per so many bytes: a document of 50 KiB takes a handful. */
#define CHUNK_SIZE 16384

struct pool_chunk {
	struct pool_chunk *next;
	size_t size;
	size_t used;
	_Alignas(max_align_t) unsigned char bytes[];
};

static struct pool_chunk *chunk_new(struct pool *p, size_t size)
{
	struct pool_chunk *c = calloc(1, sizeof(*c) + size);

	if (!c)
		return NULL;
	c->size = size;
	c->next = p->chunks;
	p->chunks = c;
	return c;
}

void *pool_alloc(struct pool *p, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct pool_chunk *c = p->chunks;
	void *taken;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!c || c->size - c->used < size) {
		c = chunk_new(p, size > CHUNK_SIZE ? size : CHUNK_SIZE);
		if (!c)
			return NULL;
	}
	taken = c->bytes + c->used;
	c->used += size;
	return taken;
}

void *pool_array(struct pool *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		return NULL;
	return pool_alloc(p, total);
}

char *pool_strndup(struct pool *p, const char *s, size_t length)
{
	char *copy = pool_alloc(p, length + 1);

	/* What the pool hands out is zeroed: it is terminated. */
	return copy ? memcpy(copy, s, length) : NULL;
}

char *pool_strdup(struct pool *p, const char *s)
{
	return pool_strndup(p, s, strlen(s));
}

char *pool_printf(struct pool *p, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int length;

	va_start(ap, fmt);
	length = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (length < 0) {
		text = NULL;
		return NULL;
	}
	return pool_strdup(p, text);
}

void pool_free(struct pool *p)
{
	while (p->chunks) {
		struct pool_chunk *next = p->chunks->next;

		free(p->chunks);
		p->chunks = next;
	}
}
