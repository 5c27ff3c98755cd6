/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel tracepoints as plain counters: perf_event_open() without a sample period, so no buffer, and
 * nothing that can be lost.
 *
 * Model. A tracepoint is found by name ("vmscan/mm_vmscan_throttled") in tracefs, which gives its
 * id. Several tracepoints are opened together as one perf group, either for all tasks of a cgroup on
 * one CPU, or for one task and everything it will fork or clone (inherit). The first descriptor of a
 * group is its leader; one read of the leader returns all its counts, which on a large machine saves
 * an inter-processor interrupt per event and CPU.
 *
 * Counting starts when a group is opened. Counts of inherited groups cannot be reset (the children's
 * part is kept by the kernel elsewhere): whoever wants a start subtracts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fail.h"

/* The most tracepoints in a group; bounds the stack buffer of tracepoint_read(). */
#define TRACEPOINT_GROUP_MAX 16

struct tracepoint {
	const char *filter; /* as for the kernel's event filters ("reason == 2"), or NULL */
	uint64_t id;
};

/* Whether lockdown=confidentiality is in force: then tracefs is empty, and neither perf nor BPF may look
 * into the kernel, whatever the capabilities. False also where securityfs does not tell. */
bool tracepoint_locked_down(void);

/* Opens the root of tracefs: where it is mounted, else a private mount that no other process sees
 * and that ends with the descriptor. The descriptor, or -errno. */
int tracefs_open(struct fail *f);
/* Finds the id of @event, "SYSTEM/NAME". 0, -ENOENT (this kernel has no such event), or -errno. */
int tracepoint_find(int tracefs_fd, const char *event, uint64_t *ret_id);

/* Opens @tps[0 … nr) for the tasks of the cgroup @cgroup_fd (v2, or v1 perf_event) and of every
 * cgroup below it while they run on @cpu. Writes @nr descriptors, the leader first. 0 or -errno
 * (-ENODEV: no such CPU, or it is offline), and then nothing is left open. */
int tracepoint_open_cgroup(const struct tracepoint *tps, size_t nr, int cgroup_fd, int cpu,
			   int *ret_fds, struct fail *f);
/* Opens @tps[0 … nr) for the task @pid (0: the caller) and all tasks it will make. As above. */
int tracepoint_open_task(const struct tracepoint *tps, size_t nr, pid_t pid, int *ret_fds,
			 struct fail *f);
/* Reads the @nr counts of the group that @leader_fd leads. 0 or -errno. */
int tracepoint_read(int leader_fd, size_t nr, uint64_t *ret_counts);
