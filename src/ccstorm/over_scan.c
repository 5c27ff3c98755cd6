/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * over-scan: one direct reclaim of 32 pages scans and frees far more. P pods whose pages are hot, or
 * one group with a large clean cache, and a few allocators that put pressure on the whole machine.
 * shared/seeds/004.
 */
#include "over_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "kfile.h"
#include "load.h"
#include "meminfo.h"
#include "run.h"
#include "worker.h"
#include "workshop.h"

#define NS_PER_S 1000000000ULL
#define MIB (1ULL << 20)
/* The load that over-reclaims on stock 6.12 (design.md, section 7): 150 pods of 3 MiB that are
 * touched again every 100 ms, and 4 allocators, in 1 GiB. */
#define DEFAULT_PODS 150
#define DEFAULT_POD_BYTES (3 * MIB)
#define POD_REST_NS 100000000ULL
#define DEFAULT_ALLOCATORS 4
#define DEFAULT_TIME_NS (40 * NS_PER_S)
/* What all workers together want, of what is available; zram takes some of that besides. */
#define DEMAND_PERCENT 110
/* The file of --load cache. */
#define CACHE_PERCENT 70
/* Under this an allocator is no pressure. */
#define ALLOCATOR_MIN (16 * MIB)

struct scan {
	struct cgroup press;
	uint64_t allocator_bytes;
	uint64_t pod_bytes;
	uint64_t pod_rest_ns;
	unsigned int pods; /* groups that are scanned; with --load cache one */
	bool cache;
	char file[PATH_MAX];
};

static uint64_t available_bytes(void)
{
	char text[KFILE_SIZE];
	struct meminfo mem;

	if (kfile_read_at(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) < 0 ||
	    meminfo_parse(text, &mem) < 0 || mem.available_bytes == KFILE_ABSENT)
		return 1024 * MIB;
	return mem.available_bytes;
}

static unsigned int pods_of(const struct ccstorm_options *o)
{
	if (o->load == SCAN_CACHE)
		return 1;
	return o->pods ? o->pods : DEFAULT_PODS;
}

static unsigned int allocators_of(const struct ccstorm_options *o)
{
	return o->allocators ? o->allocators : DEFAULT_ALLOCATORS;
}

/* What the pods want; a clean cache wants nothing. */
static uint64_t pods_bytes(const struct ccstorm_options *o)
{
	uint64_t each = o->pod_bytes ? o->pod_bytes : DEFAULT_POD_BYTES;

	return o->load == SCAN_CACHE ? 0 : pods_of(o) * each;
}

static uint64_t allocator_bytes(const struct ccstorm_options *o, uint64_t available)
{
	uint64_t demand = available / 100 * DEMAND_PERCENT, pods = pods_bytes(o);

	return demand > pods ? (demand - pods) / allocators_of(o) : 0;
}

static int plan(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	struct plan *p = &run->plan;
	uint64_t available = available_bytes(), each = allocator_bytes(o, available);

	if (o->command)
		return fail_say(f, EINVAL, "'%s': over-scan runs loads of its own", o->command[0]);
	if (run->opt->memcg_bytes)
		return fail_say(f, EINVAL,
				"--memcg: over-scan is about pressure on the whole machine");
	/* Its refusal where there is no permission comes first, whatever the sizes. */
	if (each < ALLOCATOR_MIN && run->opt->allow_global)
		return fail_say(f, EINVAL,
				"--pods: %u pods leave the allocators nothing of this machine",
				pods_of(o));
	p->global = o->pressure == PRESSURE_GLOBAL;
	p->nr_procs = pods_of(o) + allocators_of(o);
	p->memcg_bytes = available;
	p->set_bytes = pods_bytes(o);
	p->demand_bytes = available / 100 * DEMAND_PERCENT;
	p->needs_swap = true;
	p->disk_bytes = o->load == SCAN_CACHE ? available / 100 * CACHE_PERCENT : 0;
	p->disk_dir = o->dir;
	p->duration_ns = run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS;
	result_param_u64(&run->doc, "pods", pods_of(o));
	result_param_u64(&run->doc, "pod_bytes", pods_bytes(o) / pods_of(o));
	result_param_u64(&run->doc, "allocators", allocators_of(o));
	result_param_u64(&run->doc, "allocator_bytes", each);
	result_param_text(&run->doc, "load", o->load == SCAN_CACHE ? "cache" : "pods");
	return 0;
}

static int check(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;

	if (o->pressure == PRESSURE_MEMCG)
		return fail_say(f, EOPNOTSUPP,
				"needs --pressure global: under a memcg limit the partial walk "
				"ends when its goal is met, and the document's other exit excludes "
				"memcg reclaim");
	return 0;
}

