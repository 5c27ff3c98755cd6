/* SPDX-License-Identifier: GPL-2.0-only */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

/* A tool ends within 2 s of the deciding event (design.md 3), reaping takes up to 10 s more where
 * tasks do not die, and naming what is left a little: then it is stuck itself. */
#define GRACE_NS UINT64_C(20000000000)
#define NS_PER_S UINT64_C(1000000000)
/* What a shell says when it cannot execute; sysexits.h has none for it. */
#define EXIT_CANNOT_EXEC 127

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* SIGCHLD, and of those that end us the ones that whoever started us (nohup, a shell's background
 * job) has not made ignored: a blocked signal waits even if it is. */
static void our_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		struct sigaction is;

		if (sigaction(ending[i], NULL, &is) == 0 && is.sa_handler != SIG_IGN)
			(void)sigaddset(set, ending[i]);
	}
}

void launch_block_signals(void)
{
	sigset_t set;

	/* Ignored by whoever started us, it would make children vanish before we can wait. */
	(void)signal(SIGCHLD, SIG_DFL);
	our_signals(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

int launch_pending_signal(void)
{
	const struct timespec at_once = { 0 };
	sigset_t set;
	int s;

	our_signals(&set);
	do {
		s = sigtimedwait(&set, NULL, &at_once);
	} while (s == SIGCHLD);
	return s > 0 ? s : 0;
}

static int redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);

	return fd < 0 || dup2(fd, to) < 0 ? -errno : 0;
}

static void child(const struct launch *l, pid_t parent)
{
	const int out = O_WRONLY | O_CREAT | O_TRUNC;
	sigset_t none;

	(void)sigemptyset(&none);
	/* The tool must be able to hear us, whatever we were told to ignore. */
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		(void)signal(ending[i], SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGINT);
	if (getppid() != parent) /* it died before prctl() */
		_exit(EXIT_CANNOT_EXEC);
	if (redirect("/dev/null", O_RDONLY, STDIN_FILENO) < 0 ||
	    redirect(l->stdout_path, out, STDOUT_FILENO) < 0 ||
	    redirect(l->stderr_path, out, STDERR_FILENO) < 0)
		_exit(EXIT_CANNOT_EXEC);
	(void)execv(l->program, l->argv);
	fprintf(stderr, "%s: %s\n", l->program, strerror(errno));
	_exit(EXIT_CANNOT_EXEC);
}

struct watch {
	const struct launch *l;
	struct launch_end *end;
	pid_t pid;
	uint64_t started_ns;
	uint64_t kill_at_ns; /* 0: it has not been asked to end */
};

static void ask_to_end(struct watch *w)
{
	(void)kill(w->pid, SIGINT);
	if (!w->kill_at_ns)
		w->kill_at_ns = now_ns() + GRACE_NS;
}

/* Waits for a signal, at most to the next full second. */
static void wait_a_little(struct watch *w)
{
	uint64_t into_second = (now_ns() - w->started_ns) % NS_PER_S;
	struct timespec rest = { .tv_nsec = (long)(NS_PER_S - 1 - into_second) };
	sigset_t set;
	int s;

	our_signals(&set);
	s = sigtimedwait(&set, NULL, &rest);
	if (s < 0 && errno == EAGAIN && w->l->tick)
		w->l->tick(now_ns() - w->started_ns, w->l->data);
	if (s > 0 && s != SIGCHLD) {
		w->end->signal = s;
		ask_to_end(w);
	}
}

static void watch(struct watch *w)
{
	while (waitpid(w->pid, &w->end->status, WNOHANG) == 0) {
		uint64_t now = now_ns();

		if (w->kill_at_ns && now >= w->kill_at_ns) {
			(void)kill(w->pid, SIGKILL);
			w->end->timed_out = true;
		} else if (!w->kill_at_ns && now - w->started_ns >= w->l->limit_ns) {
			w->end->timed_out = true;
			ask_to_end(w);
		}
		wait_a_little(w);
	}
	w->end->elapsed_ns = now_ns() - w->started_ns;
}

int launch_run(const struct launch *l, struct launch_end *ret, struct fail *f)
{
	struct launch_end end = { 0 };
	struct watch w = { .l = l, .end = &end, .started_ns = now_ns() };
	pid_t parent = getpid();

	w.pid = fork();
	if (w.pid < 0)
		return fail_set(f, errno, "fork for %s", l->program);
	if (w.pid == 0)
		child(l, parent);
	watch(&w);
	*ret = end;
	return 0;
}

static int executable(const char *dir, size_t dir_length, const char *tool, char ret[PATH_MAX])
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s/%s", (int)dir_length, dir, tool);

	if (n < 0 || (size_t)n >= sizeof(path) || access(path, X_OK) != 0)
		return -ENOENT;
	memcpy(ret, path, (size_t)n + 1);
	return 0;
}

int launch_find(const char *tool, char ret_path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *path = getenv("PATH");

	if (n > 0) {
		const char *slash;

		self[n] = '\0';
		slash = strrchr(self, '/');
		if (slash && executable(self, (size_t)(slash - self), tool, ret_path) == 0)
			return 0;
	}
	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (length && executable(path, length, tool, ret_path) == 0)
			return 0;
		path += length + (path[length] == ':');
	}
	return -ENOENT;
}
