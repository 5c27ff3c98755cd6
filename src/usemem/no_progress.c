/* SPDX-License-Identifier: GPL-2.0-only */
/* no-progress: the plan, and the verdict over what the phases have measured. */
#include "no_progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfile.h"
#include "parse.h"
#include "usemem.h"

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL

/* The document's run: 50 MB dirtied in a memcg of 25 MB. */
#define DEFAULT_MEMCG (25ULL << 20)
#define DEFAULT_SET_FACTOR 2
/* How long a phase may last, unless its bound is longer. */
#define DEFAULT_TIME_NS (60 * NS_PER_S)
/* Page tables of 50 MiB, the process itself and what fork left (over_isolation.c). */
#define SWAP_FACTOR 4
#define PROCESS_OVERHEAD (1ULL << 20)
/* include/linux/swap.h: what reclaim writes out at a time. */
#define SWAP_CLUSTER_MAX 32
/* Dirtying 25 MiB beyond the limit hits it at least once for every 64 pages charged at a time: 100
 * times with pages of 4 KiB. Half of that is proof enough. */
#define SWAP_FREE_MIN_PERCENT 5
#define PROOF_PAGES_A_HIT 128
/* The longest that reclaim waits for pages under writeback, HZ / 10 (reclaim_throttle() in mm/vmscan.c; memcg
 * reclaim on v2 does it when all that it met is under writeback). Then it looks again, a few times, and gives up. */
#define RECLAIM_WAIT_NS (100 * NS_PER_MS)
/* A task may sleep a tenth of a phase for want of progress (section 5); 5.16-rc2 slept nearly all. */
#define NOPROGRESS_SHARE_MAX 0.10

/* Between two samples of a stretch: five times the 10 ms at which they are meant to come. */
#define STRETCH_GAP_NS (50 * NS_PER_MS)

void stretch_add(struct stretch *s, uint64_t now_ns, char state, uint64_t done)
{
	/* What happened between samples that came late is not known. */
	if (state != 'D' || done != s->done || now_ns - s->last_ns > STRETCH_GAP_NS)
		s->open = false;
	if (state == 'D' && !s->open) {
		s->open = true;
		s->began_ns = now_ns;
	}
	s->done = done;
	s->last_ns = now_ns;
	if (s->open && now_ns - s->began_ns > s->longest_ns)
		s->longest_ns = now_ns - s->began_ns;
}

/* Origin of all of these: section 5 of design.md. 5.15 dirtied in 0.06 s, 5.16-rc2 in 22 s. */
uint64_t no_progress_dirty_bound_ns(uint64_t latency_ns, uint64_t excess_pages)
{
	return 5 * NS_PER_S + excess_pages * latency_ns / SWAP_CLUSTER_MAX;
}

/* 5.16-rc2: 280 s, and nearly at once before. Nothing of this phase goes to swap. */
uint64_t no_progress_mlock_bound_ns(void)
{
	return 10 * NS_PER_S;
}

/* 5.16-rc2: 20 minutes to hours. Until the owner is OOM-killed swapoff reads page after page, at most
 * what the memcg has room for: two batches of charges. */
uint64_t no_progress_swapoff_bound_ns(uint64_t latency_ns)
{
	return 60 * NS_PER_S + 2 * SWAP_CLUSTER_MAX * latency_ns;
}

uint64_t no_progress_kill_bound_ns(uint64_t latency_ns)
{
	return 2 * NS_PER_S + 2 * latency_ns;
}

static uint64_t touch_bound_ns(uint64_t latency_ns)
{
	return NS_PER_S + 8 * latency_ns;
}

static uint64_t d_state_bound_ns(uint64_t latency_ns)
{
	return 2 * NS_PER_S + 8 * latency_ns;
}

static int plan_set(const struct usemem_options *o, struct plan *p, struct fail *f)
{
	p->set_bytes = DEFAULT_SET_FACTOR * p->memcg_bytes;
	if (o->set && parse_size_or_percent(o->set, p->memcg_bytes, &p->set_bytes) < 0)
		return fail_say(f, EINVAL, "--set: '%s' is not a size or a percentage of --memcg",
				o->set);
	/* Else nothing has to be reclaimed. */
	if (p->set_bytes < p->memcg_bytes + p->memcg_bytes / 4)
		return fail_say(f, EINVAL, "--set: '%s' is less than 125%% of --memcg", o->set);
	return 0;
}

