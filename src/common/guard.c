/* SPDX-License-Identifier: GPL-2.0-only */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"

/* Between two passes of undoing: short at first (a killed group is empty within milliseconds), then
 * once a second for what the kernel holds. */
#define RETRY_FIRST_MS 2
#define RETRY_LAST_MS 1000
/* While somebody waits for the answer. */
#define RETRY_WAITED_MS 50

/* After a make that failed half-way, and for arena_undo_to(): a killed worker is given 10 s to be
 * reaped (design.md 5, workers_die). */
#define UNDO_FAILED_NS 2000000000U
#define UNDO_TO_NS 10000000000U

struct thing *guard_intend(struct guard *g, enum thing_kind kind,
			   const char *const args[THING_ARGS], struct fail *f)
{
	struct thing *t = thing_push(&g->stack, kind, args);

	if (!t) {
		(void)fail_set(f, ENOMEM, "guard");
		return NULL;
	}
	if (guard_note(g, t, THING_INTENT, f)) {
		t->state = THING_GONE; /* not known to anybody, so not to be made */
		return NULL;
	}
	return t;
}

int guard_note(struct guard *g, struct thing *t, enum thing_state state, struct fail *f)
{
	int r;

	t->state = state;
	if (g->log_fd < 0)
		return 0;
	r = guard_log_append(g->log_fd, t);
	return r ? fail_set(f, -r, "undo log") : 0;
}

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Puts the newest refusal in front of the others, as far as there is room. */
static void describe_refusal(const struct thing *t, const struct fail *why, struct fail *f)
{
	char others[80];

	if (!f)
		return;
	(void)snprintf(others, sizeof(others), "%.79s", f->what);
	f->err = EBUSY;
	(void)snprintf(f->what, sizeof(f->what), "%s %.100s (%.110s)%s%s", thing_kind_name(t->kind),
		       t->args[0], why->what, others[0] ? "; " : "", others);
}

static size_t undo_pass(struct guard *g, unsigned int mark, struct fail *f)
{
	size_t nr_left = 0;

	for (size_t i = g->stack.nr; i-- > 0;) {
		struct thing *t = &g->stack.things[i];
		const struct thing_op *op = g->ops[t->kind];
		struct fail why = { 0 };
		int r;

		if (t->id <= mark)
			break;
		if (t->state == THING_GONE)
			continue;
		r = op->waits && nr_left ? fail_say(&why, EBUSY, "waits for the others")
					 : op->undo(g, t, &why);
		if (r) {
			if (!why.what[0])
				(void)fail_set(&why, -r, "undo");
			describe_refusal(t, &why, f);
			t->nr_refused++;
			nr_left++;
			continue;
		}
		cleanup_closep(&t->kept_fd);
		t->kept_fd = -1;
		(void)guard_note(g, t, THING_GONE, NULL);
	}
	return nr_left;
}

size_t guard_undo_pass(struct guard *g, unsigned int mark)
{
	return undo_pass(g, mark, NULL);
}

static void halt_all(struct guard *g, unsigned int mark)
{
	for (size_t i = g->stack.nr; i-- > 0;) {
		struct thing *t = &g->stack.things[i];

		if (t->id > mark && t->state != THING_GONE && g->ops[t->kind]->halt)
			g->ops[t->kind]->halt(g, t);
	}
}

int guard_undo(struct guard *g, unsigned int mark, uint64_t timeout_ns, struct fail *f)
{
	int64_t deadline = now_ms() + (int64_t)(timeout_ns / 1000000U);
	struct fail left = { 0 };
	int wait_ms = RETRY_FIRST_MS;

	halt_all(g, mark);
	while (undo_pass(g, mark, &left)) {
		if (now_ms() >= deadline)
			return fail_say(f, EBUSY, "still there: %.290s", left.what);
		/* The kernel tells nobody when a mount, a device or a v1 group stops being busy. */
		(void)poll(NULL, 0, wait_ms);
		wait_ms = wait_ms * 2 < RETRY_WAITED_MS ? wait_ms * 2 : RETRY_WAITED_MS;
		left = (struct fail){ 0 };
	}
	return 0;
}

static void remove_log(const struct guard *g)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "%d", g->supervisor);
	(void)unlinkat(g->run_dir, name, 0);
}

/* Nobody waits any more: go on until the host is as it was. A pipe on standard error must not be kept
 * open for that long, its reader may wait for its end. */
static void __attribute__((noreturn)) finish_alone(struct guard *g)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int wait_ms = RETRY_FIRST_MS;

	if (null >= 0)
		(void)dup2(null, STDERR_FILENO);
	halt_all(g, 0);
	while (undo_pass(g, 0, NULL)) {
		(void)poll(NULL, 0, wait_ms);
		wait_ms = wait_ms * 2 < RETRY_LAST_MS ? wait_ms * 2 : RETRY_LAST_MS;
	}
	remove_log(g);
	_exit(0);
}

/* What was begun is taken back at once; what cannot be stays on the stack. */
static int make(struct guard *g, const struct guard_request *req, char ret_value[PATH_MAX],
		struct fail *f)
{
	unsigned int mark = g->stack.last_id;
	const char *args[REQUEST_ARGS];
	int r;

