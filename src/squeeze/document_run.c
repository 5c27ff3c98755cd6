/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "document_impl.h"

/* As in document_parse.c: more than a tool writes. A day's 10 Hz timeline has 864,000 samples. */
#define THINGS_MAX 1000
#define HISTS_PER_DOCUMENT 4096
#define SAMPLES_MAX 1000000
/* Above this, a count is not something that was counted; sums of such cannot overflow 64 bits. */
#define COUNT_MAX (UINT64_C(1) << 53)

static int damaged(struct reader *r, const char *what, const char *name)
{
	return fail_say(r->f, EINVAL, "%s: damaged: %s \"%.60s\"", r->path, what, name);
}

static int too_many(struct reader *r, const char *what)
{
	return fail_say(r->f, EINVAL, "%s: damaged: too many %s", r->path, what);
}

static int read_op(struct reader *r, const json_t *j, enum check_op *ret)
{
	static const enum check_op ops[] = { OP_LE, OP_GE, OP_EQ };
	const char *text;
	int e = reader_text(r, j, "op", &text);

	for (size_t i = 0; i < ARRAY_SIZE(ops) && !e; i++) {
		if (!strcmp(text, check_op_text(ops[i]))) {
			*ret = ops[i];
			return 0;
		}
	}
	return e ? e : damaged(r, "unknown operator", text);
}

static int read_outcome(struct reader *r, const json_t *j, enum outcome *ret)
{
	const char *text;
	int e = reader_text(r, j, "outcome", &text);

	for (unsigned int o = 0; o < OUTCOME_NR && !e; o++) {
		if (!strcmp(text, outcome_name((enum outcome)o))) {
			*ret = (enum outcome)o;
			return 0;
		}
	}
	return e ? e : damaged(r, "unknown outcome", text);
}

static int read_check(struct reader *r, const json_t *j, struct doc_check *ret)
{
	int e = reader_text(r, j, "name", &ret->name);

	if (!e)
		e = reader_text(r, j, "unit", &ret->unit);
	if (!e)
		e = reader_text(r, j, "why", &ret->why);
	if (!e)
		e = read_op(r, j, &ret->op);
	if (!e)
		e = read_outcome(r, j, &ret->outcome);
	ret->value = reader_number(json_object_get(j, "value"));
	ret->bound = reader_number(json_object_get(j, "bound"));
	return e;
}

static int read_checks(struct reader *r, const json_t *run, struct doc_run *ret)
{
	json_t *checks, *check;
	size_t i;
	int e = reader_field(r, run, "checks", JSON_ARRAY, &checks);

	if (e < 0)
		return e;
	if (json_array_size(checks) > THINGS_MAX)
		return too_many(r, "checks");
	ret->checks = pool_array(&r->doc->pool, json_array_size(checks), sizeof(*ret->checks));
	if (!ret->checks)
		return reader_nomem(r);
	json_array_foreach(checks, i, check)
	{
		e = read_check(r, check, &ret->checks[i]);
		if (e < 0)
			return e;
		ret->nr_checks++;
	}
	return 0;
}

static int read_metrics(struct reader *r, const json_t *run, struct doc_run *ret)
{
	json_t *metrics, *j;
	const char *key;
	int e = reader_field(r, run, "metrics", JSON_OBJECT, &metrics);

	if (e < 0 || !metrics)
		return e;
	if (json_object_size(metrics) > THINGS_MAX)
		return too_many(r, "metrics");
	ret->metrics = pool_array(&r->doc->pool, json_object_size(metrics), sizeof(*ret->metrics));
	if (!ret->metrics)
		return reader_nomem(r);
	json_object_foreach(metrics, key, j)
	{
		struct doc_metric *m = &ret->metrics[ret->nr_metrics];

		m->value = reader_number(json_object_get(j, "value"));
		if (!value_is_present(m->value))
			continue;
		m->name = reader_clean(r, key);
		if (!m->name)
			return reader_nomem(r);
		e = reader_text(r, j, "unit", &m->unit);
		if (e < 0)
			return e;
		ret->nr_metrics++;
	}
	return 0;
}

