/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reclaim passes, throttling by reason and OOM victims as perf counters of tracepoints: by cgroup
 * where we may and the hierarchy can, else by task from before the worker runs.
 *
 * By cgroup there is one perf group per group of ours and CPU, by task one per worker. All have the
 * same tracepoints in the same order, so a sum over the groups is the count of each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "probe_impl.h"
#include "tracepoint.h"

struct counter {
	const char *event;
	const char *filter;
	size_t field; /* of struct probe_counts; rows of the same field are added up */
	bool required;
};

#define FIELD(name) offsetof(struct probe_counts, name)

/* The reason is stored as 1 << enum vmscan_throttle_state. Throttling of reclaim became an event of
 * its own in 5.16; a kernel without it leaves those fields absent. */
static const struct counter counters[] = {
	{ "vmscan/mm_vmscan_memcg_reclaim_begin", NULL, FIELD(passes_begun), true },
	{ "vmscan/mm_vmscan_memcg_reclaim_end", NULL, FIELD(passes_ended), true },
	{ "vmscan/mm_vmscan_direct_reclaim_begin", NULL, FIELD(passes_begun), true },
	{ "vmscan/mm_vmscan_direct_reclaim_end", NULL, FIELD(passes_ended), true },
	{ "vmscan/mm_vmscan_memcg_softlimit_reclaim_begin", NULL, FIELD(softlimit_passes), false },
	{ "vmscan/mm_vmscan_throttled", NULL, FIELD(throttled_total), false },
	{ "vmscan/mm_vmscan_throttled", "reason == 1", FIELD(throttled[THROTTLE_WRITEBACK]),
	  false },
	{ "vmscan/mm_vmscan_throttled", "reason == 2", FIELD(throttled[THROTTLE_ISOLATED]), false },
	{ "vmscan/mm_vmscan_throttled", "reason == 4", FIELD(throttled[THROTTLE_NOPROGRESS]),
	  false },
	{ "vmscan/mm_vmscan_throttled", "reason == 8", FIELD(throttled[THROTTLE_CONGESTED]),
	  false },
	{ "oom/mark_victim", NULL, FIELD(oom_victims), false },
};
_Static_assert(ARRAY_SIZE(counters) <= TRACEPOINT_GROUP_MAX, "one perf group holds all counters");

struct perf_state {
	bool by_task;
	size_t nr_tps; /* of the counters that this kernel has */
	struct tracepoint tps[ARRAY_SIZE(counters)];
	size_t fields[ARRAY_SIZE(counters)];
	uint64_t base[ARRAY_SIZE(counters)];
	int *fds; /* nr_sets × nr_tps, each set with its leader first */
	size_t nr_sets;
};

static void close_perf(void *state)
{
	struct perf_state *s = state;

	if (!s)
		return;
	for (size_t i = 0; i < s->nr_sets * s->nr_tps; i++)
		(void)close(s->fds[i]);
	free(s->fds);
	free(s);
}

static void close_perfp(struct perf_state **s)
{
	close_perf(*s);
}

/* Whether a counter works is found out by counting ourselves with it. */
static int try_counter(const struct tracepoint *tp, struct fail *f)
{
	int fd, r;

	r = tracepoint_open_task(tp, 1, 0, &fd, f);
	if (r < 0)
		return r;
	(void)close(fd);
	return 0;
}

static int find_counters(struct perf_state *s, struct fail *f)
{
	_cleanup_close_ int tracefs = tracefs_open(f);

	if (tracefs < 0)
		return tracefs;
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		const struct counter *c = &counters[i];
		struct tracepoint tp = { .filter = c->filter };
		int r;

		r = tracepoint_find(tracefs, c->event, &tp.id);
		if (r < 0)
			r = fail_set(f, -r, "find tracepoint %s", c->event);
		else
			r = try_counter(&tp, f);
		if (r < 0 && c->required)
			return r;
		if (r < 0)
			continue;
		s->tps[s->nr_tps] = tp;
		s->fields[s->nr_tps] = c->field;
		s->nr_tps++;
	}
	return 0;
}

/* Descriptors beside ours: the tool's own files, a sampler with many nodes, one pidfd a worker. */
#define FDS_SPARE 2048

/* A large machine or many workers need more than the usual soft limit of 1,024; up to the hard limit
 * that is ours to change. A limit that stays too low shows as EMFILE later, with its own words. */
static void allow_fds(size_t nr)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= nr + FDS_SPARE)
		return;
	limit.rlim_cur = nr + FDS_SPARE < limit.rlim_max ? nr + FDS_SPARE : limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Makes room for one more set and returns where its descriptors go; NULL: no memory. */
