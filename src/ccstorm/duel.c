/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A, which has no protection, against B, which has: the document's three tests, in two acts of half
 * the time each. In the first act nobody is protected; its major faults of B are the base. The second
 * act has new groups, evicted files, and the protection.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "duel.h"
#include "groups.h"
#include "kfile.h"
#include "load.h"
#include "meminfo.h"
#include "stream.h"
#include "worker.h"
#include "workshop.h"

#define NS_PER_S 1000000000ULL
#define MIB (1ULL << 20)
#define DEFAULT_LIMIT (512 * MIB)
#define DEFAULT_TIME_NS (60 * NS_PER_S)
/* Between the acts, and for what pressure makes slow. */
#define SLACK_NS (60 * NS_PER_S)
/* Each side wants four fifths of the memory: B at its most, so that alone it fits, and a build as A on
 * the average, so that there is pressure all the time. The document's eater takes 94 and 99 %; what is
 * left here lets A live, or reclaim would have to break the protection. */
#define SET_PERCENT 80
/* A build's most, as a part of its average, that there is swap for: all jobs of the largest class at
 * once are not seen, and if they are, the build loses a job. */
#define BUILD_PEAK_PERCENT 150
#define DEFAULT_JOBS 4
/* Files of a build that nobody waits for the end of. */
#define OBJECTS 1000
/* The document's mem_eater: 100 chunks with a nap after each. It naps for a third of an act. */
#define CHUNKS 100
#define NAP_SHARE 3
/* The document's stream is twice the memory. */
#define STREAM_FACTOR 2
/* What the processes and kernel memory of both sides come to. */
#define OVERHEAD_PERCENT 10

static const enum kind kinds[CASE_NR][SIDES] = {
	[CASE_BUILD_BUILD] = { KIND_BUILD, KIND_BUILD },
	[CASE_STREAM_EATER] = { KIND_STREAM, KIND_EATER },
	[CASE_BUILD_EATER] = { KIND_BUILD, KIND_EATER },
};

/* --- plan --- */

static enum soft_case case_of(const struct run *run)
{
	const struct ccstorm_options *o = run->tool_options;

	return o->case_given ? o->soft_case : CASE_STREAM_EATER;
}

static unsigned int jobs_of(const struct run *run)
{
	const struct ccstorm_options *o = run->tool_options;

	return o->jobs ? o->jobs : DEFAULT_JOBS;
}

/* The memory of a build's jobs is scaled to what it is to want. */
static unsigned int scale_for(enum side side, unsigned int jobs, uint64_t bytes)
{
	uint64_t whole = side == SIDE_A ? compile_demand_mean_bytes(jobs, 100)
					: compile_demand_max_bytes(jobs, 100);
	uint64_t percent = bytes * 100 / whole;

	return percent < 1 ? 1 : (unsigned int)percent;
}

static uint64_t available_bytes(void)
{
	char text[KFILE_SIZE];
	struct meminfo mem;

	if (kfile_read_at(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) < 0 ||
	    meminfo_parse(text, &mem) < 0 || mem.available_bytes == KFILE_ABSENT)
		return DEFAULT_LIMIT;
	return mem.available_bytes;
}

static bool is_global(void)
{
	struct cgroup_host host;

	return cgroup_discover(&host, NULL) == 0 && host.memcg_version == 1;
}

static int plan(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	struct plan *p = &run->plan;

	p->global = is_global();
	if (p->global && run->opt->memcg_bytes)
		return fail_say(f, EINVAL,
				"--memcg: on cgroup v1 the pressure is on the whole machine");
	p->nr_procs = ACTS * SIDES;
	p->memcg_bytes = run->opt->memcg_bytes ? run->opt->memcg_bytes : DEFAULT_LIMIT;
	if (p->global)
		p->memcg_bytes = available_bytes();
	p->set_bytes = p->memcg_bytes / 100 * SET_PERCENT;
	p->demand_bytes = SIDES * p->set_bytes + p->memcg_bytes / 100 * OVERHEAD_PERCENT;
	if (kinds[case_of(run)][SIDE_A] == KIND_BUILD)
		p->demand_bytes += p->set_bytes / 100 * (BUILD_PEAK_PERCENT - 100);
	p->needs_swap = true;
	p->disk_bytes = STREAM_FACTOR * p->memcg_bytes;
	p->disk_dir = o->dir;
	p->duration_ns = (run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS) +
			 (uint64_t)((double)SLACK_NS * run->opt->time_scale);
	result_param_text(&run->doc, "case", soft_case_names[case_of(run)]);
	result_param_text(&run->doc, "pressure", p->global ? "global" : "memcg");
	result_param_u64(&run->doc, "set_bytes", p->set_bytes);
	result_param_u64(&run->doc, "jobs", jobs_of(run));
	return 0;
}

