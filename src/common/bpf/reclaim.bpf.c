/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every reclaim pass of the tasks of our memcgs as an event, aggregated where it happens.
 *
 * A thread is ours if its *memory* cgroup, or one above it, is in the table `groups` of kernfs ids: so
 * v1, v2 and hybrid hosts are the same. That is looked up at its first pass; from then until it exits
 * it has a row in `threads`, because finding that is several times cheaper, and making and removing
 * one in each pass was half of what a pass cost. What happens to a thread between the begin and the
 * end of a pass belongs to the pass.
 *
 * The programs are fit for both kinds of attachment, by BTF (tp_btf) and without (raw_tp); the loader
 * takes the one that works. Only what all kernels have in the same place is read from the arguments;
 * the place of the order is told by the loader.
 */
#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "reclaim.h"

char LICENSE[] SEC("license") = "GPL";

/* The few kernel types that are looked into; CO-RE finds the fields on the running kernel. */
#define CO_RE __attribute__((preserve_access_index))
struct kernfs_node {
	__u64 id;
	struct kernfs_node *parent;
} CO_RE;
/* Named so since 6.15. */
struct kernfs_node___rcu {
	struct kernfs_node *__parent;
} CO_RE;
struct cgroup {
	struct kernfs_node *kn;
} CO_RE;
struct cgroup_subsys_state {
	struct cgroup *cgroup;
} CO_RE;
struct css_set {
	struct cgroup_subsys_state *subsys[1];
} CO_RE;
struct task_struct {
	struct css_set *cgroups;
} CO_RE;
/* Any number: the running kernel's is put in when the program is loaded. */
enum cgroup_subsys_id { memory_cgrp_id = 1 };

/* Set by the loader. */
const volatile __u32 order_arg = 0; /* which argument of the begin events is the order: 0 or 1 */
const volatile bool told_twice = false; /* a scan may be told in two events (MGLRU) */

/* Events before the reader is ready are not ours. */
bool counting = false;
/* Passes under way on all CPUs; the only thing that CPUs share. */
__u64 in_flight = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u64);
	__type(value, __u8);
} groups SEC(".maps");

/* A thread of ours and the pass it is in. */
struct pass {
	__u64 start_ns; /* 0: it is in none */
	__u64 scanned;
	__u64 goal;
	__u64 isolated; /* pages were taken off a list, and their scan is not yet told */
};

/* By thread id. Preallocated, as nothing can be allocated in the middle of reclaim; enough for 16 times
 * the processes that a scenario starts, and what does not fit is counted as lost. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct pass);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the number of possible CPUs, set by the loader */
	__type(key, __u32);
	__type(value, struct reclaim_slot);
} slots SEC(".maps");

/* Atomic, though the slot is this CPU's own: kernels that trace under SRCU may preempt us. Without a
 * use of the result it is one instruction of the oldest BPF. */
#define ADD(counter, n) ((void)__sync_fetch_and_add(&(counter), (n)))

static __always_inline struct reclaim_slot *this_slot(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&slots, &cpu);
}

static __always_inline struct kernfs_node *parent_of(struct kernfs_node *kn)
{
	struct kernfs_node___rcu *rcu = (void *)kn;

	if (bpf_core_field_exists(rcu->__parent))
		return BPF_CORE_READ(rcu, __parent);
	return BPF_CORE_READ(kn, parent);
}

/* The deepest nesting of groups below one of ours, with room; bounds the walk for the verifier. */
#define LEVELS_MAX 8

static __always_inline bool is_ours(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 memory = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL;
	struct kernfs_node *kn;

	/* &set->subsys[memory], with the offset and the index of the running kernel */
	bpf_probe_read_kernel(&css, sizeof(css),
			      (void *)set + bpf_core_field_offset(struct css_set, subsys) +
				      memory * sizeof(void *));
	kn = BPF_CORE_READ(css, cgroup, kn);
#pragma unroll
	for (__u32 level = 0; level < LEVELS_MAX; level++) {
		__u64 id;

		if (!kn)
			return false;
		id = BPF_CORE_READ(kn, id);
		if (bpf_map_lookup_elem(&groups, &id))
			return true;
		kn = parent_of(kn);
	}
	return false;
}

