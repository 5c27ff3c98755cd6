/* SPDX-License-Identifier: GPL-2.0-only */
/* The classic scenario as the tool sees it: plan, watching the root task, verdict. */
#include "classic.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "classic_root.h"
#include "cleanup.h"
#include "kfile.h"
#include "parse.h"
#include "run.h"
#include "usemem.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S 1000000000ULL
#define TICK_MS 100
/* After SIGKILL (design.md, section 5: workers_die). */
#define DIE_NS (10 * NS_PER_S)
/* Kernel memory of a process at its start, natively on 6.18: stack, task_struct, page tables. */
#define PROCESS_OVERHEAD (256ULL << 10)

/* The tool's own half of what it shares with the root by fork. */
struct watch {
	struct classic_wiring wiring;
	int end_fd;	     /* reads struct classic_end; HUP: every process is gone */
	uint64_t kills_seen; /* the kernel's counter before the run, UINT64_MAX: unknown */
	unsigned int killed; /* tasks that ended by SIGKILL */
	unsigned int ended;
	bool told;
};

static int refuse_without_memcg(const struct options *opt, struct fail *f)
{
	const char *option = opt->swap.kind != SWAP_AUTO ? "swap"
			     : opt->lru != LRU_KEEP	 ? "lru"
			     : opt->cgroup_parent	 ? "cgroup-parent"
							 : NULL;

	return option ? fail_say(f, EINVAL, "--%s: without --memcg no memcg is made", option) : 0;
}

static void add_params(struct run *run, const struct classic_options *o)
{
	struct result_doc *doc = &run->doc;

	result_param_u64(doc, "size_bytes", o->size_bytes);
	result_param_u64(doc, "nproc", o->procs);
	result_param_u64(doc, "thread", o->threads);
	result_param_u64(doc, "repeat", o->repeat);
	result_param_u64(doc, "step_bytes", o->step_bytes);
	result_param_u64(doc, "unit_bytes", o->unit_bytes);
	result_param_text(doc, "file", o->file ? o->file : "");
	result_param_flag(doc, "random", o->random);
	result_param_flag(doc, "readonly", o->readonly);
	result_param_flag(doc, "prealloc", o->prealloc);
	result_param_flag(doc, "prefault", o->prefault);
	result_param_flag(doc, "sync_rw", o->sync_rw);
	result_param_flag(doc, "sync_free", o->sync_free);
}

static int plan(struct run *run, struct fail *f)
{
	const struct usemem_options *u = run->tool_options;
	const struct classic_options *o = &u->classic;
	struct plan *p = &run->plan;
	uint64_t memory = classic_memory_bytes(o);
	int r = classic_check(o, (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), f);

	if (r == 0 && (u->threads || u->set || u->thp_keep))
		return fail_say(
			f, EINVAL,
			"--threads, --set and --thp are not for --scenario classic (-t is)");
	if (r == 0 && !run->opt->memcg_bytes)
		r = refuse_without_memcg(run->opt, f);
	if (r < 0)
		return r;
	p->no_memcg = run->opt->memcg_bytes == 0;
	p->memcg_bytes = run->opt->memcg_bytes;
	/* One process of the engine's: the root. A slot for each thread, for its count of accesses. */
	p->nr_procs = 1;
	p->threads_per_proc = classic_slots(o);
	p->set_bytes = memory;
	p->demand_bytes = (uint64_t)o->procs * PROCESS_OVERHEAD;
	p->demand_bytes = memory < UINT64_MAX - p->demand_bytes ? memory + p->demand_bytes
								: UINT64_MAX;
	/* An OOM kill may be what is wanted: --swap none is not refused as in the scenarios that judge. */
	p->needs_swap = !p->no_memcg && p->demand_bytes > p->memcg_bytes &&
			run->opt->swap.kind != SWAP_NONE;
	if (p->no_memcg)
		p->host_bytes = p->demand_bytes;
	p->duration_ns = o->runtime_ns;
	add_params(run, o);
	return 0;
}

static int work(const struct worker *w)
{
	const struct usemem_options *u = w->run->tool_options;
	const struct watch *watch = w->run->state;

	(void)close(watch->end_fd);
	return classic_root(w, &u->classic, &watch->wiring);
}

