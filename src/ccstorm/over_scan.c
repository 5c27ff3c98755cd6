/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * over-scan: one direct reclaim of 32 pages scans and frees far more. P protected pods, or one group
 * with a large clean cache, and a few allocators that put pressure on the whole machine.
 * shared/seeds/004; why these two loads do it: docs/failure-modes.md.
 */
#include "over_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "cleanup.h"
#include "groups.h"
#include "kfile.h"
#include "load.h"
#include "meminfo.h"
#include "run.h"
#include "worker.h"
#include "workshop.h"

#define NS_PER_S 1000000000ULL
#define MIB (1ULL << 20)
/* A full walk takes at least one page of each pod, so this many pods are a pass of 300 pages for a
 * goal of 32, in a machine of 1 GiB: docs/evidence/over-scan.md. */
#define DEFAULT_PODS 300
#define DEFAULT_POD_BYTES (2 * MIB)
#define POD_REST_NS (NS_PER_S / 2)
/* A pod comes back by a part of its pages after each rest. */
#define POD_STEPS 32
/* What a process and the kernel's memory for it add to a pod, seen: 0.3 MiB. */
#define POD_OVERHEAD_BYTES MIB
/* Of the file, which is all hole, for a pod: ext4 has 16 TiB for 4096. */
#define POD_SPAN_BYTES (1ULL << 31)
#define DEFAULT_ALLOCATORS 4
#define DEFAULT_TIME_NS (40 * NS_PER_S)
/* What all workers together want, of what is available. */
#define DEFAULT_DEMAND_PERCENT 110
/* The page cache of --load cache. */
#define CACHE_PERCENT 70
#define CACHE_STEP_BYTES MIB
#define CACHE_REST_NS (NS_PER_S / 100)
/* Direct reclaim on the whole machine begins with 1/4096 of a list (DEF_PRIORITY is 12) and scans all
 * of that; with less cache than this it is under 4 goals of 32 pages. */
#define CACHE_MIN_PAGES (4096ULL * 4 * 32)
/* Under this an allocator is no pressure. */
#define ALLOCATOR_MIN (16 * MIB)

struct scan {
	struct cgroup press;
	uint64_t allocator_bytes;
	unsigned int pods;	   /* groups that are scanned; with --load cache one */
	uint64_t low_bytes;	   /* of each; 0: none */
	struct load_window window; /* of the first; each begins a span further */
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

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t pod_bytes(const struct ccstorm_options *o, uint64_t available)
{
	uint64_t each = o->pod_bytes ? o->pod_bytes : DEFAULT_POD_BYTES;

	if (o->load == SCAN_CACHE)
		each = available / 100 * CACHE_PERCENT;
	return each / page_bytes() * page_bytes();
}

static uint64_t demand_bytes(const struct ccstorm_options *o, uint64_t available)
{
	return available / 100 * (o->demand_percent ? o->demand_percent : DEFAULT_DEMAND_PERCENT);
}

static uint64_t allocator_bytes(const struct ccstorm_options *o, uint64_t available)
{
	uint64_t demand = demand_bytes(o, available);
	uint64_t pods = pods_of(o) * pod_bytes(o, available);

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
	p->set_bytes = pods_of(o) * pod_bytes(o, available);
	p->demand_bytes = demand_bytes(o, available);
	p->disk_dir = o->dir;
	p->duration_ns = run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS;
	result_param_u64(&run->doc, "pods", pods_of(o));
	result_param_u64(&run->doc, "pod_bytes", pod_bytes(o, available));
	result_param_u64(&run->doc, "allocators", allocators_of(o));
	result_param_u64(&run->doc, "allocator_bytes", each);
	result_param_text(&run->doc, "load", o->load == SCAN_CACHE ? "cache" : "pods");
	return 0;
}

static int check(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;

	uint64_t pressed = allocators_of(o) * allocator_bytes(o, run->plan.memcg_bytes);

	if (o->pressure == PRESSURE_MEMCG)
		return fail_say(f, EOPNOTSUPP,
				"needs --pressure global: the document is about direct reclaim of "
				"the whole machine, and its exit inside a group excludes memcg "
				"reclaim");
	if (o->load == SCAN_CACHE &&
	    run->plan.memcg_bytes < pressed + CACHE_MIN_PAGES * page_bytes())
		return fail_say(f, EOPNOTSUPP,
				"needs a machine of 4 GiB for --load cache: a pass takes 1/4096 of "
				"the cache at once, and here that is under 4 goals");
	return 0;
}

/* A file that is all hole: its pages come without any disk, and there are always new ones. */
static int make_file(const char *path, uint64_t bytes, struct fail *f)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return fail_set(f, errno, "making %s of %" PRIu64 " bytes", path, bytes);
	return 0;
}

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = page_bytes();

	while (p * 2 <= n)
		p *= 2;
	return p;
}