static int plan(struct run *run, struct fail *f)
{
	const struct usemem_options *o = run->tool_options;
	struct plan *p = &run->plan;
	int r = classic_refuse(&o->classic, f);

	if (r == 0 && (o->threads || o->thp_keep))
		r = fail_say(f, EINVAL, "--threads and --thp are not for --scenario no-progress");
	if (r == 0 && (run->opt->swap.kind == SWAP_NONE || run->opt->swap.kind == SWAP_EXISTING))
		r = fail_say(f, EINVAL,
			     "--swap: no-progress needs a swap device of its own, which it times "
			     "and takes away: zram, file or delay");
	p->memcg_bytes = run->opt->memcg_bytes ? run->opt->memcg_bytes : DEFAULT_MEMCG;
	if (r == 0)
		r = plan_set(o, p, f);
	if (r < 0)
		return r;
	p->nr_procs = TASKS;
	p->threads_per_proc = 1;
	p->demand_bytes = p->set_bytes + PROCESS_OVERHEAD;
	p->needs_swap = true;
	p->duration_ns = run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS;
	p->survive_kill = true;
	p->default_params = p->memcg_bytes == DEFAULT_MEMCG &&
			    p->set_bytes == DEFAULT_SET_FACTOR * DEFAULT_MEMCG;
	p->nr_hists = 1;
	p->hist_names[0] = "touch";
	p->hist_units[0] = "ns";
	result_param_u64(&run->doc, "set_bytes", p->set_bytes);
	return 0;
}

static int check(struct run *run, struct fail *f)
{
	if (run->swap_spec.kind == SWAP_EXISTING)
		return fail_say(f, EOPNOTSUPP,
				"needs a swap device of its own, and other swap is active: allow "
				"one above it by --swap zram --swap-shared-ok");
	run->swap_spec.measure = true;
	/* What dead tasks of the phases before had there may still be on its way: it must not look full. */
	if (!run->opt->swap.size_bytes &&
	    run->swap_spec.size_bytes < SWAP_FACTOR * run->plan.set_bytes)
		run->swap_spec.size_bytes = SWAP_FACTOR * run->plan.set_bytes;
	return 0;
}

static int setup(struct run *run, struct fail *f)
{
	run->state = calloc(1, sizeof(struct no_progress));
	return run->state ? 0 : fail_set(f, ENOMEM, "no-progress");
}

