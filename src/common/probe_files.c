/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the memcg's own files tell of reclaim: on v2 pages scanned and reclaimed (memory.stat) and
 * OOM kills (memory.events), on v1 OOM kills only (memory.oom_control). Needs no right but to read.
 */
#include <errno.h>
#include <stdlib.h>

#include "kfile.h"
#include "memstat.h"
#include "probe_impl.h"

struct files_state {
	const struct cgroup *groups;
	size_t nr_groups;
	struct probe_counts base;
};

/* Adds one group's number; a field that one group does not have is absent in the sum. */
static void add(uint64_t *sum, uint64_t value)
{
	if (*sum == KFILE_ABSENT || value == KFILE_ABSENT)
		*sum = KFILE_ABSENT;
	else
		*sum += value;
}

static void subtract(uint64_t *value, uint64_t base)
{
	if (*value == KFILE_ABSENT || base == KFILE_ABSENT)
		*value = KFILE_ABSENT;
	else
		*value -= base < *value ? base : *value;
}

/* pgscan_direct is what the group's own tasks scanned, pgscan also what kswapd did. */
static uint64_t first_present(uint64_t better, uint64_t other)
{
	return better != KFILE_ABSENT ? better : other;
}

static int sum_groups(const struct files_state *s, struct probe_counts *ret)
{
	probe_counts_init(ret);
	ret->scanned_pages = ret->reclaimed_pages = ret->oom_victims = 0;
	for (size_t i = 0; i < s->nr_groups; i++) {
		struct memstat stat;
		struct memevents events;

		/* A group that cannot be read has no numbers, which is an answer. */
		memstat_init(&stat);
		memevents_init(&events);
		(void)cgroup_memstat(&s->groups[i], &stat);
		(void)cgroup_memevents(&s->groups[i], &events);
		add(&ret->scanned_pages, first_present(stat.pgscan_direct, stat.pgscan));
		add(&ret->reclaimed_pages, first_present(stat.pgsteal_direct, stat.pgsteal));
		add(&ret->oom_victims, events.oom_kill);
	}
	return 0;
}

static int open_files(const struct probe_target *target, void **ret_state, struct fail *f)
{
	struct files_state *s = calloc(1, sizeof(*s));

	if (!s)
		return fail_set(f, ENOMEM, "open the probe");
	s->groups = target->groups;
	s->nr_groups = target->nr_groups;
	(void)sum_groups(s, &s->base);
	*ret_state = s;
	return 0;
}

static int start_files(void *state, struct fail *f)
{
	struct files_state *s = state;

	(void)f;
	return sum_groups(s, &s->base);
}

static int read_files(void *state, struct probe_counts *ret)
{
	const struct files_state *s = state;
	int r = sum_groups(s, ret);

	if (r < 0)
		return r;
	subtract(&ret->scanned_pages, s->base.scanned_pages);
	subtract(&ret->reclaimed_pages, s->base.reclaimed_pages);
	subtract(&ret->oom_victims, s->base.oom_victims);
	return 0;
}

const struct probe_ops probe_files_ops = {
	.kind = PROBE_FILES,
	.name = "files",
	.blind_to = "reclaim passes, their durations and throttling",
	.open = open_files,
	.start = start_files,
	.read = read_files,
	.close = free,
};
