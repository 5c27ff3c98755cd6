/* SPDX-License-Identifier: GPL-2.0-only */
#include "subproc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

/* What a shell says when it cannot execute; execve() failed after subproc_find() had found it. */
#define EXEC_FAILED 127

static const char *const search_path[] = { "/sbin", "/usr/sbin", "/bin", "/usr/bin" };

int subproc_find(const char *name, char *ret_path, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(search_path); i++) {
		int n = snprintf(ret_path, size, "%s/%s", search_path[i], name);

		if (n > 0 && (size_t)n < size && !access(ret_path, X_OK))
			return 0;
	}
	return -ENOENT;
}

/* In the child. The guard ignores signals that a program of others must not. */
static void __attribute__((noreturn)) become(const char *path, const char *const argv[], int err_fd)
{
	static const char *const env[] = { "PATH=/sbin:/usr/sbin:/bin:/usr/bin", "LC_ALL=C",
					   "LANGUAGE=C", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
	}
	(void)dup2(err_fd, STDERR_FILENO);
	(void)execve(path, (char *const *)argv, (char *const *)env);
	_exit(EXEC_FAILED);
}

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The last line of what was said, as that is where programs put the reason. */
static void last_line(char *text)
{
	size_t len = strlen(text);
	char *line;

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	line = strrchr(text, '\n');
	if (line)
		memmove(text, line + 1, strlen(line));
}

/* Keeps the newest bytes when more was said than fits. */
static void keep_words(int fd, char *buf, size_t size)
{
	char chunk[256];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	size_t used = strlen(buf);

	if (n <= 0)
		return;
	if (used + (size_t)n >= size) {
		used = 0;
		if ((size_t)n >= size)
			n = (ssize_t)size - 1;
	}
	memcpy(buf + used, chunk, (size_t)n);
	buf[used + (size_t)n] = '\0';
}

/* Until the program ends, its time is up, or we are called off. 0, -ETIMEDOUT, -ECANCELED. */
static int watch(int pidfd, int err_fd, int64_t deadline_ms, int cancel_fd, char *words,
		 size_t size)
{
	struct pollfd p[] = { { .fd = pidfd, .events = POLLIN },
			      { .fd = cancel_fd, .events = POLLIN },
			      { .fd = err_fd, .events = POLLIN } };

	for (;;) {
		int64_t left = deadline_ms - now_ms();

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(p, ARRAY_SIZE(p), (int)left) < 0 && errno != EINTR)
			return -errno;
		if (p[2].revents & POLLIN)
			keep_words(err_fd, words, size);
		else if (p[2].revents)
			p[2].fd = -1;
		if (p[1].revents)
			return -ECANCELED;
		if (p[0].revents && !(p[2].revents & POLLIN))
			return 0;
	}
}

static int conclude(const char *name, int status, char *words, struct fail *f)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	last_line(words);
	if (WIFSIGNALED(status))
		return fail_say(f, EIO, "%s was killed by signal %d", name, WTERMSIG(status));
	return fail_say(f, EIO, "%s failed (exit %d): %s", name, WEXITSTATUS(status), words);
}

int subproc_run(const char *const argv[], uint64_t timeout_ns, int cancel_fd, struct fail *f)
{
	_cleanup_close_ int read_fd = -1, write_fd = -1, pidfd = -1;
	char path[4096], words[512] = "";
	int fds[2], status = 0, r;
	pid_t pid;

	if (subproc_find(argv[0], path, sizeof(path)))
		return fail_say(f, ENOENT, "%s is missing", argv[0]);
	if (pipe2(fds, O_CLOEXEC))
		return fail_set(f, errno, "pipe");
	read_fd = fds[0];
	write_fd = fds[1];
	pid = fork();
	if (pid < 0)
		return fail_set(f, errno, "fork");
	if (!pid)
		become(path, argv, write_fd);
	(void)close(take_fd(&write_fd));
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	r = pidfd < 0 ? -errno
		      : watch(pidfd, read_fd, now_ms() + (int64_t)(timeout_ns / 1000000U),
			      cancel_fd, words, sizeof(words));
	if (r)
		(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	if (r)
		return fail_set(f, -r, "%s", argv[0]);
	return conclude(argv[0], status, words, f);
}
