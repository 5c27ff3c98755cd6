/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hostinfo.h"
#include "kfile.h"
#include "run_measure.h"

#define NS_PER_S 1000000000ULL
/* What the guard may take to undo a run before it goes on by itself (design.md, section 3). A
 * swapoff of 64 MiB from zram takes 30 ms, over dm-delay 50 ms a few seconds. */
#define UNDO_TIMEOUT_NS (20 * NS_PER_S)
/* One sample per tick of 100 ms for an hour; timeline.h halves the rate beyond. */
#define TIMELINE_SAMPLES 4096

volatile sig_atomic_t run_stop_requested;

static void on_stop(int signal)
{
	(void)signal;
	run_stop_requested = 1;
}

static void catch_signals(void)
{
	/* No SA_RESTART: a wait under way is to end. */
	struct sigaction sa = { .sa_handler = on_stop };

	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	/* A reader of our output that goes away must not skip the undoing. */
	(void)signal(SIGPIPE, SIG_IGN);
}

static void stamp(struct result_doc *doc)
{
	time_t now = time(NULL);
	struct tm tm;
	char zone[8] = "";
	char text[32] = "";

	(void)localtime_r(&now, &tm);
	(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)strftime(zone, sizeof(zone), "%z", &tm);
	/* RFC 3339 wants a colon in the offset. */
	(void)snprintf(doc->started, sizeof(doc->started), "%s%.3s:%s", text, zone, zone + 3);
}

static void give_up(struct run *run, enum verdict verdict, const char *reason)
{
	run->doc.verdict = verdict;
	(void)snprintf(run->doc.reason, sizeof(run->doc.reason), "%s", reason);
}

/* Said outright, never inherited. Other swap may be active, which --swap none means not to use: on v1
 * memory and swap together are then held to the limit, where swap is accounted at all. */
static int set_swap(struct run *run, uint64_t limit, struct fail *f)
{
	bool none = run->swap.kind == SWAP_NONE;
	int r;

	if (run->group.version == 2) {
		r = cgroup_write(&run->group, "memory.swap.max", none ? "0" : "max");
		return r < 0 && r != -ENOENT ? fail_set(f, -r, "memory.swap.max") : 0;
	}
	if (none && cgroup_write_u64(&run->group, "memory.memsw.limit_in_bytes", limit) < 0)
		(void)cgroup_write(&run->group, "memory.swappiness", "0");
	return 0;
}

int run_set_limit(struct run *run, uint64_t bytes, struct fail *f)
{
	int r;

	/* v1 keeps the limit of memory and swap together above that of memory, at any moment. */
	if (run->group.version == 1)
		(void)cgroup_write(&run->group, "memory.memsw.limit_in_bytes", "max");
	r = cgroup_set_limit(&run->group, bytes, &run->m.limit_bytes, f);
	return r < 0 || bytes == UINT64_MAX ? r : set_swap(run, run->m.limit_bytes, f);
}

static int make_group(struct run *run, struct fail *f)
{
	char memory[PATH_MAX], unified[PATH_MAX] = "";
	int r;

	if (snprintf(memory, sizeof(memory), "%s/%s-r%u", run->parent_memory,
		     arena_name(run->arena), run->run_index) >= (int)sizeof(memory))
		return fail_set(f, ENAMETOOLONG, "%s", run->parent_memory);
	if (run->parent_unified[0] &&
	    snprintf(unified, sizeof(unified), "%s/%s-r%u", run->parent_unified,
		     arena_name(run->arena), run->run_index) >= (int)sizeof(unified))
		return fail_set(f, ENAMETOOLONG, "%s", run->parent_unified);
	r = arena_make_cgroup(run->arena, memory, unified, f);
	if (r == 0)
		r = cgroup_open(&run->host, memory, unified, &run->group, f);
	if (r < 0)
		return r;
	/* After the hierarchy stands: its per-CPU memory is charged too. */
	r = run_set_limit(run, run->plan.memcg_bytes, f);
	if (r < 0)
		return r;
	(void)cgroup_write(&run->group, "memory.oom.group", "0");
	return 0;
}