static __always_inline __u32 this_tid(void)
{
	return (__u32)bpf_get_current_pid_tgid();
}

static __always_inline struct pass *this_thread(void)
{
	__u32 tid = this_tid();

	return bpf_map_lookup_elem(&threads, &tid);
}

/* The pass that this thread is in, or NULL. */
static __always_inline struct pass *this_pass(void)
{
	struct pass *pass = this_thread();

	return pass && pass->start_ns ? pass : NULL;
}

/* For events that may come outside a pass. */
static __always_inline bool is_counted(void)
{
	return counting && (this_thread() || is_ours());
}

/* Pages to free in a pass: SWAP_CLUSTER_MAX, or what compaction needs for the order (compact_gap()). */
static __always_inline __u64 goal_of(__u64 order)
{
	__u64 gap = 2ULL << (order & 31);

	return gap > 32 ? gap : 32;
}

/* The row of this thread, made if it is ours and has none; NULL if it is not ours or nothing is free. */
static __always_inline struct pass *claim_thread(struct reclaim_slot *slot)
{
	struct pass *pass = this_thread(), none = {};
	__u32 tid = this_tid();

	if (pass || !is_ours())
		return pass;
	if (bpf_map_update_elem(&threads, &tid, &none, BPF_ANY)) {
		ADD(slot->lost, 1);
		return NULL;
	}
	return this_thread();
}

