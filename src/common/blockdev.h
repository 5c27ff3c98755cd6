/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block devices out of nothing: loop, zram, dm-delay, and the label in a swap header, as primitives.
 *
 * Who calls them (guard_ops.c) writes down the intent before; so choosing a device and making it are
 * separate steps, to be done while .lock of the run directory is held. Undoing checks that the device
 * is still what was made, since numbers are given out again. Kernel modules are loaded if they can be.
 *
 * All return 0 (or a number) or -errno and fill @f.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fail.h"

enum blockdev_kind { BLOCKDEV_LOOP, BLOCKDEV_ZRAM, BLOCKDEV_DELAY, BLOCKDEV_KINDS };

/* Whether this kernel has it, or has a module for it (which is not loaded by asking). 0, or
 * -EOPNOTSUPP "no device-mapper …". */
int blockdev_probe(enum blockdev_kind kind, struct fail *f);
/* Loads the modules if the control node is missing; failure shows when the device is made. */
void blockdev_load(enum blockdev_kind kind);

/* The number of a free loop device. */
int loop_get_free(struct fail *f);
/* Attaches @file to /dev/loop@nr with autoclear, direct I/O where possible. Returns a descriptor that
 * keeps it attached. -EBUSY: somebody else took that number; ask for another. */
int loop_attach(unsigned int nr, const char *file, struct fail *f);
/* The file behind /dev/loop@nr (" (deleted)" taken off). -ENOENT: nothing attached. */
int loop_backing(unsigned int nr, char ret_file[PATH_MAX]);
/* Detaches if @file is what is behind it. 0: it is free (or somebody else's by now), -EBUSY: in use. */
int loop_detach(unsigned int nr, const char *file);

/* The number that a hot-add would give, or (*ret_reuse) of an unused existing device where there is
 * no hot-add. */
int zram_choose(bool *ret_reuse, struct fail *f);
/* Adds a device; its number is the one chosen unless somebody else was faster. */
int zram_hot_add(struct fail *f);
int zram_set_size(unsigned int nr, uint64_t bytes, struct fail *f);
/* -ENOENT: no such device. 0: not set up. */
int zram_size(unsigned int nr, uint64_t *ret_bytes);
/* Frees the memory; the compression algorithm stays. -EBUSY: in use. */
int zram_reset(unsigned int nr);
int zram_hot_remove(unsigned int nr);

/* Whether the running kernel has the target already (built in, or loaded). */
bool delay_present(void);
/* The dm-delay device @name over the whole of @lower; ret_dev is where it can be opened. */
int delay_create(const char *name, const char *lower, unsigned int delay_ms, char ret_dev[PATH_MAX],
		 struct fail *f);
/* 0 also if there is none of that name. */
int delay_remove(const char *name, struct fail *f);
/* Calls @each with the name of every device-mapper device. */
int delay_each(void (*each)(const char *name, void *data), void *data);

/* The label in the swap header on @dev. -ENOENT: no swap header. */
int swap_header_label(const char *dev, char ret_label[17]);
