/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF back end: loads bpf/reclaim.bpf.c, maps its per-CPU slots, and sums over them. Reading is
 * reading memory: no system call, no event queue.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "caps.h"
#include "cleanup.h"
#include "kfile.h"
#include "probe_impl.h"
#include "tracepoint.h"

#include "bpf/reclaim.h"
#include "reclaim.skel.h"

_Static_assert(RECLAIM_SUB_BITS == HIST_SUB_BITS, "buckets are copied one to one");
_Static_assert(RECLAIM_TIME_BITS == HIST_MAX_BITS, "buckets are copied one to one");
_Static_assert(RECLAIM_REASONS == (int)THROTTLE_NR, "reasons are copied one to one");
_Static_assert(RECLAIM_WORST == WORST_PASSES_MAX, "the worst of all CPUs are among each CPU's");

#define NR_PROGRAMS 16 /* more than reclaim.bpf.c has */

struct bpf_state {
	struct reclaim_bpf *skel;
	struct bpf_link *links[NR_PROGRAMS];
	size_t nr_links;
	struct reclaim_slot *slots; /* one per possible CPU, mapped */
	size_t nr_slots;
	size_t map_bytes;
	uint64_t misses_base;
};

/* --- loading --- */

__attribute__((format(printf, 2, 0))) static int print_log(enum libbpf_print_level level,
							   const char *fmt, va_list ap)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, fmt, ap);
}

static void close_bpf(void *state)
{
	struct bpf_state *s = state;

	if (!s)
		return;
	for (size_t i = 0; i < s->nr_links; i++)
		(void)bpf_link__destroy(s->links[i]);
	if (s->slots)
		(void)munmap(s->slots, s->map_bytes);
	reclaim_bpf__destroy(s->skel);
	free(s);
}

static void close_bpfp(struct bpf_state **s)
{
	close_bpf(*s);
}

static void free_btfp(struct btf **btf)
{
	btf__free(*btf);
}

/* The type "btf_trace_EVENT" that the kernel has for each of its tracepoints, or negative. */
static int find_event(const struct btf *btf, const char *event)
{
	char name[96];

	(void)snprintf(name, sizeof(name), "btf_trace_%s", event);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
}

/* The begin events were (order, gfp_flags) for long, and are (gfp_flags, order, …) in newer kernels:
 * the type of the first argument behind the hidden one tells. */
static bool order_is_second(const struct btf *btf, const char *event)
{
	int id = find_event(btf, event);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
	const struct btf_param *params;

	if (t)
		t = btf__type_by_id(btf, t->type); /* a pointer … */
	if (t)
		t = btf__type_by_id(btf, t->type); /* … to a function */
	if (!t || !btf_is_func_proto(t) || btf_vlen(t) < 3)
		return false;
	params = btf_params(t);
	t = btf__type_by_id(btf, params[1].type);
	return t && !strcmp(btf__name_by_offset(btf, t->name_off), "gfp_t");
}

/* Without these there is no pass. */
static bool is_required(const char *event)
{
	return !strcmp(event, "mm_vmscan_memcg_reclaim_begin") ||
	       !strcmp(event, "mm_vmscan_memcg_reclaim_end");
}

/* Whether MGLRU is on: it may tell one scan in two events, which takes one more program to see. */
static bool is_mglru(void)
{
	char text[32];

	/* Bit 0 of the mask is the main switch (Documentation/admin-guide/mm/multigen_lru.rst). */
	return kfile_read_at(AT_FDCWD, "/sys/kernel/mm/lru_gen/enabled", text, sizeof(text)) > 0 &&
	       strtoul(text, NULL, 16) & 1;
}

/* Leaves out the events that this kernel does not have, and chooses how to attach the others. */
static int choose_programs(struct reclaim_bpf *skel, const struct btf *btf, bool by_btf,
			   struct fail *f)
{
	bool mglru = is_mglru();
	struct bpf_program *prog;

	skel->rodata->order_arg = order_is_second(btf, "mm_vmscan_memcg_reclaim_begin");
	skel->rodata->told_twice = mglru;
	(void)bpf_program__set_autoload(skel->progs.mm_vmscan_lru_isolate, mglru);
	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *event = bpf_program__name(prog);
		int r = 0;