static __always_inline int on_begin(__u64 first, __u64 second)
{
	struct reclaim_slot *slot = this_slot();
	struct pass *pass;
	__u64 now;

	if (!counting || !slot)
		return 0;
	pass = claim_thread(slot);
	if (!pass)
		return 0;
	ADD(slot->begun, 1);
	ADD(in_flight, 1);
	now = *(volatile __u64 *)&in_flight;
	if (now > slot->in_flight_peak)
		slot->in_flight_peak = now;
	pass->goal = goal_of(order_arg ? second : first);
	pass->scanned = 0;
	pass->isolated = 0;
	pass->start_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void note_range(struct reclaim_range *range, __u64 value, __u32 bits)
{
	ADD(range->sum, value);
	if (value > range->max)
		range->max = value;
	if (~value > range->min)
		range->min = ~value;
	if (value >> bits)
		ADD(range->overflow, 1);
}

/* The bucket again bounded, in words that the verifier understands. */
#define NOTE(slot, what, value, bits)                           \
	do {                                                    \
		__u32 bucket = reclaim_bucket(value, bits);     \
		note_range(&(slot)->what, value, bits);         \
		if (bucket < RECLAIM_BUCKETS(bits))             \
			ADD((slot)->what##_buckets[bucket], 1); \
	} while (0)

/* Replaces the least of the worst passes of this CPU, which this one is worse than: the worst of all
 * CPUs are among these. */
static __always_inline void note_worst(struct reclaim_slot *slot, const struct pass *pass,
				       __u64 latency, __u64 reclaimed)
{
	__u64 least_ns = ~0ULL, second_ns = ~0ULL;
	struct reclaim_worst *w;
	__u32 least = 0;

	for (__u32 i = 0; i < RECLAIM_WORST; i++) {
		__u64 ns = slot->worst[i].latency_ns;

		if (ns < least_ns) {
			second_ns = least_ns;
			least_ns = ns;
			least = i;
		} else if (ns < second_ns) {
			second_ns = ns;
		}
	}
	if (least >= RECLAIM_WORST)
		return;
	w = &slot->worst[least];
	w->latency_ns = latency;
	w->scanned = pass->scanned;
	w->reclaimed = reclaimed;
	w->goal = pass->goal;
	bpf_get_current_comm(w->comm, sizeof(w->comm));
	slot->least_worst_ns = latency < second_ns ? latency : second_ns;
}

static __always_inline int on_end(__u64 reclaimed)
{
	struct reclaim_slot *slot = this_slot();
	struct pass *pass = this_pass();
	__u64 latency;

	if (!pass || !slot)
		return 0;
	latency = bpf_ktime_get_ns() - pass->start_ns;
	pass->start_ns = 0;
	ADD(in_flight, -1);
	ADD(slot->ended, 1);
	NOTE(slot, latency, latency, RECLAIM_TIME_BITS);
	NOTE(slot, scanned, pass->scanned, RECLAIM_PAGES_BITS);
	NOTE(slot, reclaimed, reclaimed, RECLAIM_PAGES_BITS);
	NOTE(slot, overshoot, reclaimed * 100 / (pass->goal ?: 1), RECLAIM_PAGES_BITS);
	if (latency > slot->least_worst_ns)
		note_worst(slot, pass, latency, reclaimed);
	return 0;
}

static __always_inline int on_isolate(void)
{
	struct pass *pass = this_pass();

	if (pass)
		pass->isolated = 1;
	return 0;
}

/* MGLRU shrinks what one isolation took in up to two rounds, and tells the same number of scanned
 * pages in each; the first counts. */
static __always_inline int on_shrink_inactive(__u64 scanned)
{
	struct pass *pass = this_pass();

	if (!pass || (told_twice && !pass->isolated))
		return 0;
	pass->isolated = 0;
	pass->scanned += scanned;
	return 0;
}

static __always_inline int on_shrink_active(__u64 taken)
{
	struct reclaim_slot *slot;

	if (!this_pass())
		return 0;
	slot = this_slot();
	if (slot)
		ADD(slot->active_scanned, taken);
	return 0;
}

static __always_inline int on_softlimit_begin(void)
{
	struct reclaim_slot *slot;

	if (!is_counted())
		return 0;
	slot = this_slot();
	if (slot)
		ADD(slot->softlimit_begun, 1);
	return 0;
}

static __always_inline int on_softlimit_end(__u64 reclaimed)
{
	struct reclaim_slot *slot;

	if (!is_counted())
		return 0;
	slot = this_slot();
	if (slot)
		ADD(slot->softlimit_reclaimed, reclaimed);
	return 0;
}

/* Here the reason is the number of the state; the text event shows 1 << state. */
static __always_inline int on_throttled(__u64 delayed_us, __u64 reason)
{
	struct reclaim_slot *slot;

	if (!is_counted())
		return 0;
	slot = this_slot();
	if (!slot)
		return 0;
	ADD(slot->throttled_total, 1);
	ADD(slot->throttled_us, delayed_us);
	if (reason < RECLAIM_REASONS) {
		ADD(slot->throttled[reason], 1);
		ADD(slot->throttled_reason_us[reason], delayed_us);
	}
	return 0;
}

static __always_inline int on_victim(void)
{
	struct reclaim_slot *slot;

	if (!is_counted())
		return 0;
	slot = this_slot();
	if (slot)
		ADD(slot->oom_victims, 1);
	return 0;
}

/* Its number may be given to a thread that is not ours. */
static __always_inline int on_exit(void)
{
	__u32 tid = this_tid();

	bpf_map_delete_elem(&threads, &tid);
	return 0;
}

/* The arguments of an event are 64 bits each, in both flavours; an int among them is in the low half,
 * and the high half is undefined. The loader goes by the name: a program is called like its event. */
#define ON(event, call)                                \
	SEC("raw_tp/" #event)                          \
	int event(__u64 *args __attribute__((unused))) \
	{                                              \
		return call;                           \
	}

#define INT(arg) ((__u64)(__u32)(arg))

ON(mm_vmscan_memcg_reclaim_begin, on_begin(INT(args[0]), INT(args[1])))
ON(mm_vmscan_memcg_reclaim_end, on_end(args[0]))
ON(mm_vmscan_direct_reclaim_begin, on_begin(INT(args[0]), INT(args[1])))
ON(mm_vmscan_direct_reclaim_end, on_end(args[0]))
ON(mm_vmscan_memcg_softlimit_reclaim_begin, on_softlimit_begin())
ON(mm_vmscan_memcg_softlimit_reclaim_end, on_softlimit_end(args[0]))
ON(mm_vmscan_lru_isolate, on_isolate())
ON(mm_vmscan_lru_shrink_inactive, on_shrink_inactive(args[1]))
ON(mm_vmscan_lru_shrink_active, on_shrink_active(args[1]))
ON(mm_vmscan_throttled, on_throttled(INT(args[2]), INT(args[3])))
ON(mark_victim, on_victim())
ON(sched_process_exit, on_exit())
