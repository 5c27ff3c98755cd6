/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup_libcgroup.h"

#include <errno.h>
#include <libcgroup.h>
#include <stdlib.h>
#include <string.h>

int libcgroup_mount_point(const char *controller, char *ret_path, size_t size)
{
	char *point = NULL;
	int r = 0;

	if (cgroup_init() || cgroup_get_subsys_mount_point(controller, &point) || !point)
		return -ENOENT;
	if (strlen(point) < size)
		memcpy(ret_path, point, strlen(point) + 1);
	else
		r = -ENAMETOOLONG;
	free(point);
	return r;
}

int libcgroup_set_v1(const char *name, const char *controller, const char *file, const char *text)
{
	struct cgroup_controller *ctl;
	struct cgroup *group;
	int r = -EIO;

	if (cgroup_init())
		return -EIO;
	group = cgroup_new_cgroup(name);
	if (!group)
		return -EIO;
	ctl = cgroup_add_controller(group, controller);
	if (ctl && !cgroup_add_value_string(ctl, file, text) && !cgroup_modify_cgroup(group))
		r = 0;
	cgroup_free(&group);
	return r;
}
