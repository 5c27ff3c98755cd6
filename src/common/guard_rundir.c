/* SPDX-License-Identifier: GPL-2.0-only */
/* The run directory and its locks: which logs there are, and whose guard lives. */
#include "guard_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "parse.h"

/* A live guard may append between our fstat() and our read: room for some lines more. */
#define LOG_SLACK 65536U

/* Who holds .lock makes one device: milliseconds. Longer than this and it hangs in the kernel. */
#define LOCK_TRIES 1000
#define LOCK_STEP_NS 10000000L

void guard_boot_id(char ret[40])
{
	ret[0] = '\0';
	if (kfile_read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", ret, 40) < 0)
		ret[0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* Opens @path, made if need be. Whoever else could write there could make us undo anything: so it must
 * be ours, and nobody else's to write. */
static int open_private_dir(const char *path)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
	    faccessat(fd, ".", W_OK, AT_EACCESS)) {
		(void)close(fd);
		return -EACCES;
	}
	return fd;
}

int guard_run_dir(char ret_path[PATH_MAX], struct fail *f)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char paths[3][PATH_MAX] = { "", "", "" };
	int fd = -ENOENT;

	if (!geteuid())
		(void)snprintf(paths[0], PATH_MAX, "/run/squeeze");
	else if (xdg && xdg[0] == '/')
		(void)snprintf(paths[1], PATH_MAX, "%s/squeeze", xdg);
	(void)snprintf(paths[2], PATH_MAX, "/tmp/squeeze-%u", geteuid());
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!paths[i][0])
			continue;
		fd = open_private_dir(paths[i]);
		if (fd < 0)
			continue;
		memcpy(ret_path, paths[i], PATH_MAX);
		return fd;
	}
	return fail_set(f, -fd, "no place for the undo log: %s", paths[2]);
}

static int lock_bounded(int fd)
{
	const struct timespec step = { .tv_nsec = LOCK_STEP_NS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		/* flock() itself has no time limit, and the guard must not hang with another. */
		(void)nanosleep(&step, NULL);
	}
	return -EBUSY;
}

int guard_run_lock(int run_dir, struct fail *f)
{
	int fd = openat(run_dir, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r;

	if (fd < 0)
		return fail_set(f, errno, "the lock of the run directory");
	r = lock_bounded(fd);
	if (!r)
		return fd;
	(void)close(fd);
	return fail_set(f, -r, "another run holds the lock of the run directory");
}

/* Opens @name and takes its lock. -EBUSY: somebody has it; -ENOENT: removed meanwhile. */
static int open_locked(int run_dir, const char *name, int flags)
{
	int fd = openat(run_dir, name, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (fstat(fd, &st) || !st.st_nlink)
		r = -ENOENT; /* its guard removed it between our open and our lock */
	if (!r)
		return fd;
	(void)close(fd);
	return r;
}

static int parse_fd(int fd, struct guard_log_head *ret_head, struct thing_stack *s)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	text = malloc((size_t)st.st_size + LOG_SLACK);
	if (!text)
		return -ENOMEM;
	n = kfile_pread(fd, text, (size_t)st.st_size + LOG_SLACK);
	if (n < 0)
		return (int)n;
	return guard_log_parse(text, ret_head, s, NULL);
}

int guard_log_create(int run_dir, pid_t supervisor, const char *tool, struct thing_stack *ret_stale,
		     struct fail *f)
{
	_cleanup_close_ int lock = guard_run_lock(run_dir, f);
	struct guard_log_head head;
	char name[16], boot[40], line[128];
	int fd, n;

	if (lock < 0)
		return lock;
	(void)snprintf(name, sizeof(name), "%d", supervisor);
	fd = open_locked(run_dir, name, O_CREAT);
	if (fd < 0)
		return fail_set(f, -fd, "undo log %s", name);
	(void)parse_fd(fd, &head, ret_stale);
	guard_boot_id(boot);
	if (ret_stale->nr && strcmp(head.boot, boot))
		thing_stack_free(ret_stale);
	n = snprintf(line, sizeof(line), "squeeze-guard 1 %s %d %s\n", boot[0] ? boot : "-",
		     supervisor, tool);
	if (ftruncate(fd, 0) || write(fd, line, (size_t)n) != n) {
		int err = errno ? errno : EIO;

		(void)unlinkat(run_dir, name, 0);
		(void)close(fd);
		return fail_set(f, err, "undo log %s", name);
	}
	return fd;
}

int guard_log_append(int log_fd, const struct thing *t)
{
	/* Every byte of three paths may need three characters. */
	char line[3 * THING_ARGS * PATH_MAX + 64];
	ssize_t n = guard_log_format(t, line, sizeof(line));

	if (n < 0)
		return (int)n;
	errno = 0;
	if (write(log_fd, line, (size_t)n) != n)
		return errno ? -errno : -ENOSPC;
	return 0;
}

bool guard_log_is_live(int run_dir, pid_t supervisor)
{
	char name[16];
	int fd;

	(void)snprintf(name, sizeof(name), "%d", supervisor);
	fd = open_locked(run_dir, name, 0);
	if (fd >= 0)
		(void)close(fd);
	return fd == -EBUSY;
}

int guard_log_take_stale(int run_dir, const char *name, struct guard_log_head *ret_head,
			 struct thing_stack *s)
{
	int fd = open_locked(run_dir, name, 0);
	int r;

	if (fd < 0)
		return fd;
	r = parse_fd(fd, ret_head, s);
	if (!r)
		return fd;
	(void)close(fd);
	return r;
}

/* Reads the log of a live guard without its lock; a line being written has no newline yet. */
static bool shares(int run_dir, const char *name, enum thing_kind kind, const char *arg0,
		   struct thing_stack *ret)
{
	_cleanup_close_ int fd = openat(run_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct thing_stack s = { 0 };
	struct guard_log_head head;
	bool found = false;

	if (fd >= 0 && !parse_fd(fd, &head, &s)) {
		for (size_t i = 0; i < s.nr; i++) {
			const struct thing *t = &s.things[i];

			if (t->kind != kind || t->state == THING_GONE ||
			    (arg0 && strcmp(t->args[0], arg0) != 0))
				continue;
			found = true;
			if (ret)
				(void)thing_push(ret, kind, (const char *const *)t->args);
		}
	}
	thing_stack_free(&s);
	return found;
}

bool guard_log_shared(int run_dir, pid_t self, enum thing_kind kind, const char *arg0,
		      struct thing_stack *ret, pid_t *ret_pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int fd = openat(run_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *e;
	bool found = false;
	uint64_t pid;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return false;
	while ((e = readdir(dir))) {
		if (parse_u64(e->d_name, &pid) || pid > INT_MAX || (pid_t)pid == self)
			continue;
		if (!guard_log_is_live(run_dir, (pid_t)pid) ||
		    !shares(run_dir, e->d_name, kind, arg0, ret))
			continue;
		found = true;
		if (ret_pid)
			*ret_pid = (pid_t)pid;
	}
	return found;
}
