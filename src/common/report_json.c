/* SPDX-License-Identifier: GPL-2.0-only */
/* squeeze-result/1, described in docs/result-document.md. What is not known is left out. */
#include <errno.h>

#include "jsonw.h"
#include "kfile.h"
#include "report.h"
#include "report_internal.h"

static void put_known(struct jsonw *w, const char *key, const char *text)
{
	if (text && text[0])
		jsonw_kv_string(w, key, text);
}

static void put_measured(struct jsonw *w, const char *key, struct value v)
{
	if (value_is_present(v))
		jsonw_kv_value(w, key, v);
}

static void put_swap(struct jsonw *w, const struct host_info *host)
{
	jsonw_key(w, "swap");
	jsonw_array_begin(w);
	for (size_t i = 0; i < host->nr_swap; i++) {
		jsonw_object_begin_inline(w);
		jsonw_kv_string(w, "kind", host->swap[i].kind);
		jsonw_kv_u64(w, "size_bytes", host->swap[i].size_bytes);
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
}

static void put_host(struct jsonw *w, const struct host_info *host)
{
	jsonw_key(w, "host");
	jsonw_object_begin(w);
	jsonw_kv_string(w, "kernel", host->kernel);
	jsonw_kv_string(w, "arch", host->arch);
	jsonw_kv_u64(w, "cpus", host->cpus);
	jsonw_kv_u64(w, "nodes", host->nodes);
	jsonw_kv_u64(w, "page_size", host->page_size);
	jsonw_kv_u64(w, "mem_total_bytes", host->mem_total_bytes);
	put_known(w, "cgroup", host->cgroup);
	if (host->memcg_version)
		jsonw_kv_u64(w, "memcg_version", host->memcg_version);
	put_known(w, "lru", host->lru);
	put_measured(w, "swappiness", host->swappiness);
	put_known(w, "thp", host->thp);
	jsonw_kv_bool(w, "zswap", host->zswap);
	jsonw_kv_bool(w, "psi", host->psi);
	put_known(w, "virtual", host->virtual_machine);
	put_known(w, "probe", host->probe);
	put_measured(w, "node_inactive_anon_pages", host->node_inactive_anon_pages);
	put_swap(w, host);
	jsonw_object_end(w);
}

static void put_params(struct jsonw *w, const struct result_doc *doc)
{
	jsonw_key(w, "params");
	jsonw_object_begin(w);
	for (size_t i = 0; i < doc->nr_params; i++) {
		const struct param *p = &doc->params[i];

		jsonw_key(w, p->name);
		switch (p->kind) {
		case PARAM_TEXT:
			jsonw_string(w, p->text);
			break;
		case PARAM_NUMBER:
			jsonw_u64(w, p->number);
			break;
		case PARAM_REAL:
			jsonw_real(w, p->real);
			break;
		case PARAM_FLAG:
			jsonw_bool(w, p->flag);
			break;
		}
	}
	jsonw_object_end(w);
}

static void put_checks(struct jsonw *w, const struct run_result *run)
{
	jsonw_key(w, "checks");
	jsonw_array_begin(w);
	for (size_t i = 0; i < run->nr_checks; i++) {
		const struct check *c = &run->checks[i];

		jsonw_object_begin_inline(w);
		jsonw_kv_string(w, "name", c->name);
		put_measured(w, "value", c->value);
		jsonw_kv_string(w, "unit", c->unit ? c->unit : "");
		jsonw_kv_string(w, "op", check_op_text(c->op));
		put_measured(w, "bound", c->bound);
		jsonw_kv_string(w, "outcome", outcome_name(c->outcome));
		jsonw_kv_string(w, "why", c->why);
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
}

static void put_metrics(struct jsonw *w, const struct run_result *run)
{
	jsonw_key(w, "metrics");
	jsonw_object_begin(w);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!value_is_present(run->metrics[i]))
			continue;
		jsonw_key(w, metric_table[i].name);
		jsonw_object_begin_inline(w);
		jsonw_kv_value(w, "value", run->metrics[i]);
		jsonw_kv_string(w, "unit", metric_table[i].unit);
		jsonw_object_end(w);
	}
	jsonw_object_end(w);
}

static void put_buckets(struct jsonw *w, const struct hist *h)
{
	uint64_t lo, hi;

	jsonw_key(w, "buckets");
	jsonw_array_begin_inline(w);
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		if (h->buckets[i] == 0)
			continue;
		hist_bounds(i, &lo, &hi);
		jsonw_array_begin_inline(w);
		jsonw_u64(w, lo);
		jsonw_u64(w, hi);
		jsonw_u64(w, h->buckets[i]);
		jsonw_array_end(w);
	}
	jsonw_array_end(w);
}

