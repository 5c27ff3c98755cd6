/* SPDX-License-Identifier: GPL-2.0-only */
#include "fsimage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "blockdev.h"
#include "caps.h"
#include "cleanup.h"
#include "kfile.h"
#include "parse.h"
#include "subproc.h"

/* fs/btrfs/zstd.c ZSTD_BTRFS_MAX_LEVEL */
#define ZSTD_LEVEL_MAX 15

struct fs_type {
	const char *name;
	const char *mkfs;
	const char *package;
	/* No work left for a kernel thread to do behind the readers' backs. */
	const char *mkfs_options;
};

static const struct fs_type types[] = {
	{ "btrfs", "mkfs.btrfs", "btrfs-progs", "-q -f" },
	{ "ext4", "mkfs.ext4", "e2fsprogs", "-q -F -E lazy_itable_init=0,lazy_journal_init=0" },
	{ "xfs", "mkfs.xfs", "xfsprogs", "-q -f" },
};

static const struct fs_type *find_type(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0)
			return &types[i];
	return NULL;
}

/* The document's compress-force: with plain `compress`, btrfs gives up on a file whose first blocks do
 * not shrink. */
static int parse_compression(const char *s, char *buf, size_t size)
{
	uint64_t level = 0;

	if (strcmp(s, "zstd") == 0) {
		(void)snprintf(buf, size, "compress-force=zstd");
		return 0;
	}
	if (strncmp(s, "zstd:", 5) != 0 || parse_u64(s + 5, &level) < 0 || level < 1 ||
	    level > ZSTD_LEVEL_MAX)
		return -EINVAL;
	(void)snprintf(buf, size, "compress-force=zstd:%u", (unsigned int)level);
	return 0;
}

int fsimage_parse(const char *s, struct fsimage *ret)
{
	size_t length = strcspn(s, ":");
	const struct fs_type *type = find_type(s, length);
	struct fsimage fs = { 0 };

	if (!type)
		return -EINVAL;
	fs.type = type->name;
	if (s[length] == ':' &&
	    (strcmp(type->name, "btrfs") != 0 ||
	     parse_compression(s + length + 1, fs.mount_options, sizeof(fs.mount_options)) < 0))
		return -EINVAL;
	*ret = fs;
	return 0;
}

uint64_t fsimage_bytes(uint64_t bytes)
{
	/* Metadata takes up to an eighth (btrfs keeps it twice, with a checksum a block), and a
	 * journal, the smallest xfs (300 MiB) and btrfs' reserves fit into the rest. */
	return bytes + bytes / 8 + (512ULL << 20);
}

static bool kernel_lists(const char *type)
{
	char text[KFILE_SIZE], line[32];

	if (kfile_read_at(AT_FDCWD, "/proc/filesystems", text, sizeof(text)) < 0)
		return false;
	(void)snprintf(line, sizeof(line), "\t%s\n", type);
	return strstr(text, line) != NULL;
}

/* The kernel loads it when it is mounted. The list is read here and not by modprobe(8), which need not
 * be where we look for programs. */
static bool is_module(const char *type)
{
	_cleanup_fclose_ FILE *list = NULL;
	_cleanup_free_ char *line = NULL;
	char path[PATH_MAX], file[32];
	struct utsname u;
	size_t size = 0;

	if (uname(&u) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", u.release);
	(void)snprintf(file, sizeof(file), "/%s.ko", type);
	list = fopen(path, "re");
	while (list && getline(&line, &size, list) > 0) {
		const char *colon = strchr(line, ':'), *at = strstr(line, file);

		if (at && at < colon)
			return true;
	}
	return false;
}

static bool kernel_has(const char *type)
{
	return kernel_lists(type) || is_module(type);
}

int fsimage_check(const struct fsimage *fs, struct fail *f)
{
	const struct fs_type *type;
	char path[PATH_MAX];
	int r;

	if (!fs->type)
		return 0;
	type = find_type(fs->type, strlen(fs->type));
	if (subproc_find(type->mkfs, path, sizeof(path)) < 0)
		return fail_say(f, EOPNOTSUPP, "needs %s for --fs %s (Debian package %s)",
				type->mkfs, type->name, type->package);
	if (!kernel_has(type->name))
		return fail_say(f, EOPNOTSUPP, "needs the filesystem %s in this kernel for --fs",
				type->name);
	r = blockdev_probe(BLOCKDEV_LOOP, f);
	if (r == 0)
		r = caps_need(CAP_SYS_ADMIN, "mounting the image of --fs", f);
	return r;
}

int fsimage_make(const struct fsimage *fs, struct arena *a, const char *image, uint64_t bytes,
		 const char *point, struct fail *f)
{
	const struct fs_type *type = find_type(fs->type, strlen(fs->type));
	char dev[PATH_MAX];
	int r = arena_make_file(a, image, bytes, f);

	if (r == 0)
		r = arena_make_loop(a, image, dev, f);
	if (r == 0)
		r = arena_make_mount(a, dev, point, type->name, type->mkfs_options,
				     fs->mount_options, f);
	return r;
}
