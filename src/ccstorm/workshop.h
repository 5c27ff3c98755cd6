/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where compile jobs work: a folder of our own (squeeze-ccstorm-PID in --dir) with the compiler's
 * image, the headers that they share, and a folder of objects for each build. The arena removes it
 * with all that is in it.
 *
 * Pages of these files belong to the memcg that reads them first, so they are evicted before each
 * run: workshop_forget().
 */
#pragma once

#include <limits.h>
#include <stdint.h>

#include "arena.h"
#include "fail.h"

struct workshop {
	char dir[PATH_MAX];
	char helper[PATH_MAX]; /* the program ccstorm-job */
	char image[PATH_MAX];
	char headers[PATH_MAX];
};

/* What workshop_make() writes at most, and room for the objects of a round. */
uint64_t workshop_disk_bytes(unsigned int objects, unsigned int scale_percent);
/* Makes the folder below @parent (NULL: /var/tmp), named like the arena with @suffix, and fills the
 * shared files. 0 or -errno; -ENOENT: no helper. */
int workshop_make(struct arena *arena, const char *parent, const char *suffix,
		  unsigned int scale_percent, struct workshop *ret, struct fail *f);
/* Makes the folder @name for objects in it; writes its path. */
int workshop_add_folder(const struct workshop *w, const char *name, char ret_path[PATH_MAX],
			struct fail *f);
/* Drops the shared files from the page cache, as far as nobody has them mapped. */
void workshop_forget(const struct workshop *w);

/* Writes @bytes of noise to the new file @path, to disk, and drops them from the page cache: no memcg
 * owns a page of it afterwards. */
int workshop_write_file(const char *path, uint64_t bytes, uint64_t seed, struct fail *f);
/* Drops the clean pages of @path from the page cache. */
void workshop_drop_file(const char *path);
