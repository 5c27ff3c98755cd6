/* SPDX-License-Identifier: GPL-2.0-only */
/* Before anything is made: what the run needs, and whether this host has it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "caps.h"
#include "hostinfo.h"
#include "kfile.h"
#include "meminfo.h"
#include "node.h"
#include "run.h"

#define WORK_DIR "/var/tmp"
/* Kept free for everybody else, so that the run cannot be what pushes the host into reclaim. */
#define RESERVE_PERCENT 10
/* --allow-global: a virtual machine this small is somebody's test guest (design.md, section 3). */
#define GLOBAL_MEMORY_MAX (4ULL << 30)

static void add_params(struct run *run)
{
	const struct options *opt = run->opt;
	struct result_doc *doc = &run->doc;

	result_param_u64(doc, "memcg_bytes", run->plan.memcg_bytes);
	result_param_text(doc, "swap", swap_kind_names[opt->swap.kind]);
	if (opt->swap.kind == SWAP_DELAY)
		result_param_u64(doc, "swap_delay_ms", opt->swap.delay_ms);
	result_param_u64(doc, "time_ns", run->plan.duration_ns);
	result_param_u64(doc, "runs", opt->runs);
	result_param_u64(doc, "seed", opt->seed);
	result_param_text(doc, "lru", lru_choice_names[opt->lru]);
	result_param_real(doc, "time_scale", opt->time_scale);
	if (opt->node_list)
		result_param_text(doc, "node", opt->node_list);
	if (opt->cpu_list)
		result_param_text(doc, "cpus", opt->cpu_list);
}

/* Swap that is given and cannot grow: none, or what is there. UINT64_MAX: it can be made to fit. */
static uint64_t fixed_swap_bytes(const struct run *run)
{
	uint64_t total = 0, free_bytes = 0;

	switch (run->opt->swap.kind) {
	case SWAP_NONE:
		return 0;
	case SWAP_EXISTING:
		(void)swap_active(&total, &free_bytes);
		return free_bytes;
	case SWAP_AUTO:
	case SWAP_ZRAM:
	case SWAP_FILE:
	case SWAP_DELAY:
		break;
	}
	return run->opt->swap.size_bytes ? run->opt->swap.size_bytes : UINT64_MAX;
}

static int check_fits(const struct run *run, struct fail *f)
{
	const struct plan *p = &run->plan;
	uint64_t swap = fixed_swap_bytes(run);
	char demand[32], limit[32], room[32], sum[32];

	if (!p->needs_swap || swap == UINT64_MAX || p->demand_bytes <= p->memcg_bytes + swap)
		return 0;
	return fail_say(f, EINVAL,
			"--swap: the workers want %s, and --memcg %s + usable swap %s = %s: an OOM "
			"kill would be legitimate",
			format_size(p->demand_bytes, demand, sizeof(demand)),
			format_size(p->memcg_bytes, limit, sizeof(limit)),
			format_size(swap, room, sizeof(room)),
			format_size(p->memcg_bytes + swap, sum, sizeof(sum)));
}

int run_plan(struct run *run, struct fail *f)
{
	const struct options *opt = run->opt;
	int r;

	result_init(&run->doc);
	run->doc.tool = run->tool;
	run->doc.version = SQUEEZE_VERSION;
	run->doc.scenario = run->scenario->name;
	run->doc.document = run->scenario->document;
	run->doc.fix = run->scenario->fix;
	run->doc.argc = opt->argc;
	run->doc.argv = opt->argv;
	run->plan = (struct plan){ .nr_procs = 1, .threads_per_proc = 1 };
	r = run->scenario->plan(run, f);
	if (r < 0)
		return r;
	if (opt->node_list)
		r = node_check(&opt->nodes, f);
	if (r == 0 && opt->cpu_list)
		r = cpu_check(&opt->cpus, f);
	if (r == 0)
		r = check_fits(run, f);
	if (r == 0)
		add_params(run);
	/* EOPNOTSUPP (no NUMA) is a SKIP, which the host check repeats and reports. */
	return r == -EOPNOTSUPP ? 0 : r;
}

static int check_lru(const struct run *run, struct fail *f)
{
	bool want_mglru = run->opt->lru == LRU_MGLRU;

	if (run->opt->lru == LRU_KEEP || hostinfo_mglru_enabled() == want_mglru)
		return 0;
	if (!hostinfo_mglru_present())
		return fail_say(f, EOPNOTSUPP,
				"needs MGLRU for --lru mglru (CONFIG_LRU_GEN is not "
				"in this kernel)");
	if (access("/sys/kernel/mm/lru_gen/enabled", W_OK) < 0)
		return fail_say(f, EACCES,
				"needs write access to /sys/kernel/mm/lru_gen/enabled "
				"for --lru");
	return 0;
}