static int open_instruments(struct run *run, struct fail *f)
{
	const struct probe_options options = { .kind = run->opt->probe,
					       .verbose = run->opt->verbose };
	char why[TEXT_SIZE] = "";
	int r = sampler_open(&run->group, &run->sampler, f);

	if (r < 0)
		return r;
	r = probe_open(&options, &run->host, &run->group, 1, &run->probe, why, f);
	if (r < 0)
		return r;
	(void)snprintf(run->doc.host.probe, sizeof(run->doc.host.probe), "%s",
		       probe_name(run->probe));
	if (why[0])
		run_result_note(run->res, "probe: %s (%s)", probe_name(run->probe), why);
	return timeline_reserve(&run->res->timeline, TIMELINE_SAMPLES);
}

static int drive(struct run *run, struct fail *f)
{
	int r = run_spawn_workers(run, f);

	if (r == 0)
		r = run_wait_ready(run, f);
	if (r == 0)
		r = probe_start(run->probe, f);
	return r == 0 ? run_watch(run, f) : r;
}

static void begin_measurement(struct run *run)
{
	run->m = (struct measurement){
		.memcg_version = run->host.memcg_version,
		.mglru = hostinfo_mglru_enabled(),
		.default_params = run->plan.default_params,
		.huge_pages = run->plan.huge_pages,
		.swap_in_use = run->swap.kind != SWAP_NONE,
		.swap_at_once = run->swap.kind == SWAP_ZRAM,
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
		.limit_bytes = run->plan.memcg_bytes,
		.demand_bytes = run->plan.demand_bytes,
		.swap_bytes = run->swap.usable_bytes,
		.workers = run->plan.nr_procs * run->plan.threads_per_proc,
		.time_scale = run->opt->time_scale,
		.node_inactive_anon_pages = run->doc.host.node_inactive_anon_pages,
		.kill = { KFILE_ABSENT, KFILE_ABSENT, KFILE_ABSENT, KFILE_ABSENT, KFILE_ABSENT,
			  KFILE_ABSENT },
	};
}

static void close_instruments(struct run *run)
{
	probe_close(run->probe);
	run->probe = NULL;
	sampler_close(run->sampler);
	run->sampler = NULL;
	for (unsigned int i = 0; run->workers && i < run->plan.nr_procs; i++)
		worker_handle_close(&run->workers[i]);
	cgroup_close(&run->group);
	run->group = CGROUP_CLOSED;
}

static int measure_once(struct run *run, struct fail *f)
{
	int r = make_group(run, f);

	if (r == 0 && run->scenario->prepare)
		r = run->scenario->prepare(run, f);
	if (r == 0)
		r = open_instruments(run, f);
	if (r == 0)
		r = run->scenario->drive ? run->scenario->drive(run, f) : drive(run, f);
	run_stop_workers(run);
	if (r < 0)
		return r;
	run->res->duration_ns = run->m.duration_ns;
	run_measure(run);
	if (run->scenario->collect)
		run->scenario->collect(run, run->res);
	run->m.timeline = &run->res->timeline;
	run->scenario->judge(&run->m, run->res);
	memcpy(run->res->metrics, run->m.metrics, sizeof(run->res->metrics));
	return 0;
}

static int run_once(struct run *run, struct fail *f)
{
	unsigned int mark = arena_mark(run->arena);
	struct fail undo = { 0 };
	int r;

	run->res = result_add_run(&run->doc);
	if (!run->res)
		return fail_set(f, ENOMEM, "result");
	begin_measurement(run);
	progress_reset(&run->progress);
	r = measure_once(run, f);
	if (r < 0) {
		run->res->verdict = VERDICT_ERROR;
		(void)snprintf(run->res->reason, sizeof(run->res->reason), "%s", f->what);
	}
	close_instruments(run);
	if (arena_undo_to(run->arena, mark, &undo) < 0)
		run_result_note(run->res, "left behind for now: %s", undo.what);
	return r;
}

static int set_lru(struct run *run, struct fail *f)
{
	bool want = run->opt->lru == LRU_MGLRU;
	int r;

	if (run->opt->lru == LRU_KEEP || hostinfo_mglru_enabled() == want)
		return 0;
	r = arena_set_file(run->arena, "/sys/kernel/mm/lru_gen/enabled", want ? "y" : "n", f);
	if (r == 0)
		hostinfo_fill(&run->host, &run->doc.host);
	return r;
}