/* How many OOM kills the kernel has counted: of the memcg, or of the machine. */
static uint64_t oom_kills(const struct run *run)
{
	char text[KFILE_SIZE];
	struct memevents events;
	uint64_t kills;

	if (!run->plan.no_memcg) {
		if (cgroup_memevents(&run->group, &events) < 0)
			return KFILE_ABSENT;
		return events.oom_kill;
	}
	if (kfile_read_at(AT_FDCWD, "/proc/vmstat", text, sizeof(text)) < 0 ||
	    kfile_key_u64(text, "oom_kill", &kills) < 0)
		return KFILE_ABSENT;
	return kills;
}

/* The kernel counts a kill before it sends the signal. */
static bool was_oom(const struct run *run, const struct watch *watch)
{
	uint64_t now = oom_kills(run);

	return now == KFILE_ABSENT || watch->kills_seen == KFILE_ABSENT || now > watch->kills_seen;
}

static void tell_killed(struct run *run, struct watch *watch, const char *who, int pid)
{
	char limit[32];

	watch->killed++;
	if (watch->told)
		return;
	watch->told = true;
	if (!was_oom(run, watch))
		fprintf(stderr, "%s: %s (pid %d) got a SIGKILL that is no OOM kill\n", run->tool,
			who, pid);
	else if (run->plan.no_memcg)
		fprintf(stderr, "%s: %s (pid %d) was OOM-killed\n", run->tool, who, pid);
	else
		fprintf(stderr, "%s: %s (pid %d) was OOM-killed in its memory cgroup of %s\n",
			run->tool, who, pid, format_size(run->m.limit_bytes, limit, sizeof(limit)));
}

static void blame(struct run *run, const char *who, int status)
{
	struct measurement *m = &run->m;
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (m->end == END_WORKER_FAILED)
		return;
	m->end = END_WORKER_FAILED;
	m->end_signal = signal;
	if (signal == SIGBUS)
		(void)snprintf(m->worker_error, sizeof(m->worker_error),
			       "%s got a bus error: the file is shorter than SIZE, or its "
			       "filesystem is full",
			       who);
	else if (signal)
		(void)snprintf(m->worker_error, sizeof(m->worker_error),
			       "%s ended by signal %d (%s)", who, signal, strsignal(signal));
	else if (atomic_load(&run->progress.head->failed) == 1)
		(void)snprintf(m->worker_error, sizeof(m->worker_error), "%s",
			       run->progress.head->error);
	else
		(void)snprintf(m->worker_error, sizeof(m->worker_error), "%s ended with code %d",
			       who, WEXITSTATUS(status));
}

static void take_status(struct run *run, struct watch *watch, const char *who, int pid, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_DONE)
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		tell_killed(run, watch, who, pid);
	else
		blame(run, who, status);
}

/* False when the pipe is closed: nobody is left. */
static bool take_ends(struct run *run, struct watch *watch)
{
	struct classic_end end;
	char who[32];
	ssize_t n;

	while ((n = read(watch->end_fd, &end, sizeof(end))) == sizeof(end)) {
		(void)snprintf(who, sizeof(who), "task %u", end.task);
		take_status(run, watch, who, end.pid, end.status);
		watch->ended++;
	}
	return n != 0;
}

static void kill_everybody(const struct run *run)
{
	if (!run->plan.no_memcg)
		(void)cgroup_kill(&run->group);
	/* The root leads a group of its own; before it does, it is alone. */
	(void)kill(-run->workers[0].pid, SIGKILL);
	(void)kill(run->workers[0].pid, SIGKILL);
}

/* Until every process is gone. Signals to the tool end them all, within a limit. */
static void watch_tasks(struct run *run, struct watch *watch)
{
	uint64_t start_ns = atomic_load(&run->progress.head->start_ns);
	uint64_t limit_ns = (uint64_t)((double)DIE_NS * run->opt->time_scale), stop_ns = 0;
	struct pollfd fd = { .fd = watch->end_fd, .events = POLLIN };
	uint64_t sampled_ns = start_ns, now_ns;

	while (take_ends(run, watch)) {
		(void)poll(&fd, 1, TICK_MS);
		now_ns = clock_now_ns();
		if (now_ns - sampled_ns >= TICK_MS * NS_PER_MS) {
			run_sample(run, now_ns - start_ns);
			sampled_ns = now_ns;
		}
		if (run_stop_requested && !stop_ns) {
			run->m.end = END_INTERRUPTED;
			kill_everybody(run);
			stop_ns = now_ns;
		} else if (stop_ns && now_ns - stop_ns > limit_ns) {
			run->m.workers_stuck++;
			(void)snprintf(run->m.stuck, sizeof(run->m.stuck),
				       "a task is still there 10 s after SIGKILL");
			break;
		}
	}
	run->m.duration_ns = clock_now_ns() - start_ns;
}

