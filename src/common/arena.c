/* SPDX-License-Identifier: GPL-2.0-only */
/* The supervisor's side: every call is one request to the guard and its answer. */
#include "arena.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "guard.h"

/* mkfs has 60 s, then half-made things are taken back: beyond this the guard itself hangs. */
#define ANSWER_MS 90000

/* Added to arena_close()'s limit: the guard answers when its own clock says so. */
#define CLOSE_SLACK_MS 500

struct arena {
	int sock;
	pid_t guard;
	unsigned int mark;
	char name[64];
};

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A signal does not end the wait: what the guard makes meanwhile must be known. */
static int receive(struct arena *a, int64_t timeout_ms, struct guard_reply *ret, struct fail *f)
{
	int64_t deadline = now_ms() + timeout_ms;
	struct pollfd p = { .fd = a->sock, .events = POLLIN };
	ssize_t n;

	for (;;) {
		int64_t left = deadline - now_ms();
		int r = poll(&p, 1, left > 0 ? (int)left : 0);

		if (r > 0)
			break;
		if (!r)
			return fail_say(f, ETIMEDOUT, "the guard does not answer");
		if (errno != EINTR)
			return fail_set(f, errno, "poll");
	}
	n = recv(a->sock, ret, sizeof(*ret), 0);
	if (n != (ssize_t)sizeof(*ret))
		return fail_say(f, EPIPE, "the guard process has died");
	ret->what[sizeof(ret->what) - 1] = '\0';
	ret->value[sizeof(ret->value) - 1] = '\0';
	return 0;
}

static int ask(struct arena *a, const struct guard_request *req, size_t text_len,
	       int64_t timeout_ms, struct guard_reply *ret, struct fail *f)
{
	size_t len = offsetof(struct guard_request, text) + text_len;
	int r;

	if (send(a->sock, req, len, MSG_NOSIGNAL) != (ssize_t)len)
		return fail_say(f, EPIPE, "the guard process has died");
	r = receive(a, timeout_ms, ret, f);
	if (r)
		return r;
	a->mark = ret->mark;
	return ret->err ? fail_say(f, ret->err, "%s", ret->what) : 0;
}

static int make(struct arena *a, enum thing_kind kind, const char *const args[REQUEST_ARGS],
		char ret_value[PATH_MAX], struct fail *f)
{
	struct guard_request req = { .verb = GUARD_MAKE, .kind = kind };
	struct guard_reply reply = { 0 };
	size_t used = 1; /* text[0] is the empty string, for arguments that are not given */
	int r;

	for (size_t i = 0; i < REQUEST_ARGS; i++) {
		size_t len = args[i] ? strlen(args[i]) + 1 : 0;

		if (!len)
			continue;
		/* One byte stays 0 behind the text, whatever is in it. */
		if (used + len >= sizeof(req.text))
			return fail_set(f, ENAMETOOLONG, "%.64s…", args[i]);
		memcpy(req.text + used, args[i], len);
		req.arg_at[i] = (uint32_t)used;
		used += len;
	}
	r = ask(a, &req, used, ANSWER_MS, &reply, f);
	if (!r && ret_value)
		memcpy(ret_value, reply.value, PATH_MAX);
	return r;
}

int arena_open(const char *tool, struct arena **ret, struct fail *f)
{
	struct arena *a = calloc(1, sizeof(*a));
	struct guard_reply reply = { 0 };
	pid_t supervisor = getpid();
	int fds[2], r;

	if (!a)
		return fail_set(f, ENOMEM, "arena");
	(void)snprintf(a->name, sizeof(a->name), "squeeze-%s-%d", tool, supervisor);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		free(a);
		return fail_set(f, errno, "socketpair");
	}
	a->guard = fork();
	if (!a->guard)
		guard_main(fds[1], supervisor, tool);
	r = a->guard < 0 ? fail_set(f, errno, "forking the guard") : 0;
	(void)close(fds[1]);
	a->sock = fds[0];
	if (!r)
		r = receive(a, ANSWER_MS, &reply, f);
	if (!r && reply.err)
		r = fail_say(f, reply.err, "%s", reply.what);
	if (!r) {
		*ret = a;
		return 0;
	}
	(void)close(a->sock);
	if (a->guard > 0)
		(void)waitpid(a->guard, NULL, 0);
	free(a);
	return r;
}

const char *arena_name(const struct arena *a)
{
	return a->name;
}

pid_t arena_guard_pid(const struct arena *a)
{
	return a->guard;
}

unsigned int arena_mark(const struct arena *a)
{
	return a->mark;
}

int arena_undo_to(struct arena *a, unsigned int mark, struct fail *f)
{
	const struct guard_request req = { .verb = GUARD_UNDO_TO, .number = mark };
	struct guard_reply reply = { 0 };

	return ask(a, &req, 1, ANSWER_MS, &reply, f);
}