static int setup(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	struct scan *s = calloc(1, sizeof(*s));
	char dir[PATH_MAX];
	int r;

	if (!s)
		return fail_set(f, ENOMEM, "over-scan");
	run->state = s;
	s->press = CGROUP_CLOSED;
	s->pods = pods_of(o);
	s->cache = o->load == SCAN_CACHE;
	s->pod_bytes = pods_bytes(o) / s->pods;
	s->pod_rest_ns = o->pod_rest_ns ? o->pod_rest_ns : POD_REST_NS;
	s->allocator_bytes = allocator_bytes(o, run->plan.memcg_bytes);
	if (!s->cache)
		return 0;
	(void)snprintf(dir, sizeof(dir), "%.3800s/%s", o->dir ? o->dir : "/var/tmp",
		       arena_name(run->arena));
	(void)snprintf(s->file, sizeof(s->file), "%.4000s/cache", dir);
	r = arena_make_dir(run->arena, dir, 0700, f);
	return r == 0 ? workshop_write_file(s->file, run->plan.disk_bytes, 3, f) : r;
}

static int prepare(struct run *run, struct fail *f)
{
	struct scan *s = run->state;
	int r;

	cgroup_close(&s->press);
	if (s->cache)
		workshop_drop_file(s->file);
	r = groups_make(run, "press", &s->press, f);
	return r == 0 ? groups_make_pods(run, s->pods, f) : r;
}

static int work(const struct worker *w)
{
	const struct scan *s = w->run->state;
	const struct load l = { .progress = w->progress, .slot = w->first_slot };

	if (!progress_wait_start(w->progress, w->first_slot))
		return 0;
	if (w->index >= s->pods)
		return load_churn(&l, s->allocator_bytes);
	return s->cache ? load_reread(&l, s->file) : load_cycle(&l, s->pod_bytes, s->pod_rest_ns);
}

static int spawn(struct run *run, unsigned int i, struct fail *f)
{
	const struct scan *s = run->state;
	struct cgroup pod = CGROUP_CLOSED;
	int r = i < s->pods ? groups_open_pod(run, i, &pod, f) : 0;

	if (r == 0)
		r = worker_spawn(run, i, i < s->pods ? &pod : &s->press, &run->workers[i], f);
	cgroup_close(&pod);
	return r == 0 ? probe_add_worker(run->probe, run->workers[i].pid, f) : r;
}

static int drive(struct run *run, struct fail *f)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < run->plan.nr_procs; i++)
		r = spawn(run, i, f);
	if (r == 0)
		r = run_wait_ready(run, f);
	if (r == 0)
		r = probe_start(run->probe, f);
	return r == 0 ? run_watch(run, f) : r;
}

static void collect(struct run *run, struct run_result *res)
{
	struct scan *s = run->state;
	struct value *m = run->m.metrics;

	cgroup_close(&s->press);
	for (size_t i = 0; i < res->nr_hists; i++) {
		const struct hist *h = res->hists[i].hist;

		if (strcmp(res->hists[i].name, "pass_overshoot") != 0 || !h->count)
			continue;
		m[METRIC_WORST_OVERSHOOT] = value_real(over_scan_worst(h));
		m[METRIC_OVERSHOOT_SHARE] = value_real(over_scan_share(h));
	}
}

static void finish(struct run *run)
{
	struct scan *s = run->state;

	if (!s)
		return;
	cgroup_close(&s->press);
	free(s);
	run->state = NULL;
}

const struct scenario over_scan = {
	.name = "over-scan",
	.summary = "one direct reclaim scans and frees far beyond its goal of 32 pages",
	.document = "seeds/004: mm: vmscan: avoid over-reclaim in classic LRU direct reclaim path",
	.fix = "that patch (classic LRU); MGLRU looks at its goal",
	.explain =
		"P pods (150), each a group of its own with 3 MiB that it touches again every 100 ms, and\n"
		"a few allocators that together with them want 10 % more than the machine has. Or, with\n"
		"--load cache, one group with a large clean page cache in place of the pods.\n"
		"\n"
		"A direct reclaim wants max(32, 2 << order) pages. The classic LRU looks at that goal\n"
		"only where a partial walk over the groups is allowed; within a group, and on the full\n"
		"walk after a partial one that freed nothing, it goes on. Every pass is one event:\n"
		"latency, scanned, freed.\n"
		"\n"
		"FAIL means: one pass freed over 8 times its goal, or more than 1 in 100 passes over 4\n"
		"times. It needs --allow-global in a small virtual machine, the BPF probe, and the classic\n"
		"LRU to show.",
	.unit = "pages",
	.unit_metric = METRIC_COUNT,
	.plan = plan,
	.check = check,
	.setup = setup,
	.prepare = prepare,
	.work = work,
	.drive = drive,
	.collect = collect,
	.judge = over_scan_judge,
	.finish = finish,
};
