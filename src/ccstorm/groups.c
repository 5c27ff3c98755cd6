/* SPDX-License-Identifier: GPL-2.0-only */
#include "groups.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"

struct paths {
	char memory[PATH_MAX];
	char unified[PATH_MAX];
};

void groups_twin_path(const struct run *run, char ret_path[PATH_MAX])
{
	const char *name = strrchr(run->group.path, '/');

	ret_path[0] = '\0';
	if (run->parent_unified[0] && name)
		(void)snprintf(ret_path, PATH_MAX, "%.*s%s", PATH_MAX - 256, run->parent_unified,
			       name);
}

static int find_paths(const struct run *run, const char *name, struct paths *ret, struct fail *f)
{
	char twin[PATH_MAX];

	groups_twin_path(run, twin);
	ret->unified[0] = '\0';
	if (snprintf(ret->memory, PATH_MAX, "%s/%s", run->group.path, name) >= PATH_MAX ||
	    (twin[0] && snprintf(ret->unified, PATH_MAX, "%s/%s", twin, name) >= PATH_MAX))
		return fail_set(f, ENAMETOOLONG, "%.64s…/%s", run->group.path, name);
	return 0;
}

int groups_make(struct run *run, const char *name, struct cgroup *ret, struct fail *f)
{
	struct paths p;
	int r = find_paths(run, name, &p, f);

	if (r == 0)
		r = arena_make_cgroup(run->arena, p.memory, p.unified, f);
	return r == 0 ? cgroup_open(&run->host, p.memory, p.unified, ret, f) : r;
}

int groups_make_pods(struct run *run, unsigned int nr, struct fail *f)
{
	for (unsigned int i = 0; i < nr; i++) {
		char name[32];
		struct paths p;
		int r;

		(void)snprintf(name, sizeof(name), "pod-%u", i);
		r = find_paths(run, name, &p, f);
		if (r == 0)
			r = arena_make_cgroup(run->arena, p.memory, p.unified, f);
		if (r < 0)
			return r;
		if (run_stop_requested)
			return fail_say(f, EINTR, "interrupted while pods were made");
	}
	return 0;
}

int groups_open_pod(struct run *run, unsigned int index, struct cgroup *ret, struct fail *f)
{
	char name[32];
	struct paths p;
	int r;

	(void)snprintf(name, sizeof(name), "pod-%u", index);
	r = find_paths(run, name, &p, f);
	return r == 0 ? cgroup_open(&run->host, p.memory, p.unified, ret, f) : r;
}
