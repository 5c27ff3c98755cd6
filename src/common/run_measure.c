/* SPDX-License-Identifier: GPL-2.0-only */
/* From what was read before and after a run to the metrics of the result document. */
#include "run_measure.h"

#include <stdio.h>

#include "kfile.h"

#define NS_PER_S 1000000000.0
#define SWAP_CLUSTER_MAX 32 /* include/linux/swap.h: what one pass isolates at a time */

static struct value grown(uint64_t now, uint64_t before)
{
	if (now == KFILE_ABSENT || before == KFILE_ABSENT || now < before)
		return value_absent();
	return value_u64(now - before);
}

static struct value known(uint64_t v)
{
	return v == KFILE_ABSENT ? value_absent() : value_u64(v);
}

static struct value either(struct value first, struct value second)
{
	return value_is_present(first) ? first : second;
}

static struct value ratio(struct value a, struct value b)
{
	if (!value_is_present(a) || !value_is_present(b) || value_as_real(b) <= 0)
		return value_absent();
	return value_real(value_as_real(a) / value_as_real(b));
}

static struct value peak(const struct timeline *t, enum series series)
{
	uint64_t most = 0;
	bool seen = false;

	for (size_t i = 0; i < t->nr; i++) {
		uint64_t v = t->samples[i].v[series];

		if (v == KFILE_ABSENT)
			continue;
		seen = true;
		if (v > most)
			most = v;
	}
	return seen ? value_u64(most) : value_absent();
}

static void from_files(struct run *run)
{
	const struct snapshot *now = &run->last, *before = &run->before;
	struct value *m = run->m.metrics;
	uint64_t peak_bytes;

	m[METRIC_OOM_KILLS] = grown(now->events.oom_kill, before->events.oom_kill);
	m[METRIC_OOM_EVENTS] = grown(now->events.oom, before->events.oom);
	m[METRIC_LIMIT_HITS] = grown(now->limit_hits, before->limit_hits);
	m[METRIC_PAGES_SCANNED] = grown(now->stat.pgscan, before->stat.pgscan);
	m[METRIC_PAGES_RECLAIMED] = grown(now->stat.pgsteal, before->stat.pgsteal);
	m[METRIC_REFAULT_ANON] = grown(now->stat.refault_anon, before->stat.refault_anon);
	m[METRIC_REFAULT_FILE] = grown(now->stat.refault_file, before->stat.refault_file);
	m[METRIC_SWAP_IN] = grown(now->stat.swap_in, before->stat.swap_in);
	m[METRIC_SWAP_OUT] = grown(now->stat.swap_out, before->stat.swap_out);
	m[METRIC_PSI_SOME_US] = grown(now->psi.some_us, before->psi.some_us);
	m[METRIC_PSI_FULL_US] = grown(now->psi.full_us, before->psi.full_us);
	m[METRIC_MAJOR_FAULTS] = grown(now->stat.pgmajfault, before->stat.pgmajfault);
	if (value_is_present(m[METRIC_MAJOR_FAULTS])) {
		struct value all = grown(now->stat.pgfault, before->stat.pgfault);

		if (value_is_present(all) && all.u >= m[METRIC_MAJOR_FAULTS].u)
			m[METRIC_MINOR_FAULTS] = value_u64(all.u - m[METRIC_MAJOR_FAULTS].u);
	}
	if (cgroup_read_u64(&run->group, "memory.peak", &peak_bytes) == 0)
		m[METRIC_MEMCG_PEAK_BYTES] = value_u64(peak_bytes);
}

