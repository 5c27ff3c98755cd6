/* SPDX-License-Identifier: GPL-2.0-only */
#include "node.h"

#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <stdio.h>

int node_check(const struct number_set *nodes, struct fail *f)
{
	struct bitmask *allowed;
	int r = 0;

	if (numa_available() < 0)
		return fail_say(f, EOPNOTSUPP, "--node: this kernel has no NUMA memory policy");
	/* Not numa_all_nodes: in a cpuset the kernel answers EINVAL for a node outside of it. */
	allowed = numa_get_mems_allowed();
	for (unsigned int n = 0; n < PARSE_LIST_MAX && r == 0; n++)
		if (number_set_has(nodes, n) &&
		    (n > (unsigned int)numa_max_node() || !numa_bitmask_isbitset(allowed, n)))
			r = fail_say(f, EINVAL,
				     "--node: node %u does not exist or is not allowed "
				     "here",
				     n);
	numa_bitmask_free(allowed);
	return r;
}

int node_bind(const struct number_set *nodes)
{
	struct bitmask *mask;

	if (numa_available() < 0)
		return -EOPNOTSUPP;
	mask = numa_allocate_nodemask();
	for (unsigned int n = 0; n <= (unsigned int)numa_max_node(); n++)
		if (number_set_has(nodes, n))
			(void)numa_bitmask_setbit(mask, n);
	numa_set_membind(mask);
	numa_bitmask_free(mask);
	return 0;
}

int cpu_check(const struct number_set *cpus, struct fail *f)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return fail_set(f, errno, "--cpus: sched_getaffinity");
	for (unsigned int n = 0; n < PARSE_LIST_MAX; n++)
		if (number_set_has(cpus, n) && (n >= CPU_SETSIZE || !CPU_ISSET(n, &allowed)))
			return fail_say(f, EINVAL,
					"--cpus: CPU %u does not exist or is not allowed here", n);
	return 0;
}

int cpu_bind(const struct number_set *cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int n = 0; n < CPU_SETSIZE; n++)
		if (number_set_has(cpus, n))
			CPU_SET(n, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

/* libnuma prints its complaints unless these are replaced; a library does not talk. */
void numa_error(char *where)
{
	(void)where;
}

void numa_warn(int number, char *where, ...)
{
	(void)number;
	(void)where;
}
