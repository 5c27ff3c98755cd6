/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cohorts: runs that measure the same thing. The documents of one side fall into cohorts by
 * likeness; a base cohort and a new one then make a pair.
 *
 * Pairs are first those without any difference; what is left over pairs up within its scenario with
 * the fewest differences. A pair whose differences are not all allowed is unlike.
 */
#pragma once

#include <stddef.h>

#include "docset.h"
#include "likeness.h"
#include "pool.h"

struct cohort {
	const struct document *like; /* the first: its parameters and host are everybody's */
	const struct document **docs;
	size_t nr_docs;
	const struct doc_run **runs; /* of all documents, in order */
	size_t nr_runs;
};

struct cohorts {
	struct cohort *items;
	size_t nr;
};

struct pair {
	const struct cohort *base; /* NULL: only in new */
	const struct cohort *new;  /* NULL: only in base */
	struct difference *differences;
	size_t nr_differences;
	bool unlike; /* not all of them are allowed */
};

struct pairs {
	struct pair *items;
	size_t nr;
};

/* 0 or -ENOMEM; what is returned lives in @pool and points into @set. */
int cohorts_build(const struct docset *set, struct pool *pool, struct cohorts *ret);
int cohorts_pair(const struct cohorts *base, const struct cohorts *new,
		 const struct allowance *allow, struct pool *pool, struct pairs *ret);
/* How many runs had the verdict @v. */
size_t cohort_count(const struct cohort *c, enum verdict v);
/* The kernels its documents ran on, each once, joined by ", ". NULL: no memory. */
const char *cohort_kernels(const struct cohort *c, struct pool *pool);