	if (req->kind >= THING_KINDS)
		return fail_set(f, EINVAL, "guard: kind %u", req->kind);
	for (size_t i = 0; i < REQUEST_ARGS; i++) {
		if (req->arg_at[i] >= sizeof(req->text))
			return fail_set(f, EINVAL, "guard: argument %zu", i);
		args[i] = req->text + req->arg_at[i];
	}
	r = g->ops[req->kind]->make(g, args, ret_value, f);
	if (r)
		(void)guard_undo(g, mark, UNDO_FAILED_NS, NULL);
	return r;
}

/* Returns whether the run is over. */
static bool serve(struct guard *g, const struct guard_request *req, struct guard_reply *reply)
{
	struct fail f = { 0 };
	int r = -EINVAL;

	*reply = (struct guard_reply){ 0 };
	switch (req->verb) {
	case GUARD_MAKE:
		r = make(g, req, reply->value, &f);
		break;
	case GUARD_UNDO_TO:
		r = guard_undo(g, (unsigned int)req->number, UNDO_TO_NS, &f);
		break;
	case GUARD_CLOSE:
		r = guard_undo(g, 0, req->number, &f);
		break;
	}
	reply->err = -r;
	reply->mark = g->stack.last_id;
	memcpy(reply->what, f.what, sizeof(reply->what));
	return req->verb == GUARD_CLOSE;
}

/* Waits for a request. False: the supervisor is gone, or has gone mad. A worker may have inherited
 * its socket end and hang in the kernel: the pidfd tells all the same. */
static bool next_request(const struct guard *g, struct guard_request *req)
{
	struct pollfd p[] = { { .fd = g->sock, .events = POLLIN },
			      { .fd = g->supervisor_fd, .events = POLLIN } };
	size_t head = offsetof(struct guard_request, text);
	ssize_t n;

	while (poll(p, ARRAY_SIZE(p), -1) < 0) {
		if (errno != EINTR)
			return false;
	}
	if (p[1].revents || !(p[0].revents & POLLIN))
		return false;
	memset(req, 0, sizeof(*req));
	n = recv(g->sock, req, sizeof(*req) - 1, 0);
	return n >= (ssize_t)head;
}

static void detach(int *sock)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	(void)prctl(PR_SET_NAME, "squeeze-guard");
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGUSR1, SIG_IGN);
	(void)signal(SIGUSR2, SIG_IGN);
	(void)signal(SIGALRM, SIG_IGN);
	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
	}
	/* Everything else that was inherited, the supervisor's end of the socket above all. */
	if (*sock != STDERR_FILENO + 1) {
		(void)dup3(*sock, STDERR_FILENO + 1, O_CLOEXEC);
		*sock = STDERR_FILENO + 1;
	}
	(void)syscall(SYS_close_range, (unsigned int)*sock + 1, ~0U, 0);
	(void)umask(022);
	(void)chdir("/");
}

/* Neither the OOM killer nor a page fault under pressure may take it. Both as far as permitted. */
static void harden(void)
{
	(void)kfile_write_at(AT_FDCWD, "/proc/self/oom_score_adj", "-1000");
	(void)mlockall(MCL_CURRENT | MCL_FUTURE);
}

static void unblock_signals(void)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Opens what the guard lives on, and undoes what a dead run of the same pid has left. */
static int prepare(struct guard *g, const char *tool, struct fail *f)
{
	char run_path[PATH_MAX];
	struct thing_stack stale = { 0 };
	struct guard old = { .sock = -1, .supervisor_fd = -1, .log_fd = -1, .ops = g->ops };

	g->supervisor_fd = (int)syscall(SYS_pidfd_open, g->supervisor, 0);
	if (g->supervisor_fd < 0)
		return fail_set(f, errno, "guard: pidfd_open");
	if (getppid() != g->supervisor)
		return fail_set(f, ESRCH, "guard");
	g->run_dir = guard_run_dir(run_path, f);
	if (g->run_dir < 0)
		return g->run_dir;
	g->log_fd = guard_log_create(g->run_dir, g->supervisor, tool, &stale, f);
	if (g->log_fd < 0)
		return g->log_fd;
	old.run_dir = g->run_dir;
	old.supervisor = g->supervisor;
	old.stack = stale;
	(void)guard_undo(&old, 0, UNDO_FAILED_NS, NULL);
	thing_stack_free(&old.stack);
	return 0;
}

void guard_main(int sock, pid_t supervisor, const char *tool)
{
	struct guard g = { .run_dir = -1, .log_fd = -1, .supervisor = supervisor, .ops = guard_ops };
	struct guard_request req;
	struct guard_reply reply = { 0 };
	struct fail f = { 0 };
	bool over = false;
	int r;

	detach(&sock);
	unblock_signals();
	harden();
	g.sock = sock;
	r = prepare(&g, tool, &f);
	reply.err = -r;
	memcpy(reply.what, f.what, sizeof(reply.what));
	(void)send(sock, &reply, sizeof(reply), MSG_NOSIGNAL);
	if (r)
		_exit(1);
	while (!over && next_request(&g, &req)) {
		over = serve(&g, &req, &reply);
		/* Before the answer: who has it may look whether the log is gone. */
		if (over && !reply.err)
			remove_log(&g);
		(void)send(sock, &reply, sizeof(reply), MSG_NOSIGNAL);
	}
	if (over && !reply.err)
		_exit(0);
	finish_alone(&g);
}
