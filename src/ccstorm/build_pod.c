/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build-pod: J compilers at once in one memcg until the time is up. What a compile storm does to
 * reclaim (futile scans, refaults, throttling) shows in how many objects are compiled; its meaning
 * is in `squeeze compare` of two kernels. shared/seeds/000, test 2.
 */
#include "build_pod.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "count.h"
#include "groups.h"
#include "kfile.h"
#include "make.h"
#include "parse.h"
#include "run.h"
#include "worker.h"
#include "workshop.h"

#define NS_PER_S 1000000000ULL
#define MIB (1ULL << 20)

/* The document: make -j20, for 1800 s. */
#define DEFAULT_JOBS 20
#define DEFAULT_TIME_NS (60 * NS_PER_S)
/* About ten rounds in a minute on two CPUs. */
#define DEFAULT_OBJECTS 100
/* make itself: measured natively on 6.18, under 1 MiB with its page tables. */
#define MAKE_BYTES (2 * MIB)

struct build {
	struct workshop shop;
	char objects[PATH_MAX];
	char twin[PATH_MAX];
	struct make make;
	struct count count;
	bool counting;
	struct cgroup leaf; /* make's own, where there are pods */
};

/* --- plan --- */

static int refuse_mixes(const struct run *run, const struct ccstorm_options *o, struct fail *f)
{
	if (o->level_given && run->opt->memcg_bytes)
		return fail_say(f, EINVAL, "--level: it sets the limit, so --memcg cannot");
	if (o->command && o->level_given)
		return fail_say(f, EINVAL,
				"--level: what a command needs is not known; give --memcg");
	if (o->command && !run->opt->memcg_bytes)
		return fail_say(f, EINVAL, "--memcg: is needed with a command");
	if (o->command && o->pods)
		return fail_say(f, EINVAL, "--pods: a command runs in one group");
	if (!o->command != !o->count)
		return fail_say(f, EINVAL,
				"--count: a command and the pattern of its objects go together");
	return 0;
}

/* Swap is made as large as the jobs need, unless its size is given: then kills can be legitimate. */
static bool swap_can_grow(const struct options *opt)
{
	return opt->swap.kind != SWAP_NONE && opt->swap.kind != SWAP_EXISTING &&
	       opt->swap.size_bytes == 0;
}

static void plan_jobs(struct run *run, const struct ccstorm_options *o, unsigned int jobs,
		      unsigned int objects)
{
	struct plan *p = &run->plan;
	uint64_t demand = compile_demand_bytes(jobs, o->job_percent);

	p->set_bytes = demand;
	p->demand_bytes = compile_demand_max_bytes(jobs, o->job_percent) + MAKE_BYTES;
	if (!p->memcg_bytes)
		p->memcg_bytes = compile_limit_bytes(o->level, demand);
	p->needs_swap = p->demand_bytes > p->memcg_bytes && swap_can_grow(run->opt);
	p->disk_bytes = workshop_disk_bytes(objects, o->job_percent);
	result_param_u64(&run->doc, "jobs", jobs);
	result_param_u64(&run->doc, "objects", objects);
	result_param_u64(&run->doc, "job_percent", o->job_percent);
	result_param_u64(&run->doc, "jobs_want_bytes", demand);
	result_param_text(&run->doc, "level",
			  run->opt->memcg_bytes ? "none" : compile_level_names[o->level]);
	if (o->pods)
		result_param_u64(&run->doc, "pods", o->pods);
}

static int plan(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	struct plan *p = &run->plan;
	int r = refuse_mixes(run, o, f);

	if (r < 0)
		return r;
	p->memcg_bytes = run->opt->memcg_bytes;
	p->duration_ns = run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS;
	p->disk_dir = o->dir;
	if (o->command) {
		p->demand_bytes = p->memcg_bytes;
		result_param_text(&run->doc, "count", o->count);
		result_param_text(&run->doc, "count_in", o->count_in);
	} else {
		plan_jobs(run, o, o->jobs ? o->jobs : DEFAULT_JOBS,
			  o->objects ? o->objects : DEFAULT_OBJECTS);
	}
	/* Those two levels promise pressure; a limit of one's own promises nothing. */
	p->default_params = !run->opt->memcg_bytes && o->level != LEVEL_LIGHT;
	p->survive_kill = false;
	p->nr_hists = 1;
	p->hist_names[0] = "job";
	p->hist_units[0] = "ns";
	return 0;
}