static int start(struct run *run, struct fail *f)
{
	int r;

	/* What is buffered here must not be written again by a task. */
	(void)fflush(stdout);
	r = worker_spawn(run, 0, &run->group, &run->workers[0], f);
	if (r == 0 && run->probe)
		r = probe_add_worker(run->probe, run->workers[0].pid, f);
	if (r == 0 && run->probe)
		r = probe_start(run->probe, f);
	if (r < 0)
		return r;
	run_sample_begin(run);
	progress_release(&run->progress);
	return 0;
}

static void conclude(struct run *run, struct watch *watch)
{
	struct worker_handle *root = &run->workers[0];
	const struct usemem_options *u = run->tool_options;
	uint64_t done = progress_done(&run->progress);

	/* The pipe is closed a moment before the process is. */
	while (!run->m.workers_stuck && !worker_reap(root)) {
		struct pollfd fd = { .fd = root->pidfd, .events = POLLIN };

		(void)poll(&fd, 1, TICK_MS);
	}
	if (run->m.end == END_INTERRUPTED || run->m.workers_stuck)
		return;
	if (root->reaped)
		take_status(run, watch, "the root task", root->pid, root->status);
	if (watch->killed)
		run->m.end = END_WORKER_KILLED;
	else if (run->m.end != END_WORKER_FAILED)
		run->m.end = END_WORKERS_DONE;
	if (watch->killed)
		(void)snprintf(run->m.worker_error, sizeof(run->m.worker_error),
			       "%u of %u tasks were killed", watch->killed, u->classic.procs);
	run->m.metrics[METRIC_TOUCHES] = value_u64(done);
	if (run->m.duration_ns)
		run->m.metrics[METRIC_TOUCHES_PER_S] =
			value_real((double)done * (double)NS_PER_S / (double)run->m.duration_ns);
}

static int drive(struct run *run, struct fail *f)
{
	bool text = !run->opt->format_given || strcmp(run->opt->format->name, "text") == 0;
	_cleanup_close_ int read_fd = -1;
	struct watch watch = { 0 };
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return fail_set(f, errno, "pipe");
	read_fd = fds[0];
	(void)fcntl(read_fd, F_SETFL, O_NONBLOCK);
	/* Another format owns standard output. */
	watch.wiring = (struct classic_wiring){
		.out_fd = text ? STDOUT_FILENO : STDERR_FILENO,
		.end_fd = fds[1],
	};
	watch.end_fd = read_fd;
	watch.kills_seen = oom_kills(run);
	run->state = &watch;
	r = start(run, f);
	(void)close(fds[1]);
	run->state = NULL;
	if (r < 0)
		return r;
	watch_tasks(run, &watch);
	conclude(run, &watch);
	return 0;
}

static void judge(const struct measurement *m, struct run_result *res)
{
	bool killed = m->end == END_WORKER_KILLED;

	verdict_check(res, "no_task_killed", "count", value_u64(killed), OP_EQ, value_u64(0), "%s",
		      killed ? "a task was killed" : "every task came to its own end");
	verdict_workers_die(m, res);
	if (killed)
		(void)snprintf(res->reason, sizeof(res->reason), "%s", m->worker_error);
	verdict_conclude(m, res, NULL, NULL, "every task came to its own end");
}

const struct scenario classic = {
	.name = "classic",
	.summary = "vm-scalability's usemem [options] SIZE, honest about killed tasks",
	.document = "vm-scalability's usemem.c; its output as LKP parses it",
	.fix = "nothing: it provokes no failure by itself",
	.explain =
		"The command lines of vm-scalability's usemem with the same meaning: N processes of M\n"
		"threads allocate SIZE bytes each, access them, and say how fast. It prints\n"
		"\"N bytes / M usecs = K KB/s\" for each task and \"N usecs to free memory\", as LKP\n"
		"parses them; a report follows only if --format is given.\n"
		"\n"
		"With --memcg the tasks run in a memory cgroup of their own, made for the run, with swap\n"
		"as --swap says. Without it nothing is made on the host.\n"
		"\n"
		"FAIL means: a task was killed, by the OOM killer above all. (The original ends with 0\n"
		"then and prints nothing, or waits for ever for the dead one.) PASS means no more than\n"
		"that every task came to its own end.",
	.unit = "accesses",
	.unit_metric = METRIC_COUNT,
	.speaks = true,
	.plan = plan,
	.work = work,
	.drive = drive,
	.judge = judge,
};
