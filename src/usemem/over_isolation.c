/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * over-isolation: N threads write-touch an anonymous working set of three times the memcg's limit.
 * Each takes up to SWAP_CLUSTER_MAX pages off the LRU at a time; where nothing throttles them, all
 * pages are isolated at once, the next reclaimer finds none, and the memcg OOM-kills although it is
 * full of reclaimable memory. shared/seeds/000.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kfile.h"
#include "parse.h"
#include "run.h"
#include "touch.h"
#include "usemem.h"
#include "worker.h"

#define NS_PER_S 1000000000ULL

/* The document's run: 192 threads, 48 MB in a 16 MB memcg, 60 s. */
#define DEFAULT_THREADS 192
#define DEFAULT_MEMCG (16ULL << 20)
#define DEFAULT_SET_FACTOR 3
#define DEFAULT_TIME_NS (60 * NS_PER_S)
/* Proof of pressure (design.md, section 5): far above what a start at the limit makes by itself. */
#define PROOF_LIMIT_HITS 100
#define PROOF_PASSES 100
/* Under this share of the limit in flight, isolation cannot have emptied the lists (section 5). */
#define REACH_MIN 0.5
/* Progress watch (section 5): the slowest survivors seen stood still for under 2 s. */
#define PROGRESS_WINDOW_NS (5 * NS_PER_S)
/* A kill with less swap than this free may be legitimate. */
#define SWAP_FREE_MIN_PERCENT 5
/* include/linux/swap.h */
#define SWAP_CLUSTER_MAX 32
/* MIN_LRU_BATCH in mm/vmscan.c: what MGLRU of 7.3 isolates at once; nobody else takes more. */
#define LRU_BATCH_MAX 64
/* too_many_isolated() in mm/vmscan.c: GFP_KERNEL reclaim may isolate an eighth of the inactive list. */
#define CLASSIC_THROTTLE_SHARE 8
/* Page tables of the set, the process itself and what fork left: measured natively on 6.18, 0.4 MiB. */
#define PROCESS_OVERHEAD (1ULL << 20)

static uint64_t overhead_bytes(unsigned int threads)
{
	return threads * worker_thread_overhead_bytes((uint64_t)sysconf(_SC_PAGESIZE));
}

static int plan_set(const struct usemem_options *o, uint64_t memcg, uint64_t *ret_set,
		    struct fail *f)
{
	*ret_set = DEFAULT_SET_FACTOR * memcg;
	if (o->set && parse_size_or_percent(o->set, memcg, ret_set) < 0)
		return fail_say(f, EINVAL, "--set: '%s' is not a size or a percentage of --memcg",
				o->set);
	if (*ret_set < (uint64_t)sysconf(_SC_PAGESIZE))
		return fail_say(f, EINVAL, "--set: '%s' is less than a page", o->set);
	return 0;
}

static int plan(struct run *run, struct fail *f)
{
	const struct usemem_options *o = run->tool_options;
	unsigned int threads = o->threads ? o->threads : DEFAULT_THREADS;
	struct plan *p = &run->plan;
	uint64_t set_bytes, overhead = overhead_bytes(threads);
	char need[32], limit[32];
	int r = classic_refuse(&o->classic, f);

	if (r < 0)
		return r;
	p->memcg_bytes = run->opt->memcg_bytes ? run->opt->memcg_bytes : DEFAULT_MEMCG;
	r = plan_set(o, p->memcg_bytes, &set_bytes, f);
	if (r < 0)
		return r;
	if (overhead > p->memcg_bytes / 2)
		return fail_say(f, EINVAL,
				"--threads: %u threads take %s besides their set, more than half "
				"of --memcg %s",
				threads, format_size(overhead, need, sizeof(need)),
				format_size(p->memcg_bytes, limit, sizeof(limit)));
	p->threads_per_proc = threads;
	p->set_bytes = set_bytes;
	p->demand_bytes = set_bytes + overhead + PROCESS_OVERHEAD;
	p->needs_swap = p->demand_bytes > p->memcg_bytes;
	p->slow_swap = true;
	p->duration_ns = run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS;
	p->default_params = threads == DEFAULT_THREADS && p->memcg_bytes == DEFAULT_MEMCG &&
			    set_bytes == DEFAULT_SET_FACTOR * DEFAULT_MEMCG;
	p->huge_pages = o->thp_keep;
	p->nr_hists = 1;
	p->hist_names[0] = "touch";
	p->hist_units[0] = "ns";
	result_param_u64(&run->doc, "threads", threads);
	result_param_u64(&run->doc, "set_bytes", set_bytes);
	result_param_text(&run->doc, "thp", o->thp_keep ? "keep" : "never");
	return 0;
}

