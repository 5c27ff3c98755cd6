/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes and a memcg: spawn into it, kill what is in it, wait until it is empty. */
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"

/* Rounds of a kill loop over cgroup.procs: each needs new processes to go on, so a fork bomb that
 * outruns this many rounds of signals is not ours. */
#define KILL_ROUNDS 64

/* Exit status of a child whose parent died before releasing it; nobody is left to read it. */
#define ORPHANED 125

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* fork() into the v2 group @cgroup_fd (-1: where we are). The raw call, as glibc has no wrapper;
 * without CLONE_VM it is a fork, so the child may go on as one. */
static pid_t fork_into(int cgroup_fd, int *ret_pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | (cgroup_fd >= 0 ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uint64_t)(uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD,
	};
	long pid;

	if (cgroup_fd >= 0)
		args.cgroup = (unsigned int)cgroup_fd;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	return pid < 0 ? -errno : (pid_t)pid;
}

/* Where clone3 is refused (seccomp in old containers says ENOSYS or EPERM). */
static pid_t fork_plain(int *ret_pidfd)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		return 0;
	*ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (*ret_pidfd < 0) {
		int err = errno;

		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return -err;
	}
	return pid;
}

/* The child touches nothing until it is released: whatever it dirtied before the move would be
 * charged to the supervisor's group. It never outlives the supervisor. */
static void await_release(int read_fd, pid_t parent)
{
	char byte;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ORPHANED);
	if (read_fd < 0)
		return;
	if (read(read_fd, &byte, 1) != 1)
		_exit(ORPHANED);
}

static int move_to(int dir_fd, pid_t pid)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", pid);
	return kfile_write_at(dir_fd, "cgroup.procs", text);
}

static void discard(pid_t pid, int pidfd)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)close(pidfd);
}

/* In the parent: put @pid wherever it is not yet. @born: it was born in the v2 group. */
static int place(const struct cgroup *cg, pid_t pid, bool born)
{
	int r = 0;

	if (!born && cg->unified_fd >= 0)
		r = move_to(cg->unified_fd, pid);
	if (!r && cg->version == 1)
		r = move_to(cg->dir_fd, pid);
	return r;
}

pid_t cgroup_fork(const struct cgroup *cg, int *ret_pidfd, struct fail *f)
{
	int pipe_fds[2], pidfd = -1, r;
	pid_t parent = getpid(), pid = -ENOSYS;
	bool born = false;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return fail_set(f, errno, "pipe");
	if (cg->unified_fd >= 0) {
		pid = fork_into(cg->unified_fd, &pidfd);
		born = pid >= 0;
	}
	if (pid < 0)
		pid = fork_plain(&pidfd);
	if (!pid) {
		(void)close(pipe_fds[1]);
		await_release(pipe_fds[0], parent);
		(void)close(pipe_fds[0]);
		return 0;
	}
	(void)close(pipe_fds[0]);
	if (pid < 0) {
		(void)close(pipe_fds[1]);
		return fail_set(f, -pid, "fork");
	}
	r = place(cg, pid, born);
	if (!r && write(pipe_fds[1], "", 1) != 1)
		r = -errno;
	(void)close(pipe_fds[1]);
	if (r) {
		discard(pid, pidfd);
		return fail_set(f, -r, "moving a process to %s", cg->path);
	}
	*ret_pidfd = pidfd;
	return pid;
}

/* What one walk over a group's processes saw; equal walks mean that nobody new has come. */
struct walk {
	unsigned int nr;
	uint64_t sum;
};

static int kill_once(int dir_fd, struct walk *ret)
{
	_cleanup_close_ int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	_cleanup_fclose_ FILE *file = NULL;
	struct walk seen = { 0 };
	long pid;

	if (fd < 0)
		return -errno;
	file = fdopen(fd, "r");
	if (!file)
		return -errno;
	(void)take_fd(&fd);
	while (fscanf(file, "%ld", &pid) == 1) {
		/* 0: a process outside our pid namespace; kill(0) would be our own group. */
		if (pid <= 1 || pid == getpid())
			continue;
		(void)kill((pid_t)pid, SIGKILL);
		seen.nr++;
		seen.sum += (uint64_t)pid * (uint64_t)pid;
	}
	*ret = seen;
	return 0;
}

static int kill_all(int dir_fd)
{
	struct walk now = { 0 }, before = { 0 };

	for (int round = 0; round < KILL_ROUNDS; round++) {
		int r = kill_once(dir_fd, &now);

		if (r)
			return r;
		if (!now.nr || (now.nr == before.nr && now.sum == before.sum))
			return 0;
		before = now;
	}
	return -EAGAIN;
}

int cgroup_kill_at(int dir_fd)
{
	/* v2 since 5.14, atomic and with all descendants; ENOENT on v1 and before. */
	if (!kfile_write_at(dir_fd, "cgroup.kill", "1"))
		return 0;
	return kill_all(dir_fd);
}

int cgroup_kill(const struct cgroup *cg)
{
	/* On a hybrid host the twin's cgroup.kill is the atomic one; v1 then finds who is not in it. */
	if (cg->version == 1 && cg->unified_fd >= 0)
		(void)cgroup_kill_at(cg->unified_fd);
	return cgroup_kill_at(cg->dir_fd);
}

static bool has_process(int dir_fd)
{
	char text[64];
	_cleanup_close_ int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, text, sizeof(text)) > 0;
}

/* Waits for a change of "populated" where there is a v2 directory, else a short while: v1 tells
 * nobody when a group becomes empty, so it has to be looked at. */
static void wait_change(int events_fd, int timeout_ms)
{
	struct pollfd p = { .fd = events_fd, .events = POLLPRI };
	char text[256];

	if (events_fd >= 0)
		(void)pread(events_fd, text, sizeof(text), 0); /* arms the notification */
	(void)poll(&p, 1, timeout_ms);
}

int cgroup_wait_empty(const struct cgroup *cg, uint64_t timeout_ns)
{
	_cleanup_close_ int events_fd = cgroup_open_file(cg, "cgroup.events");
	/* v1 alone is looked at every 5 ms: an end-to-end teardown has 2 s. With an event the look is
	 * a safety net, as the event can come between the look and the poll. */
	int step_ms = cg->version == 2 && events_fd >= 0 ? 20 : 5;
	uint64_t deadline = now_ns() + timeout_ns;

	while (has_process(cg->dir_fd)) {
		if (now_ns() >= deadline)
			return -ETIMEDOUT;
		wait_change(events_fd, step_ms);
	}
	return 0;
}
