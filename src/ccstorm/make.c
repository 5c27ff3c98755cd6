/* SPDX-License-Identifier: GPL-2.0-only */
#include "make.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ccstorm.h"
#include "cleanup.h"
#include "compile.h"
#include "kfile.h"

/* How soon a stop is seen while nothing else happens. */
#define LOOK_NS 50000000L
/* A killed worker volunteers with 1000; make stays behind its jobs, so that a compiler is the victim. */
#define MAKE_OOM_ADJ "500"
#define JOB_OOM_ADJ "1000"
/* Exit codes of a child that could not become its job. */
#define NO_EXEC 127
#define NO_POD 126

struct job {
	pid_t pid; /* 0: free */
	uint64_t start_ns;
};

struct shift {
	const struct make *make;
	struct progress *progress;
	size_t slot;
	struct hist *hist;
	sigset_t chld;
	struct job *jobs;
	unsigned int running;
	uint64_t next_pod;
	/* Of the round under way. */
	unsigned int next;
	unsigned int done;
	unsigned int killed;
	int error; /* a job ended in a way that none should */
};

static bool stopped(const struct shift *s)
{
	const _Atomic uint32_t *stop = s->make->stop;

	return progress_stopped(s->progress) || (stop && atomic_load(stop));
}

/* --- in the child --- */

static void enter_pod(const struct make *m, uint64_t pod)
{
	const char *const paths[] = { m->pods_path, m->pods_twin };
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!paths[i][0])
			continue;
		(void)snprintf(path, sizeof(path), "%s/pod-%" PRIu64 "/cgroup.procs", paths[i],
			       pod);
		if (kfile_write_at(AT_FDCWD, path, "0") < 0)
			_exit(NO_POD);
	}
}

static void become_child(const struct shift *s, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NO_EXEC);
	(void)sigprocmask(SIG_UNBLOCK, &s->chld, NULL);
	(void)signal(SIGINT, SIG_DFL);
	(void)kfile_write_at(AT_FDCWD, "/proc/self/oom_score_adj", JOB_OOM_ADJ);
}

/* A group that is out of memory also refuses to execute: that is a kill by other means. */
static _Noreturn void die_of(int err)
{
	if (err == ENOMEM || err == EAGAIN)
		(void)raise(SIGKILL);
	_exit(NO_EXEC);
}

static _Noreturn void exec_job(const struct make *m, const char *object, uint64_t index)
{
	struct compile_job j;
	char n[7][24];
	uint64_t values[7];
	char *argv[12];

	compile_job_make(m->seed, index, m->scale_percent, &j);
	memcpy(values,
	       (uint64_t[]){ j.text_bytes, j.header_bytes, j.anon_bytes, j.object_bytes, j.visits,
			     j.hot_percent, j.seed },
	       sizeof(values));
	argv[0] = (char *)m->shop->helper;
	argv[1] = (char *)m->shop->image;
	argv[2] = (char *)m->shop->headers;
	argv[3] = (char *)object;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		(void)snprintf(n[i], sizeof(n[i]), "%" PRIu64, values[i]);
		argv[4 + i] = n[i];
	}
	argv[11] = NULL;
	(void)execv(argv[0], argv);
	die_of(errno);
}

/* In a group of its own, so that all of it can be ended; its words must not mix with the report. */
static _Noreturn void exec_command(const struct make *m)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setpgid(0, 0);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(m->verbose ? STDERR_FILENO : null, STDOUT_FILENO);
	if (!m->verbose)
		(void)dup2(null, STDERR_FILENO);
	(void)execvp(m->command[0], m->command);
	die_of(errno);
}

static void object_path(const struct make *m, unsigned int index, char buf[PATH_MAX])
{
	(void)snprintf(buf, PATH_MAX, "%s/%u.o", m->objects_dir, index);
}

/* --- in make --- */

static int start_one(struct shift *s)
{
	const struct make *m = s->make;
	char object[PATH_MAX];
	pid_t self = getpid(), pid;
	unsigned int index = s->next;
	uint64_t pod = m->nr_pods ? s->next_pod % m->nr_pods : 0;
	struct job *job = s->jobs;

	while (job->pid)
		job++;
	if (!m->command)
		object_path(m, index, object);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		become_child(s, self);
		if (m->nr_pods)
			enter_pod(m, pod);
		if (m->command)
			exec_command(m);
		exec_job(m, object, index);
	}
	*job = (struct job){ .pid = pid, .start_ns = clock_now_ns() };
	s->running++;
	s->next++;
	s->next_pod++;
	return 0;
}

