/* SPDX-License-Identifier: GPL-2.0-only */
#include "cohort.h"

#include <errno.h>
#include <string.h>

static struct cohort *find_cohort(struct cohorts *all, const struct document *doc)
{
	struct difference differences[DIFFERENCES_MAX];

	for (size_t i = 0; i < all->nr; i++) {
		const struct document *like = all->items[i].like;

		if (likeness_same_scenario(like, doc) &&
		    likeness_differences(like, doc, differences) == 0)
			return &all->items[i];
	}
	return NULL;
}

static int collect_runs(struct cohort *c, struct pool *pool)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_docs; i++)
		nr += c->docs[i]->nr_runs;
	c->runs = pool_array(pool, nr, sizeof(struct doc_run *));
	if (!c->runs)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_docs; i++) {
		for (size_t j = 0; j < c->docs[i]->nr_runs; j++)
			c->runs[c->nr_runs++] = &c->docs[i]->runs[j];
	}
	return 0;
}

int cohorts_build(const struct docset *set, struct pool *pool, struct cohorts *ret)
{
	struct cohorts all = { .items = pool_array(pool, set->nr, sizeof(struct cohort)) };

	if (!all.items)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr; i++) {
		struct cohort *c = find_cohort(&all, set->docs[i]);

		if (!c) {
			c = &all.items[all.nr++];
			c->like = set->docs[i];
			/* As many as there are documents: none of the cohorts can outgrow it. */
			c->docs = pool_array(pool, set->nr - i, sizeof(struct document *));
			if (!c->docs)
				return -ENOMEM;
		}
		c->docs[c->nr_docs++] = set->docs[i];
	}
	for (size_t i = 0; i < all.nr; i++) {
		if (collect_runs(&all.items[i], pool) < 0)
			return -ENOMEM;
	}
	*ret = all;
	return 0;
}

struct matching {
	const struct cohorts *base, *new;
	const struct allowance *allow;
	struct pool *pool;
	struct pairs pairs;
	bool *new_taken;
	bool *base_taken;
};

static int add_pair(struct matching *m, const struct cohort *base, const struct cohort *new)
{
	struct pair *pair = &m->pairs.items[m->pairs.nr++];
	struct difference found[DIFFERENCES_MAX];
	size_t nr = base && new ? likeness_differences(base->like, new->like, found) : 0;

	*pair = (struct pair){ .base = base, .new = new, .nr_differences = nr };
	pair->differences = pool_array(m->pool, nr, sizeof(*found));
	if (!pair->differences)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		pair->differences[i] = found[i];
		pair->unlike |= !likeness_allowed(m->allow, found[i].name);
	}
	return 0;
}

/* The free new cohort of the same scenario that differs least, at most in @limit things. */
static size_t closest(const struct matching *m, const struct cohort *base, size_t limit)
{
	struct difference found[DIFFERENCES_MAX];
	size_t best = m->new->nr, best_nr = limit + 1;

	for (size_t i = 0; i < m->new->nr; i++) {
		size_t nr;

		if (m->new_taken[i] || !likeness_same_scenario(base->like, m->new->items[i].like))
			continue;
		nr = likeness_differences(base->like, m->new->items[i].like, found);
		if (nr < best_nr) {
			best = i;
			best_nr = nr;
		}
	}
	return best;
}

static int match_up_to(struct matching *m, size_t limit)
{
	for (size_t b = 0; b < m->base->nr; b++) {
		size_t n;

		if (m->base_taken[b])
			continue;
		n = closest(m, &m->base->items[b], limit);
		if (n == m->new->nr)
			continue;
		m->base_taken[b] = m->new_taken[n] = true;
		if (add_pair(m, &m->base->items[b], &m->new->items[n]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_lonely(struct matching *m)
{
	for (size_t b = 0; b < m->base->nr; b++) {
		if (!m->base_taken[b] && add_pair(m, &m->base->items[b], NULL) < 0)
			return -ENOMEM;
	}
	for (size_t n = 0; n < m->new->nr; n++) {
		if (!m->new_taken[n] && add_pair(m, NULL, &m->new->items[n]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int cohorts_pair(const struct cohorts *base, const struct cohorts *new,
		 const struct allowance *allow, struct pool *pool, struct pairs *ret)
{
	struct matching m = { .base = base, .new = new, .allow = allow, .pool = pool };

	m.pairs.items = pool_array(pool, base->nr + new->nr, sizeof(struct pair));
	m.base_taken = pool_array(pool, base->nr, sizeof(bool));
	m.new_taken = pool_array(pool, new->nr, sizeof(bool));
	if (!m.pairs.items || !m.base_taken || !m.new_taken)
		return -ENOMEM;
	if (match_up_to(&m, 0) < 0 || match_up_to(&m, DIFFERENCES_MAX) < 0 || add_lonely(&m) < 0)
		return -ENOMEM;
	*ret = m.pairs;
	return 0;
}

size_t cohort_count(const struct cohort *c, enum verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nr_runs; i++)
		n += c->runs[i]->verdict == v;
	return n;
}

const char *cohort_kernels(const struct cohort *c, struct pool *pool)
{
	const char *joined = document_host(c->like, "kernel");

	for (size_t i = 1; i < c->nr_docs && joined; i++) {
		const char *kernel = document_host(c->docs[i], "kernel");
		size_t j = 0;

		while (j < i && strcmp(document_host(c->docs[j], "kernel"), kernel) != 0)
			j++;
		if (j == i)
			joined = pool_printf(pool, "%s, %s", joined, kernel);
	}
	return joined;
}