static int make_workers(struct run *run, struct fail *f)
{
	size_t slots = (size_t)run->plan.nr_procs * run->plan.threads_per_proc;
	int r = progress_create(slots, run->plan.nr_hists, &run->progress);

	if (r < 0)
		return fail_set(f, -r, "shared memory of %zu bytes",
				progress_bytes(slots, run->plan.nr_hists));
	run->workers = calloc(run->plan.nr_procs, sizeof(*run->workers));
	return run->workers ? 0 : fail_set(f, ENOMEM, "worker table");
}

static void free_workers(struct run *run)
{
	progress_destroy(&run->progress);
	free(run->workers);
	run->workers = NULL;
}

static int prepare_all(struct run *run, struct fail *f)
{
	int r = set_lru(run, f);

	if (r == 0)
		r = swap_prepare(run->arena, &run->swap_spec, &run->swap, f);
	if (r < 0)
		return r;
	memcpy(run->doc.host.swap, run->swap.infos, sizeof(run->doc.host.swap));
	run->doc.host.nr_swap = run->swap.nr_infos;
	if (run->scenario->setup) {
		r = run->scenario->setup(run, f);
		if (r < 0)
			return r;
	}
	r = make_workers(run, f);
	if (r < 0)
		return r;
	/* The supervisor must not wait for memory while it watches others do so. */
	(void)mlockall(MCL_CURRENT | MCL_FUTURE);
	return 0;
}

/* Of a setup that failed. */
static enum verdict verdict_of(int err)
{
	switch (err) {
	case -EOPNOTSUPP: /* missing here, which only trying could tell */
		return VERDICT_SKIP;
	case -EINTR:
		return VERDICT_INCONCLUSIVE;
	default:
		return VERDICT_ERROR;
	}
}

/* --runs times, unless @r says that preparing failed; a run that cannot be made ends it. */
static void repeat(struct run *run, int (*once)(struct run *, struct fail *), int r, struct fail *f)
{
	for (run->run_index = 0; r == 0 && run->run_index < run->opt->runs; run->run_index++) {
		r = once(run, f);
		if (run_stop_requested)
			break;
	}
	if (r < 0 && run->doc.nr_runs == 0)
		give_up(run, verdict_of(r), f->what);
	else
		result_conclude(&run->doc);
}

static void run_in_arena(struct run *run, struct fail *f)
{
	repeat(run, run_once, prepare_all(run, f), f);
	if (run->scenario->finish)
		run->scenario->finish(run);
	free_workers(run);
	(void)munlockall();
}

/* Nothing was made and nothing can be seen: only the load and its verdict. */
static int bare_once(struct run *run, struct fail *f)
{
	int r;

	run->res = result_add_run(&run->doc);
	if (!run->res)
		return fail_set(f, ENOMEM, "result");
	begin_measurement(run);
	progress_reset(&run->progress);
	r = run->scenario->drive(run, f);
	run_stop_workers(run);
	worker_handle_close(&run->workers[0]);
	if (r < 0) {
		run->res->verdict = VERDICT_ERROR;
		(void)snprintf(run->res->reason, sizeof(run->res->reason), "%s", f->what);
		return r;
	}
	run->res->duration_ns = run->m.duration_ns;
	run->m.timeline = &run->res->timeline;
	run->scenario->judge(&run->m, run->res);
	memcpy(run->res->metrics, run->m.metrics, sizeof(run->res->metrics));
	return 0;
}

static void run_bare(struct run *run, struct fail *f)
{
	repeat(run, bare_once, make_workers(run, f), f);
	free_workers(run);
}

static void close_arena(struct run *run)
{
	struct fail f = { 0 };
	uint64_t timeout_ns = (uint64_t)((double)UNDO_TIMEOUT_NS * run->opt->time_scale);

	if (arena_close(run->arena, timeout_ns, &f) < 0)
		fprintf(stderr, "%s: left behind for now (the guard goes on trying): %s\n",
			run->tool, f.what);
	run->arena = NULL;
}

void run_scenario(struct run *run)
{
	struct fail f = { 0 };
	int r;

	stamp(&run->doc);
	r = run_check_host(run, &f);
	if (r < 0) {
		give_up(run, VERDICT_SKIP, f.what);
		return;
	}
	catch_signals();
	if (run->plan.no_memcg) {
		run_bare(run, &f);
		return;
	}
	(void)arena_clean_stale(NULL, NULL, NULL);
	r = arena_open(run->tool, &run->arena, &f);
	if (r < 0) {
		give_up(run, VERDICT_ERROR, f.what);
		return;
	}
	run_in_arena(run, &f);
	close_arena(run);
}