static void add_done(struct shift *s)
{
	_Atomic uint64_t *done = &s->progress->slots[s->slot].done;

	s->done++;
	/* A command's objects are counted by the supervisor, where they are. */
	if (!s->make->command)
		atomic_store_explicit(done, atomic_load_explicit(done, memory_order_relaxed) + 1,
				      memory_order_relaxed);
}

static void ended(struct shift *s, struct job *job, int status, const struct rusage *usage)
{
	struct make_log *log = s->make->log;

	if (s->hist)
		hist_record(s->hist, clock_now_ns() - job->start_ns);
	atomic_fetch_add(&log->major_faults, (uint64_t)usage->ru_majflt);
	job->pid = 0;
	s->running--;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		add_done(s);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		s->killed++;
	else if (!s->make->command || WEXITSTATUS(status) == NO_EXEC)
		s->error = status;
	else
		atomic_fetch_add(&log->nr_failed, 1);
}

static void reap(struct shift *s)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
		for (unsigned int i = 0; i < s->make->jobs; i++)
			if (s->jobs[i].pid == pid)
				ended(s, &s->jobs[i], status, &usage);
}

static void wait_one(struct shift *s)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };

	/* Blocked, so one that came before we look is still pending. */
	(void)sigtimedwait(&s->chld, NULL, &look);
	reap(s);
}

static void kill_running(struct shift *s)
{
	for (unsigned int i = 0; i < s->make->jobs; i++) {
		if (!s->jobs[i].pid)
			continue;
		if (s->make->command)
			(void)kill(-s->jobs[i].pid, SIGKILL);
		(void)kill(s->jobs[i].pid, SIGKILL);
	}
	while (s->running)
		wait_one(s);
}

static void remove_objects(const struct make *m, unsigned int nr)
{
	char path[PATH_MAX];

	for (unsigned int i = 0; !m->command && i < nr; i++) {
		object_path(m, i, path);
		(void)unlink(path);
	}
}

static void log_round(struct shift *s, uint64_t wall_ns)
{
	struct make_log *log = s->make->log;
	uint32_t nr = atomic_load(&log->nr_rounds);

	if (nr < MAKE_ROUNDS_MAX)
		log->rounds[nr] = (struct make_round){ .wall_ns = wall_ns,
						       .objects = s->done,
						       .killed = s->killed };
	if (s->done == s->make->objects) {
		atomic_fetch_add(&log->nr_completed, 1);
		atomic_fetch_add(&log->completed_wall_ns, wall_ns);
	}
	atomic_fetch_add(&log->nr_killed, s->killed);
	atomic_store(&log->nr_rounds, nr + 1);
}

static int run_round(struct shift *s)
{
	const struct make *m = s->make;
	uint64_t start_ns = clock_now_ns();
	int r = 0;

	s->next = s->done = s->killed = 0;
	while (!stopped(s) && !s->error && r == 0) {
		while (s->running < m->jobs && s->next < m->objects && !s->killed && r == 0)
			r = start_one(s);
		/* No memory for one more process: as a kill, this is the pressure at work. */
		if (r == -ENOMEM || r == -EAGAIN) {
			s->killed++;
			r = 0;
		}
		if (!s->running)
			break;
		wait_one(s);
	}
	if (s->running)
		kill_running(s);
	else if (r == 0 && !s->error && !stopped(s))
		log_round(s, clock_now_ns() - start_ns);
	remove_objects(m, s->next);
	return r;
}

static int say_broken(const struct shift *s, int status)
{
	const char *what = s->make->command ? s->make->command[0] : s->make->shop->helper;

	if (WIFSIGNALED(status))
		progress_fail(s->progress, "%s was killed by signal %d", what, WTERMSIG(status));
	else if (WEXITSTATUS(status) == NO_EXEC)
		progress_fail(s->progress, "%s could not be executed", what);
	else if (WEXITSTATUS(status) == NO_POD)
		progress_fail(s->progress, "a job could not enter its pod");
	else
		progress_fail(s->progress, "%s ended with code %d", what, WEXITSTATUS(status));
	return -ECHILD;
}

int make_run(const struct make *m, struct progress *p, size_t slot, struct hist *hist)
{
	static struct job jobs[CCSTORM_JOBS_MAX]; /* one make a process */
	struct shift s = { .make = m, .progress = p, .slot = slot, .hist = hist, .jobs = jobs };
	int r = 0;

	(void)sigemptyset(&s.chld);
	(void)sigaddset(&s.chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &s.chld, NULL);
	(void)kfile_write_at(AT_FDCWD, "/proc/self/oom_score_adj", MAKE_OOM_ADJ);
	while (!stopped(&s) && r == 0 && !s.error)
		r = run_round(&s);
	if (r < 0)
		progress_fail(p, "fork: %s", strerror(-r));
	return s.error ? say_broken(&s, s.error) : r;
}
