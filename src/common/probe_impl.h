/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a back end of the probe is; for probe.c, the back ends and their tests only.
 *
 * A back end is one constant table of functions over a state of its own. NULL means that there is
 * nothing to do (add_worker, start, collect). A build without BPF has probe_bpf_none.c, whose open
 * says just that.
 */
#pragma once

#include "probe.h"

struct probe_target {
	const struct cgroup_host *host;
	const struct cgroup *groups; /* outlive the probe */
	size_t nr_groups;
	bool verbose;
};

struct probe_ops {
	enum probe_kind kind;
	const char *name;
	const char *blind_to;
	int (*open)(const struct probe_target *target, void **ret_state, struct fail *f);
	int (*add_worker)(void *state, pid_t pid, struct fail *f);
	int (*start)(void *state, struct fail *f);
	int (*read)(void *state, struct probe_counts *ret);
	int (*collect)(void *state, struct run_result *run);
	void (*close)(void *state);
};

extern const struct probe_ops probe_bpf_ops;
extern const struct probe_ops probe_perf_ops;
extern const struct probe_ops probe_files_ops;

/* probe_open() over a list of back ends, best first, that ends with NULL. */
int probe_open_from(const struct probe_ops *const *list, enum probe_kind kind,
		    const struct probe_target *target, struct probe **ret, char ret_why[TEXT_SIZE],
		    struct fail *f);