/* The worker's own: one process, so a static is one area. */
static struct touch_area area;

static void touch_body(const struct worker *w, size_t slot)
{
	struct touch_area part;

	touch_part(&area, slot - w->first_slot, w->threads, &part);
	if (progress_wait_start(w->progress, slot))
		touch_run(&area, &part, w->progress, slot, progress_hist(w->progress, slot, 0),
			  w->run->opt->seed * DEFAULT_THREADS + slot);
}

static int work(const struct worker *w)
{
	const struct usemem_options *o = w->run->tool_options;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t set_bytes =
		w->run->plan.demand_bytes - overhead_bytes(w->threads) - PROCESS_OVERHEAD;

	area = (struct touch_area){ .pages = set_bytes / page, .page_bytes = page };
	area.base = mmap(NULL, area.pages * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area.base == MAP_FAILED) {
		progress_fail(w->progress, "mmap of %" PRIu64 " bytes: %s", set_bytes,
			      strerror(errno));
		return -errno;
	}
	/* A huge page is 512 pages isolated at once: another failure than the one meant. */
	if (!o->thp_keep)
		(void)madvise(area.base, area.pages * page, MADV_NOHUGEPAGE);
	return worker_run_threads(w, touch_body);
}

/* What all threads together can have isolated, as a share of the limit; a folio may be larger than a batch. */
static double reach_at_most(const struct measurement *m)
{
	if (m->huge_pages || m->limit_bytes == 0)
		return 1;
	return (double)m->workers * LRU_BATCH_MAX * (double)m->page_size / (double)m->limit_bytes;
}

static const char *why_killed(const struct measurement *m, char *buf, size_t size)
{
	uint64_t needed = (uint64_t)m->workers * SWAP_CLUSTER_MAX;
	uint64_t inactive =
		value_is_present(m->node_inactive_anon_pages) ? m->node_inactive_anon_pages.u : 0;
	struct value throttled = m->metrics[METRIC_THROTTLED_ISOLATED];

	if (reach_at_most(m) < REACH_MIN)
		(void)snprintf(
			buf, size,
			"not over-isolation: %u threads can isolate %.0f %% of the limit at most%s",
			m->workers, reach_at_most(m) * 100,
			m->mglru ? "; MGLRU kills so while a task ends its aging" : "");
	else if (m->memcg_version == 1)
		(void)snprintf(buf, size,
			       "cgroup v1 has no isolation throttle, by design of "
			       "writeback_throttling_sane()");
	else if (value_is_present(throttled) && throttled.u > 0)
		(void)snprintf(buf, size, "isolation was throttled %" PRIu64 " times all the same",
			       throttled.u);
	else if (m->mglru)
		(void)snprintf(buf, size, "MGLRU isolates without a throttle");
	else if (needed <= inactive / CLASSIC_THROTTLE_SHARE)
		(void)snprintf(buf, size,
			       "the classic throttle compares with the whole node and could not "
			       "fire: %" PRIu64 " pages isolated at most against %" PRIu64
			       " inactive / %d",
			       needed, inactive, CLASSIC_THROTTLE_SHARE);
	else
		(void)snprintf(buf, size, "the classic throttle should have fired");
	return buf;
}

static void reason_killed(const struct measurement *m, struct run_result *res)
{
	const struct kill_scene *k = &m->kill;
	char after[32], reclaimable[32], swap[32], why[256];

	(void)snprintf(res->reason, sizeof(res->reason),
		       "OOM-killed after %s with %s reclaimable and %s of swap free; %s",
		       format_duration(k->at_ns, after, sizeof(after)),
		       k->reclaimable_bytes == KFILE_ABSENT
			       ? "an unknown amount"
			       : format_size(k->reclaimable_bytes, reclaimable,
					     sizeof(reclaimable)),
		       k->swap_free_bytes == KFILE_ABSENT
			       ? "an unknown amount"
			       : format_size(k->swap_free_bytes, swap, sizeof(swap)),
		       why_killed(m, why, sizeof(why)));
	if (k->sample_age_ns != KFILE_ABSENT)
		run_result_note(res,
				"at the kill: usage %s, reclaimable %s, swap free %s (sampled "
				"%" PRIu64 " ms before)",
				format_size(k->usage_bytes, after, sizeof(after)),
				format_size(k->reclaimable_bytes, reclaimable, sizeof(reclaimable)),
				format_size(k->swap_free_bytes, swap, sizeof(swap)),
				k->sample_age_ns / 1000000);
}

static bool swap_was_full(const struct measurement *m)
{
	const struct kill_scene *k = &m->kill;

	return m->end == END_WORKER_KILLED && k->swap_free_bytes != KFILE_ABSENT &&
	       k->swap_total_bytes != KFILE_ABSENT && k->swap_total_bytes > 0 &&
	       k->swap_free_bytes < k->swap_total_bytes / 100 * SWAP_FREE_MIN_PERCENT;
}

