/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Siblings under one protected parent, as in the kernel's self-test of memory.low.
 *
 *   run's group A    limit 200
 *   ├─ rN            memory.low 50
 *   │  ├─ c          memory.low 75, reads 50
 *   │  ├─ d          memory.low 25, reads 50
 *   │  └─ e          memory.low  0, reads 50
 *   └─ hogN          takes what leaves the siblings 52
 *
 * in MiB at the default limit, else in proportion. A round: the readers fill the page cache and end;
 * the hog takes its memory and holds it; what c, d and e have left is noted; the hog ends and the
 * files are dropped. All workers are there from the start, so that what their processes cost is
 * known before the hog's size is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "load.h"
#include "protection.h"
#include "soft_limit.h"
#include "stage.h"
#include "worker.h"
#include "workshop.h"

#define NS_PER_S 1000000000ULL
#define MIB (1ULL << 20)
#define DEFAULT_LIMIT (200 * MIB)
/* Parts of the limit / 200. */
#define WHOLE 200
#define PARENT_LOW 50
#define CACHE 50
/* 50 shielded, and room for what is charged in batches of 64 pages per CPU. */
#define LEFT 52
/* Each round takes a second or two natively, ten times that under emulation. */
#define TIME_MAX_NS (300 * NS_PER_S)
/* After the hog is full: what reclaim still has under way. */
#define SETTLE_NS (1 * NS_PER_S)

#define ROUNDS 3
#define SIBLINGS 3
#define ACTORS (SIBLINGS + 1)
#define HOG SIBLINGS

static const struct {
	const char *name;
	unsigned int low;
} siblings[SIBLINGS] = { { "c", 75 }, { "d", 25 }, { "e", 0 } };

enum step { STEP_FILL, STEP_FILLING, STEP_PRESSING, STEP_SETTLING, STEP_LEAVING, STEP_DONE };

struct family {
	struct stage *stage;
	char dir[PATH_MAX];
	char files[SIBLINGS][PATH_MAX];
	struct cgroup groups[ROUNDS * ACTORS];
	enum step step;
	unsigned int round; /* under way */
	unsigned int noted; /* rounds: the last one ends the run with its last worker */
	uint64_t since_ns;
	uint64_t idle_bytes; /* of A before anybody has done anything */
	uint64_t kept[ROUNDS][SIBLINGS];
};

static uint64_t part_of(const struct run *run, unsigned int part)
{
	return run->plan.memcg_bytes / WHOLE * part;
}

static int plan(struct run *run, struct fail *f)
{
	struct plan *p = &run->plan;

	(void)f;
	p->nr_procs = ROUNDS * ACTORS;
	p->memcg_bytes = run->opt->memcg_bytes ? run->opt->memcg_bytes : DEFAULT_LIMIT;
	p->demand_bytes = p->memcg_bytes;
	p->disk_bytes = SIBLINGS * part_of(run, CACHE);
	p->disk_dir = ((const struct ccstorm_options *)run->tool_options)->dir;
	p->duration_ns = run->opt->time_ns ? run->opt->time_ns
					   : (uint64_t)((double)TIME_MAX_NS * run->opt->time_scale);
	p->default_params = p->memcg_bytes == DEFAULT_LIMIT;
	result_param_text(&run->doc, "case", soft_case_names[CASE_SIBLINGS]);
	return 0;
}

static int check(struct run *run, struct fail *f)
{
	if (run->host.memcg_version == 2)
		return 0;
	return fail_say(f, EOPNOTSUPP,
			"needs memory.low (cgroup v2) for --case siblings; the memory controller "
			"is on v1 here");
}

static int setup(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;
	struct family *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return fail_set(f, ENOMEM, "siblings");
	run->state = s;
	for (size_t i = 0; i < ROUNDS * ACTORS; i++)
		s->groups[i] = CGROUP_CLOSED;
	r = stage_create(&s->stage, f);
	(void)snprintf(s->dir, sizeof(s->dir), "%.3800s/%s", o->dir ? o->dir : "/var/tmp",
		       arena_name(run->arena));
	if (r == 0)
		r = arena_make_dir(run->arena, s->dir, 0700, f);
	for (unsigned int i = 0; r == 0 && i < SIBLINGS; i++) {
		(void)snprintf(s->files[i], PATH_MAX, "%.3900s/%s", s->dir, siblings[i].name);
		r = workshop_write_file(s->files[i], part_of(run, CACHE), i + 1, f);
	}
	return r;
}

