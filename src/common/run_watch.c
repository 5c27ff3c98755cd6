/* SPDX-License-Identifier: GPL-2.0-only */
/* The time between release and the last worker's end: sampling, deciding when it is over, stopping. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "run.h"

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL
/* 10 Hz: a 5 s window of no progress is then known to 2 %, and 1,000 memcgs cost under 2 % of a CPU. */
#define TICK_NS (100 * NS_PER_MS)
/* 192 threads are ready in under 0.1 s; one that is not after 30 s is stuck before it began. */
#define READY_TIMEOUT_NS (30 * NS_PER_S)
/* A worker leaves between two accesses. What takes longer is ended by SIGKILL: the tool promises to
 * end within 2 s of the deciding event. */
#define LEAVE_NS (1 * NS_PER_S)
/* After SIGKILL (design.md, section 5: workers_die). */
#define DIE_NS (10 * NS_PER_S)

int run_spawn_workers(struct run *run, struct fail *f)
{
	for (unsigned int i = 0; i < run->plan.nr_procs; i++) {
		int r = worker_spawn(run, i, &run->group, &run->workers[i], f);

		if (r < 0)
			return r;
		r = probe_add_worker(run->probe, run->workers[i].pid, f);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool any_gone(struct run *run, struct worker_handle **ret)
{
	for (unsigned int i = 0; i < run->plan.nr_procs; i++) {
		if (worker_reap(&run->workers[i])) {
			*ret = &run->workers[i];
			return true;
		}
	}
	return false;
}

static int ready_failure(const struct run *run, const struct worker_handle *gone, struct fail *f)
{
	if (atomic_load(&run->progress.head->failed) == 1)
		return fail_say(f, EIO, "a worker could not start: %s", run->progress.head->error);
	if (WIFSIGNALED(gone->status))
		return fail_say(f, EIO,
				"a worker was killed by signal %d before it was ready: "
				"--memcg leaves no room for it",
				WTERMSIG(gone->status));
	return fail_say(f, EIO, "a worker ended with code %d before it was ready",
			WEXITSTATUS(gone->status));
}

int run_wait_ready(struct run *run, struct fail *f)
{
	unsigned int want = run->plan.nr_procs * run->plan.threads_per_proc;
	uint64_t deadline_ns =
		clock_now_ns() + (uint64_t)((double)READY_TIMEOUT_NS * run->opt->time_scale);
	struct worker_handle *gone = NULL;
	unsigned int ready;

	while ((ready = progress_ready(&run->progress)) < want) {
		if (any_gone(run, &gone))
			return ready_failure(run, gone, f);
		if (run_stop_requested)
			return fail_say(f, EINTR, "interrupted before the workers were ready");
		if (clock_now_ns() > deadline_ns)
			return fail_say(f, ETIMEDOUT, "only %u of %u workers were ready in time",
					ready, want);
		progress_wait_ready_change(&run->progress, ready, TICK_NS);
	}
	return 0;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a == KFILE_ABSENT || b == KFILE_ABSENT ? KFILE_ABSENT : a + b;
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now == KFILE_ABSENT || before == KFILE_ABSENT || now < before ? KFILE_ABSENT
									     : now - before;
}

static uint64_t or_zero(uint64_t v)
{
	return v == KFILE_ABSENT ? 0 : v;
}

/* What reclaim could still take: file pages, and anonymous and shared ones as far as there is swap
 * for them. Counted by kind, not by LRU list: isolated pages are on no list, and that they look gone
 * while they are not is the very failure. */
static uint64_t reclaimable_bytes(const struct snapshot *s)
{
	uint64_t shmem = or_zero(s->stat.shmem_bytes);
	uint64_t anon = add(s->stat.anon_bytes, shmem);
	uint64_t file = since(s->stat.file_bytes, shmem);

	if (anon == KFILE_ABSENT || file == KFILE_ABSENT)
		return KFILE_ABSENT;
	if (s->swap_free_bytes != KFILE_ABSENT && anon > s->swap_free_bytes)
		anon = s->swap_free_bytes;
	/* Pages in the swap cache have their place on swap already. */
	return anon + file + or_zero(s->stat.swapcached_bytes);
}

static uint64_t throttled_sum(const struct probe_counts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < THROTTLE_NR; i++)
		sum = add(sum, c->throttled[i]);
	return sum;
}

static void fill_sample(struct run *run, uint64_t t_ns, struct sample *s)
{
	const struct snapshot *now = &run->last, *before = &run->before;
	const struct probe_counts *c = &run->counts;

	sample_init(s);
	s->v[SERIES_T_NS] = t_ns;
	s->v[SERIES_PROGRESS] = progress_done(&run->progress);
	s->v[SERIES_MEMCG_CURRENT_BYTES] = now->current_bytes;
	s->v[SERIES_MEMCG_SWAP_BYTES] = now->swap_bytes;
	s->v[SERIES_RECLAIMABLE_BYTES] = reclaimable_bytes(now);
	s->v[SERIES_SWAP_FREE_BYTES] = now->swap_free_bytes;
	s->v[SERIES_LIMIT_HITS] = since(now->limit_hits, before->limit_hits);
	s->v[SERIES_OOM_KILLS] = since(now->events.oom_kill, before->events.oom_kill);
	s->v[SERIES_RECLAIM_PASSES] = c->passes_begun;
	s->v[SERIES_PASSES_IN_FLIGHT] = since(c->passes_begun, c->passes_ended);
	s->v[SERIES_THROTTLED] = throttled_sum(c);
	s->v[SERIES_NR_ISOLATED] = add(now->nodes.nr_isolated_anon, now->nodes.nr_isolated_file);
	s->v[SERIES_PSI_SOME_US] = since(now->psi.some_us, before->psi.some_us);
	s->v[SERIES_PSI_FULL_US] = since(now->psi.full_us, before->psi.full_us);
}

void run_sample_begin(struct run *run)
{
	if (!run->sampler)
		return;
	(void)sampler_read(run->sampler, &run->before);
	run->last = run->before;
	run_sample(run, 0);
}

void run_sample(struct run *run, uint64_t t_ns)
{
	struct sample s;

	if (!run->sampler)
		return;
	(void)sampler_read(run->sampler, &run->last);
	(void)probe_read(run->probe, &run->counts);
	fill_sample(run, t_ns, &s);
	(void)timeline_add(&run->res->timeline, &s);
}

/* The last sample in which no kill was counted yet: what is sampled while the victim's memory is being
 * torn down says nothing of what the kernel could still have reclaimed. */
static const struct sample *last_before_kill(const struct timeline *t)
{
	for (size_t i = t->nr; i-- > 0;) {
		uint64_t kills = t->samples[i].v[SERIES_OOM_KILLS];

		if (kills == 0 || kills == KFILE_ABSENT)
			return &t->samples[i];
	}
	return NULL;
}

static void note_kill(struct run *run, uint64_t t_ns)
{
	const struct sample *s = last_before_kill(&run->res->timeline);

	run->m.kill = (struct kill_scene){
		.at_ns = t_ns,
		.sample_age_ns = s ? t_ns - s->v[SERIES_T_NS] : KFILE_ABSENT,
		.usage_bytes = s ? s->v[SERIES_MEMCG_CURRENT_BYTES] : KFILE_ABSENT,
		.reclaimable_bytes = s ? s->v[SERIES_RECLAIMABLE_BYTES] : KFILE_ABSENT,
		.swap_free_bytes = s ? s->v[SERIES_SWAP_FREE_BYTES] : KFILE_ABSENT,
		.swap_total_bytes = run->last.swap_total_bytes,
	};
}

/* The kernel counts a kill before it sends the signal (__oom_kill_process()), so a counter that did
 * not move means that somebody else sent it. */
static bool was_oom_kill(struct run *run)
{
	struct memevents now;

	if (cgroup_memevents(&run->group, &now) < 0 || now.oom_kill == KFILE_ABSENT ||
	    run->before.events.oom_kill == KFILE_ABSENT)
		return true;
	return now.oom_kill > run->before.events.oom_kill;
}

static enum run_end classify(struct run *run, const struct worker_handle *h, uint64_t t_ns)
{
	if (WIFEXITED(h->status) && WEXITSTATUS(h->status) == WORKER_DONE)
		return END_WORKERS_DONE;
	if (WIFSIGNALED(h->status) && WTERMSIG(h->status) == SIGKILL && was_oom_kill(run)) {
		note_kill(run, t_ns);
		return END_WORKER_KILLED;
	}
	if (WIFSIGNALED(h->status))
		run->m.end_signal = WTERMSIG(h->status);
	if (run->m.end_signal == SIGKILL)
		(void)snprintf(run->m.worker_error, sizeof(run->m.worker_error),
			       "it got a SIGKILL that is no OOM kill: the kernel counted none");
	else if (atomic_load(&run->progress.head->failed) == 1)
		(void)snprintf(run->m.worker_error, sizeof(run->m.worker_error), "%s",
			       run->progress.head->error);
	return END_WORKER_FAILED;
}

/* Looks at who has ended. True when that ends the run. */
static bool workers_decide(struct run *run, uint64_t t_ns)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < run->plan.nr_procs; i++) {
		struct worker_handle *h = &run->workers[i];
		bool was = h->reaped;

		if (!worker_reap(h)) {
			left++;
			continue;
		}
		if (was)
			continue;
		run->m.end = classify(run, h, t_ns);
		if (run->m.end == END_WORKER_FAILED ||
		    (run->m.end == END_WORKER_KILLED && !run->plan.survive_kill))
			return true;
	}
	return left == 0;
}

