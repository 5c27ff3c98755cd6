/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fence around libcgroup 2.0.2: the two things it does right on this side of v2, each with a
 * plain fallback at the caller, because it loses errno, needs /proc/cgroups, and takes milliseconds.
 * Its header is included in one file only: its names begin with cgroup_ as ours do.
 */
#pragma once

#include <stddef.h>

/* Where @controller is mounted, by libcgroup's own table. 0, -ENOENT or -ENAMETOOLONG. */
int libcgroup_mount_point(const char *controller, char *ret_path, size_t size);
/* Sets one v1 parameter of the existing group @name (a path below the mount point).
 * 0 or -EIO: libcgroup does not say why, so ask the kernel by a plain write then. */
int libcgroup_set_v1(const char *name, const char *controller, const char *file, const char *text);
