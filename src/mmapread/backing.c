/* SPDX-License-Identifier: GPL-2.0-only */
#include "backing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cleanup.h"

static long type_of(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) < 0 ? 0 : (long)fs.f_type;
}

bool backing_is_memory(const char *dir)
{
	long type = type_of(dir);

	return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

bool backing_wants_buffered(const char *dir)
{
	return type_of(dir) == BTRFS_SUPER_MAGIC;
}

/* A btrfs file's st_dev names its subvolume, not the bdi ("btrfs-1"), but sysfs has a link to that
 * below the filesystem's UUID (5.11 and later). */
static int btrfs_file(const char *dir, char ret_path[PATH_MAX])
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct btrfs_ioctl_fs_info_args info = { 0 };
	char uuid[2 * BTRFS_FSID_SIZE + 5], *at = uuid;

	if (fd < 0 || ioctl(fd, BTRFS_IOC_FS_INFO, &info) < 0)
		return -errno;
	for (size_t i = 0; i < BTRFS_FSID_SIZE; i++) {
		bool dash = i == 4 || i == 6 || i == 8 || i == 10;

		at += sprintf(at, "%s%02x", dash ? "-" : "", info.fsid[i]);
	}
	(void)snprintf(ret_path, PATH_MAX, "/sys/fs/btrfs/%s/bdi/read_ahead_kb", uuid);
	return access(ret_path, R_OK) < 0 ? -errno : 0;
}

static int device_file(const char *dir, char ret_path[PATH_MAX])
{
	/* A partition has the bdi of its disk; what is no disk (9p, nfs) has it under its number. */
	static const char *const forms[][2] = {
		{ "/sys/dev/block/", "/bdi" },
		{ "/sys/dev/block/", "/../bdi" },
		{ "/sys/class/bdi/", "" },
	};
	struct stat st;

	if (stat(dir, &st) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		(void)snprintf(ret_path, PATH_MAX, "%s%u:%u%s/read_ahead_kb", forms[i][0],
			       major(st.st_dev), minor(st.st_dev), forms[i][1]);
		if (access(ret_path, R_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

int backing_readahead_file(const char *dir, char ret_path[PATH_MAX], struct fail *f)
{
	char path[PATH_MAX];
	int r = type_of(dir) == BTRFS_SUPER_MAGIC ? btrfs_file(dir, path) : device_file(dir, path);

	if (r < 0)
		return fail_say(
			f, EOPNOTSUPP,
			"needs the readahead window of the device behind %s, and there is none "
			"to be found (an overlay? give a folder on a disk with --dir)",
			dir);
	(void)snprintf(ret_path, PATH_MAX, "%s", path);
	return 0;
}
