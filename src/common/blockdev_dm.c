/* SPDX-License-Identifier: GPL-2.0-only */
/* dm-delay through libdevmapper, which knows what raw ioctls get wrong beside udev. */
#include "blockdev.h"

#include <errno.h>

#ifdef HAVE_DEVMAPPER

#include <fcntl.h>
#include <inttypes.h>
#include <libdevmapper.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cleanup.h"

/* Also gives back the control node, which the library would keep open in a static variable: the guard
 * closes what it inherits, and the number would then belong to another file. */
static void free_task(struct dm_task **t)
{
	if (!*t)
		return;
	dm_task_destroy(*t);
	dm_lib_release();
}
#define _cleanup_task_ _cleanup_(free_task)

/* The library prints by itself unless it is given somewhere else to say things. */
static void __attribute__((format(printf, 5, 6)))
say_nothing(int level, const char *file, int line, int dm_errno, const char *fmt, ...)
{
	(void)level, (void)file, (void)line, (void)dm_errno, (void)fmt;
}

static struct dm_task *new_task(int type, const char *name)
{
	struct dm_task *t;

	dm_log_with_errno_init(say_nothing);
	/* Without udevd nobody would ever answer the cookie, and the node would not be made. */
	if (access("/run/udev/control", F_OK))
		dm_udev_set_sync_support(0);
	t = dm_task_create(type);
	if (t && name && !dm_task_set_name(t, name)) {
		dm_task_destroy(t);
		return NULL;
	}
	return t;
}

/* Runs a task that changes devices and waits until udev has seen it. */
static int run_with_udev(struct dm_task *t)
{
	uint32_t cookie = 0;
	int r;

	if (!dm_task_set_cookie(t, &cookie, 0))
		return -EIO;
	r = dm_task_run(t) ? 0 : -(dm_task_get_errno(t) ? dm_task_get_errno(t) : EIO);
	(void)dm_udev_wait(cookie);
	return r;
}

bool delay_present(void)
{
	_cleanup_task_ struct dm_task *t = NULL;
	const struct dm_versions *target;

	if (access("/sys/module/dm_mod", F_OK))
		return false;
	t = new_task(DM_DEVICE_LIST_VERSIONS, NULL);
	if (!t || !dm_task_run(t))
		return false;
	for (target = dm_task_get_versions(t); target;) {
		if (!strcmp(target->name, "delay"))
			return true;
		if (!target->next)
			return false;
		target = (const struct dm_versions *)(const void *)((const char *)target +
								    target->next);
	}
	return false;
}

/* /dev/mapper/NAME if it came, else the kernel's own node, else one that we make (no devtmpfs). */
static int find_node(const char *name, char ret_dev[PATH_MAX], struct fail *f)
{
	_cleanup_task_ struct dm_task *t = new_task(DM_DEVICE_INFO, name);
	struct dm_info info;
	struct stat st;

	(void)snprintf(ret_dev, PATH_MAX, "%s/%s", dm_dir(), name);
	if (!stat(ret_dev, &st) && S_ISBLK(st.st_mode))
		return 0;
	if (!t || !dm_task_run(t) || !dm_task_get_info(t, &info) || !info.exists)
		return fail_say(f, ENODEV, "dm device %s did not appear", name);
	(void)snprintf(ret_dev, PATH_MAX, "/dev/dm-%u", info.minor);
	if (stat(ret_dev, &st) && mknod(ret_dev, S_IFBLK | 0600, makedev(info.major, info.minor)))
		return fail_set(f, errno, "making the node %s", ret_dev);
	return 0;
}

/* Number and length in sectors of a block device. */
static int describe(const char *dev, struct stat *ret_st, uint64_t *ret_sectors, struct fail *f)
{
	_cleanup_close_ int fd = open(dev, O_RDONLY | O_CLOEXEC);
	uint64_t bytes;

	if (fd < 0 || fstat(fd, ret_st) || ioctl(fd, BLKGETSIZE64, &bytes))
		return fail_set(f, errno, "%s", dev);
	*ret_sectors = bytes / 512;
	return 0;
}

int delay_create(const char *name, const char *lower, unsigned int delay_ms, char ret_dev[PATH_MAX],
		 struct fail *f)
{
	_cleanup_task_ struct dm_task *t = NULL;
	uint64_t sectors = 0;
	char params[128];
	struct stat st = { 0 };
	int r;

	blockdev_load(BLOCKDEV_DELAY);
	r = describe(lower, &st, &sectors, f);
	if (r)
		return r;
	/* Documentation/admin-guide/device-mapper/delay.rst: device offset delay, for reads, writes. */
	(void)snprintf(params, sizeof(params), "%u:%u 0 %u %u:%u 0 %u", major(st.st_rdev),
		       minor(st.st_rdev), delay_ms, major(st.st_rdev), minor(st.st_rdev), delay_ms);
	t = new_task(DM_DEVICE_CREATE, name);
	if (!t || !dm_task_add_target(t, 0, sectors, "delay", params))
		return fail_set(f, ENOMEM, "dm device %s", name);
	r = run_with_udev(t);
	if (r)
		return fail_set(f, r == -ENXIO || r == -ENODEV || r == -ENOENT ? EOPNOTSUPP : -r,
				"making the dm-delay device %s", name);
	return find_node(name, ret_dev, f);
}

static bool exists(const char *name)
{
	_cleanup_task_ struct dm_task *t = new_task(DM_DEVICE_INFO, name);
	struct dm_info info;

	return t && dm_task_run(t) && dm_task_get_info(t, &info) && info.exists;
}

int delay_remove(const char *name, struct fail *f)
{
	_cleanup_task_ struct dm_task *t = NULL;
	int r;

	/* Without the control node there is no device; the library would load the module. */
	if (access("/sys/module/dm_mod", F_OK) || !exists(name))
		return 0;
	t = new_task(DM_DEVICE_REMOVE, name);
	if (!t)
		return fail_set(f, ENOMEM, "dm device %s", name);
	/* udev's own probing may have it open for a moment. */
	(void)dm_task_retry_remove(t);
	r = run_with_udev(t);
	return r && exists(name) ? fail_set(f, -r, "removing the dm device %s", name) : 0;
}

int delay_each(void (*each)(const char *name, void *data), void *data)
{
	_cleanup_task_ struct dm_task *t = NULL;
	const struct dm_names *names;

	if (access("/sys/module/dm_mod", F_OK))
		return 0;
	t = new_task(DM_DEVICE_LIST, NULL);
	if (!t || !dm_task_run(t))
		return -EIO;
	names = dm_task_get_names(t);
	if (!names || !names->dev)
		return 0;
	for (;;) {
		each(names->name, data);
		if (!names->next)
			return 0;
		names = (const struct dm_names *)(const void *)((const char *)names + names->next);
	}
}

#else

bool delay_present(void)
{
	return false;
}

int delay_create(const char *name, const char *lower, unsigned int delay_ms, char ret_dev[PATH_MAX],
		 struct fail *f)
{
	(void)lower, (void)delay_ms, (void)ret_dev;
	return fail_say(f, EOPNOTSUPP, "no dm device %s: built without libdevmapper-dev", name);
}

int delay_remove(const char *name, struct fail *f)
{
	(void)name, (void)f;
	return 0;
}

int delay_each(void (*each)(const char *name, void *data), void *data)
{
	(void)each, (void)data;
	return 0;
}

#endif
