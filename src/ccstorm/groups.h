/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups below the run's own: the pods, and the groups A and B of soft-limit. On cgroup v2 the run's
 * group must then have no process itself, so a scenario with groups spawns its workers into them.
 */
#pragma once

#include <limits.h>

#include "cgroup.h"
#include "fail.h"
#include "run.h"

/* The run's group in the v2 hierarchy of a hybrid host, where its twin is; "" without one. */
void groups_twin_path(const struct run *run, char ret_path[PATH_MAX]);
/* Makes and opens NAME (may have a slash: a group in a group made before) below the run's group; it
 * goes with the run. 0 or -errno. */
int groups_make(struct run *run, const char *name, struct cgroup *ret, struct fail *f);
/* Makes pod-0 … pod-(@nr - 1), without keeping them open. */
int groups_make_pods(struct run *run, unsigned int nr, struct fail *f);
/* Opens pod-@index, for one look or one spawn. */
int groups_open_pod(struct run *run, unsigned int index, struct cgroup *ret, struct fail *f);
