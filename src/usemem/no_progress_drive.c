/* SPDX-License-Identifier: GPL-2.0-only */
/* The supervisor of no-progress: lets one task after the other work, looks at it, ends it. */
#include "no_progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "parse.h"
#include "proctext.h"

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL
/* Design.md, section 5: the state of the task every 10 ms. */
#define TICK_NS (10 * NS_PER_MS)
#define SAMPLE_NS (100 * NS_PER_MS)
/* After SIGKILL (workers_die). */
#define DIE_NS (10 * NS_PER_S)
/* A task that is to be killed while it stalls gets this long to do so. */
#define STALL_WAIT_NS (1 * NS_PER_S)
/* After its bound a phase goes on this long, so that the report can say by how much. */
#define GRACE_NS (10 * NS_PER_S)
/* The device goes when three quarters of the set are dirty: half of what is too much is on it. */
#define SWAPOFF_AT_NUMERATOR 3
#define SWAPOFF_AT_DENOMINATOR 4

/* One phase under way. */
struct phase {
	struct run *run;
	struct no_progress *np;
	const char *name;
	enum no_progress_task task;
	struct worker_handle *handle;
	struct progress_slot *slot;
	int stat_fd;
	uint64_t began_ns;
	uint64_t sampled_ns;
	uint64_t ended_ns;	/* of the task; 0: it lives */
	uint64_t noprogress_ns; /* at the beginning; KFILE_ABSENT: not known */
	struct stretch stretch;
};

static uint64_t scaled(const struct run *run, uint64_t ns)
{
	return (uint64_t)((double)ns * run->opt->time_scale);
}

/* How long a phase may last: what the user said, or enough to see its bound broken. */
static uint64_t limit_ns(const struct run *run, uint64_t bound_ns)
{
	uint64_t least = scaled(run, bound_ns + GRACE_NS);

	return run->plan.duration_ns > least ? run->plan.duration_ns : least;
}

static uint64_t noprogress_ns(struct run *run)
{
	(void)probe_read(run->probe, &run->counts);
	if (run->counts.throttled[THROTTLE_NOPROGRESS] == 0)
		return 0;
	return run->counts.throttled_reason_ns[THROTTLE_NOPROGRESS];
}