static int check(struct run *run, struct fail *f)
{
	(void)run, (void)f;
	return 0; /* v1 needs --allow-global, which the engine asks for */
}

/* --- life --- */

static int make_shop(struct run *run, struct duel *d, enum side side, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	int r = workshop_make(run->arena, o->dir, side == SIDE_A ? "-a" : "-b",
			      d->scale_percent[side], &d->shops[side], f);

	if (r == 0)
		r = workshop_add_folder(&d->shops[side], "objects", d->objects[side], f);
	if (r == 0 && d->kind[side] == KIND_STREAM)
		(void)snprintf(d->stream, sizeof(d->stream), "%.4000s/stream", d->shops[side].dir);
	return r;
}

static int map_logs(struct duel *d, struct fail *f)
{
	void *p = mmap(NULL, SIDES * sizeof(*d->logs), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		return fail_set(f, errno, "shared memory");
	d->logs = p;
	return 0;
}

static int setup(struct run *run, struct fail *f)
{
	struct duel *d = calloc(1, sizeof(*d));
	unsigned int jobs = jobs_of(run);
	int r;

	if (!d)
		return fail_set(f, ENOMEM, "duel");
	run->state = d;
	for (size_t i = 0; i < ACTS * SIDES; i++)
		d->groups[i] = CGROUP_CLOSED;
	memcpy(d->kind, kinds[case_of(run)], sizeof(d->kind));
	d->memory = run->plan.memcg_bytes;
	d->set_bytes = run->plan.set_bytes;
	for (unsigned int side = 0; side < SIDES; side++)
		d->scale_percent[side] = scale_for((enum side)side, jobs, d->set_bytes);
	/* Room for the processes themselves, so that nothing of B's is unprotected. */
	d->low_bytes = d->set_bytes + d->memory / 100 * (OVERHEAD_PERCENT / SIDES);
	d->act_ns = (run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS) / ACTS;
	r = stage_create(&d->stage, f);
	if (r == 0)
		r = map_logs(d, f);
	for (unsigned int side = 0; r == 0 && side < SIDES; side++)
		r = make_shop(run, d, (enum side)side, f);
	return r;
}

static void close_groups(struct duel *d)
{
	for (size_t i = 0; i < ACTS * SIDES; i++)
		cgroup_close(&d->groups[i]);
}

static void forget_files(const struct duel *d)
{
	for (unsigned int side = 0; side < SIDES; side++)
		workshop_forget(&d->shops[side]);
	if (d->stream[0])
		(void)unlink(d->stream);
}

static int prepare(struct run *run, struct fail *f)
{
	static const char *const names[ACTS * SIDES] = { "a0", "b0", "a1", "b1" };
	struct duel *d = run->state;
	int r = 0;

	close_groups(d);
	stage_reset(d->stage);
	forget_files(d);
	memset(d->logs, 0, SIDES * sizeof(*d->logs));
	memset(d->acts, 0, sizeof(d->acts));
	d->step = STEP_BEGIN;
	d->nr = 0;
	for (size_t i = 0; r == 0 && i < ACTS * SIDES; i++)
		r = groups_make(run, names[i], &d->groups[i], f);
	return r;
}

static int build(const struct duel *d, const struct worker *w, enum side side)
{
	const struct make m = {
		.shop = &d->shops[side],
		.objects_dir = d->objects[side],
		.jobs = jobs_of(w->run),
		.objects = OBJECTS,
		.scale_percent = d->scale_percent[side],
		.seed = w->run->opt->seed + side,
		.pods_path = "",
		.pods_twin = "",
		.log = &d->logs[side],
		.stop = &d->stage->actors[w->index].leave,
	};

	return make_run(&m, w->progress, w->first_slot, NULL);
}

static int work(const struct worker *w)
{
	const struct duel *d = w->run->state;
	enum side side = w->index % SIDES;
	const struct load l = {
		.stage = d->stage, .actor = w->index, .progress = w->progress, .slot = w->first_slot
	};
	int r = 0;

	if (!progress_wait_start(w->progress, w->first_slot) ||
	    !stage_wait_begin(d->stage, w->index, w->progress))
		return 0;
	switch (d->kind[side]) {
	case KIND_BUILD:
		r = build(d, w, side);
		break;
	case KIND_STREAM:
		r = stream_write(&l, d->stream, STREAM_FACTOR * d->memory);
		break;
	case KIND_EATER:
		r = load_eat(&l, d->set_bytes, CHUNKS, d->act_ns / NAP_SHARE / CHUNKS);
		break;
	}
	stage_say(d->stage, w->index, PART_GONE);
	return r;
}

static int drive(struct run *run, struct fail *f)
{
	const struct duel *d = run->state;

	return soft_limit_drive(run, d->groups, f);
}

/* --- acts --- */

static struct cgroup *group_of(struct duel *d, unsigned int side)
{
	return &d->groups[d->nr * SIDES + side];
}

/* A refusal shows in the measurement: B is then reclaimed like A. */
static void protect(struct duel *d)
{
	if (group_of(d, SIDE_B)->version == 2)
		(void)cgroup_write_u64(group_of(d, SIDE_B), "memory.low", d->low_bytes);
	else
		(void)cgroup_write_u64(group_of(d, SIDE_A), "memory.soft_limit_in_bytes", 0);
}

static uint64_t pages_out(const struct cgroup *cg)
{
	char text[KFILE_SIZE];
	uint64_t out = 0;

	if (cg->version == 1 && cgroup_read(cg, "memory.stat", text, sizeof(text)) > 0)
		(void)kfile_key_u64(text, "total_pgpgout", &out);
	return out;
}

static void look(struct duel *d, struct memstat stats[SIDES])
{
	for (unsigned int side = 0; side < SIDES; side++) {
		memstat_init(&stats[side]);
		(void)cgroup_memstat(group_of(d, side), &stats[side]);
	}
}

static enum step begin(struct duel *d, uint64_t t_ns)
{
	struct act *act = &d->acts[d->nr];

	if (d->nr > 0)
		protect(d);
	look(d, act->begin);
	for (unsigned int side = 0; side < SIDES; side++)
		stage_cue(d->stage, d->nr * SIDES + side, CUE_BEGIN);
	d->since_ns = t_ns;
	return STEP_RUNNING;
}

static enum step go_on(struct duel *d, uint64_t t_ns)
{
	struct act *act = &d->acts[d->nr];
	uint64_t now[SIDES] = { 0 };

	for (unsigned int side = 0; side < SIDES; side++) {
		(void)cgroup_read_u64(group_of(d, side), "memory.current", &now[side]);
		if (now[side] > act->most[side])
			act->most[side] = now[side];
	}
	if (t_ns - d->since_ns < d->act_ns)
		return STEP_RUNNING;
	look(d, act->end);
	act->out = pages_out(group_of(d, SIDE_A));
	act->kept = now[SIDE_B];
	act->complete = true;
	for (unsigned int side = 0; side < SIDES; side++)
		stage_cue(d->stage, d->nr * SIDES + side, CUE_LEAVE);
	return STEP_LEAVING;
}

static enum step leave(struct duel *d)
{
	for (unsigned int side = 0; side < SIDES; side++)
		if (stage_part(d->stage, d->nr * SIDES + side) != PART_GONE)
			return STEP_LEAVING;
	forget_files(d);
	d->nr++;
	return d->nr == ACTS ? STEP_DONE : STEP_BEGIN;
}

static bool tick(struct run *run, uint64_t t_ns)
{
	struct duel *d = run->state;

	switch (d->step) {
	case STEP_BEGIN:
		d->step = begin(d, t_ns);
		break;
	case STEP_RUNNING:
		d->step = go_on(d, t_ns);
		break;
	case STEP_LEAVING:
		d->step = leave(d);
		break;
	case STEP_DONE:
		break;
	}
	return d->step == STEP_DONE;
}

static void collect(struct run *run, struct run_result *res)
{
	struct duel *d = run->state;

	duel_measure(run, d, res);
	close_groups(d);
}

static void finish(struct run *run)
{
	struct duel *d = run->state;

	if (!d)
		return;
	close_groups(d);
	stage_destroy(d->stage);
	if (d->logs)
		(void)munmap(d->logs, SIDES * sizeof(*d->logs));
	free(d);
	run->state = NULL;
}

const struct soft_case_ops duel_ops = {
	.plan = plan,
	.check = check,
	.setup = setup,
	.prepare = prepare,
	.work = work,
	.drive = drive,
	.tick = tick,
	.collect = collect,
	.finish = finish,
};
