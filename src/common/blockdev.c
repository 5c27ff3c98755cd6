/* SPDX-License-Identifier: GPL-2.0-only */
#include "blockdev.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "parse.h"
#include "subproc.h"

/* Loading a module takes milliseconds; under emulation a second. */
#define MODPROBE_NS 10000000000U

/* Device numbers that we look at; zram and loop hand out the lowest free one. */
#define NUMBERS_MAX 1024

static const struct kind_row {
	const char *name;
	const char *sign; /* what is there when it can be used */
	const char *modules[3];
} kinds[BLOCKDEV_KINDS] = {
	[BLOCKDEV_LOOP] = { "loop devices", "/dev/loop-control", { "loop" } },
	[BLOCKDEV_ZRAM] = { "zram", "/sys/class/zram-control", { "zram" } },
	[BLOCKDEV_DELAY] = { "device-mapper with dm-delay",
			     "device-mapper target \"delay\"",
			     { "dm_mod", "dm_delay" } },
};

static int modprobe(const char *module, bool dry_run)
{
	const char *const load[] = { "modprobe", "-q", module, NULL };
	const char *const ask[] = { "modprobe", "-q", "-n", module, NULL };

	return subproc_run(dry_run ? ask : load, MODPROBE_NS, -1, NULL);
}

static bool is_present(enum blockdev_kind kind)
{
	/* A target that is built in shows in no path. */
	return kind == BLOCKDEV_DELAY ? delay_present() : !access(kinds[kind].sign, F_OK);
}

int blockdev_probe(enum blockdev_kind kind, struct fail *f)
{
	const struct kind_row *row = &kinds[kind];

#ifndef HAVE_DEVMAPPER
	if (kind == BLOCKDEV_DELAY)
		return fail_say(f, EOPNOTSUPP, "no device-mapper: built without libdevmapper-dev");
#endif
	if (is_present(kind))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(row->modules) && row->modules[i]; i++) {
		if (modprobe(row->modules[i], true))
			return fail_say(f, EOPNOTSUPP, "no %s in this kernel (no %s and no module)",
					row->name, row->sign);
	}
	return 0;
}

void blockdev_load(enum blockdev_kind kind)
{
	const struct kind_row *row = &kinds[kind];

	if (is_present(kind))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(row->modules) && row->modules[i]; i++)
		(void)modprobe(row->modules[i], false);
}

int loop_get_free(struct fail *f)
{
	_cleanup_close_ int fd = -1;
	int nr;

	blockdev_load(BLOCKDEV_LOOP);
	fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fail_set(f, errno == ENOENT ? EOPNOTSUPP : errno, "/dev/loop-control");
	nr = ioctl(fd, LOOP_CTL_GET_FREE);
	return nr < 0 ? fail_set(f, errno, "no free loop device") : nr;
}

static int configure(int loop_fd, int file_fd, unsigned int flags)
{
	struct loop_config config = {
		.fd = (unsigned int)file_fd,
		.info.lo_flags = flags,
	};

	return ioctl(loop_fd, LOOP_CONFIGURE, &config) ? -errno : 0;
}

int loop_attach(unsigned int nr, const char *file, struct fail *f)
{
	_cleanup_close_ int file_fd = open(file, O_RDWR | O_CLOEXEC);
	_cleanup_close_ int loop_fd = -1;
	_cleanup_close_ int hold_fd = -1;
	char dev[32];
	int r;

	if (file_fd < 0)
		return fail_set(f, errno, "%s", file);
	(void)snprintf(dev, sizeof(dev), "/dev/loop%u", nr);
	loop_fd = open(dev, O_RDWR | O_CLOEXEC);
	if (loop_fd < 0)
		return fail_set(f, errno, "%s", dev);
	/* Autoclear: if everybody dies the kernel itself lets go. Direct I/O: else the file's page
	 * cache would stand between the load and the device. Old kernels refuse it by EINVAL where
	 * the filesystem cannot do it, others pass over it. */
	r = configure(loop_fd, file_fd, LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO);
	if (r == -EINVAL)
		r = configure(loop_fd, file_fd, LO_FLAGS_AUTOCLEAR);
	if (r)
		return fail_set(f, -r, "attaching %s to %s", file, dev);
	/* The holder must not write: a kernel without CONFIG_BLK_DEV_WRITE_MOUNTED mounts nothing that
	 * somebody has open for writing. Opened before the other is closed, or it would be cleared. */
	hold_fd = open(dev, O_RDONLY | O_CLOEXEC);
	if (hold_fd < 0)
		return fail_set(f, errno, "%s", dev);
	return take_fd(&hold_fd);
}