static void say_phase(const struct phase *p)
{
	if (!p->run->opt->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s phase\033[K", p->name);
}

static int begin_phase(struct phase *p, struct run *run, enum no_progress_task task,
		       const char *name, struct fail *f)
{
	char path[64];
	int r;

	*p = (struct phase){
		.run = run,
		.np = run->state,
		.name = name,
		.task = task,
		.handle = &run->workers[task],
		.slot = &run->progress.slots[task],
		.stat_fd = -1,
	};
	r = worker_spawn(run, task, &run->group, p->handle, f);
	if (r == 0)
		r = probe_add_worker(run->probe, p->handle->pid, f);
	if (r < 0)
		return r;
	say_phase(p);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->handle->pid);
	p->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	p->noprogress_ns = noprogress_ns(run);
	p->began_ns = p->sampled_ns = clock_now_ns();
	if (write(p->np->go_fds[1], "", 1) != 1)
		return fail_set(f, errno, "letting a task begin");
	return 0;
}

static void look(struct phase *p)
{
	uint64_t now_ns = clock_now_ns();
	struct proc_stat st;
	char text[1024];

	if (kfile_pread(p->stat_fd, text, sizeof(text)) > 0 && proc_stat_parse(text, &st) == 0)
		stretch_add(&p->stretch, now_ns, st.state, atomic_load(&p->slot->done));
	if (now_ns - p->sampled_ns < SAMPLE_NS)
		return;
	run_sample(p->run, now_ns - p->np->start_ns);
	p->sampled_ns = now_ns;
}

/* Waits a tick; false when the task has ended. */
static bool turn(struct phase *p)
{
	struct pollfd fd = { .fd = p->handle->pidfd, .events = POLLIN };

	if (p->ended_ns)
		return false;
	(void)poll(&fd, 1, (int)(TICK_NS / NS_PER_MS));
	if (worker_reap(p->handle)) {
		p->ended_ns = clock_now_ns();
		return false;
	}
	look(p);
	return true;
}

/* SIGKILL, and how long it takes. A task that is gone already tells nothing. @forced: it should have
 * come to its own end. */
static void kill_task(struct phase *p, bool forced)
{
	uint64_t began_ns = clock_now_ns(), took_ns;
	bool asleep = p->stretch.open;

	if (!p->ended_ns && worker_reap(p->handle))
		p->ended_ns = began_ns;
	if (p->ended_ns)
		return;
	worker_kill(p->handle);
	while (turn(p) && clock_now_ns() - began_ns < scaled(p->run, DIE_NS))
		;
	took_ns = (p->ended_ns ? p->ended_ns : clock_now_ns()) - began_ns;
	p->np->stuck |= p->ended_ns == 0;
	if (forced || !p->ended_ns || p->np->nr_kills == NO_PROGRESS_KILLS_MAX) {
		if (took_ns > p->np->forced_kill_ns)
			p->np->forced_kill_ns = took_ns;
		return;
	}
	p->np->kills_ns[p->np->nr_kills++] = took_ns;
	p->np->nr_asleep += asleep;
}

static void add_share(struct phase *p, uint64_t duration_ns)
{
	uint64_t now_ns = noprogress_ns(p->run);
	double share;

	if (now_ns == KFILE_ABSENT || p->noprogress_ns == KFILE_ABSENT || duration_ns == 0)
		return;
	share = (double)(now_ns - p->noprogress_ns) / (double)duration_ns;
	p->np->share_known = true;
	if (share > p->np->noprogress_share)
		p->np->noprogress_share = share;
}

/* Ends the task if it has not ended, and takes down what the phase has shown. */
static void end_phase(struct phase *p, bool forced)
{
	kill_task(p, forced);
	add_share(p, clock_now_ns() - p->began_ns);
	if (p->stretch.longest_ns > p->np->longest_d_ns)
		p->np->longest_d_ns = p->stretch.longest_ns;
	/* A task that died within an access must not look as if it were still there. */
	if (p->ended_ns)
		atomic_store(&p->slot->access_since_ns, 0);
	cleanup_closep(&p->stat_fd);
	p->stat_fd = -1;
}

/* From its own first moment to its last, or as far as it came. */
static uint64_t own_time_ns(const struct phase *p)
{
	uint64_t from_ns = atomic_load(&p->slot->extra[0]), to_ns = atomic_load(&p->slot->extra[1]);

	if (!from_ns)
		from_ns = p->began_ns;
	if (!to_ns)
		to_ns = p->ended_ns ? p->ended_ns : clock_now_ns();
	return to_ns - from_ns;
}

static bool was_killed(const struct phase *p)
{
	return p->handle->reaped && WIFSIGNALED(p->handle->status) &&
	       WTERMSIG(p->handle->status) == SIGKILL;
}

static void note(const struct phase *p, uint64_t ns, const char *how)
{
	char text[32];

	run_result_note(p->run->res, "%s: %s after %s", p->name, how,
			format_duration(ns, text, sizeof(text)));
}

/* A task that says why it could not work, or crashed, makes the run an ERROR. */
static void take_failure(struct phase *p)
{
	struct measurement *m = &p->run->m;
	int status = p->handle->status;

	if (!p->handle->reaped || m->end == END_WORKER_FAILED)
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
		m->end = END_WORKER_FAILED;
		m->end_signal = WTERMSIG(status);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_FAILED) {
		m->end = END_WORKER_FAILED;
		(void)snprintf(m->worker_error, sizeof(m->worker_error), "%s",
			       p->run->progress.head->error);
	}
}

static bool goes_on(const struct phase *p, uint64_t limit)
{
	return !run_stop_requested && clock_now_ns() - p->began_ns < limit;
}

static int dirty_phase(struct run *run, struct fail *f)
{
	struct no_progress *np = run->state;
	uint64_t excess = (run->plan.set_bytes - run->plan.memcg_bytes) / run->m.page_size;
	uint64_t limit = limit_ns(run, no_progress_dirty_bound_ns(run->swap.latency_ns, excess));
	const struct hist *touches = progress_hist(&run->progress, TASK_DIRTY, 0);
	struct phase p;
	int r = begin_phase(&p, run, TASK_DIRTY, "dirty", f);
	uint64_t since_ns;

	if (r < 0)
		return r;
	while (turn(&p) && goes_on(&p, limit))
		;
	np->dirty_ns = own_time_ns(&p);
	since_ns = atomic_load(&p.slot->access_since_ns);
	np->longest_touch_ns = touches->count ? touches->max : 0;
	if (since_ns && clock_now_ns() - since_ns > np->longest_touch_ns)
		np->longest_touch_ns = clock_now_ns() - since_ns;
	np->dirty_killed = was_killed(&p);
	run->m.kill.at_ns = np->dirty_killed ? np->dirty_ns : KFILE_ABSENT;
	run->m.kill.swap_free_bytes = run->last.swap_free_bytes;
	run->m.kill.swap_total_bytes = run->last.swap_total_bytes;
	note(&p, np->dirty_ns,
	     np->dirty_killed ? "OOM-killed"
	     : p.ended_ns     ? "done"
			      : "not done, and ended");
	end_phase(&p, true);
	take_failure(&p);
	return 0;
}