static void from_probe(struct run *run)
{
	static const enum metric_id throttles[THROTTLE_NR] = {
		[THROTTLE_WRITEBACK] = METRIC_THROTTLED_WRITEBACK,
		[THROTTLE_ISOLATED] = METRIC_THROTTLED_ISOLATED,
		[THROTTLE_NOPROGRESS] = METRIC_THROTTLED_NOPROGRESS,
		[THROTTLE_CONGESTED] = METRIC_THROTTLED_CONGESTED,
	};
	const struct probe_counts *c = &run->counts;
	struct value *m = run->m.metrics;

	m[METRIC_RECLAIM_PASSES] = known(c->passes_begun);
	m[METRIC_RECLAIM_TIME_NS] = known(c->reclaim_time_ns);
	m[METRIC_THROTTLED_NS] = known(c->throttled_ns);
	/* The kernel's own counts of the group come first: they miss no page. */
	m[METRIC_PAGES_SCANNED] = either(m[METRIC_PAGES_SCANNED], known(c->scanned_pages));
	m[METRIC_PAGES_RECLAIMED] = either(m[METRIC_PAGES_RECLAIMED], known(c->reclaimed_pages));
	m[METRIC_OOM_KILLS] = either(m[METRIC_OOM_KILLS], known(c->oom_victims));
	for (size_t i = 0; i < THROTTLE_NR; i++)
		m[throttles[i]] = known(c->throttled[i]);
}

static void from_timeline(struct run *run)
{
	const struct timeline *t = &run->res->timeline;
	struct value *m = run->m.metrics;
	struct value isolated = peak(t, SERIES_NR_ISOLATED);
	/* The probe that sees every pass knows the true peak; samples only see what 10 Hz shows. */
	struct value flight =
		either(known(run->counts.passes_in_flight_peak), peak(t, SERIES_PASSES_IN_FLIGHT));
	double limit_pages = (double)run->m.limit_bytes / (double)run->m.page_size;

	/* MGLRU before 7.3 does not count isolated pages: 0 then means "not counted". */
	if (!run->m.mglru || value_as_real(isolated) > 0)
		m[METRIC_NR_ISOLATED_PEAK] = isolated;
	m[METRIC_PASSES_IN_FLIGHT_PEAK] = flight;
	if (value_is_present(flight) && limit_pages > 0)
		m[METRIC_ISOLATION_REACH] =
			value_real((double)flight.u * SWAP_CLUSTER_MAX / limit_pages);
}

/* A worker may have been killed in the middle of a record. */
static void merge_slot(struct hist *sum, struct hist *slot)
{
	hist_settle(slot);
	hist_merge(sum, slot);
}

static void from_slots(struct run *run)
{
	struct value *m = run->m.metrics;
	uint64_t longest_ns = progress_longest_access_ns(&run->progress, clock_now_ns());

	for (size_t h = 0; h < run->plan.nr_hists; h++) {
		struct hist *sum = run_result_add_hist(run->res, run->plan.hist_names[h],
						       run->plan.hist_units[h]);

		for (size_t slot = 0; sum && slot < run->progress.nr_slots; slot++)
			merge_slot(sum, progress_hist(&run->progress, slot, h));
		if (sum && sum->count && h == 0 && sum->max > longest_ns)
			longest_ns = sum->max;
	}
	if (run->plan.nr_hists && longest_ns)
		m[METRIC_LONGEST_STALL_NS] = value_u64(longest_ns);
}

void run_measure(struct run *run)
{
	struct value *m = run->m.metrics;
	double seconds = (double)run->m.duration_ns / NS_PER_S;

	(void)sampler_read(run->sampler, &run->last);
	(void)probe_read(run->probe, &run->counts);
	from_files(run);
	from_probe(run);
	from_timeline(run);
	from_slots(run);
	m[METRIC_SCAN_EFFICIENCY] = ratio(m[METRIC_PAGES_RECLAIMED], m[METRIC_PAGES_SCANNED]);
	m[METRIC_PASSES_PER_MAJOR_FAULT] = ratio(m[METRIC_RECLAIM_PASSES], m[METRIC_MAJOR_FAULTS]);
	if (run->scenario->unit_metric != METRIC_COUNT) {
		uint64_t done = progress_done(&run->progress);

		m[run->scenario->unit_metric] = value_u64(done);
		if (run->scenario->unit_metric == METRIC_TOUCHES && seconds > 0)
			m[METRIC_TOUCHES_PER_S] = value_real((double)done / seconds);
	}
	(void)probe_collect(run->probe, run->res);
}