/* --- life --- */

static int setup(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	struct build *b = calloc(1, sizeof(*b));
	void *log;
	int r;

	if (!b)
		return fail_set(f, ENOMEM, "build");
	run->state = b;
	b->leaf = CGROUP_CLOSED;
	/* Shared with the workers, and touched here: so it is not charged to the memcg. */
	log = mmap(NULL, sizeof(struct make_log), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (log == MAP_FAILED)
		return fail_set(f, errno, "shared memory");
	b->make = (struct make){
		.shop = &b->shop,
		.objects_dir = b->objects,
		.command = o->command,
		.verbose = run->opt->verbose,
		.jobs = o->command ? 1
			: o->jobs  ? o->jobs
				   : DEFAULT_JOBS,
		.objects = o->command	? 1
			   : o->objects ? o->objects
					: DEFAULT_OBJECTS,
		.scale_percent = o->job_percent,
		.seed = run->opt->seed,
		.pods_path = "",
		.pods_twin = "",
		.nr_pods = o->pods,
		.log = log,
	};
	if (o->command)
		return 0;
	r = workshop_make(run->arena, o->dir, "", o->job_percent, &b->shop, f);
	return r == 0 ? workshop_add_folder(&b->shop, "objects", b->objects, f) : r;
}

/* A group costs the one above it some 10 KiB, more with more CPUs. The limit is for the jobs, so it
 * comes on top of what the empty pods have charged. */
static int make_pods(struct run *run, struct build *b, struct fail *f)
{
	uint64_t cost = 0;
	int r = run_set_limit(run, UINT64_MAX, f);

	if (r == 0)
		r = groups_make(run, "make", &b->leaf, f);
	if (r == 0)
		r = groups_make_pods(run, b->make.nr_pods, f);
	if (r < 0)
		return r;
	(void)cgroup_read_u64(&run->group, "memory.current", &cost);
	return run_set_limit(run, run->plan.memcg_bytes + cost, f);
}

static int prepare(struct run *run, struct fail *f)
{
	struct build *b = run->state;

	memset(b->make.log, 0, sizeof(*b->make.log));
	b->counting = false;
	if (!b->make.command)
		workshop_forget(&b->shop);
	if (!b->make.nr_pods)
		return 0;
	groups_twin_path(run, b->twin);
	b->make.pods_path = run->group.path;
	b->make.pods_twin = b->twin;
	cgroup_close(&b->leaf);
	return make_pods(run, b, f);
}

static int work(const struct worker *w)
{
	const struct build *b = w->run->state;
	size_t slot = w->first_slot;

	if (!progress_wait_start(w->progress, slot))
		return 0;
	return make_run(&b->make, w->progress, slot, progress_hist(w->progress, slot, 0));
}

static int drive(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	struct build *b = run->state;
	const struct cgroup *cg = b->make.nr_pods ? &b->leaf : &run->group;
	int r = worker_spawn(run, 0, cg, &run->workers[0], f);

	if (r == 0)
		r = probe_add_worker(run->probe, run->workers[0].pid, f);
	if (r == 0)
		r = run_wait_ready(run, f);
	if (r == 0)
		r = probe_start(run->probe, f);
	b->counting = r == 0 && o->command;
	if (b->counting)
		count_start(&b->count, o->count_in, o->count, clock_now_ns());
	return r == 0 ? run_watch(run, f) : r;
}

static bool tick(struct run *run, uint64_t t_ns)
{
	const struct ccstorm_options *o = run->tool_options;
	struct build *b = run->state;

	(void)t_ns;
	if (!o->command)
		return false;
	count_tick(&b->count, clock_now_ns());
	atomic_store_explicit(&run->progress.slots[0].done, b->count.nr, memory_order_relaxed);
	return false;
}

static void note_rounds(const struct make_log *log, struct run_result *res)
{
	uint32_t nr = atomic_load(&log->nr_rounds);
	uint64_t shortest = UINT64_MAX, longest = 0;
	char a[32], b[32];

	for (uint32_t i = 0; i < nr && i < MAKE_ROUNDS_MAX; i++) {
		uint64_t ns = log->rounds[i].wall_ns;

		shortest = ns < shortest ? ns : shortest;
		longest = ns > longest ? ns : longest;
	}
	if (nr)
		run_result_note(res,
				"%" PRIu32 " rounds ended, %" PRIu32 " of them with all objects; "
				"%s to %s each; %" PRIu32 " jobs killed in them",
				nr, atomic_load(&log->nr_completed),
				format_duration(shortest, a, sizeof(a)),
				format_duration(longest, b, sizeof(b)),
				atomic_load(&log->nr_killed));
}

static void collect(struct run *run, struct run_result *res)
{
	struct build *b = run->state;
	const struct make_log *log = b->make.log;
	struct value *m = run->m.metrics;
	uint32_t nr = atomic_load(&log->nr_rounds), completed = atomic_load(&log->nr_completed);

	cgroup_close(&b->leaf);
	if (b->make.command) {
		run->m.demand_bytes = 0;
		if (b->counting)
			count_finish(&b->count);
		m[METRIC_OBJECTS_COMPILED] = value_u64(b->count.nr);
	}
	/* The engine takes the longest of the first histogram, which are whole jobs here. */
	m[METRIC_LONGEST_STALL_NS] = value_u64(verdict_longest_standstill_ns(&res->timeline));
	m[METRIC_ROUNDS] = value_u64(completed);
	if (completed)
		m[METRIC_ROUND_NS] = value_u64(atomic_load(&log->completed_wall_ns) / completed);
	if (nr && value_is_present(m[METRIC_OOM_KILLS]))
		m[METRIC_OOM_KILLS_PER_ROUND] = value_real(value_as_real(m[METRIC_OOM_KILLS]) / nr);
	note_rounds(log, res);
}

static void finish(struct run *run)
{
	struct build *b = run->state;

	if (!b)
		return;
	cgroup_close(&b->leaf);
	if (b->make.log)
		(void)munmap(b->make.log, sizeof(*b->make.log));
	free(b);
	run->state = NULL;
}

const struct scenario build_pod = {
	.name = "build-pod",
	.summary = "a compile storm in a limited memcg: futile scanning eats the build",
	.document = "seeds/000: mm/vmscan: throttle MGLRU eviction when isolated folios pile up",
	.fix = "the throttle of that patch (MGLRU)",
	.explain =
		"J compilers at once (20) in one memcg, from scratch, round after round, until the time\n"
		"is up. A compiler is a process of its own with the memory of a real cc1: a shared\n"
		"image and shared headers in the page cache, some 80 MiB of its own of which it keeps\n"
		"coming back to a part, and an object file to write. Or any command after `--`, counted\n"
		"by the objects it leaves.\n"
		"\n"
		"The limit is a part of what J large jobs want at once: two thirds (--level light), a half\n"
		"(heavy, the default), or a third (extreme), as in the document's 2048, 1536 and 1024 MB\n"
		"for 3 GB. Its headline is the number of objects compiled; what it means shows\n"
		"`squeeze compare` of two kernels.\n"
		"\n"
		"FAIL means: a job was OOM-killed although limit and swap together hold the largest J\n"
		"jobs, or no object was compiled for 20 s while reclaim went on. Where the swap is given\n"
		"too small for that, kills are reported for each round, and are no failure.",
	.unit = "objects",
	.unit_metric = METRIC_OBJECTS_COMPILED,
	.plan = plan,
	.setup = setup,
	.prepare = prepare,
	.work = work,
	.drive = drive,
	.tick = tick,
	.collect = collect,
	.judge = build_pod_judge,
	.finish = finish,
};