		if (find_event(btf, event) < 0) {
			if (is_required(event))
				return fail_say(f, ENOENT, "no tracepoint %s", event);
			(void)bpf_program__set_autoload(prog, false);
		}
		if (!by_btf || !bpf_program__autoload(prog))
			continue;
		(void)bpf_program__set_type(prog, BPF_PROG_TYPE_TRACING);
		(void)bpf_program__set_expected_attach_type(prog, BPF_TRACE_RAW_TP);
		r = bpf_program__set_attach_target(prog, 0, event);
		if (r < 0)
			return fail_set(f, -r, "attach to %s by BTF", event);
	}
	return 0;
}

/* What the kernel means by refusing to load: the verifier's words would help nobody here. */
static int say_refused(int err, struct fail *f)
{
	if (!caps_have(CAP_SYS_ADMIN) && !(caps_have(CAP_BPF) && caps_have(CAP_PERFMON)))
		return fail_say(f, EPERM, "needs CAP_BPF and CAP_PERFMON");
	if (tracepoint_locked_down())
		return fail_say(f, EPERM, "the kernel is locked down (confidentiality)");
	return fail_set(f, err, "load the BPF programs");
}

static int load(struct bpf_state *s, const struct btf *btf, size_t nr_groups, bool by_btf,
		struct fail *f)
{
	int r;

	s->skel = reclaim_bpf__open();
	if (!s->skel)
		return fail_set(f, errno, "open the BPF object");
	r = choose_programs(s->skel, btf, by_btf, f);
	if (r < 0)
		return r;
	(void)bpf_map__set_max_entries(s->skel->maps.slots, (__u32)s->nr_slots);
	(void)bpf_map__set_max_entries(s->skel->maps.groups, (__u32)nr_groups);
	r = reclaim_bpf__load(s->skel);
	return r < 0 ? say_refused(-r, f) : 0;
}

/* By BTF first: entered through a trampoline it is the cheaper one. */
static int load_either(struct bpf_state *s, const struct btf *btf, size_t nr_groups, struct fail *f)
{
	int r = load(s, btf, nr_groups, true, f);

	if (r < 0 && r != -EPERM && r != -ENOENT) {
		reclaim_bpf__destroy(s->skel);
		s->skel = NULL;
		r = load(s, btf, nr_groups, false, f);
	}
	return r;
}

static int attach(struct bpf_state *s, struct fail *f)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, s->skel->obj)
	{
		const char *event = bpf_program__name(prog);
		struct bpf_link *link;

		if (!bpf_program__autoload(prog) || s->nr_links == NR_PROGRAMS)
			continue;
		if (bpf_program__type(prog) == BPF_PROG_TYPE_TRACING)
			link = bpf_program__attach_trace(prog);
		else
			link = bpf_program__attach_raw_tracepoint(prog, event);
		if (!link)
			return fail_set(f, errno, "attach BPF to %s", event);
		s->links[s->nr_links++] = link;
	}
	return 0;
}

static int map_slots(struct bpf_state *s, struct fail *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = s->nr_slots * sizeof(struct reclaim_slot);
	void *p;

	s->map_bytes = (bytes + page - 1) / page * page;
	p = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		 bpf_map__fd(s->skel->maps.slots), 0);
	if (p == MAP_FAILED)
		return fail_set(f, errno, "map the BPF counters");
	s->slots = p;
	return 0;
}

static int add_groups(struct bpf_state *s, const struct probe_target *target, struct fail *f)
{
	for (size_t i = 0; i < target->nr_groups; i++) {
		const __u8 present = 1;
		int r = bpf_map__update_elem(s->skel->maps.groups, &target->groups[i].id,
					     sizeof(__u64), &present, sizeof(present), BPF_ANY);

		if (r < 0)
			return fail_set(f, -r, "tell BPF of %s", target->groups[i].path);
	}
	return 0;
}