static uint64_t per_second(uint64_t now, uint64_t before, uint64_t ns)
{
	return now == KFILE_ABSENT || before == KFILE_ABSENT || now < before || ns == 0
		       ? 0
		       : (uint64_t)((double)(now - before) * (double)NS_PER_S / (double)ns);
}

static void progress_line(const struct run *run)
{
	const struct timeline *t = &run->res->timeline;
	const struct sample *b, *a;
	uint64_t ns;

	if (t->nr < 2)
		return;
	b = &t->samples[t->nr - 1];
	a = &t->samples[t->nr > 10 ? t->nr - 11 : 0];
	ns = b->v[SERIES_T_NS] - a->v[SERIES_T_NS];
	fprintf(stderr,
		"\r%5.1f s  %s/s %llu  limit hits %llu  passes/s %llu  oom kills %llu\033[K",
		(double)b->v[SERIES_T_NS] / (double)NS_PER_S, run->scenario->unit,
		(unsigned long long)per_second(b->v[SERIES_PROGRESS], a->v[SERIES_PROGRESS], ns),
		(unsigned long long)per_second(b->v[SERIES_LIMIT_HITS], 0, NS_PER_S),
		(unsigned long long)per_second(b->v[SERIES_RECLAIM_PASSES],
					       a->v[SERIES_RECLAIM_PASSES], ns),
		(unsigned long long)per_second(b->v[SERIES_OOM_KILLS], 0, NS_PER_S));
}