static int set_low(const struct cgroup *cg, uint64_t bytes, struct fail *f)
{
	int r = cgroup_write_u64(cg, "memory.low", bytes);

	return r < 0 ? fail_set(f, -r, "memory.low of %s", cg->path) : 0;
}

static int make_sibling(struct run *run, unsigned int round, unsigned int i, struct fail *f)
{
	struct family *s = run->state;
	struct cgroup *cg = &s->groups[round * ACTORS + i];
	char name[32];
	int r;

	(void)snprintf(name, sizeof(name), "r%u/%s", round, siblings[i].name);
	r = groups_make(run, name, cg, f);
	return r == 0 ? set_low(cg, part_of(run, siblings[i].low), f) : r;
}

static int make_round(struct run *run, unsigned int round, struct fail *f)
{
	struct family *s = run->state;
	struct cgroup parent = CGROUP_CLOSED;
	char name[32];
	int r;

	(void)snprintf(name, sizeof(name), "r%u", round);
	r = groups_make(run, name, &parent, f);
	if (r == 0)
		r = set_low(&parent, part_of(run, PARENT_LOW), f);
	cgroup_close(&parent);
	for (unsigned int i = 0; r == 0 && i < SIBLINGS; i++)
		r = make_sibling(run, round, i, f);
	(void)snprintf(name, sizeof(name), "hog%u", round);
	return r == 0 ? groups_make(run, name, &s->groups[round * ACTORS + HOG], f) : r;
}

static void close_groups(struct family *s)
{
	for (size_t i = 0; i < ROUNDS * ACTORS; i++)
		cgroup_close(&s->groups[i]);
}

static void drop_files(const struct family *s)
{
	for (unsigned int i = 0; i < SIBLINGS; i++)
		workshop_drop_file(s->files[i]);
}

static int prepare(struct run *run, struct fail *f)
{
	struct family *s = run->state;
	int r = 0;

	close_groups(s);
	stage_reset(s->stage);
	drop_files(s);
	s->step = STEP_FILL;
	s->round = 0;
	s->noted = 0;
	memset(s->kept, 0, sizeof(s->kept));
	for (unsigned int round = 0; r == 0 && round < ROUNDS; round++)
		r = make_round(run, round, f);
	return r;
}

static int work(const struct worker *w)
{
	const struct family *s = w->run->state;
	unsigned int role = w->index % ACTORS;
	const struct load l = {
		.stage = s->stage, .actor = w->index, .progress = w->progress, .slot = w->first_slot
	};
	int r = 0;

	if (!progress_wait_start(w->progress, w->first_slot) ||
	    !stage_wait_begin(s->stage, w->index, w->progress))
		return 0;
	if (role == HOG)
		r = load_hog(&l, atomic_load(&s->stage->actors[w->index].size));
	else
		r = load_read_file(&l, s->files[role]);
	stage_say(s->stage, w->index, PART_GONE);
	return r;
}

static int drive(struct run *run, struct fail *f)
{
	const struct family *s = run->state;

	return soft_limit_drive(run, s->groups, f);
}

static bool all_readers_are_gone(const struct family *s)
{
	for (unsigned int i = 0; i < SIBLINGS; i++)
		if (stage_part(s->stage, s->round * ACTORS + i) != PART_GONE)
			return false;
	return true;
}

static enum step fill(struct run *run, struct family *s)
{
	(void)cgroup_read_u64(&run->group, "memory.current", &s->idle_bytes);
	for (unsigned int i = 0; i < SIBLINGS; i++)
		stage_cue(s->stage, s->round * ACTORS + i, CUE_BEGIN);
	return STEP_FILLING;
}

static enum step press(const struct run *run, struct family *s)
{
	unsigned int hog = s->round * ACTORS + HOG;
	uint64_t spare = part_of(run, LEFT) + s->idle_bytes;

