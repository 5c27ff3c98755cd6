/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What watching costs the tool itself: one tick of the supervisor (the sampler's files and the probe)
 * over a memcg with 1,000 groups below it, of which each has changed since the tick before, so that the
 * kernel has all of them to add up. The CPU time of a tick, ten times a second, as a share of one CPU
 * (budget 2 %, design.md, section 8). Exit 4 where no memcg can be made.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "cgroup.h"
#include "kfile.h"
#include "probe.h"
#include "sampler.h"

#define EXIT_SKIP 4
#define GROUPS 1000
#define TICKS 51
#define HZ_SAMPLED 10
#define BUDGET_PERCENT 2.0
#define LIMIT_BYTES (512ULL << 20)

struct bench {
	struct cgroup_host host;
	char memory[PATH_MAX], unified[PATH_MAX];
	struct cgroup cg;
};

static double cpu_now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int make_groups(const struct bench *b)
{
	char path[PATH_MAX + 16];

	for (int i = 0; i < GROUPS; i++) {
		(void)snprintf(path, sizeof(path), "%s/%d", b->memory, i);
		if (mkdir(path, 0755) < 0)
			return -errno;
	}
	return 0;
}

static void remove_groups(const struct bench *b)
{
	char path[PATH_MAX + 16];

	for (int i = 0; i < GROUPS; i++) {
		(void)snprintf(path, sizeof(path), "%s/%d", b->memory, i);
		(void)rmdir(path);
	}
}

/* Goes through all groups and takes and frees a page in each. */
static int visit_groups(const struct bench *b)
{
	char path[PATH_MAX + 32], pid[16];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	for (int i = 0; i < GROUPS; i++) {
		char *p;
		int fd;

		(void)snprintf(path, sizeof(path), "%s/%d/cgroup.procs", b->memory, i);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, pid, strlen(pid)) < 0)
			return 1;
		(void)close(fd);
		p = mmap(NULL, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p == MAP_FAILED || munmap(p, page) < 0)
			return 1;
	}
	return 0;
}

/* By a child, whose CPU time is not ours. */
static int disturb(const struct bench *b)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(visit_groups(b));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return -EIO;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int measure(const struct bench *b, double us[TICKS], const char **ret_probe, struct fail *f)
{
	static struct snapshot snap;
	const struct probe_options options = { .kind = PROBE_AUTO };
	struct sampler *sampler = NULL;
	struct probe_counts counts;
	struct probe *p = NULL;
	char why[TEXT_SIZE];
	int r = sampler_open(&b->cg, &sampler, f);

	if (r == 0)
		r = probe_open(&options, &b->host, &b->cg, 1, &p, why, f);
	if (r == 0)
		r = probe_start(p, f);
	for (int i = 0; r == 0 && i < TICKS; i++) {
		double before;

		r = disturb(b);
		if (r < 0)
			break;
		before = cpu_now_us();
		r = sampler_read(sampler, &snap);
		if (r == 0)
			r = probe_read(p, &counts);
		us[i] = cpu_now_us() - before;
	}
	if (p)
		*ret_probe = probe_name(p);
	probe_close(p);
	sampler_close(sampler);
	return r;
}

static int prepare(struct bench *b, struct arena *a, struct fail *f)
{
	char parent[PATH_MAX], parent2[PATH_MAX];
	uint64_t in_force;
	int r = cgroup_discover(&b->host, f);

	if (r == 0)
		r = cgroup_choose_parent(&b->host, NULL, parent, parent2, f);
	if (r < 0)
		return r;
	(void)snprintf(b->memory, sizeof(b->memory), "%.3900s/%s", parent, arena_name(a));
	if (parent2[0])
		(void)snprintf(b->unified, sizeof(b->unified), "%.3900s/%s", parent2,
			       arena_name(a));
	r = arena_make_cgroup(a, b->memory, b->unified, f);
	if (r == 0)
		r = cgroup_open(&b->host, b->memory, b->unified, &b->cg, f);
	if (r == 0)
		r = cgroup_set_limit(&b->cg, LIMIT_BYTES, &in_force, f);
	if (r == 0 && b->host.memcg_version == 2)
		r = cgroup_write(&b->cg, "cgroup.subtree_control", "+memory");
	return r == 0 ? make_groups(b) : r;
}

static int report(double us[TICKS], const char *probe)
{
	double percent;

	qsort(us, TICKS, sizeof(*us), by_value);
	percent = us[TICKS / 2] * HZ_SAMPLED / 1e6 * 100;
	printf("supervisor at %d Hz, %d memcgs, %% of a CPU %5.2f   budget <= %.0f\n", HZ_SAMPLED,
	       GROUPS, percent, BUDGET_PERCENT);
	printf("  a tick, us (probe %s)               %6.0f   %.0f to %.0f\n", probe, us[TICKS / 2],
	       us[0], us[TICKS - 1]);
	return percent <= BUDGET_PERCENT ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
	static struct bench b = { .cg = CGROUP_CLOSED };
	struct arena *a = NULL;
	struct fail f = { 0 };
	const char *probe = "";
	double us[TICKS];
	int r = arena_open("bench", &a, &f);

	if (r == 0)
		r = prepare(&b, a, &f);
	if (r == 0)
		r = measure(&b, us, &probe, &f);
	remove_groups(&b);
	cgroup_close(&b.cg);
	(void)arena_close(a, 10000000000ULL, NULL);
	if (r < 0) {
		printf("supervisor: skipped, %s\n", f.what[0] ? f.what : strerror(-r));
		return EXIT_SKIP;
	}
	return report(us, probe);
}
