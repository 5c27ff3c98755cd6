/* SPDX-License-Identifier: GPL-2.0-only */
/* readahead-livelock: from measurement to verdict. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kfile.h"
#include "parse.h"
#include "readahead.h"

#define NS_PER_S 1000000000ULL

/* Limit hits or reclaim passes (nothing but its limit makes a memcg's tasks reclaim): far above what a
 * start at the limit makes by itself, as in over-isolation. Either, because on v1 failcnt was seen to
 * stay 0 through 50,000 passes of file charges (6.18). */
#define PROOF_PRESSURE 100
/* Fewer, and a ratio of passes says nothing (design.md, section 5). */
#define PROOF_MAJOR_FAULTS 100
/* Passes for each window: 17 to 20 with the failure, 1.7 without (4 MiB windows, 7.3.4 stock and
 * patched; computed from design.md, section 7). The patch allows two a window. */
#define PASSES_PER_WINDOW_MAX 4
/* Below this a window is not well above what one pass frees, and one pass a window is right: 128 KiB
 * does not separate stock from patched (design.md, section 7). */
#define WINDOW_MIN (1ULL << 20)
/* The livelock watch (issue 5): a window of the same length as over-isolation's progress watch, in
 * which the group reads under 1 % of its own median. But one reader whose file happens to stay in
 * memory reads more in a window than all others fault in, and lifts the median above what the group
 * can do otherwise (guest, 6.12, ext4, rand: 140,917 at the median and 710 without it); so a page a
 * reader is never a livelock. */
#define WATCH_NS (5 * NS_PER_S)
#define LIVELOCK_DIVISOR 100
/* Reclaim goes on in a window with at least a tenth of the usual passes: a device that stands still
 * stops reclaim too, a livelock does not. */
#define PASSES_GO_ON_DIVISOR 10
/* Windows looked at: enough for 0.1 s steps in a run of 100 s. */
#define WINDOWS_MAX 1024
/* Of a check's `why`, as a part of a sentence. */
#define CLAUSE 200

static uint64_t passes_of(const struct sample *s)
{
	/* Where passes cannot be seen, limit hits stand for them. */
	return s->v[SERIES_RECLAIM_PASSES] != KFILE_ABSENT ? s->v[SERIES_RECLAIM_PASSES]
							   : s->v[SERIES_LIMIT_HITS];
}

static bool in_flight(const struct sample *s)
{
	return s->v[SERIES_PASSES_IN_FLIGHT] != KFILE_ABSENT && s->v[SERIES_PASSES_IN_FLIGHT] > 0;
}

struct window {
	uint64_t pages;
	uint64_t passes;
	bool inside; /* somebody was in a pass at both ends */
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median_of(const struct window *w, size_t nr, uint64_t (*get)(const struct window *))
{
	uint64_t values[WINDOWS_MAX];

	for (size_t i = 0; i < nr; i++)
		values[i] = get(&w[i]);
	qsort(values, nr, sizeof(values[0]), compare_u64);
	return nr ? values[nr / 2] : 0;
}

static uint64_t get_pages(const struct window *w)
{
	return w->pages;
}

static uint64_t get_passes(const struct window *w)
{
	return w->passes;
}

/* All windows of @window_ns, or every n-th where there are more than fit. */
static size_t slide(const struct timeline *t, uint64_t window_ns, struct window *ret)
{
	size_t step = t->nr / WINDOWS_MAX + 1, nr = 0, j = 0;

	for (size_t i = 0; i < t->nr && nr < WINDOWS_MAX; i += step) {
		const struct sample *a = &t->samples[i], *b;

		while (j < t->nr && t->samples[j].v[SERIES_T_NS] - a->v[SERIES_T_NS] < window_ns)
			j++;
		if (j == t->nr)
			break;
		b = &t->samples[j];
		ret[nr++] = (struct window){
			.pages = b->v[SERIES_PROGRESS] - a->v[SERIES_PROGRESS],
			.passes = passes_of(b) - passes_of(a),
			.inside = in_flight(a) && in_flight(b),
		};
	}
	return nr;
}

struct window_watch readahead_watch(const struct timeline *timeline, uint64_t window_ns)
{
	struct window windows[WINDOWS_MAX];
	struct window_watch watch = { .slowest_reclaiming_pages = UINT64_MAX,
				      .slowest_waiting_pages = UINT64_MAX };
	uint64_t usual_passes;