	atomic_store(&s->stage->actors[hog].size,
		     run->plan.memcg_bytes > spare ? run->plan.memcg_bytes - spare : 0);
	stage_cue(s->stage, hog, CUE_BEGIN);
	return STEP_PRESSING;
}

static enum step note(struct family *s)
{
	for (unsigned int i = 0; i < SIBLINGS; i++)
		(void)cgroup_read_u64(&s->groups[s->round * ACTORS + i], "memory.current",
				      &s->kept[s->round][i]);
	s->noted = s->round + 1;
	stage_cue(s->stage, s->round * ACTORS + HOG, CUE_LEAVE);
	return STEP_LEAVING;
}

static enum step end_round(struct family *s)
{
	drop_files(s);
	s->round++;
	return s->round == ROUNDS ? STEP_DONE : STEP_FILL;
}

static bool tick(struct run *run, uint64_t t_ns)
{
	struct family *s = run->state;
	unsigned int hog = s->round * ACTORS + HOG;

	switch (s->step) {
	case STEP_FILL:
		s->step = fill(run, s);
		break;
	case STEP_FILLING:
		if (all_readers_are_gone(s))
			s->step = press(run, s);
		break;
	case STEP_PRESSING:
		s->since_ns = t_ns;
		if (stage_part(s->stage, hog) == PART_FULL)
			s->step = STEP_SETTLING;
		break;
	case STEP_SETTLING:
		if (t_ns - s->since_ns >= SETTLE_NS)
			s->step = note(s);
		break;
	case STEP_LEAVING:
		if (stage_part(s->stage, hog) == PART_GONE)
			s->step = end_round(s);
		break;
	case STEP_DONE:
		break;
	}
	return s->step == STEP_DONE;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the rounds that were completed, at most three: the middle one, or the mean of two. */
static double median(double *v, unsigned int nr)
{
	qsort(v, nr, sizeof(*v), compare);
	return nr % 2 ? v[nr / 2] : (v[nr / 2 - 1] + v[nr / 2]) / 2;
}

static void note_round(const uint64_t kept[SIBLINGS], unsigned int round, struct run_result *res)
{
	run_result_note(res, "round %u: C kept %.1f, D %.1f, E %.1f MiB", round + 1,
			(double)kept[0] / MIB, (double)kept[1] / MIB, (double)kept[2] / MIB);
}

static void note_expected(const struct run *run, struct run_result *res)
{
	struct protection_group g[SIBLINGS];

	for (unsigned int i = 0; i < SIBLINGS; i++)
		g[i] = (struct protection_group){ .low = part_of(run, siblings[i].low),
						  .usage = part_of(run, CACHE) };
	protection_settle(g, SIBLINGS, part_of(run, PARENT_LOW), run->host.recursive_protection,
			  part_of(run, LEFT));
	run_result_note(res, "the kernel's protection model: C keeps %.1f, D %.1f, E %.1f MiB%s",
			(double)g[0].usage / MIB, (double)g[1].usage / MIB,
			(double)g[2].usage / MIB,
			run->host.recursive_protection ? " (memory_recursiveprot)" : "");
}

static void collect(struct run *run, struct run_result *res)
{
	struct family *s = run->state;
	struct value *m = run->m.metrics;
	double margins[ROUNDS], taken[ROUNDS];
	double had = (double)(SIBLINGS * part_of(run, CACHE));

	run->m.siblings = true;
	close_groups(s);
	for (unsigned int r = 0; r < s->noted; r++) {
		const uint64_t *k = s->kept[r];
		double kept = (double)(k[0] + k[1] + k[2]);

		margins[r] = (double)k[0] - (double)k[1];
		taken[r] = (had - kept) / (had - (double)part_of(run, PARENT_LOW));
		note_round(k, r, res);
	}
	note_expected(run, res);
	if (s->noted == 0)
		return;
	m[METRIC_SIBLING_MARGIN_BYTES] = value_real(median(margins, s->noted));
	m[METRIC_EXCESS_RECLAIMED] = value_real(median(taken, s->noted));
}

static void finish(struct run *run)
{
	struct family *s = run->state;

	if (!s)
		return;
	close_groups(s);
	stage_destroy(s->stage);
	free(s);
	run->state = NULL;
}

const struct soft_case_ops siblings_ops = {
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
