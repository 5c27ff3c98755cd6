/* SPDX-License-Identifier: GPL-2.0-only */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caps.h"
#include "cleanup.h"
#include "kfile.h"
#include "node.h"
#include "proctext.h"
#include "run.h"

#define THREADS_MAX 4096
/* Enough for a loop that calls nothing deep; glibc's 8 MiB default would not be charged either, but
 * 192 of them are 1.5 GiB of address space to walk. */
#define STACK_BYTES (64u << 10)

uint64_t worker_thread_overhead_bytes(uint64_t page_size)
{
	return (26u << 10) + 2 * page_size;
}

static void reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* Ctrl-C goes to the whole foreground group: only the supervisor may act on it. */
	(void)signal(SIGINT, SIG_IGN);
	(void)sigaction(SIGTERM, &dfl, NULL);
	(void)sigaction(SIGCHLD, &dfl, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The OOM killer must choose among workers, never the supervisor of somebody else's group. */
static void volunteer_for_oom(void)
{
	(void)kfile_write_at(AT_FDCWD, "/proc/self/oom_score_adj", "1000");
}

static int enter(const struct run *run)
{
	const struct options *opt = run->opt;
	int r;

	reset_signals();
	volunteer_for_oom();
	if (opt->cpu_list) {
		r = cpu_bind(&opt->cpus);
		if (r < 0)
			return r;
	}
	return opt->node_list ? node_bind(&opt->nodes) : 0;
}

static _Noreturn void worker_main(struct run *run, unsigned int index)
{
	struct worker w = {
		.run = run,
		.progress = &run->progress,
		.index = index,
		.first_slot = (size_t)index * run->plan.threads_per_proc,
		.threads = run->plan.threads_per_proc,
	};
	int r = enter(run);

	if (r < 0)
		progress_fail(w.progress, "--cpus or --node: %s", strerror(-r));
	else
		r = run->scenario->work(&w);
	/* _exit: what the supervisor had buffered on stdio is not ours to write. */
	_exit(r < 0 ? WORKER_FAILED : WORKER_DONE);
}

int worker_spawn(struct run *run, unsigned int index, const struct cgroup *cg,
		 struct worker_handle *ret, struct fail *f)
{
	int pidfd = -1;
	pid_t pid = cgroup_fork(cg, &pidfd, f);

	if (pid < 0)
		return (int)pid;
	if (pid == 0)
		worker_main(run, index);
	*ret = (struct worker_handle){ .pid = pid, .pidfd = pidfd };
	return 0;
}

struct thread_start {
	const struct worker *worker;
	void (*body)(const struct worker *w, size_t slot);
	size_t slot;
	pthread_t thread;
};

static void *thread_main(void *arg)
{
	struct thread_start *t = arg;

	t->body(t->worker, t->slot);
	return NULL;
}

static size_t stack_bytes(void)
{
	long least = sysconf(_SC_THREAD_STACK_MIN);

	return least > (long)STACK_BYTES ? (size_t)least : STACK_BYTES;
}

int worker_run_threads(const struct worker *w, void (*body)(const struct worker *w, size_t slot))
{
	static struct thread_start threads[THREADS_MAX];
	pthread_attr_t attr;
	unsigned int started = 0;
	int r = 0;

	if (w->threads > THREADS_MAX)
		return -EINVAL;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, stack_bytes());
	for (; started < w->threads; started++) {
		threads[started] = (struct thread_start){
			.worker = w,
			.body = body,
			.slot = w->first_slot + started,
		};
		r = -pthread_create(&threads[started].thread, &attr, thread_main,
				    &threads[started]);
		if (r < 0) {
			progress_fail(w->progress, "thread %u of %u: %s", started + 1, w->threads,
				      strerror(-r));
			progress_stop(w->progress);
			break;
		}
	}
	(void)pthread_attr_destroy(&attr);
	while (started > 0)
		(void)pthread_join(threads[--started].thread, NULL);
	return r;
}

bool worker_reap(struct worker_handle *h)
{
	if (h->reaped || h->pid == 0)
		return true;
	if (waitpid(h->pid, &h->status, WNOHANG) != h->pid)
		return false;
	h->reaped = true;
	return true;
}

void worker_kill(struct worker_handle *h)
{
	/* Not yet reaped, so the pid is still this process' and no other's. */
	if (h->pid > 0 && !h->reaped)
		(void)kill(h->pid, SIGKILL);
}

void worker_handle_close(struct worker_handle *h)
{
	if (h->pidfd >= 0 && h->pid > 0)
		(void)close(h->pidfd);
	*h = (struct worker_handle){ .pidfd = -1 };
}

static void read_proc(pid_t pid, const char *file, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	n = kfile_read_at(AT_FDCWD, path, buf, size);
	if (n < 0)
		buf[0] = '\0';
	for (char *c = buf; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

void worker_describe(pid_t pid, char *buf, size_t size)
{
	char text[1024], wchan[64], stack[256];
	struct proc_stat st = { .state = '?' };

	read_proc(pid, "stat", text, sizeof(text));
	if (proc_stat_parse(text, &st) < 0)
		(void)snprintf(st.comm, sizeof(st.comm), "?");
	read_proc(pid, "wchan", wchan, sizeof(wchan));
	read_proc(pid, "stack", stack, sizeof(stack));
	(void)snprintf(buf, size, "pid %d (%s) is in state %c, wchan %s, stack: %s", (int)pid,
		       st.comm, st.state, wchan[0] ? wchan : "?", stack[0] ? stack : "?");
}