static int set_up(struct bpf_state *s, const struct probe_target *target, struct fail *f)
{
	_cleanup_(free_btfp) struct btf *btf = btf__load_vmlinux_btf();
	int r, nr_cpus = libbpf_num_possible_cpus();

	if (!btf)
		return fail_say(f, ENOENT, "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
	if (nr_cpus < 0)
		return fail_set(f, -nr_cpus, "count the possible CPUs");
	s->nr_slots = (size_t)nr_cpus;
	r = load_either(s, btf, target->nr_groups ?: 1, f);
	if (r == 0)
		r = map_slots(s, f);
	if (r == 0)
		r = add_groups(s, target, f);
	if (r == 0)
		r = attach(s, f);
	return r;
}

static int open_bpf(const struct probe_target *target, void **ret_state, struct fail *f)
{
	_cleanup_(close_bpfp) struct bpf_state *s = calloc(1, sizeof(*s));
	libbpf_print_fn_t before;
	int r;

	if (!s)
		return fail_set(f, ENOMEM, "open the BPF probe");
	before = libbpf_set_print(target->verbose ? print_log : NULL);
	r = set_up(s, target, f);
	(void)libbpf_set_print(before);
	if (r < 0)
		return r;
	*ret_state = s;
	s = NULL;
	return 0;
}

/* --- reading --- */

/* Runs of our programs that the kernel left out because one was under way on that CPU. */
static uint64_t count_misses(const struct bpf_state *s)
{
	struct bpf_program *prog;
	uint64_t misses = 0;

	bpf_object__for_each_program(prog, s->skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		__u32 size = sizeof(info);

		if (bpf_program__fd(prog) >= 0 &&
		    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size) == 0)
			misses += info.recursion_misses;
	}
	return misses;
}

static int start_bpf(void *state, struct fail *f)
{
	struct bpf_state *s = state;

	(void)f;
	memset(s->slots, 0, s->map_bytes);
	s->misses_base = count_misses(s);
	__atomic_store_n(&s->skel->bss->counting, true, __ATOMIC_RELEASE);
	return 0;
}

static uint64_t value_at(const struct reclaim_slot *slot, size_t offset)
{
	return __atomic_load_n((const uint64_t *)((const char *)slot + offset), __ATOMIC_RELAXED);
}

static uint64_t sum_at(const struct bpf_state *s, size_t offset)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->nr_slots; i++)
		sum += value_at(&s->slots[i], offset);
	return sum;
}

static uint64_t max_at(const struct bpf_state *s, size_t offset)
{
	uint64_t max = 0;

	for (size_t i = 0; i < s->nr_slots; i++) {
		uint64_t value = value_at(&s->slots[i], offset);

		if (value > max)
			max = value;
	}
	return max;
}

#define SUM(s, field) sum_at(s, offsetof(struct reclaim_slot, field))
#define MAX(s, field) max_at(s, offsetof(struct reclaim_slot, field))

/* MGLRU before 6.8 tells nobody what it scans: then there are pages freed, and no scan. */
static bool sees_scans(const struct bpf_state *s)
{
	return SUM(s, scanned.sum) || !SUM(s, reclaimed.sum);
}

static bool has_event(const struct bpf_program *prog)
{
	return bpf_program__autoload(prog);
}

static int read_bpf(void *state, struct probe_counts *ret)
{
	const struct bpf_state *s = state;

	probe_counts_init(ret);
	ret->passes_begun = SUM(s, begun);
	ret->passes_ended = SUM(s, ended);
	ret->passes_in_flight_peak = MAX(s, in_flight_peak);
	ret->reclaimed_pages = SUM(s, reclaimed.sum);
	ret->reclaim_time_ns = SUM(s, latency.sum);
	if (sees_scans(s))
		ret->scanned_pages = SUM(s, scanned.sum);
	if (has_event(s->skel->progs.mm_vmscan_lru_shrink_active))
		ret->active_scanned_pages = SUM(s, active_scanned);
	if (has_event(s->skel->progs.mm_vmscan_memcg_softlimit_reclaim_begin)) {
		ret->softlimit_passes = SUM(s, softlimit_begun);
		ret->softlimit_reclaimed_pages = SUM(s, softlimit_reclaimed);
	}
	if (has_event(s->skel->progs.mm_vmscan_throttled)) {
		ret->throttled_total = SUM(s, throttled_total);
		ret->throttled_ns = SUM(s, throttled_us) * 1000;
		for (size_t i = 0; i < THROTTLE_NR; i++) {
			ret->throttled[i] = SUM(s, throttled[i]);
			ret->throttled_reason_ns[i] = SUM(s, throttled_reason_us[i]) * 1000;
		}
	}
	if (has_event(s->skel->progs.mark_victim))
		ret->oom_victims = SUM(s, oom_victims);
	return 0;
}

