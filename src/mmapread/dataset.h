/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a run: a folder with one file a reader, written, verified once, evicted before every
 * run and shown to be gone.
 *
 * A folder that is to be kept (--keep-files) gets a manifest when everything in it is verified: what
 * was asked for, as text. A folder whose manifest says the same is used again as it is; a folder
 * without one was left in the middle of something and is written anew. Whoever uses it holds a lock on
 * it, so that two tools cannot evict each other's files.
 */
#pragma once

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "content.h"
#include "fail.h"

/* Room for a file's name behind the folder's. */
#define DATASET_DIR_SIZE (PATH_MAX - 64)

struct dataset {
	char dir[DATASET_DIR_SIZE]; /* of the files; must exist */
	unsigned int nr_files;
	uint64_t file_bytes; /* a multiple of CONTENT_PAGE and of the page size */
	struct content content;
	bool buffered; /* through the page cache: the filesystem needs it (backing.h) */
	bool plain;    /* without io_uring (tests) */
	const volatile sig_atomic_t *stop; /* ends a long write; may be NULL */
};

void dataset_path(const struct dataset *set, unsigned int file, char *buf, size_t size);
/* Writes all files and syncs them. 0; -ENOSPC; -EINTR; other -errno. */
int dataset_write(const struct dataset *set, struct fail *f);
/* Reads all of it back and compares. 0; -EIO "differs at byte …"; -ENODATA "ends at byte …". */
int dataset_verify(const struct dataset *set, struct fail *f);
/* Drops all of it from the page cache. 0, or -EBUSY "… still has N pages in memory". */
int dataset_evict(const struct dataset *set, struct fail *f);

/* Takes the folder's lock. Returns a descriptor that holds it, -EWOULDBLOCK "in use by …". */
int dataset_lock(const struct dataset *set, struct fail *f);
/* Whether the folder's manifest and its files' sizes are as @set wants them. */
bool dataset_matches(const struct dataset *set);
int dataset_write_manifest(const struct dataset *set, struct fail *f);
/* Removes what an earlier, other data set left in the folder: the manifest first. */
int dataset_clear(const struct dataset *set, struct fail *f);