static int *next_set(struct perf_state *s)
{
	int *fds = reallocarray(s->fds, (s->nr_sets + 1) * s->nr_tps, sizeof(*fds));

	if (!fds)
		return NULL;
	s->fds = fds;
	allow_fds((s->nr_sets + 1) * s->nr_tps);
	return fds + s->nr_sets * s->nr_tps;
}

/* The descriptor of a group that perf understands, or -1: its v2 directory, unless perf_event is
 * bound to a v1 hierarchy; that serves only where it is mounted together with memory, because a
 * twin there would not have our workers in it. */
static int perf_cgroup_fd(const struct cgroup_host *host, const struct cgroup *cg)
{
	if (!host->perf_mount[0])
		return cg->unified_fd;
	return strcmp(host->perf_mount, host->memory_mount) ? -1 : cg->dir_fd;
}

static int count_cgroup(struct perf_state *s, int cgroup_fd, struct fail *f)
{
	if (cgroup_fd < 0)
		return -EOPNOTSUPP;
	for (int cpu = 0; cpu < get_nprocs_conf(); cpu++) {
		int *fds = next_set(s);
		int r;

		if (!fds)
			return fail_set(f, ENOMEM, "count tracepoints");
		r = tracepoint_open_cgroup(s->tps, s->nr_tps, cgroup_fd, cpu, fds, f);
		if (r == -ENODEV)
			continue;
		if (r < 0)
			return r;
		s->nr_sets++;
	}
	return 0;
}

static int count_cgroups(struct perf_state *s, const struct probe_target *target)
{
	for (size_t i = 0; i < target->nr_groups; i++) {
		int fd = perf_cgroup_fd(target->host, &target->groups[i]);
		int r = count_cgroup(s, fd, NULL);

		if (r < 0)
			return r;
	}
	return s->nr_sets ? 0 : -EOPNOTSUPP;
}

static void drop_sets(struct perf_state *s)
{
	for (size_t i = 0; i < s->nr_sets * s->nr_tps; i++)
		(void)close(s->fds[i]);
	s->nr_sets = 0;
}

static int open_perf(const struct probe_target *target, void **ret_state, struct fail *f)
{
	_cleanup_(close_perfp) struct perf_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return fail_set(f, ENOMEM, "count tracepoints");
	r = find_counters(s, f);
	if (r < 0)
		return r;
	if (count_cgroups(s, target) < 0) {
		/* find_counters() has proved that counting by task works. */
		drop_sets(s);
		s->by_task = true;
	}
	*ret_state = s;
	s = NULL;
	return 0;
}

static int add_worker(void *state, pid_t pid, struct fail *f)
{
	struct perf_state *s = state;
	int *fds;
	int r;

	if (!s->by_task)
		return 0;
	fds = next_set(s);
	if (!fds)
		return fail_set(f, ENOMEM, "count tracepoints of worker %d", pid);
	r = tracepoint_open_task(s->tps, s->nr_tps, pid, fds, f);
	if (r < 0)
		return r;
	s->nr_sets++;
	return 0;
}

static int sum_sets(const struct perf_state *s, uint64_t sums[ARRAY_SIZE(counters)])
{
	uint64_t counts[ARRAY_SIZE(counters)];

	memset(sums, 0, sizeof(counts));
	for (size_t set = 0; set < s->nr_sets; set++) {
		int r = tracepoint_read(s->fds[set * s->nr_tps], s->nr_tps, counts);

		if (r < 0)
			return r;
		for (size_t i = 0; i < s->nr_tps; i++)
			sums[i] += counts[i];
	}
	return 0;
}

static int start_perf(void *state, struct fail *f)
{
	struct perf_state *s = state;
	int r = sum_sets(s, s->base);

	return r < 0 ? fail_set(f, -r, "read the tracepoint counters") : 0;
}

static int read_perf(void *state, struct probe_counts *ret)
{
	const struct perf_state *s = state;
	uint64_t sums[ARRAY_SIZE(counters)];
	int r;

	r = sum_sets(s, sums);
	if (r < 0)
		return r;
	probe_counts_init(ret);
	for (size_t i = 0; i < s->nr_tps; i++) {
		uint64_t *field = (uint64_t *)((char *)ret + s->fields[i]);

		if (*field == KFILE_ABSENT)
			*field = 0;
		*field += sums[i] - s->base[i];
	}
	return 0;
}

const struct probe_ops probe_perf_ops = {
	.kind = PROBE_PERF,
	.name = "perf",
	.blind_to = "how long a pass takes, what it scans and what it frees",
	.open = open_perf,
	.add_worker = add_worker,
	.start = start_perf,
	.read = read_perf,
	.close = close_perf,
};