/* A bucket [lo, hi, n]. Documents written by another bucket layout are put where the middle
 * lies. */
static int read_bucket(struct reader *r, const json_t *j, const char *name, struct hist *h)
{
	uint64_t v[3];

	if (!json_is_array(j) || json_array_size(j) != ARRAY_SIZE(v))
		return damaged(r, "a bucket that is not [lo, hi, n] in", name);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		struct value number = reader_number(json_array_get(j, i));

		if (number.kind != VALUE_COUNT)
			return damaged(r, "a bucket that is not of counts in", name);
		v[i] = number.u;
	}
	if (v[0] > v[1] || v[2] > COUNT_MAX || h->count > COUNT_MAX)
		return damaged(r, "an impossible bucket in", name);
	hist_record_n(h, v[0] + (v[1] - v[0]) / 2, v[2]);
	return 0;
}

/* min, max and sum are exact in the document, and only as good as a bucket after the rebuilding. */
static void exact_ends(const json_t *j, struct hist *h)
{
	struct value min = reader_number(json_object_get(j, "min"));
	struct value max = reader_number(json_object_get(j, "max"));
	struct value mean = reader_number(json_object_get(j, "mean"));
	double sum = value_as_real(mean) * (double)h->count;

	if (min.kind == VALUE_COUNT)
		h->min = min.u;
	if (max.kind == VALUE_COUNT)
		h->max = max.u;
	if (value_is_present(mean) && sum >= 0 && sum < 0x1p64)
		h->sum = (uint64_t)sum;
}

static int read_hist(struct reader *r, const char *name, json_t *j, struct doc_hist *ret)
{
	json_t *buckets, *bucket;
	struct value count = reader_number(json_object_get(j, "count"));
	size_t i;
	int e = reader_field(r, j, "buckets", JSON_ARRAY, &buckets);

	if (!e)
		e = reader_text(r, j, "unit", &ret->unit);
	if (e < 0)
		return e;
	if (++r->nr_hists > HISTS_PER_DOCUMENT)
		return too_many(r, "histograms");
	ret->name = reader_clean(r, name);
	ret->hist = pool_alloc(&r->doc->pool, sizeof(*ret->hist));
	if (!ret->hist || !ret->name)
		return reader_nomem(r);
	hist_init(ret->hist);
	json_array_foreach(buckets, i, bucket)
	{
		e = read_bucket(r, bucket, ret->name, ret->hist);
		if (e < 0)
			return e;
	}
	if (count.kind == VALUE_COUNT && count.u != ret->hist->count)
		return damaged(r, "buckets do not add up to the count of", ret->name);
	if (ret->hist->count)
		exact_ends(j, ret->hist);
	return 0;
}

static int read_hists(struct reader *r, const json_t *run, struct doc_run *ret)
{
	json_t *hists, *j;
	const char *key;
	int e = reader_field(r, run, "histograms", JSON_OBJECT, &hists);

	if (e < 0 || !hists)
		return e;
	if (json_object_size(hists) > THINGS_MAX)
		return too_many(r, "histograms");
	ret->hists = pool_array(&r->doc->pool, json_object_size(hists), sizeof(*ret->hists));
	if (!ret->hists)
		return reader_nomem(r);
	json_object_foreach(hists, key, j)
	{
		if (!json_is_object(j))
			return damaged(r, "not an object: histogram", key);
		e = read_hist(r, key, j, &ret->hists[ret->nr_hists]);
		if (e < 0)
			return e;
		ret->nr_hists++;
	}
	return 0;
}