/* Somebody killed the guard: its log is stale now, and we are there to replay it. */
static int undo_without_guard(const struct arena *a, uint64_t timeout_ns, struct fail *f)
{
	struct guard g = { .sock = -1,
			   .supervisor_fd = -1,
			   .log_fd = -1,
			   .supervisor = getpid(),
			   .ops = guard_ops };
	_cleanup_close_ int run_dir = -1;
	char path[PATH_MAX], name[16];
	struct guard_log_head head;
	int r;

	(void)waitpid(a->guard, NULL, 0);
	run_dir = guard_run_dir(path, f);
	if (run_dir < 0)
		return run_dir;
	(void)snprintf(name, sizeof(name), "%d", g.supervisor);
	g.run_dir = run_dir;
	g.log_fd = guard_log_take_stale(run_dir, name, &head, &g.stack);
	if (g.log_fd == -ENOENT)
		return 0;
	if (g.log_fd < 0)
		return fail_set(f, -g.log_fd, "undo log %s/%s", path, name);
	r = guard_undo(&g, 0, timeout_ns, f);
	if (!r)
		(void)unlinkat(run_dir, name, 0);
	thing_stack_free(&g.stack);
	(void)close(g.log_fd);
	return r;
}

int arena_close(struct arena *a, uint64_t timeout_ns, struct fail *f)
{
	const struct guard_request req = { .verb = GUARD_CLOSE, .number = timeout_ns };
	struct guard_reply reply = { 0 };
	int r;

	if (!a)
		return 0;
	r = ask(a, &req, 1, (int64_t)(timeout_ns / 1000000U) + CLOSE_SLACK_MS, &reply, f);
	if (r == -EPIPE)
		r = undo_without_guard(a, timeout_ns, f);
	else if (!r)
		(void)waitpid(a->guard, NULL, 0);
	(void)close(a->sock);
	free(a);
	return r;
}

int arena_make_cgroup(struct arena *a, const char *memory_path, const char *unified_path,
		      struct fail *f)
{
	const char *const args[REQUEST_ARGS] = { memory_path, unified_path };

	return make(a, THING_CGROUP, args, NULL, f);
}

int arena_make_dir(struct arena *a, const char *path, mode_t mode, struct fail *f)
{
	char text[16];
	const char *const args[REQUEST_ARGS] = { path, text };

	(void)snprintf(text, sizeof(text), "%u", mode);
	return make(a, THING_DIR, args, NULL, f);
}

int arena_make_file(struct arena *a, const char *path, uint64_t bytes, struct fail *f)
{
	char text[24];
	const char *const args[REQUEST_ARGS] = { path, text };

	(void)snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return make(a, THING_FILE, args, NULL, f);
}

int arena_adopt_path(struct arena *a, const char *path, struct fail *f)
{
	const char *const args[REQUEST_ARGS] = { path };

	return make(a, THING_PATH, args, NULL, f);
}

int arena_make_loop(struct arena *a, const char *file, char ret_dev[PATH_MAX], struct fail *f)
{
	const char *const args[REQUEST_ARGS] = { file };

	return make(a, THING_LOOP, args, ret_dev, f);
}

int arena_make_zram(struct arena *a, uint64_t bytes, char ret_dev[PATH_MAX], struct fail *f)
{
	char text[24];
	const char *const args[REQUEST_ARGS] = { text };

	(void)snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return make(a, THING_ZRAM, args, ret_dev, f);
}

int arena_make_delay(struct arena *a, const char *lower, const char *suffix, unsigned int delay_ms,
		     char ret_dev[PATH_MAX], struct fail *f)
{
	char name[128], text[16];
	const char *const args[REQUEST_ARGS] = { lower, name, text };

	(void)snprintf(name, sizeof(name), "%s-%.48s", a->name, suffix);
	(void)snprintf(text, sizeof(text), "%u", delay_ms);
	return make(a, THING_DELAY, args, ret_dev, f);
}

int arena_swapon(struct arena *a, const char *dev, int priority, struct fail *f)
{
	char text[16] = "";
	const char *const args[REQUEST_ARGS] = { dev, text };

	if (priority >= 0)
		(void)snprintf(text, sizeof(text), "%d", priority);
	return make(a, THING_SWAP, args, NULL, f);
}

int arena_make_mount(struct arena *a, const char *dev, const char *point, const char *fs_type,
		     const char *mkfs_options, const char *options, struct fail *f)
{
	const char *const args[REQUEST_ARGS] = { dev, point, fs_type, mkfs_options, options };

	return make(a, THING_MOUNT, args, NULL, f);
}

int arena_set_file(struct arena *a, const char *path, const char *text, struct fail *f)
{
	const char *const args[REQUEST_ARGS] = { path, text };

	return make(a, THING_SET, args, NULL, f);
}