/* What mlock said, when it said anything: refused before it tried is our failure, not the kernel's. */
static void take_mlock_error(struct phase *p, uint64_t hits_before)
{
	struct measurement *m = &p->run->m;
	int status = p->handle->status, err;
	struct memevents events;
	bool tried = true;

	if (!WIFEXITED(status) || WEXITSTATUS(status) < MLOCK_ERROR_BASE)
		return;
	err = WEXITSTATUS(status) - MLOCK_ERROR_BASE;
	if (cgroup_memevents(&p->run->group, &events) == 0 && hits_before != KFILE_ABSENT)
		tried = events.max > hits_before;
	if (err == EPERM || !tried) {
		m->end = END_WORKER_FAILED;
		(void)snprintf(m->worker_error, sizeof(m->worker_error),
			       "mlock was refused before it tried: %s (needs CAP_IPC_LOCK)",
			       strerror(err));
	}
}

static int mlock_phase(struct run *run, struct fail *f)
{
	struct no_progress *np = run->state;
	uint64_t limit = limit_ns(run, no_progress_mlock_bound_ns());
	uint64_t hits = KFILE_ABSENT;
	struct memevents events;
	struct phase p;
	int r;

	if (cgroup_memevents(&run->group, &events) == 0)
		hits = events.max;
	r = begin_phase(&p, run, TASK_MLOCK, "mlock", f);
	if (r < 0)
		return r;
	while (turn(&p) && goes_on(&p, limit))
		;
	np->mlock_ns = own_time_ns(&p);
	note(&p, np->mlock_ns,
	     was_killed(&p) ? "OOM-killed"
	     : p.ended_ns   ? "returned"
			    : "did not return, and was ended");
	take_mlock_error(&p, hits);
	end_phase(&p, true);
	take_failure(&p);
	return 0;
}

/* swapoff and swapon may take for ever: in a child, which dies with us. */
static pid_t start_child(const struct run *run, bool on)
{
	pid_t parent = getpid(), pid = fork();
	int flags = 0, r;

	if (pid)
		return pid < 0 ? -errno : pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	if (run->swap.priority >= 0)
		flags = SWAP_FLAG_PREFER | (run->swap.priority & SWAP_FLAG_PRIO_MASK);
	r = on ? swapon(run->swap.device, flags) : swapoff(run->swap.device);
	_exit(r < 0 ? errno & 0x7f : EXIT_SUCCESS);
}

/* Until the child has ended, at most @limit; then it is killed and given as long as a task is. Its
 * errno, or -1: it was killed, -2: it is still there. The task may be gone meanwhile. */
