/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether two result documents measure the same thing: the same load under the same limits on the
 * same kind of machine. The kernel is what may differ; that is what one compares.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "document.h"

struct difference {
	const char *name; /* "threads", "host memcg_version" */
	const char *base;
	const char *new;
};
#define DIFFERENCES_MAX 64

/* Which differences are allowed: all, or those whose name (with or without "host ") is listed. */
struct allowance {
	bool all;
	const char *const *names;
	size_t nr;
};

/* Whether both are of the same tool and scenario. */
bool likeness_same_scenario(const struct document *base, const struct document *new);
/* Writes at most DIFFERENCES_MAX differences that matter; returns how many. The texts live as long
 * as the documents. */
size_t likeness_differences(const struct document *base, const struct document *new,
			    struct difference ret[DIFFERENCES_MAX]);
bool likeness_allowed(const struct allowance *allow, const char *name);