static bool wants_progress_line(const struct run *run)
{
	const char *term = getenv("TERM");

	return !run->opt->quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static int start_ticking(void)
{
	const struct itimerspec every = { .it_interval = { .tv_nsec = TICK_NS },
					  .it_value = { .tv_nsec = TICK_NS } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timerfd_settime(fd, 0, &every, NULL) < 0) {
		(void)close(fd);
		return -errno;
	}
	return fd < 0 ? -errno : fd;
}

static struct pollfd *poll_set(const struct run *run, int timer)
{
	struct pollfd *fds = calloc(run->plan.nr_procs + 1, sizeof(*fds));

	if (!fds)
		return NULL;
	for (unsigned int i = 0; i < run->plan.nr_procs; i++)
		fds[i] = (struct pollfd){ .fd = run->workers[i].pidfd, .events = POLLIN };
	fds[run->plan.nr_procs] = (struct pollfd){ .fd = timer, .events = POLLIN };
	return fds;
}

/* One turn: waits for a tick or a worker's end. True when the run is over. */
static bool turn(struct run *run, struct pollfd *fds, uint64_t start_ns)
{
	nfds_t nr = run->plan.nr_procs + 1;
	uint64_t ticks, t_ns;
	bool done = false;

	(void)poll(fds, nr, (int)(TICK_NS / NS_PER_MS));
	t_ns = clock_now_ns() - start_ns;
	if (workers_decide(run, t_ns))
		return true;
	for (unsigned int i = 0; i < run->plan.nr_procs; i++)
		if (run->workers[i].reaped)
			fds[i].fd = -1;
	if (read(fds[nr - 1].fd, &ticks, sizeof(ticks)) == sizeof(ticks)) {
		run_sample(run, t_ns);
		done = run->scenario->tick && run->scenario->tick(run, t_ns);
	}
	if (run_stop_requested)
		run->m.end = END_INTERRUPTED;
	else if (t_ns >= run->plan.duration_ns || done)
		run->m.end = END_TIME;
	else
		return false;
	return true;
}

int run_watch(struct run *run, struct fail *f)
{
	_cleanup_close_ int timer = start_ticking();
	_cleanup_free_ struct pollfd *fds = NULL;
	bool line = wants_progress_line(run);
	uint64_t start_ns, shown_ns = 0;

	if (timer < 0)
		return fail_set(f, -timer, "timerfd");
	fds = poll_set(run, timer);
	if (!fds)
		return fail_set(f, ENOMEM, "poll set");
	run_sample_begin(run);
	progress_release(&run->progress);
	start_ns = atomic_load(&run->progress.head->start_ns);
	while (!turn(run, fds, start_ns)) {
		if (line && clock_now_ns() - shown_ns >= NS_PER_S) {
			progress_line(run);
			shown_ns = clock_now_ns();
		}
	}
	run->m.duration_ns = clock_now_ns() - start_ns;
	if (line)
		fprintf(stderr, "\r\033[K");
	return 0;
}

/* Waits until every worker is reaped, at most @timeout_ns. */
static bool wait_all(struct run *run, uint64_t timeout_ns)
{
	uint64_t deadline_ns = clock_now_ns() + timeout_ns;

	for (unsigned int i = 0; i < run->plan.nr_procs; i++) {
		struct worker_handle *h = &run->workers[i];

		while (!worker_reap(h)) {
			struct pollfd fd = { .fd = h->pidfd, .events = POLLIN };
			uint64_t now_ns = clock_now_ns();

			if (now_ns >= deadline_ns)
				return false;
			/* Rounded up: a poll of 0 ms would spin through the last one. */
			(void)poll(&fd, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1);
		}
	}
	return true;
}

static void kill_workers(struct run *run)
{
	uint64_t began_ns = clock_now_ns();
	bool gone;

	if (run->group.dir_fd >= 0)
		(void)cgroup_kill(&run->group);
	for (unsigned int i = 0; i < run->plan.nr_procs; i++)
		worker_kill(&run->workers[i]);
	gone = wait_all(run, (uint64_t)((double)DIE_NS * run->opt->time_scale));
	run->m.metrics[METRIC_KILL_LATENCY_NS] = value_u64(clock_now_ns() - began_ns);
	if (gone)
		return;
	for (unsigned int i = 0; i < run->plan.nr_procs; i++) {
		if (run->workers[i].reaped || run->workers[i].pid == 0)
			continue;
		if (run->m.workers_stuck++ == 0)
			worker_describe(run->workers[i].pid, run->m.stuck, sizeof(run->m.stuck));
	}
}

void run_stop_workers(struct run *run)
{
	if (!run->progress.head || !run->workers)
		return;
	progress_stop(&run->progress);
	/* After a kill nothing more is to be learnt, and its group may not make progress any more. */
	if (run->m.end == END_WORKER_KILLED || !wait_all(run, LEAVE_NS))
		kill_workers(run);
}
