/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the probe costs the load it watches. Two loads in a 16 MiB memcg:
 *   reading  a file of 256 MiB that the disk is not asked for: little but reclaim that succeeds
 *   futile   asks the kernel to reclaim from a group of locked pages: passes as short as they can be
 * Windows with and without the probe take turns and are compared pair by pair: work done per second
 * of the workers' CPU time, in which the probe's own work is included and other people's is not.
 *
 * The budget (design.md, section 8) is 3 % at 100,000 passes/s. The reading load is held against it
 * at the rate it reaches; the futile one goes beyond that rate, and what it shows as the cost of a
 * pass is taken to 100,000 passes/s on all CPUs. Exit 4 where there is no memcg or no BPF.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "cgroup.h"
#include "cleanup.h"
#include "kfile.h"
#include "probe.h"

#define EXIT_SKIP 4
#define LIMIT_BYTES (16ULL << 20)
#define FILE_BYTES (256ULL << 20)
#define CHUNK 65536
#define PAIRS 41
#define WINDOW_NS 200000000L
#define WINDOWS_MAX 50
#define WORKERS_MAX 64
#define BUDGET_RATIO 0.97
#define BUDGET_PASSES_PER_S 100000.0

struct worker {
	_Atomic uint64_t done; /* bytes, or requests to reclaim */
	char pad[56];	       /* a cache line each */
};

struct bench {
	struct cgroup_host host;
	struct cgroup cg;
	struct worker *workers;
	int nr_workers;
	pid_t pids[WORKERS_MAX];
	char file[PATH_MAX];
	uint64_t passes; /* seen by the probe under test, in all its windows */
	uint64_t lossy;	 /* windows in which it missed some */
};

/* A load: what each worker does for ever, and which share of CPUs the budget is taken to. */
struct load {
	const char *name;
	void (*body)(const struct bench *b, int index);
	bool is_projected;
};

struct window {
	double done_per_s;   /* of CPU time */
	double passes_per_s; /* likewise, of one CPU */
	uint64_t passes;
	uint64_t lossy; /* 1: the probe says that it missed events */
};

struct estimate {
	double low, mid, high;
};