/* --- collecting --- */

struct hist_source {
	const char *name;
	const char *unit;
	size_t range;
	size_t buckets;
	unsigned int nr_buckets;
};

#define HIST_SOURCE(name, unit, field, bits)                                                  \
	{                                                                                     \
		name, unit, offsetof(struct reclaim_slot, field),                             \
			offsetof(struct reclaim_slot, field##_buckets), RECLAIM_BUCKETS(bits) \
	}

static const struct hist_source hist_sources[] = {
	HIST_SOURCE("reclaim_latency", "ns", latency, RECLAIM_TIME_BITS),
	HIST_SOURCE("pass_scanned", "pages", scanned, RECLAIM_PAGES_BITS),
	HIST_SOURCE("pass_reclaimed", "pages", reclaimed, RECLAIM_PAGES_BITS),
	HIST_SOURCE("pass_overshoot", "percent", overshoot, RECLAIM_PAGES_BITS),
};

static void fill_hist(const struct bpf_state *s, const struct hist_source *source, struct hist *h)
{
#define RANGE(field) (source->range + offsetof(struct reclaim_range, field))
	for (size_t i = 0; i < source->nr_buckets; i++) {
		h->buckets[i] = sum_at(s, source->buckets + i * sizeof(uint64_t));
		h->count += h->buckets[i];
	}
	if (!h->count)
		return;
	h->sum = sum_at(s, RANGE(sum));
	h->max = max_at(s, RANGE(max));
	h->min = ~max_at(s, RANGE(min));
	h->overflow = sum_at(s, RANGE(overflow));
#undef RANGE
}

/* Puts @pass in its place in the list, worst first; what falls off its end is no longer among them. */
static void insert_worst(struct run_result *run, const struct worst_pass *pass)
{
	size_t at = run->nr_worst;

	while (at && run->worst[at - 1].latency_ns < pass->latency_ns)
		at--;
	if (at == WORST_PASSES_MAX)
		return;
	if (run->nr_worst < WORST_PASSES_MAX)
		run->nr_worst++;
	memmove(&run->worst[at + 1], &run->worst[at],
		(run->nr_worst - 1 - at) * sizeof(*run->worst));
	run->worst[at] = *pass;
}

static void collect_worst(const struct bpf_state *s, struct run_result *run)
{
	for (size_t i = 0; i < s->nr_slots * RECLAIM_WORST; i++) {
		const struct reclaim_worst *w =
			&s->slots[i / RECLAIM_WORST].worst[i % RECLAIM_WORST];
		struct worst_pass pass = {
			.latency_ns = w->latency_ns,
			.scanned = w->scanned,
			.reclaimed = w->reclaimed,
			.goal = w->goal,
		};

		if (!pass.latency_ns)
			continue;
		memcpy(pass.comm, w->comm, sizeof(pass.comm) - 1);
		insert_worst(run, &pass);
	}
}

static void note_what_is_missing(const struct bpf_state *s, struct run_result *run)
{
	uint64_t missed = count_misses(s) - s->misses_base + SUM(s, lost);

	if (missed)
		run_result_note(run, "the BPF probe missed %llu reclaim events",
				(unsigned long long)missed);
	if (!sees_scans(s))
		run_result_note(run, "this kernel's LRU does not tell what a reclaim pass scans "
				     "(MGLRU before 6.8)");
}

static int collect_bpf(void *state, struct run_result *run)
{
	const struct bpf_state *s = state;

	for (size_t i = 0; i < ARRAY_SIZE(hist_sources); i++) {
		const struct hist_source *source = &hist_sources[i];
		struct hist *h;

		if (!strcmp(source->name, "pass_scanned") && !sees_scans(s))
			continue;
		h = run_result_add_hist(run, source->name, source->unit);
		if (!h)
			return -ENOMEM;
		fill_hist(s, source, h);
	}
	collect_worst(s, run);
	note_what_is_missing(s, run);
	return 0;
}

const struct probe_ops probe_bpf_ops = {
	.kind = PROBE_BPF,
	.name = "bpf",
	.blind_to = "",
	.open = open_bpf,
	.start = start_bpf,
	.read = read_bpf,
	.collect = collect_bpf,
	.close = close_bpf,
};
