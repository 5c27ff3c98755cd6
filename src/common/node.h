/* SPDX-License-Identifier: GPL-2.0-only */
/* Where workers run and take their memory from: --cpus and --node (libnuma). */
#pragma once

#include "fail.h"
#include "parse.h"

/* Whether every node of @nodes exists and is allowed for us. 0; -EOPNOTSUPP (no NUMA), -EINVAL. */
int node_check(const struct number_set *nodes, struct fail *f);
/* Binds the calling process' memory to @nodes. 0 or -errno. */
int node_bind(const struct number_set *nodes);
/* Whether every CPU of @cpus is online and allowed for us. 0 or -EINVAL. */
int cpu_check(const struct number_set *cpus, struct fail *f);
int cpu_bind(const struct number_set *cpus); /* the calling process; 0 or -errno */