static uint64_t cpu_time_ns(const struct bench *b)
{
	uint64_t sum = 0;

	for (int i = 0; i < b->nr_workers; i++) {
		struct timespec t = { 0 };
		clockid_t clock;

		if (clock_getcpuclockid(b->pids[i], &clock) == 0)
			(void)clock_gettime(clock, &t);
		sum += (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
	}
	return sum;
}

static void add_done(struct worker *w, uint64_t n)
{
	atomic_fetch_add_explicit(&w->done, n, memory_order_relaxed);
}

static void read_for_ever(const struct bench *b, int index)
{
	static char chunk[CHUNK];
	int fd = open(b->file, O_RDONLY | O_CLOEXEC);
	/* Each in a part of its own, so that none finds what another has read. */
	off_t part = (off_t)FILE_BYTES / b->nr_workers, at = part * index;

	while (fd >= 0) {
		for (off_t off = 0; off < part; off += CHUNK) {
			ssize_t n = pread(fd, chunk, sizeof(chunk), at + off);

			if (n <= 0)
				return;
			add_done(&b->workers[index], (uint64_t)n);
		}
	}
}

/* v2 tries 16 times to reclaim what is asked for, v1 to reclaim all; a pass each time. */
static void reclaim_for_ever(const struct bench *b, int index)
{
	const char *file = b->cg.version == 1 ? "memory.force_empty" : "memory.reclaim";
	const char *request = b->cg.version == 1 ? "0" : "4096";
	int fd = openat(b->cg.dir_fd, file, O_WRONLY | O_CLOEXEC);

	(void)mlockall(MCL_CURRENT);
	while (fd >= 0) {
		if (pwrite(fd, request, strlen(request), 0) < 0 && errno != EAGAIN &&
		    errno != EBUSY)
			return;
		add_done(&b->workers[index], 1);
	}
}

static uint64_t done_by_all(const struct bench *b)
{
	uint64_t sum = 0;

	for (int i = 0; i < b->nr_workers; i++)
		sum += atomic_load_explicit(&b->workers[i].done, memory_order_relaxed);
	return sum;
}

/* Whether the probe itself has counted events that it did not get, which it says in a note. */
static bool has_missed(struct probe *p)
{
	struct result_doc doc;
	struct run_result *run;
	bool missed = false;

	result_init(&doc);
	run = result_add_run(&doc);
	if (!run || probe_collect(p, run) < 0)
		missed = true;
	for (size_t i = 0; !missed && i < run->nr_notes; i++)
		missed = strstr(run->notes[i], "missed") != NULL;
	result_free(&doc);
	return missed;
}

static int measure(struct bench *b, enum probe_kind kind, struct window *ret, struct fail *f)
{
	const struct probe_options options = { .kind = kind };
	const struct timespec length = { 0, WINDOW_NS };
	struct probe *p = NULL;
	struct probe_counts counts;
	uint64_t done, start, took;
	char why[TEXT_SIZE];
	int r;

	if (kind != PROBE_AUTO) {
		r = probe_open(&options, &b->host, &b->cg, 1, &p, why, f);
		if (r == 0)
			r = probe_start(p, f);
		if (r < 0)
			return r;
	}
	done = done_by_all(b);
	start = cpu_time_ns(b);
	/* On a busy machine a window may pass without a turn for any worker. */
	for (int i = 0; i < WINDOWS_MAX && (!i || done_by_all(b) == done); i++)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
	took = cpu_time_ns(b) - start;
	done = done_by_all(b) - done;
	probe_counts_init(&counts);
	if (p)
		(void)probe_read(p, &counts);
	if (!done || !took) {
		probe_close(p);
		return fail_say(f, EOPNOTSUPP, "the load does not run here");
	}
	ret->done_per_s = (double)done * 1e9 / (double)took;
	ret->passes_per_s = (double)counts.passes_ended * 1e9 / (double)took;
	ret->passes = counts.passes_ended;
	ret->lossy = p && has_missed(p);
	probe_close(p);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of PAIRS values and the order statistics between which the true median is with 95 %:
 * half the values plus and minus 1.96 deviations of Binomial(PAIRS, 1/2). Sorts @values. */
static struct estimate estimate(double values[PAIRS])
{
	const int half_width = (int)(1.96 * sqrt(PAIRS) / 2 + 0.5);

	qsort(values, PAIRS, sizeof(*values), by_value);
	return (struct estimate){
		.low = values[PAIRS / 2 - half_width],
		.mid = values[PAIRS / 2],
		.high = values[PAIRS / 2 + half_width],
	};
}

/* The first of a pair changes sides from pair to pair, against drift. */
static int compare(struct bench *b, enum probe_kind kind, struct estimate *ret_ratio,
		   double *ret_passes, struct fail *f)
{
	double ratios[PAIRS], passes[PAIRS];

	b->passes = b->lossy = 0;
	for (int i = 0; i < PAIRS; i++) {
		struct window with, without;
		int r = i % 2 ? measure(b, PROBE_AUTO, &without, f) : measure(b, kind, &with, f);

		if (r == 0)
			r = i % 2 ? measure(b, kind, &with, f)
				  : measure(b, PROBE_AUTO, &without, f);
		if (r < 0)
			return r;
		b->passes += with.passes;
		b->lossy += with.lossy;
		ratios[i] = with.done_per_s / without.done_per_s;
		passes[i] = with.passes_per_s;
	}
	*ret_ratio = estimate(ratios);
	*ret_passes = estimate(passes).mid;
	return 0;
}

static int start_workers(struct bench *b, const struct load *load, struct fail *f)
{
	int nr = get_nprocs() < WORKERS_MAX ? get_nprocs() : WORKERS_MAX;

	for (int i = 0; i < nr; i++) {
		int pidfd = -1;
		pid_t pid;

		b->nr_workers = nr; /* the body divides the file by it */
		pid = cgroup_fork(&b->cg, &pidfd, f);
		if (pid == 0) {
			load->body(b, i);
			_exit(1);
		}
		b->nr_workers = pid < 0 ? i : nr;
		if (pid < 0)
			return (int)pid;
		b->pids[i] = pid;
		(void)close(pidfd);
	}
	return 0;
}

static void stop_workers(struct bench *b)
{
	/* Not by cgroup.kill: kernels since 6.15 kill whatever is born into that group afterwards. */
	for (int i = 0; i < b->nr_workers; i++) {
		(void)kill(b->pids[i], SIGKILL);
		(void)waitpid(b->pids[i], NULL, 0);
	}
	b->nr_workers = 0;
}

static int prepare(struct bench *b, struct arena *a, struct fail *f)
{
	char parent[PATH_MAX], unified[PATH_MAX], memory[PATH_MAX];
	uint64_t in_force;
	int r;

	r = cgroup_discover(&b->host, f);
	if (r == 0)
		r = cgroup_choose_parent(&b->host, NULL, parent, unified, f);
	if (r < 0)
		return r;
	(void)snprintf(memory, sizeof(memory), "%.3900s/%s", parent, arena_name(a));
	if (unified[0]) {
		(void)snprintf(parent, sizeof(parent), "%.3900s/%s", unified, arena_name(a));
		memcpy(unified, parent, sizeof(unified));
	}
	(void)snprintf(b->file, sizeof(b->file), "/var/tmp/%s", arena_name(a));
	r = arena_make_cgroup(a, memory, unified, f);
	if (r == 0)
		r = cgroup_open(&b->host, memory, unified, &b->cg, f);
	if (r == 0)
		r = cgroup_set_limit(&b->cg, LIMIT_BYTES, &in_force, f);
	if (r == 0)
		r = arena_make_file(a, b->file, FILE_BYTES, f);
	if (r < 0)
		return r;
	b->workers = mmap(NULL, WORKERS_MAX * sizeof(*b->workers), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return b->workers == MAP_FAILED ? fail_set(f, errno, "map the counters") : 0;
}

static double at_budget_rate(double ratio, double passes_per_s, int cpus)
{
	double cost_ns = (1 - ratio) * 1e9 / passes_per_s;

	return 1 - cost_ns * BUDGET_PASSES_PER_S / (1e9 * cpus);
}

/* Broken is what is surely below the budget: on a busy machine the interval is wide. perf has no
 * budget, and is there to compare with. */
static int report(const struct bench *b, const struct load *load, enum probe_kind kind,
		  struct estimate ratio, double passes_per_s)
{
	struct estimate judged = ratio;

	printf("probe %s, %s: with/without %.4f (95 %%: %.4f to %.4f) at %.0f passes/s a CPU, "
	       "%.0f ns a pass",
	       kind == PROBE_BPF ? "bpf" : "perf", load->name, ratio.mid, ratio.low, ratio.high,
	       passes_per_s, (1 - ratio.mid) * 1e9 / passes_per_s);
	if (load->is_projected) {
		judged.mid = at_budget_rate(ratio.mid, passes_per_s, b->nr_workers);
		judged.high = at_budget_rate(ratio.high, passes_per_s, b->nr_workers);
		printf("; %.4f at %.0f passes/s on %d CPUs", judged.mid, BUDGET_PASSES_PER_S,
		       b->nr_workers);
	}
	if (kind != PROBE_BPF) {
		printf("\n");
		return 0;
	}
	printf(" (budget >= %.2f)  %s\n", BUDGET_RATIO,
	       judged.high >= BUDGET_RATIO ? "ok" : "BROKEN");
	printf("  windows with lost events: %llu of %d, %llu passes (budget 0)  %s\n",
	       (unsigned long long)b->lossy, PAIRS, (unsigned long long)b->passes,
	       b->lossy ? "BROKEN" : "ok");
	return judged.high >= BUDGET_RATIO && !b->lossy ? 0 : 1;
}

static int run_load(struct bench *b, const struct load *load, int *broken, struct fail *f)
{
	struct estimate ratio;
	double passes = 0;
	int r = start_workers(b, load, f);

	if (r == 0)
		r = compare(b, PROBE_BPF, &ratio, &passes, f);
	if (r == 0) {
		*broken |= report(b, load, PROBE_BPF, ratio, passes);
		if (compare(b, PROBE_PERF, &ratio, &passes, NULL) == 0)
			(void)report(b, load, PROBE_PERF, ratio, passes);
	}
	stop_workers(b);
	return r;
}

int main(void)
{
	static const struct load loads[] = {
		{ "reading", read_for_ever, false },
		{ "futile", reclaim_for_ever, true },
	};
	struct bench b = { .cg = CGROUP_CLOSED };
	struct arena *a = NULL;
	struct fail f = { 0 };
	int r, broken = 0;

	r = arena_open("bench", &a, &f);
	if (r == 0)
		r = prepare(&b, a, &f);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(loads); i++)
		r = run_load(&b, &loads[i], &broken, &f);
	if (r < 0)
		printf("probe: skipped, %s\n", f.what);
	(void)arena_close(a, 5000000000ULL, NULL);
	return r < 0 ? EXIT_SKIP : broken;
}
