/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is beneath a folder: whether it is a disk at all, and where its readahead window is set.
 *
 * The window belongs to the backing device (bdi) of the mounted filesystem: the disk's own for ext4
 * and xfs, one of its own for btrfs, 9p, nfs and others. A file takes it over when it is opened.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "fail.h"

/* Whether @dir is on tmpfs or ramfs, whose pages never leave memory by readahead's way. */
bool backing_is_memory(const char *dir);
/* Whether files below @dir must be written through the page cache to be stored as they are meant to
 * be: btrfs does not compress what is written directly. */
bool backing_wants_buffered(const char *dir);
/* The read_ahead_kb file that decides for @dir. 0, or -EOPNOTSUPP "no readahead window to be found
 * for DIR (overlay …)". */
int backing_readahead_file(const char *dir, char ret_path[PATH_MAX], struct fail *f);
