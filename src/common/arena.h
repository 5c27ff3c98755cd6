/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arena: everything a run makes on the host, as a stack that is undone in reverse.
 *
 * Model. The guard (guard.h) is a separate process in its own session, forked first. It makes each
 * thing on our request and writes the intent to the undo log /run/squeeze/<pid> *before* it makes
 * it, so there is no moment at which something exists and nobody knows. When the supervisor asks,
 * or when its end of the socket closes (exit, crash, kill -9), the guard undoes everything in
 * reverse. What the kernel refuses to let go is named, retried once a second, and removed when it can be.
 *
 * Names: everything is called squeeze-<tool>-<pid>…; what cannot carry a name (zram, swap on a loop)
 * carries the swap label sqz-<pid>. The undo log is locked (flock) by the guard while it lives:
 * arena_clean_stale() takes only logs, and names without a log, whose lock is free.
 *
 * All functions return 0 or -errno and fill @f with what could not be done. Paths are absolute.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fail.h"

struct arena;

/* Forks the guard. @tool is "usemem", …. Call before any worker and any thread. */
int arena_open(const char *tool, struct arena **ret, struct fail *f);
/* The prefix of all our names: "squeeze-usemem-1234". */
const char *arena_name(const struct arena *a);
/* The guard's pid, for tests and for whoever lists the processes of a run. */
pid_t arena_guard_pid(const struct arena *a);
/* The undo stack's height now; arena_undo_to() undoes everything made since. */
unsigned int arena_mark(const struct arena *a);
int arena_undo_to(struct arena *a, unsigned int mark, struct fail *f);
/* Undoes everything and ends the guard; waits at most @timeout_ns and then says in @f what is still
 * there (the guard goes on trying on its own). -ETIMEDOUT or -EBUSY then. Accepts NULL. */
int arena_close(struct arena *a, uint64_t timeout_ns, struct fail *f);

/* A memcg (and its twin in the v2 hierarchy if @unified_path is not ""). On v2 the memory controller
 * is enabled in the parent's subtree_control if it is not (and disabled again afterwards), after our
 * own process has been moved to a leaf where the no-internal-process rule asks for it. Undo: kill
 * everything inside, wait until empty, rmdir (bounded retries). */
int arena_make_cgroup(struct arena *a, const char *memory_path, const char *unified_path,
		      struct fail *f);
int arena_make_dir(struct arena *a, const char *path, mode_t mode, struct fail *f);
/* A file of @bytes with its blocks allocated (fallocate) and nothing else's data in it. Undo: unlink. */
int arena_make_file(struct arena *a, const char *path, uint64_t bytes, struct fail *f);
/* Registers a file or folder that somebody else is about to make: unlinked (recursively) on undo. */
int arena_adopt_path(struct arena *a, const char *path, struct fail *f);
/* A loop device over @file, direct I/O where the filesystem allows it. */
int arena_make_loop(struct arena *a, const char *file, char ret_dev[PATH_MAX], struct fail *f);
/* A zram device of @bytes: a hot-added one, else an unused existing one (disksize 0). */
int arena_make_zram(struct arena *a, uint64_t bytes, char ret_dev[PATH_MAX], struct fail *f);
/* A dm-delay of @delay_ms on reads and writes over @lower, named arena_name() + "-" + @suffix. */
int arena_make_delay(struct arena *a, const char *lower, const char *suffix, unsigned int delay_ms,
		     char ret_dev[PATH_MAX], struct fail *f);
/* mkswap -L sqz-<pid> and swapon with @priority (-1: the kernel's choice). */
int arena_swapon(struct arena *a, const char *dev, int priority, struct fail *f);
/* mkfs.@fs_type with @mkfs_options (may be NULL, split at blanks), then mount with @options. */
int arena_make_mount(struct arena *a, const char *dev, const char *point, const char *fs_type,
		     const char *mkfs_options, const char *options, struct fail *f);
/* Writes @text to a sysctl or sysfs file; the old content is written back on undo. */
int arena_set_file(struct arena *a, const char *path, const char *text, struct fail *f);

/* Removes what runs left behind that died together with their guard. Returns how many things were
 * removed, or -errno; calls @say (may be NULL) with a sentence for each. */
int arena_clean_stale(void (*say)(const char *sentence, void *data), void *data, struct fail *f);