static struct load_window window_of(const struct run *run)
{
	const struct ccstorm_options *o = run->tool_options;
	uint64_t bytes = pod_bytes(o, run->plan.memcg_bytes);

	if (o->load == SCAN_CACHE)
		return (struct load_window){ .span = CCSTORM_PODS_MAX * POD_SPAN_BYTES,
					     .bytes = bytes,
					     .step = CACHE_STEP_BYTES,
					     .rest_ns = CACHE_REST_NS };
	return (struct load_window){ .span = POD_SPAN_BYTES,
				     .bytes = bytes,
				     .step = power_of_two_below(bytes / POD_STEPS),
				     .rest_ns = o->pod_rest_ns ? o->pod_rest_ns : POD_REST_NS };
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
	s->window = window_of(run);
	if (o->load == SCAN_PODS && run->host.memcg_version == 2)
		s->low_bytes = s->window.bytes + POD_OVERHEAD_BYTES;
	s->allocator_bytes = allocator_bytes(o, run->plan.memcg_bytes);
	(void)snprintf(dir, sizeof(dir), "%.3800s/%s", o->dir ? o->dir : "/var/tmp",
		       arena_name(run->arena));
	(void)snprintf(s->file, sizeof(s->file), "%.4000s/holes", dir);
	r = arena_make_dir(run->arena, dir, 0700, f);
	return r == 0 ? make_file(s->file, s->pods * s->window.span, f) : r;
}

static int protect(const struct cgroup *cg, uint64_t bytes, struct fail *f)
{
	int r = bytes ? cgroup_write_u64(cg, "memory.low", bytes) : 0;

	return r < 0 ? fail_set(f, -r, "memory.low of %s", cg->path) : 0;
}

/* All that can be reclaimed is protected: then the partial walk finds nothing at any priority, and the
 * walk that disregards protection is a full one. */
static int protect_pods(struct run *run, struct fail *f)
{
	const struct scan *s = run->state;
	int r = protect(&run->group, s->pods * s->low_bytes, f);

	for (unsigned int i = 0; r == 0 && i < s->pods; i++) {
		struct cgroup pod = CGROUP_CLOSED;

		r = groups_open_pod(run, i, &pod, f);
		if (r == 0)
			r = protect(&pod, s->low_bytes, f);
		cgroup_close(&pod);
	}
	return r;
}

static int prepare(struct run *run, struct fail *f)
{
	struct scan *s = run->state;
	int r;

	cgroup_close(&s->press);
	workshop_drop_file(s->file);
	r = groups_make(run, "press", &s->press, f);
	if (r == 0)
		r = groups_make_pods(run, s->pods, f);
	return r == 0 ? protect_pods(run, f) : r;
}

static int work(const struct worker *w)
{
	const struct scan *s = w->run->state;
	const struct load l = { .progress = w->progress, .slot = w->first_slot };
	struct load_window window = s->window;

	if (!progress_wait_start(w->progress, w->first_slot))
		return 0;
	if (w->index >= s->pods)
		return load_churn(&l, s->allocator_bytes);
	window.from = w->index * window.span;
	return load_slide(&l, s->file, &window);
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
		"P pods (300), each a group with 2 MiB of page cache that it keeps renewing and\n"
		"that memory.low protects (cgroup v2), and a few allocators that together with them\n"
		"want 10 % more than the machine has, and lock it. Or, with --load cache, one group\n"
		"with 70 % of the memory as clean page cache in place of the pods (needs 4 GiB).\n"
		"\n"
		"A direct reclaim wants max(32, 2 << order) pages. Where all that it could take is\n"
		"protected, its partial walk over the groups finds nothing, and the full walk that\n"
		"follows takes at least a page of each pod: the classic LRU looks at the goal only in\n"
		"a partial walk. In a group, it takes 1/4096 of the list at once, however much that is.\n"
		"Every pass is one event: latency, scanned, freed.\n"
		"\n"
		"FAIL means: one pass freed over 8 times its goal, or more than 1 in 100 passes over 4\n"
		"times. It needs --allow-global in a small virtual machine, the BPF probe, and the classic\n"
		"LRU to show. Its control, without pressure: --pods 50 --demand 60%.",
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