static int read_worst(struct reader *r, const json_t *run, struct doc_run *ret)
{
	json_t *passes, *pass;
	size_t i;
	int e = reader_field(r, run, "worst_passes", JSON_ARRAY, &passes);

	if (e < 0)
		return e;
	if (json_array_size(passes) > THINGS_MAX)
		return too_many(r, "worst passes");
	ret->worst = pool_array(&r->doc->pool, json_array_size(passes), sizeof(*ret->worst));
	if (!ret->worst)
		return reader_nomem(r);
	json_array_foreach(passes, i, pass)
	{
		struct doc_pass *p = &ret->worst[i];

		p->latency_ns = reader_u64(pass, "latency_ns");
		p->scanned = reader_u64(pass, "scanned");
		p->reclaimed = reader_u64(pass, "reclaimed");
		p->goal = reader_u64(pass, "goal");
		e = reader_text(r, pass, "comm", &p->comm);
		if (e < 0)
			return e;
		ret->nr_worst++;
	}
	return 0;
}

static int read_series(struct reader *r, const char *name, const json_t *j, struct doc_run *ret)
{
	struct doc_series *s = &ret->series[ret->nr_series];
	double *v;

	if (!json_is_array(j) || json_array_size(j) != ret->nr_samples)
		return damaged(r, "not as long as t_ns: timeline", name);
	s->name = reader_clean(r, name);
	v = pool_array(&r->doc->pool, ret->nr_samples, sizeof(*v));
	if (!s->name || !v)
		return reader_nomem(r);
	for (size_t i = 0; i < ret->nr_samples; i++) {
		struct value number = reader_number(json_array_get(j, i));

		v[i] = value_is_present(number) ? value_as_real(number) : (double)NAN;
	}
	s->v = v;
	ret->nr_series++;
	return 0;
}

static int read_timeline(struct reader *r, const json_t *run, struct doc_run *ret)
{
	json_t *timeline, *t, *j;
	const char *key;
	int e = reader_field(r, run, "timeline", JSON_OBJECT, &timeline);

	if (e < 0 || !json_object_size(timeline))
		return e;
	e = reader_field(r, timeline, "t_ns", JSON_ARRAY, &t);
	if (e < 0)
		return e;
	if (!t)
		return damaged(r, "a timeline without", "t_ns");
	if (json_array_size(t) > SAMPLES_MAX || json_object_size(timeline) > THINGS_MAX)
		return too_many(r, "samples");
	ret->nr_samples = json_array_size(t);
	ret->series = pool_array(&r->doc->pool, json_object_size(timeline), sizeof(*ret->series));
	if (!ret->series)
		return reader_nomem(r);
	json_object_foreach(timeline, key, j)
	{
		e = read_series(r, key, j, ret);
		if (e < 0)
			return e;
	}
	return 0;
}

static int read_notes(struct reader *r, const json_t *run, struct doc_run *ret)
{
	json_t *notes, *note;
	size_t i;
	int e = reader_field(r, run, "notes", JSON_ARRAY, &notes);

	if (e < 0)
		return e;
	if (json_array_size(notes) > THINGS_MAX)
		return too_many(r, "notes");
	ret->notes = pool_array(&r->doc->pool, json_array_size(notes), sizeof(*ret->notes));
	if (!ret->notes)
		return reader_nomem(r);
	json_array_foreach(notes, i, note)
	{
		if (!json_is_string(note))
			continue;
		ret->notes[ret->nr_notes] = reader_clean(r, json_string_value(note));
		if (!ret->notes[ret->nr_notes])
			return reader_nomem(r);
		ret->nr_notes++;
	}
	return 0;
}

int reader_run(struct reader *r, const json_t *run, struct doc_run *ret)
{
	static int (*const parts[])(struct reader *, const json_t *, struct doc_run *) = {
		read_checks, read_metrics, read_hists, read_worst, read_timeline, read_notes,
	};
	int e = reader_verdict(r, run, &ret->verdict);

	if (!e)
		e = reader_text(r, run, "reason", &ret->reason);
	ret->duration_ns = reader_u64(run, "duration_ns");
	for (size_t i = 0; i < ARRAY_SIZE(parts) && !e; i++)
		e = parts[i](r, run, ret);
	return e;
}