static const char *unproven(const struct measurement *m, char *buf, size_t size)
{
	struct value hits = m->metrics[METRIC_LIMIT_HITS];
	struct value passes = m->metrics[METRIC_RECLAIM_PASSES];
	struct value reach = m->metrics[METRIC_ISOLATION_REACH];

	if (value_as_real(hits) < PROOF_LIMIT_HITS)
		(void)snprintf(buf, size, "no pressure: %.0f limit hits, and %d prove it",
			       value_as_real(hits), PROOF_LIMIT_HITS);
	else if (value_is_present(passes) && value_as_real(passes) < PROOF_PASSES)
		(void)snprintf(buf, size, "no pressure: %.0f reclaim passes, and %d prove it",
			       value_as_real(passes), PROOF_PASSES);
	else if (m->default_params && value_is_present(reach) && value_as_real(reach) < REACH_MIN)
		(void)snprintf(buf, size,
			       "over-isolation was not reachable: at most %.0f %% of the limit "
			       "was in flight",
			       value_as_real(reach) * 100);
	else if (m->default_params && !value_is_present(reach))
		(void)snprintf(buf, size,
			       "whether over-isolation was reachable cannot be seen: "
			       "reclaim passes in flight are not counted here");
	else
		return NULL;
	return buf;
}

static const char *passed(const struct measurement *m, char *buf, size_t size)
{
	struct value reach = m->metrics[METRIC_ISOLATION_REACH];
	uint64_t throttled = m->metrics[METRIC_THROTTLED_ISOLATED].u;

	if (value_is_present(reach) && value_as_real(reach) < REACH_MIN)
		(void)snprintf(buf, size,
			       "survived at this concurrency; over-isolation was not reachable "
			       "(isolation reach %.2f)",
			       value_as_real(reach));
	else if (value_is_present(m->metrics[METRIC_THROTTLED_ISOLATED]) && throttled > 0)
		(void)snprintf(buf, size,
			       "survived at isolation reach %.2f; isolation was throttled %" PRIu64
			       " times",
			       value_as_real(reach), throttled);
	else
		(void)snprintf(buf, size, "survived at isolation reach %.2f", value_as_real(reach));
	return buf;
}

static void judge(const struct measurement *m, struct run_result *res)
{
	char proof[TEXT_SIZE], pass[TEXT_SIZE];
	const char *excuse = NULL;

	verdict_no_oom(m, res);
	verdict_progress(m, PROGRESS_WINDOW_NS, res);
	verdict_workers_die(m, res);
	if (swap_was_full(m))
		excuse = "the swap was full at the kill: an OOM kill may be legitimate";
	else if (m->end == END_WORKER_KILLED)
		reason_killed(m, res);
	if (m->swap_at_once)
		run_result_note(
			res,
			"zram writes a page at once, so isolation lasts as long as a reclaimer "
			"runs: --swap file or delay:50 lengthens it and shows the failure sooner");
	verdict_conclude(m, res, excuse, unproven(m, proof, sizeof(proof)),
			 passed(m, pass, sizeof(pass)));
}

const struct scenario over_isolation = {
	.name = "over-isolation",
	.summary = "many reclaimers isolate everything; the memcg OOM-kills reclaimable memory",
	.document = "seeds/000: mm/vmscan: throttle MGLRU eviction when isolated folios pile up",
	.fix = "the throttle of that patch (MGLRU); too_many_isolated() in the classic LRU",
	.explain =
		"N threads write-touch an anonymous working set of three times the memcg's limit, with\n"
		"swap to take what does not fit. Every thread reclaims for itself and takes up to 32\n"
		"pages off the LRU lists at a time. If nothing limits how much is isolated at once, the\n"
		"lists run empty, the next reclaimer finds nothing, and the memcg's OOM killer strikes\n"
		"although nearly everything in the group could have been reclaimed.\n"
		"\n"
		"FAIL means: a worker was OOM-killed, or an oom event was counted (cgroup v2), or no\n"
		"thread made progress for 5 s while reclaim went on. The set fits limit plus swap, so\n"
		"no kill is legitimate. PASS needs proof: 100 limit hits and 100 reclaim passes, and\n"
		"with the default parameters that half of the limit was in flight at once.\n"
		"\n"
		"cgroup v1 has no isolation throttle under either LRU, so FAIL is the true verdict\n"
		"there at 64 threads and more.",
	.unit = "touches",
	.unit_metric = METRIC_TOUCHES,
	.plan = plan,
	.work = work,
	.judge = judge,
};