static int check_swap(struct run *run, struct fail *f)
{
	const struct plan *p = &run->plan;
	uint64_t swappiness = 1, room = 0;
	/* Swap that is asked for though the workers fit without it. */
	uint64_t beyond = p->demand_bytes > p->memcg_bytes ? p->demand_bytes - p->memcg_bytes : 0;
	int r;

	run->swap_spec = run->opt->swap;
	run->swap_spec.slow = p->slow_swap;
	if (!p->needs_swap) {
		/* Swap may be asked for all the same: then it is made in the size given. */
		if (run->swap_spec.kind == SWAP_AUTO)
			run->swap_spec.kind = SWAP_NONE;
	}
	if (run->swap_spec.kind == SWAP_NONE)
		return 0;
	if (kfile_read_u64_at(AT_FDCWD, "/proc/sys/vm/swappiness", &swappiness) == 0 &&
	    swappiness == 0)
		return fail_say(f, EOPNOTSUPP,
				"needs vm.swappiness above 0 (it is 0, so reclaim "
				"would not swap)");
	r = swap_plan(&run->swap_spec,
		      &(struct swap_need){ .least_bytes = beyond, .most_bytes = p->demand_bytes },
		      run->opt->swap_shared_ok, &run->swap_spec, f);
	if (r < 0)
		return r;
	if (cgroup_swap_room(&run->host, run->parent_memory, &room) == 0 && room < beyond)
		return fail_say(f, EOPNOTSUPP,
				"needs more swap than a group above allows its "
				"children (memory.swap.max or memsw)");
	return 0;
}

static uint64_t swap_memory_bytes(const struct run *run)
{
	/* zram holds pages that do not compress at their full size. */
	bool in_ram = run->swap_spec.kind == SWAP_ZRAM || run->swap_spec.kind == SWAP_DELAY;

	return in_ram ? run->plan.demand_bytes : 0;
}

static int check_budget(const struct run *run, struct fail *f)
{
	const struct plan *p = &run->plan;
	size_t slots = (size_t)p->nr_procs * p->threads_per_proc;
	uint64_t need = p->memcg_bytes < p->demand_bytes ? p->memcg_bytes : p->demand_bytes;
	char text[KFILE_SIZE], wanted[32], have[32];
	const char *disk_dir = p->disk_dir ? p->disk_dir : WORK_DIR;
	struct meminfo mem;
	struct statvfs fs;

	/* Pressure on the whole machine is what such a run is for; check_global() says where it may. */
	if (p->global)
		return 0;
	need += p->host_bytes + progress_bytes(slots, p->nr_hists) + swap_memory_bytes(run);
	if (kfile_read_at(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) > 0 &&
	    meminfo_parse(text, &mem) == 0 && mem.available_bytes != KFILE_ABSENT &&
	    need > mem.available_bytes - mem.available_bytes * RESERVE_PERCENT / 100)
		return fail_say(f, EOPNOTSUPP,
				"needs %s of memory, and the host can spare %s (MemAvailable less "
				"%d %%)",
				format_size(need, wanted, sizeof(wanted)),
				format_size(mem.available_bytes -
						    mem.available_bytes * RESERVE_PERCENT / 100,
					    have, sizeof(have)),
				RESERVE_PERCENT);
	if (p->disk_bytes && statvfs(disk_dir, &fs) == 0 &&
	    p->disk_bytes > (uint64_t)fs.f_bavail * fs.f_frsize)
		return fail_say(f, EOPNOTSUPP, "needs %s in %s, which has %s free",
				format_size(p->disk_bytes, wanted, sizeof(wanted)), disk_dir,
				format_size((uint64_t)fs.f_bavail * fs.f_frsize, have,
					    sizeof(have)));
	return 0;
}

static int check_global(const struct run *run, struct fail *f)
{
	if (run->plan.global && !run->opt->allow_global)
		return fail_say(f, EPERM,
				"needs --allow-global: it puts pressure on the whole machine");
	if (!run->opt->allow_global)
		return 0;
	if (!hostinfo_is_virtual(&run->doc.host) ||
	    run->doc.host.mem_total_bytes > GLOBAL_MEMORY_MAX)
		return fail_say(f, EOPNOTSUPP,
				"needs a virtual machine of at most 4 GiB for "
				"--allow-global (pressure on the whole machine)");
	return 0;
}

/* Without a memcg only the machine is needed, and nothing of it may be brought under pressure. */
static int check_bare(struct run *run, struct fail *f)
{
	int r = run->opt->allow_global ? check_global(run, f) : check_budget(run, f);

	if (r == 0 && run->opt->node_list)
		r = node_check(&run->opt->nodes, f);
	return r;
}

int run_check_host(struct run *run, struct fail *f)
{
	int r = cgroup_discover(&run->host, run->plan.no_memcg ? NULL : f);

	hostinfo_fill(&run->host, &run->doc.host);
	if (run->plan.no_memcg)
		return check_bare(run, f);
	if (r == 0)
		r = cgroup_choose_parent(&run->host, run->opt->cgroup_parent, run->parent_memory,
					 run->parent_unified, f);
	if (r == 0 && run->opt->node_list)
		r = node_check(&run->opt->nodes, f);
	if (r == 0)
		r = check_lru(run, f);
	if (r == 0)
		r = check_swap(run, f);
	if (r == 0 && run->scenario->check)
		r = run->scenario->check(run, f);
	if (r == 0)
		r = check_budget(run, f);
	if (r == 0)
		r = check_global(run, f);
	return r;
}