static void finish(struct run *run)
{
	free(run->state);
	run->state = NULL;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t no_progress_kill_latency_ns(const struct no_progress *np)
{
	uint64_t sorted[NO_PROGRESS_KILLS_MAX], median_ns = 0;

	if (np->nr_kills) {
		memcpy(sorted, np->kills_ns, sizeof(sorted));
		qsort(sorted, np->nr_kills, sizeof(sorted[0]), by_size);
		/* Of an even number the shorter: a kernel that stalls makes more than half wait. */
		median_ns = sorted[(np->nr_kills - 1) / 2];
	}
	return median_ns > np->forced_kill_ns ? median_ns : np->forced_kill_ns;
}

static struct value known(uint64_t ns)
{
	return ns ? value_u64(ns) : value_absent();
}

static void collect(struct run *run, struct run_result *res)
{
	const struct no_progress *np = run->state;
	struct value *m = run->m.metrics;

	(void)res;
	m[METRIC_SWAP_LATENCY_NS] = value_u64(run->swap.latency_ns);
	m[METRIC_LONGEST_STALL_NS] = known(np->longest_touch_ns);
	m[METRIC_DIRTY_NS] = known(np->dirty_ns);
	m[METRIC_DIRTY_OOM_KILLS] = value_u64(np->dirty_killed);
	m[METRIC_MLOCK_NS] = known(np->mlock_ns);
	m[METRIC_SWAPOFF_NS] = known(np->swapoff_ns);
	m[METRIC_KILL_LATENCY_NS] = known(no_progress_kill_latency_ns(np));
	m[METRIC_LONGEST_D_STATE_NS] = value_u64(np->longest_d_ns);
	if (np->share_known)
		m[METRIC_NOPROGRESS_SHARE] = value_real(np->noprogress_share);
}

static void bound(const struct measurement *m, struct run_result *res, const char *name,
		  enum metric_id id, uint64_t bound_ns, const char *what)
{
	uint64_t scaled_ns = (uint64_t)((double)bound_ns * m->time_scale);
	char text[32];

	verdict_check(res, name, "ns", m->metrics[id], OP_LE, value_u64(scaled_ns), "%s %s", what,
		      format_duration(m->metrics[id].u, text, sizeof(text)));
}

static uint64_t excess_pages(const struct measurement *m)
{
	return m->demand_bytes > m->limit_bytes ? (m->demand_bytes - m->limit_bytes) / m->page_size
						: 0;
}

static void add_checks(const struct measurement *m, struct run_result *res)
{
	uint64_t latency_ns = m->metrics[METRIC_SWAP_LATENCY_NS].u;
	struct value share = m->metrics[METRIC_NOPROGRESS_SHARE];

	bound(m, res, "longest_touch", METRIC_LONGEST_STALL_NS, touch_bound_ns(latency_ns),
	      "a single touch took");
	verdict_check(res, "throttled_noprogress", "ratio", share, OP_LE,
		      value_real(NOPROGRESS_SHARE_MAX),
		      "asleep for want of progress for %.0f %% of the worst phase",
		      value_as_real(share) * 100);
	bound(m, res, "dirty_time", METRIC_DIRTY_NS,
	      no_progress_dirty_bound_ns(latency_ns, excess_pages(m)), "dirtying took");
	verdict_check(res, "no_oom_kill", "count", m->metrics[METRIC_DIRTY_OOM_KILLS], OP_EQ,
		      value_u64(0), "%s",
		      value_as_real(m->metrics[METRIC_DIRTY_OOM_KILLS]) > 0
			      ? "OOM-killed while dirtying, with swap free"
			      : "no OOM kill while dirtying");
	bound(m, res, "mlock_settles", METRIC_MLOCK_NS, no_progress_mlock_bound_ns(), "mlock took");
	bound(m, res, "swapoff_ends", METRIC_SWAPOFF_NS, no_progress_swapoff_bound_ns(latency_ns),
	      "swapoff took");
	bound(m, res, "kill_latency", METRIC_KILL_LATENCY_NS, no_progress_kill_bound_ns(latency_ns),
	      "SIGKILL took");
	bound(m, res, "longest_d_state", METRIC_LONGEST_D_STATE_NS, d_state_bound_ns(latency_ns),
	      "asleep uninterruptibly and without progress for");
	verdict_workers_die(m, res);
}

/* All that broke, not the first alone: the document's complaint is their company. */
static void blame(struct run_result *res)
{
	size_t used = 0;

	for (size_t i = 0; i < res->nr_checks; i++) {
		const struct check *c = &res->checks[i];
		int n;

		if (c->outcome != OUTCOME_FAIL || used >= sizeof(res->reason))
			continue;
		n = snprintf(res->reason + used, sizeof(res->reason) - used, "%s%s",
			     used ? "; " : "", c->why);
		used += n > 0 ? (size_t)n : 0;
	}
}

/* As in over-isolation: with less swap than this free a kill may be legitimate. */
static bool swap_was_full(const struct measurement *m)
{
	const struct kill_scene *k = &m->kill;

	return value_as_real(m->metrics[METRIC_DIRTY_OOM_KILLS]) > 0 &&
	       k->swap_free_bytes != KFILE_ABSENT && k->swap_total_bytes != KFILE_ABSENT &&
	       k->swap_free_bytes < k->swap_total_bytes / 100 * SWAP_FREE_MIN_PERCENT;
}

static bool nothing_but_the_kill(const struct run_result *res)
{
	for (size_t i = 0; i < res->nr_checks; i++)
		if (res->checks[i].outcome == OUTCOME_FAIL &&
		    strcmp(res->checks[i].name, "no_oom_kill") != 0)
			return false;
	return true;
}

/* What a kill says about the swap and not about stalling; NULL: it does not. Slow is not stalled: on a
 * device that needs longer for a page than reclaim ever waits, all there is to reclaim can be on its
 * way there when reclaim gives up (seen on 6.12 at 500 ms a page). */
static const char *excuse(const struct measurement *m, const struct run_result *res, char *buf,
			  size_t size)
{
	uint64_t latency_ns = m->metrics[METRIC_SWAP_LATENCY_NS].u;
	char page[32], at[32];

	if (!nothing_but_the_kill(res))
		return NULL;
	if (swap_was_full(m))
		return "the swap was full at the kill: an OOM kill may be legitimate";
	if (latency_ns <= RECLAIM_WAIT_NS)
		return NULL;
	(void)snprintf(
		buf, size,
		"OOM-killed after %s of dirtying with swap free, and no stall: a page takes %s to "
		"the swap device, and reclaim waits 100 ms at most",
		format_duration(m->metrics[METRIC_DIRTY_NS].u, at, sizeof(at)),
		format_duration(latency_ns, page, sizeof(page)));
	return buf;
}

static const char *unproven(const struct measurement *m, char *buf, size_t size)
{
	struct value hits = m->metrics[METRIC_LIMIT_HITS];
	uint64_t least = excess_pages(m) / PROOF_PAGES_A_HIT;

	if (!value_is_present(m->metrics[METRIC_SWAPOFF_NS]) ||
	    !value_is_present(m->metrics[METRIC_KILL_LATENCY_NS]))
		return "not every phase was reached";
	if (value_as_real(hits) >= (double)least)
		return NULL;
	(void)snprintf(buf, size, "no pressure: %.0f limit hits, and %" PRIu64 " prove it",
		       value_as_real(hits), least);
	return buf;
}

static const char *passed(const struct measurement *m, char *buf, size_t size)
{
	const struct value *v = m->metrics;
	char dirty[32], lock[32], off[32], kill[32], page[32];

	(void)snprintf(
		buf, size,
		"dirtied in %s, mlock settled in %s, swapoff ended in %s, SIGKILL took %s (a "
		"page to the swap device takes %s)",
		format_duration(v[METRIC_DIRTY_NS].u, dirty, sizeof(dirty)),
		format_duration(v[METRIC_MLOCK_NS].u, lock, sizeof(lock)),
		format_duration(v[METRIC_SWAPOFF_NS].u, off, sizeof(off)),
		format_duration(v[METRIC_KILL_LATENCY_NS].u, kill, sizeof(kill)),
		format_duration(v[METRIC_SWAP_LATENCY_NS].u, page, sizeof(page)));
	return buf;
}

static void judge(const struct measurement *m, struct run_result *res)
{
	char kill[TEXT_SIZE], proof[TEXT_SIZE], pass[TEXT_SIZE];

	add_checks(m, res);
	blame(res);
	verdict_conclude(m, res, excuse(m, res, kill, sizeof(kill)),
			 unproven(m, proof, sizeof(proof)), passed(m, pass, sizeof(pass)));
}

const struct scenario no_progress = {
	.name = "no-progress",
	.summary = "reclaim sleeps uninterruptibly without progress; tasks cannot be killed",
	.document = "seeds/003: mm/vmscan: Throttle reclaim when no progress is being made",
	.fix = "no NOPROGRESS throttling of memcg reclaim, and a jiffy instead of half a second",
	.explain =
		"A task alone in a memcg of 25 MiB, with a swap device of its own, whose latency is\n"
		"measured first. Phases: dirty 50 MiB once; mlock as much, which cannot succeed and must\n"
		"end in an error or an OOM kill; dirty it over and over while the swap device is taken\n"
		"away and given back; kill a task that stalls in reclaim. --time is how long a phase may\n"
		"last (60 s, or its bound if that is longer).\n"
		"\n"
		"FAIL means: a phase took longer than a slow swap device explains, or a task slept more\n"
		"than a tenth of a phase because reclaim made no progress, or it slept uninterruptibly\n"
		"without progress or outlived its SIGKILL for seconds, or it was OOM-killed although\n"
		"there was swap (on a swap device that takes over 100 ms for a page, longer than reclaim\n"
		"ever waits, a kill alone is INCONCLUSIVE: slow is not stalled). On 5.16-rc2 dirtying\n"
		"took 22 s instead of 0.06 s, mlock 280 s, swapoff 20 minutes to hours.\n"
		"\n"
		"Kernels since then do not throttle memcg reclaim for want of progress: PASS is what\n"
		"they should say, and this is a guard against its coming back.",
	.unit = "pages",
	.unit_metric = METRIC_TOUCHES,
	.plan = plan,
	.check = check,
	.setup = setup,
	.work = no_progress_work,
	.drive = no_progress_drive,
	.collect = collect,
	.judge = judge,
	.finish = finish,
};
