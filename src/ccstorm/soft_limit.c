/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * soft-limit: whether reclaim spares the group that should be spared. On cgroup v2 protection is
 * memory.low below a limit; on v1 the others are over memory.soft_limit_in_bytes, and the pressure is
 * on the whole machine. shared/seeds/002.
 */
#include "soft_limit.h"

#include <errno.h>

#include "worker.h"

static const struct soft_case_ops *ops_of(const struct run *run)
{
	const struct ccstorm_options *o = run->tool_options;

	if (o->case_given)
		return o->soft_case == CASE_SIBLINGS ? &siblings_ops : &duel_ops;
	/* The case that separates kernels on v2 is not there on v1. */
	return run->opt->allow_global ? &duel_ops : &siblings_ops;
}

static int plan(struct run *run, struct fail *f)
{
	const struct ccstorm_options *o = run->tool_options;

	if (o->command)
		return fail_say(f, EINVAL, "'%s': soft-limit runs loads of its own", o->command[0]);
	return ops_of(run)->plan(run, f);
}

static int check(struct run *run, struct fail *f)
{
	return ops_of(run)->check(run, f);
}

static int setup(struct run *run, struct fail *f)
{
	return ops_of(run)->setup(run, f);
}

static int prepare(struct run *run, struct fail *f)
{
	return ops_of(run)->prepare(run, f);
}

static int work(const struct worker *w)
{
	return ops_of(w->run)->work(w);
}

static int drive(struct run *run, struct fail *f)
{
	return ops_of(run)->drive(run, f);
}

static bool tick(struct run *run, uint64_t t_ns)
{
	return ops_of(run)->tick(run, t_ns);
}

static void collect(struct run *run, struct run_result *res)
{
	ops_of(run)->collect(run, res);
}

static void finish(struct run *run)
{
	ops_of(run)->finish(run);
}

int soft_limit_drive(struct run *run, const struct cgroup *groups, struct fail *f)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < run->plan.nr_procs; i++) {
		r = worker_spawn(run, i, &groups[i], &run->workers[i], f);
		if (r == 0)
			r = probe_add_worker(run->probe, run->workers[i].pid, f);
	}
	if (r == 0)
		r = run_wait_ready(run, f);
	if (r == 0)
		r = probe_start(run->probe, f);
	return r == 0 ? run_watch(run, f) : r;
}

const struct scenario soft_limit = {
	.name = "soft-limit",
	.summary = "reclaim takes from the group that should be spared",
	.document = "seeds/002: Soft limit rework",
	.fix = "that series (v1); on v2 proportional protection in MGLRU",
	.explain =
		"--case siblings (the default; cgroup v2): a parent with memory.low of 50 MiB has three\n"
		"children with memory.low of 75, 25 and 0, each with 50 MiB of clean page cache, and a\n"
		"neighbour takes memory until the limit above them presses the parent down to 52 MiB.\n"
		"By the kernel's protection model C keeps 29 and D 21 MiB. Three rounds, and the median\n"
		"counts. FAIL means: C keeps hardly more than D, so proportional protection is ignored.\n"
		"\n"
		"--case build-build, stream-eater, build-eater (the document's tests): A, which has no\n"
		"protection, and B run under one source of pressure, first without protection, then\n"
		"with it: memory.low on B below a common limit (v2), or a soft limit of 0 on A and\n"
		"pressure on the whole machine (v1; needs --allow-global in a small virtual machine).\n"
		"FAIL means: with protection, reclaim took over 5 % of B's protected size, or B's part of\n"
		"what was reclaimed was over 5 %, or B had over 10 % of the major faults that it had\n"
		"without. PASS needs proof that A was reclaimed at least once over, and 1,000 major\n"
		"faults of B without protection.",
	.unit = "pages",
	.unit_metric = METRIC_COUNT,
	.plan = plan,
	.check = check,
	.setup = setup,
	.prepare = prepare,
	.work = work,
	.drive = drive,
	.tick = tick,
	.collect = collect,
	.judge = soft_limit_judge,
	.finish = finish,
};
