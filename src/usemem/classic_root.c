/* SPDX-License-Identifier: GPL-2.0-only */
/* The root task: the original's main process, inside the memcg if there is one. */
#include "classic_root.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "classic_access.h"
#include "cleanup.h"
#include "kfile.h"
#include "run.h"

#define LINE_SIZE 128
/* Arrivals taken by one read. */
#define ARRIVALS_AT_ONCE 64

struct child {
	pid_t pid;
	unsigned int arrived[GATE_COUNT];
};

struct root {
	struct classic_setup setup;
	struct child *children; /* o->procs */
	unsigned int width;	/* slots of a child */
	unsigned int left;	/* children alive */
	/* Slots that a gate still waits for. */
	unsigned int missing[GATE_COUNT];
	int gate_write_fds[GATE_COUNT]; /* -1: open */
	int arrivals_read_fd;
	int signal_fd;
	int end_fd;
};

static int refuse(const struct root *r, const char *what)
{
	int err = errno;

	progress_fail(r->setup.progress, "%s: %s", what, strerror(err));
	return -err;
}

/* What the OOM killer may take first is the tasks, never the one that tells of their end. */
static void set_oom_score(const char *score)
{
	(void)kfile_write_at(AT_FDCWD, "/proc/self/oom_score_adj", score);
}

static int open_file(struct root *r)
{
	const struct classic_options *o = r->setup.o;

	r->setup.file_fd = -1;
	if (o->heap || o->anonymous || !o->file)
		return 0;
	r->setup.file_fd =
		open(o->file, (o->readonly && !o->open_rw ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (r->setup.file_fd >= 0)
		return 0;
	progress_fail(r->setup.progress, "%s: %s", o->file, strerror(errno));
	return -errno;
}

/* Everything before the fork: what --init-time measures. */
static int initialise(struct root *r)
{
	const struct classic_options *o = r->setup.o;
	char line[LINE_SIZE];
	int e;

	r->setup.start_ns = clock_now_ns();
	e = open_file(r);
	if (e < 0)
		return e;
	if (o->prealloc && o->size_bytes) {
		r->setup.prealloc = classic_allocate(&r->setup, o->size_bytes);
		if (!r->setup.prealloc)
			return refuse(r, "allocating memory");
	}
	if (!o->init_time)
		return 0;
	classic_line_init(line, sizeof(line), clock_now_ns() - r->setup.start_ns);
	if (!classic_say(&r->setup, line))
		return -EIO;
	r->setup.start_ns = clock_now_ns();
	return 0;
}

static int open_pipes(struct root *r)
{
	int fds[2];
	sigset_t child;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return refuse(r, "pipe");
	r->arrivals_read_fd = fds[0];
	r->setup.arrivals_fd = fds[1];
	/* So that one poll serves both; what is there is read to its end. */
	(void)fcntl(r->arrivals_read_fd, F_SETFL, O_NONBLOCK);
	for (size_t g = 0; g < GATE_COUNT; g++) {
		if (pipe2(fds, O_CLOEXEC) < 0)
			return refuse(r, "pipe");
		r->setup.gate_fds[g] = fds[0];
		r->gate_write_fds[g] = fds[1];
		r->missing[g] = classic_slots(r->setup.o);
	}
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	r->signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? refuse(r, "signalfd") : 0;
}

static _Noreturn void become_task(struct root *r, unsigned int index, pid_t root)
{
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != root)
		_exit(WORKER_FAILED);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	set_oom_score("1000");
	/* A gate opens when the root's end is the last to close. The end pipe stays: its closing tells the
	 * tool that nobody is left. */
	for (size_t g = 0; g < GATE_COUNT; g++)
		(void)close(r->gate_write_fds[g]);
	(void)close(r->arrivals_read_fd);
	(void)close(r->signal_fd);
	_exit(classic_task(&r->setup, index) < 0 ? WORKER_FAILED : WORKER_DONE);
}

static int fork_tasks(struct root *r)
{
	const struct classic_options *o = r->setup.o;
	pid_t self = getpid();

	r->children = calloc(o->procs, sizeof(*r->children));
	if (!r->children)
		return refuse(r, "table of tasks");
	for (unsigned int i = 0; i < o->procs; i++) {
		pid_t pid = fork();

		if (pid == 0)
			become_task(r, i, self);
		if (pid < 0) {
			progress_fail(r->setup.progress, "fork of task %u of %u: %s", i, o->procs,
				      strerror(errno));
			return -errno;
		}
		r->children[i].pid = pid;
		r->left++;
	}
	return 0;
}

static void arrive(struct root *r, size_t gate, unsigned int slots)
{
	r->missing[gate] -= slots;
	if (r->missing[gate] == 0 && r->gate_write_fds[gate] >= 0) {
		(void)close(r->gate_write_fds[gate]);
		r->gate_write_fds[gate] = -1;
	}
}

static void take_arrivals(struct root *r)
{
	struct classic_arrival messages[ARRIVALS_AT_ONCE];
	ssize_t n;

	/* Each was written whole, so no read can end within one. */
	while ((n = read(r->arrivals_read_fd, messages, sizeof(messages))) > 0) {
		for (size_t i = 0; i < (size_t)n / sizeof(messages[0]); i++) {
			const struct classic_arrival *m = &messages[i];

			if (m->task >= r->setup.o->procs || m->gate >= GATE_COUNT ||
			    r->children[m->task].pid == 0)
				continue;
			r->children[m->task].arrived[m->gate]++;
			arrive(r, m->gate, 1);
		}
	}
}

static void bury(struct root *r, unsigned int index, int status)
{
	struct child *c = &r->children[index];
	const struct classic_end end = { .task = index, .pid = c->pid, .status = status };

	if (write(r->end_fd, &end, sizeof(end)) != sizeof(end))
		progress_fail(r->setup.progress, "the tool is gone");
	for (size_t g = 0; g < GATE_COUNT; g++)
		arrive(r, g, r->width - c->arrived[g]);
	c->pid = 0;
	r->left--;
}

static void reap(struct root *r)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(r->signal_fd, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		unsigned int i = 0;

		while (i < r->setup.o->procs && r->children[i].pid != pid)
			i++;
		if (i < r->setup.o->procs)
			bury(r, i, status);
	}
}

static void wait_for_tasks(struct root *r)
{
	struct pollfd fds[] = { { .fd = r->arrivals_read_fd, .events = POLLIN },
				{ .fd = r->signal_fd, .events = POLLIN } };

	while (r->left > 0) {
		(void)poll(fds, ARRAY_SIZE(fds), -1);
		/* First who has come, then who has gone: a dead task's arrivals are in the pipe already. */
		take_arrivals(r);
		reap(r);
	}
}

int classic_root(const struct worker *w, const struct classic_options *o,
		 const struct classic_wiring *wiring)
{
	struct root r = {
		.setup = { .o = o,
			   .progress = w->progress,
			   .seed = w->run->opt->seed,
			   .out_fd = wiring->out_fd },
		.width = o->threads ? o->threads : 1,
		.end_fd = wiring->end_fd,
	};
	int e;

	/* A terminal's signals go to the tool alone, which ends the whole group. */
	(void)setpgid(0, 0);
	(void)signal(SIGTTOU, SIG_IGN);
	set_oom_score("0");
	e = open_pipes(&r);
	if (e == 0 && !progress_wait_start(w->progress, w->first_slot))
		return 0;
	if (e == 0)
		e = initialise(&r);
	if (e == 0)
		e = fork_tasks(&r);
	if (e == 0)
		wait_for_tasks(&r);
	free(r.children);
	return e;
}