static int await_child(struct phase *p, pid_t child, uint64_t limit)
{
	struct pollfd tick = { .fd = -1 };
	uint64_t began_ns = clock_now_ns(), killed_ns = 0;
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		uint64_t now_ns = clock_now_ns();

		if (!turn(p))
			(void)poll(&tick, 1, (int)(TICK_NS / NS_PER_MS));
		if (!killed_ns && (now_ns - began_ns > limit || run_stop_requested)) {
			(void)kill(child, SIGKILL);
			killed_ns = now_ns;
		} else if (killed_ns && now_ns - killed_ns > scaled(p->run, DIE_NS)) {
			return -2;
		}
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The device again, for the phases that follow. */
static void swap_on_again(struct phase *p)
{
	struct measurement *m = &p->run->m;
	pid_t child = start_child(p->run, true);
	int err = child < 0 ? -child : await_child(p, child, scaled(p->run, DIE_NS));

	if (err == 0)
		return;
	m->end = END_WORKER_FAILED;
	(void)snprintf(m->worker_error, sizeof(m->worker_error), "swapon of %.64s again: %s",
		       p->run->swap.device, err > 0 ? strerror(err) : "it did not end");
}

static void take_swap_away(struct phase *p)
{
	uint64_t bound_ns = no_progress_swapoff_bound_ns(p->run->swap.latency_ns);
	uint64_t began_ns = clock_now_ns();
	pid_t child = start_child(p->run, false);
	int err = child < 0 ? -child : await_child(p, child, limit_ns(p->run, bound_ns));

	p->np->swapoff_ns = clock_now_ns() - began_ns;
	if (err == 0) {
		note(p, p->np->swapoff_ns, p->ended_ns ? "ended, its task OOM-killed" : "ended");
		swap_on_again(p);
	} else if (err < 0) {
		/* A kernel that will not let go of it now will not let go of it for the guard. */
		note(p, p->np->swapoff_ns,
		     err == -1 ? "did not end, and was killed" : "cannot be killed");
		p->np->stuck |= err == -2;
	} else if (err == ENOMEM || err == EINTR) {
		note(p, p->np->swapoff_ns, strerror(err));
	} else {
		p->run->m.end = END_WORKER_FAILED;
		(void)snprintf(p->run->m.worker_error, sizeof(p->run->m.worker_error),
			       "swapoff of %.64s: %s", p->run->swap.device, strerror(err));
	}
}

static int swapoff_phase(struct run *run, struct fail *f)
{
	uint64_t pages = run->plan.set_bytes / run->m.page_size;
	uint64_t excess = (run->plan.set_bytes - run->plan.memcg_bytes) / run->m.page_size;
	uint64_t limit = limit_ns(run, no_progress_dirty_bound_ns(run->swap.latency_ns, excess));
	struct phase p;
	int r = begin_phase(&p, run, TASK_SWAPOFF, "swapoff", f);

	if (r < 0)
		return r;
	while (turn(&p) && goes_on(&p, limit) &&
	       atomic_load(&p.slot->done) < pages * SWAPOFF_AT_NUMERATOR / SWAPOFF_AT_DENOMINATOR)
		;
	if (!run_stop_requested)
		take_swap_away(&p);
	end_phase(&p, false);
	take_failure(&p);
	return 0;
}

/* Kills the task in its sleep, if it sleeps. */
static int kill_phase(struct run *run, enum no_progress_task task, struct fail *f)
{
	uint64_t limit = scaled(run, STALL_WAIT_NS);
	uint64_t pages = run->plan.memcg_bytes / run->m.page_size;
	struct phase p;
	int r = begin_phase(&p, run, task, "kill", f);

	if (r < 0)
		return r;
	/* Below the limit there is nothing to stall for. */
	while (turn(&p) && goes_on(&p, limit) &&
	       (!p.stretch.open || atomic_load(&p.slot->done) < pages))
		;
	end_phase(&p, false);
	take_failure(&p);
	return 0;
}

static bool may_go_on(const struct run *run)
{
	const struct no_progress *np = run->state;

	return !np->stuck && !run_stop_requested && run->m.end != END_WORKER_FAILED;
}

static int all_phases(struct run *run, struct fail *f)
{
	int r = dirty_phase(run, f);

	if (r == 0 && may_go_on(run))
		r = mlock_phase(run, f);
	if (r == 0 && may_go_on(run))
		r = swapoff_phase(run, f);
	for (enum no_progress_task t = TASK_KILL; r == 0 && may_go_on(run) && t < TASKS; t++)
		r = kill_phase(run, t, f);
	return r;
}

static void note_kills(struct run *run)
{
	const struct no_progress *np = run->state;
	char text[32];

	if (np->nr_kills)
		run_result_note(
			run->res, "kill: %u tasks, %u of them asleep in D; the median took %s",
			np->nr_kills, np->nr_asleep,
			format_duration(no_progress_kill_latency_ns(np), text, sizeof(text)));
}

int no_progress_drive(struct run *run, struct fail *f)
{
	struct no_progress *np = run->state;
	int r;

	*np = (struct no_progress){ 0 };
	if (pipe2(np->go_fds, O_CLOEXEC) < 0)
		return fail_set(f, errno, "pipe");
	r = probe_start(run->probe, f);
	run_sample_begin(run);
	np->start_ns = clock_now_ns();
	run->m.end = END_WORKERS_DONE;
	if (r == 0)
		r = all_phases(run, f);
	if (run_stop_requested)
		run->m.end = END_INTERRUPTED;
	run->m.duration_ns = clock_now_ns() - np->start_ns;
	note_kills(run);
	if (!run->opt->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	(void)close(np->go_fds[0]);
	(void)close(np->go_fds[1]);
	return r;
}