static void put_hist(struct jsonw *w, const struct named_hist *named)
{
	const struct hist *h = named->hist;

	jsonw_key(w, named->name);
	jsonw_object_begin(w);
	jsonw_kv_string(w, "unit", named->unit ? named->unit : "");
	jsonw_kv_u64(w, "count", h->count);
	if (h->count) {
		jsonw_kv_u64(w, "min", h->min);
		jsonw_kv_u64(w, "max", h->max);
		jsonw_kv_value(w, "mean", value_real(hist_mean(h)));
		for (size_t i = 0; i < REPORT_PERCENTILES; i++)
			jsonw_kv_u64(w, report_percentiles[i].key,
				     hist_percentile(h, report_percentiles[i].percent));
	}
	jsonw_kv_u64(w, "overflow", h->overflow);
	put_buckets(w, h);
	jsonw_object_end(w);
}

static void put_worst(struct jsonw *w, const struct run_result *run)
{
	jsonw_key(w, "worst_passes");
	jsonw_array_begin(w);
	for (size_t i = 0; i < run->nr_worst; i++) {
		const struct worst_pass *p = &run->worst[i];

		jsonw_object_begin_inline(w);
		jsonw_kv_u64(w, "latency_ns", p->latency_ns);
		jsonw_kv_u64(w, "scanned", p->scanned);
		jsonw_kv_u64(w, "reclaimed", p->reclaimed);
		jsonw_kv_u64(w, "goal", p->goal);
		jsonw_kv_string(w, "comm", p->comm);
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
}

static void put_timeline(struct jsonw *w, const struct timeline *t)
{
	jsonw_key(w, "timeline");
	jsonw_object_begin(w);
	for (unsigned int s = 0; s < SERIES_COUNT; s++) {
		if (!timeline_has(t, (enum series)s))
			continue;
		jsonw_key(w, series_names[s]);
		jsonw_array_begin_inline(w);
		for (size_t i = 0; i < t->nr; i++) {
			if (t->samples[i].v[s] == KFILE_ABSENT)
				jsonw_null(w);
			else
				jsonw_u64(w, t->samples[i].v[s]);
		}
		jsonw_array_end(w);
	}
	jsonw_object_end(w);
}

static void put_run(struct jsonw *w, const struct run_result *run)
{
	jsonw_object_begin(w);
	jsonw_kv_string(w, "verdict", verdict_name(run->verdict));
	jsonw_kv_string(w, "reason", run->reason);
	jsonw_key(w, "notes");
	jsonw_array_begin(w);
	for (size_t i = 0; i < run->nr_notes; i++)
		jsonw_string(w, run->notes[i]);
	jsonw_array_end(w);
	jsonw_kv_u64(w, "duration_ns", run->duration_ns);
	put_checks(w, run);
	put_metrics(w, run);
	jsonw_key(w, "histograms");
	jsonw_object_begin(w);
	for (size_t i = 0; i < run->nr_hists; i++)
		put_hist(w, &run->hists[i]);
	jsonw_object_end(w);
	put_worst(w, run);
	put_timeline(w, &run->timeline);
	jsonw_object_end(w);
}

int report_json(const struct result_doc *doc, FILE *out)
{
	struct jsonw w;

	errno = 0;
	jsonw_init(&w, out);
	jsonw_object_begin(&w);
	jsonw_kv_string(&w, "schema", RESULT_SCHEMA);
	jsonw_kv_string(&w, "tool", doc->tool);
	jsonw_kv_string(&w, "version", doc->version);
	jsonw_kv_string(&w, "scenario", doc->scenario);
	jsonw_key(&w, "command");
	jsonw_array_begin_inline(&w);
	for (int i = 0; i < doc->argc; i++)
		jsonw_string(&w, doc->argv[i]);
	jsonw_array_end(&w);
	jsonw_kv_string(&w, "started", doc->started);
	jsonw_kv_string(&w, "verdict", verdict_name(doc->verdict));
	jsonw_kv_string(&w, "reason", doc->reason);
	put_known(&w, "document", doc->document);
	put_known(&w, "fix", doc->fix);
	put_host(&w, &doc->host);
	put_params(&w, doc);
	jsonw_key(&w, "runs");
	jsonw_array_begin(&w);
	for (size_t r = 0; r < doc->nr_runs; r++)
		put_run(&w, &doc->runs[r]);
	jsonw_array_end(&w);
	jsonw_object_end(&w);
	return report_stream_status(out);
}