int loop_backing(unsigned int nr, char ret_file[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	char path[64];
	ssize_t n;
	size_t len;

	(void)snprintf(path, sizeof(path), "/sys/block/loop%u/loop/backing_file", nr);
	n = kfile_read_at(AT_FDCWD, path, ret_file, PATH_MAX);
	if (n < 0)
		return (int)n;
	ret_file[strcspn(ret_file, "\n")] = '\0';
	len = strlen(ret_file);
	if (len >= sizeof(deleted) && !strcmp(ret_file + len - (sizeof(deleted) - 1), deleted))
		ret_file[len - (sizeof(deleted) - 1)] = '\0';
	return 0;
}

int loop_detach(unsigned int nr, const char *file)
{
	_cleanup_close_ int fd = -1;
	char backing[PATH_MAX], dev[32];
	int r = 0;

	if (loop_backing(nr, backing) || strcmp(backing, file))
		return 0;
	(void)snprintf(dev, sizeof(dev), "/dev/loop%u", nr);
	fd = open(dev, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENXIO ? 0 : -errno;
	if (ioctl(fd, LOOP_CLR_FD) && errno != ENXIO)
		r = -errno;
	/* With other users the kernel only promises to clear at the last close: look. */
	(void)close(take_fd(&fd));
	if (!r && !loop_backing(nr, backing) && !strcmp(backing, file))
		r = -EBUSY;
	return r;
}

static int zram_attr(unsigned int nr, const char *attr, const char *text)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/block/zram%u/%s", nr, attr);
	return kfile_write_at(AT_FDCWD, path, text);
}

int zram_size(unsigned int nr, uint64_t *ret_bytes)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/block/zram%u/disksize", nr);
	return kfile_read_u64_at(AT_FDCWD, path, ret_bytes);
}

int zram_choose(bool *ret_reuse, struct fail *f)
{
	bool hot_add;
	uint64_t bytes;

	blockdev_load(BLOCKDEV_ZRAM);
	hot_add = !access("/sys/class/zram-control/hot_add", R_OK);
	for (unsigned int nr = 0; nr < NUMBERS_MAX; nr++) {
		int r = zram_size(nr, &bytes);

		if (hot_add ? r == -ENOENT : !r && !bytes) {
			*ret_reuse = !hot_add;
			return (int)nr;
		}
		if (r && !hot_add)
			break;
	}
	/* ENOENT at zram0 without hot_add: the driver itself is missing. */
	if (access("/sys/block/zram0", F_OK) && !hot_add)
		return fail_say(f, EOPNOTSUPP, "no zram in this kernel, or no right to use it");
	return fail_say(f, EBUSY, "no unused zram device");
}

int zram_hot_add(struct fail *f)
{
	uint64_t nr;
	/* Reading the file makes the device. */
	int r = kfile_read_u64_at(AT_FDCWD, "/sys/class/zram-control/hot_add", &nr);

	if (!r && nr >= NUMBERS_MAX)
		r = -ERANGE;
	return r ? fail_set(f, -r, "adding a zram device") : (int)nr;
}

int zram_set_size(unsigned int nr, uint64_t bytes, struct fail *f)
{
	char text[24];
	int r;

	(void)snprintf(text, sizeof(text), "%" PRIu64, bytes);
	r = zram_attr(nr, "disksize", text);
	return r ? fail_set(f, -r, "setting the size of zram%u", nr) : 0;
}

int zram_reset(unsigned int nr)
{
	return zram_attr(nr, "reset", "1");
}

int zram_hot_remove(unsigned int nr)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", nr);
	return kfile_write_at(AT_FDCWD, "/sys/class/zram-control/hot_remove", text);
}

int swap_header_label(const char *dev, char ret_label[17])
{
	/* union swap_header of include/linux/swap.h: 1024 bytes of boot sector, three words, a 16-byte
	 * UUID, the 16-byte label; the signature ends the first page. */
	enum { LABEL_AT = 1024 + 3 * 4 + 16, SIGNATURE_SIZE = 10, PAGE_MAX = 65536 };
	_cleanup_close_ int fd = open(dev, O_RDONLY | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char head[PAGE_MAX];

	if (fd < 0)
		return -errno;
	if (page > sizeof(head) || pread(fd, head, page, 0) != (ssize_t)page)
		return -ENOENT;
	if (memcmp(head + page - SIGNATURE_SIZE, "SWAPSPACE2", SIGNATURE_SIZE) != 0)
		return -ENOENT;
	memcpy(ret_label, head + LABEL_AT, 16);
	ret_label[16] = '\0';
	return 0;
}
