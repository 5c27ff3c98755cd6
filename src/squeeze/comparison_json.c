/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "cleanup.h"
#include "comparison_print.h"
#include "jsonw.h"

static void kv_real(struct jsonw *w, const char *key, double d)
{
	jsonw_key(w, key);
	jsonw_real(w, d);
}

static void write_stats(struct jsonw *w, const char *key, const struct stats *s)
{
	if (!s->n)
		return; /* not measured: absent, never 0 */
	jsonw_key(w, key);
	jsonw_object_begin(w);
	kv_real(w, "min", s->min);
	kv_real(w, "max", s->max);
	kv_real(w, "mean", s->mean);
	kv_real(w, "deviation", stats_deviation(s));
	jsonw_kv_u64(w, "runs", s->n);
	jsonw_object_end(w);
}

static const char *better_name(enum metric_better better)
{
	static const char *const names[] = {
		[BETTER_NEITHER] = "neither",
		[BETTER_MORE] = "more",
		[BETTER_LESS] = "less",
	};

	return names[better];
}

static void write_metric(struct jsonw *w, const struct metric_row *row)
{
	jsonw_object_begin(w);
	jsonw_kv_string(w, "name", row->name);
	jsonw_kv_string(w, "unit", row->unit);
	jsonw_kv_string(w, "better_is", better_name(row->better));
	write_stats(w, "base", &row->base);
	write_stats(w, "new", &row->new);
	if (row->base.n && row->new.n && (row->base.mean < 0 || row->base.mean > 0))
		kv_real(w, "new_over_base", row->new.mean / row->base.mean);
	if (row->has_welch) {
		kv_real(w, "welch_t", row->welch.t);
		kv_real(w, "welch_df", row->welch.df);
		kv_real(w, "p", row->welch.p);
	}
	jsonw_kv_string(w, "mark", mark_text(row->mark));
	jsonw_object_end(w);
}

static void write_latency(struct jsonw *w, const struct latency_row *row)
{
	jsonw_object_begin(w);
	jsonw_kv_string(w, "name", row->name);
	jsonw_kv_string(w, "unit", row->unit);
	jsonw_kv_u64(w, "base_count", row->base->count);
	jsonw_kv_u64(w, "new_count", row->new->count);
	if (row->has_test) {
		kv_real(w, "mann_whitney_u", row->test.u);
		kv_real(w, "z", row->test.z);
		kv_real(w, "p", row->test.p);
		kv_real(w, "probability_new_larger", row->test.superiority);
	}
	jsonw_kv_string(w, "mark", mark_text(row->mark));
	jsonw_object_end(w);
}

static void write_rate(struct jsonw *w, const char *key, const struct rate *rate)
{
	jsonw_key(w, key);
	jsonw_object_begin(w);
	jsonw_kv_u64(w, "failed", rate->failed);
	jsonw_kv_u64(w, "judged", rate->judged);
	jsonw_kv_u64(w, "not_judged", rate->others);
	if (rate->judged) {
		kv_real(w, "low", rate->low);
		kv_real(w, "high", rate->high);
	}
	jsonw_object_end(w);
}

static void write_side(struct jsonw *w, const char *key, const struct cohort *c, struct pool *pool)
{
	const char *kernels = cohort_kernels(c, pool);

	jsonw_key(w, key);
	jsonw_object_begin(w);
	jsonw_kv_string(w, "kernels", kernels ? kernels : "");
	jsonw_kv_u64(w, "runs", c->nr_runs);
	jsonw_key(w, "files");
	jsonw_array_begin(w);
	for (size_t i = 0; i < c->nr_docs; i++)
		jsonw_string(w, c->docs[i]->path);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

static void write_differences(struct jsonw *w, const struct pair *pair)
{
	jsonw_key(w, "differences");
	jsonw_array_begin(w);
	for (size_t i = 0; i < pair->nr_differences; i++) {
		jsonw_object_begin(w);
		jsonw_kv_string(w, "name", pair->differences[i].name);
		jsonw_kv_string(w, "base", pair->differences[i].base);
		jsonw_kv_string(w, "new", pair->differences[i].new);
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
}

static void write_comparison(struct jsonw *w, const struct comparison *c, struct pool *pool)
{
	jsonw_object_begin(w);
	jsonw_kv_string(w, "tool", c->pair->base->like->tool);
	jsonw_kv_string(w, "scenario", c->pair->base->like->scenario);
	write_side(w, "base", c->pair->base, pool);
	write_side(w, "new", c->pair->new, pool);
	write_differences(w, c->pair);
	jsonw_kv_bool(w, "uneven_time", c->uneven_time);
	write_rate(w, "base_rate", &c->base_rate);
	write_rate(w, "new_rate", &c->new_rate);
	if (c->rate_mark != MARK_UNJUDGED)
		kv_real(w, "rate_p", c->rate_p);
	jsonw_kv_string(w, "rate_mark", mark_text(c->rate_mark));
	jsonw_key(w, "metrics");
	jsonw_array_begin(w);
	for (size_t i = 0; i < c->nr_metrics; i++)
		write_metric(w, &c->metrics[i]);
	jsonw_array_end(w);
	jsonw_key(w, "latencies");
	jsonw_array_begin(w);
	for (size_t i = 0; i < c->nr_latencies; i++)
		write_latency(w, &c->latencies[i]);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

void comparison_json(const struct comparison_set *set, FILE *out)
{
	struct jsonw w;

	jsonw_init(&w, out);
	jsonw_object_begin(&w);
	jsonw_kv_string(&w, "schema", "squeeze-compare/1");
	jsonw_key(&w, "alpha");
	jsonw_real(&w, set->alpha);
	jsonw_key(&w, "comparisons");
	jsonw_array_begin(&w);
	for (size_t i = 0; i < set->nr; i++)
		write_comparison(&w, &set->items[i], set->pool);
	jsonw_array_end(&w);
	for (int base = 1; base >= 0; base--) {
		jsonw_key(&w, base ? "only_in_base" : "only_in_new");
		jsonw_array_begin(&w);
		for (size_t i = 0; i < set->pairs->nr; i++) {
			const struct pair *pair = &set->pairs->items[i];
			const struct cohort *only = base ? pair->base : pair->new;
			const char *title;

			if (!only || (pair->base && pair->new))
				continue;
			title = comparison_title(only, set->pool);
			jsonw_string(&w, title ? title : "");
		}
		jsonw_array_end(&w);
	}
	jsonw_object_end(&w);
}