	if (!timeline)
		return watch;
	watch.nr_windows = slide(timeline, window_ns, windows);
	watch.median_pages = median_of(windows, watch.nr_windows, get_pages);
	usual_passes = median_of(windows, watch.nr_windows, get_passes);
	for (size_t i = 0; i < watch.nr_windows; i++) {
		const struct window *w = &windows[i];
		bool reclaiming = w->inside || (w->passes > 0 &&
						w->passes >= usual_passes / PASSES_GO_ON_DIVISOR);
		uint64_t *slowest = reclaiming ? &watch.slowest_reclaiming_pages
					       : &watch.slowest_waiting_pages;

		if (w->pages < *slowest)
			*slowest = w->pages;
	}
	return watch;
}

/* Fewer pages than this in a window are none to speak of. */
static uint64_t least_pages(const struct measurement *m, const struct window_watch *watch)
{
	uint64_t least = watch->median_pages / LIVELOCK_DIVISOR;

	if (least > m->workers)
		least = m->workers;
	return least ? least : 1;
}

static void check_passes(const struct measurement *m, struct run_result *res)
{
	struct value passes = m->metrics[METRIC_PASSES_PER_WINDOW];
	char window[32];

	if (!value_is_present(passes)) {
		verdict_skip(res, "passes_per_window", "ratio",
			     "%s cannot be counted here (--probe bpf, or cgroup v2)",
			     value_is_present(m->metrics[METRIC_RECLAIM_PASSES]) ? "reclaimed pages"
										 : "passes");
		return;
	}
	verdict_check(res, "passes_per_window", "ratio", passes, OP_LE,
		      value_u64(PASSES_PER_WINDOW_MAX),
		      "reclaim ran %.1f times for each %s of pages that it freed",
		      value_as_real(passes),
		      format_size(m->window_pages * m->page_size, window, sizeof(window)));
}

static void check_livelock(const struct measurement *m, struct run_result *res)
{
	uint64_t window_ns = (uint64_t)((double)WATCH_NS * m->time_scale);
	struct window_watch watch;
	char text[32], whole[32];
	uint64_t least;

	if (window_ns > m->duration_ns / 3) {
		verdict_skip(res, "livelock", "ratio",
			     "a window of %s exceeds a third of a run of %s",
			     format_duration(window_ns, text, sizeof(text)),
			     format_duration(m->duration_ns, whole, sizeof(whole)));
		return;
	}
	watch = readahead_watch(m->timeline, window_ns);
	least = least_pages(m, &watch);
	if (watch.slowest_waiting_pages != UINT64_MAX && watch.median_pages > 0 &&
	    watch.slowest_waiting_pages < least)
		run_result_note(res,
				"slow device: in some %s the group read %" PRIu64 " pages of its "
				"usual %" PRIu64 " while reclaim stood still too",
				format_duration(window_ns, text, sizeof(text)),
				watch.slowest_waiting_pages, watch.median_pages);
	if (watch.slowest_reclaiming_pages == UINT64_MAX) {
		verdict_skip(res, "livelock", "pages", "no window in which reclaim went on");
		return;
	}
	verdict_check(res, "livelock", "pages", value_u64(watch.slowest_reclaiming_pages), OP_GE,
		      value_u64(least),
		      "in its slowest %s with reclaim going on the group read %" PRIu64
		      " pages, and %" PRIu64 " at the median",
		      format_duration(window_ns, text, sizeof(text)),
		      watch.slowest_reclaiming_pages, watch.median_pages);
}

/* The clause of a failed check, "" of one that did not fail. */
static const char *failed_clause(const struct run_result *res, const char *name)
{
	const struct check *c = verdict_find(res, name);

	return c && c->outcome == OUTCOME_FAIL ? c->why : "";
}

/* Readers that die of nothing, a group that reads nothing: livelock. Else it is the price per folio
 * alone. An OOM kill speaks for itself. */
static void reason_failed(const struct measurement *m, struct run_result *res)
{
	const struct check *livelock = verdict_find(res, "livelock");
	const char *passes = failed_clause(res, "passes_per_window");
	const char *stands = failed_clause(res, "livelock");
	char stuck[64] = "";

	if (m->end == END_WORKER_KILLED || *failed_clause(res, "no_oom_event"))
		return;
	if (m->workers_stuck)
		(void)snprintf(stuck, sizeof(stuck), "%u readers outlived SIGKILL by 10 s; ",
			       m->workers_stuck);
	if (*stands || *stuck)
		(void)snprintf(res->reason, sizeof(res->reason),
			       "livelock in reclaim: %s%.*s%s%.*s", stuck, CLAUSE, stands,
			       *stands && *passes ? "; " : "", CLAUSE, passes);
	else if (*passes)
		(void)snprintf(res->reason, sizeof(res->reason),
			       "reclaim per folio: %.*s, and %.1f times for each major fault; %s",
			       CLAUSE, passes,
			       value_as_real(m->metrics[METRIC_PASSES_PER_MAJOR_FAULT]),
			       livelock && livelock->outcome == OUTCOME_PASS
				       ? "no livelock was seen"
				       : "whether it livelocks was not looked at");
}

static const char *unproven(const struct measurement *m, const struct run_result *res, char *buf,
			    size_t size)
{
	double hits = value_as_real(m->metrics[METRIC_LIMIT_HITS]);
	double reclaims = value_as_real(m->metrics[METRIC_RECLAIM_PASSES]);
	double faults = value_as_real(m->metrics[METRIC_MAJOR_FAULTS]);
	const struct check *passes = verdict_find(res, "passes_per_window");
	char window[32], least[32];

	if (hits < PROOF_PRESSURE && reclaims < PROOF_PRESSURE)
		(void)snprintf(buf, size,
			       "no pressure: %.0f limit hits and %.0f reclaim passes, and %d of "
			       "either prove it (the files must exceed the memcg, and --time must "
			       "suffice to read that much)",
			       hits, reclaims, PROOF_PRESSURE);
	else if (faults < PROOF_MAJOR_FAULTS)
		(void)snprintf(buf, size, "no pressure: %.0f major faults, and %d prove it", faults,
			       PROOF_MAJOR_FAULTS);
	else if (!m->random_advice && m->window_pages * m->page_size < WINDOW_MIN)
		(void)snprintf(buf, size,
			       "a readahead window of %s cannot show the failure: one pass frees "
			       "as much (--readahead %s or more)",
			       format_size(m->window_pages * m->page_size, window, sizeof(window)),
			       format_size(WINDOW_MIN, least, sizeof(least)));
	else if (passes && passes->outcome == OUTCOME_SKIP)
		(void)snprintf(buf, size, "passes_per_window decides, and %.*s", CLAUSE,
			       passes->why);
	else
		return NULL;
	return buf;
}

static const char *passed(const struct measurement *m, const struct run_result *res, char *buf,
			  size_t size)
{
	const struct check *livelock = verdict_find(res, "livelock");
	char window[32];

	(void)snprintf(
		buf, size,
		"reclaim ran %.1f times for each %s of pages that it freed, and %.1f times for "
		"each major fault; %s",
		value_as_real(m->metrics[METRIC_PASSES_PER_WINDOW]),
		format_size(m->window_pages * m->page_size, window, sizeof(window)),
		value_as_real(m->metrics[METRIC_PASSES_PER_MAJOR_FAULT]),
		livelock && livelock->outcome == OUTCOME_PASS
			? "no livelock"
			: "whether it livelocks was not looked at");
	return buf;
}

void readahead_judge(const struct measurement *m, struct run_result *res)
{
	char proof[TEXT_SIZE], pass[TEXT_SIZE];

	verdict_no_oom(m, res);
	check_passes(m, res);
	check_livelock(m, res);
	verdict_workers_die(m, res);
	if (verdict_any_failed(res))
		reason_failed(m, res);
	verdict_conclude(m, res, NULL, unproven(m, res, proof, sizeof(proof)),
			 passed(m, res, pass, sizeof(pass)));
}
