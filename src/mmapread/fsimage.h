/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A filesystem of its own for the files: an image file, a loop device over it, mkfs, mount, all in the
 * arena. For a filesystem that the host's disk does not have: the document's is btrfs with zstd.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "fail.h"

struct fsimage {
	const char *type;	/* NULL: none, the files go onto the disk as it is */
	char mount_options[64]; /* "compress-force=zstd:3" */
};

/* "btrfs", "btrfs:zstd", "btrfs:zstd:3", "ext4", "xfs". 0 or -EINVAL. */
int fsimage_parse(const char *s, struct fsimage *ret);
/* What an image for @bytes of files must have at least. */
uint64_t fsimage_bytes(uint64_t bytes);
/* 0, or -EOPNOTSUPP "needs mkfs.X (Debian package Y)", "needs X in this kernel", "needs loop devices". */
int fsimage_check(const struct fsimage *fs, struct fail *f);
/* Makes it in an image of @bytes at @image, mounted at @point. */
int fsimage_make(const struct fsimage *fs, struct arena *a, const char *image, uint64_t bytes,
		 const char *point, struct fail *f);
