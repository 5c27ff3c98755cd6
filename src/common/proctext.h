/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parsers of the /proc files that tell where we are: mounts, our cgroups, active swap, a task.
 * Text in, struct out; no I/O, no root.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One line of /proc/self/mountinfo (proc(5)); octal escapes (\040) are undone in the paths. An
 * option list that is too long (overlayfs) is cut behind a whole option. */
struct mount_entry {
	char root[PATH_MAX];  /* the part of the filesystem that is mounted */
	char point[PATH_MAX]; /* where */
	char fs_type[32];
	char options[256];	 /* per-mount */
	char super_options[512]; /* of the filesystem: v1 controllers, memory_recursiveprot */
};
/* Calls @each for every well-formed line until it returns non-zero, which is then returned; 0 at
 * the end. Lines that do not parse are passed over: other people's mounts must not stop us. */
int mountinfo_each(const char *text, int (*each)(const struct mount_entry *m, void *data),
		   void *data);
/* Whether the comma list @options holds the word @option. */
bool mount_option_has(const char *options, const char *option);

/* The path of controller @controller ("memory", "name=systemd"; "" for the v2 line "0::") in
 * /proc/PID/cgroup. 0, -ENOENT, or -ENAMETOOLONG. */
int proc_cgroup_path(const char *text, const char *controller, char *ret_path, size_t size);

/* One line of /proc/swaps. */
struct swap_entry {
	char path[PATH_MAX]; /* octal escapes undone; " (deleted)" at the end is kept */
	bool partition;	     /* else a file */
	uint64_t size_bytes;
	uint64_t used_bytes;
	int priority;
};
/* As mountinfo_each(). The header line is passed over. */
int swaps_each(const char *text, int (*each)(const struct swap_entry *s, void *data), void *data);

/* /proc/PID/stat; comm may hold blanks, parentheses and newlines. */
struct proc_stat {
	pid_t pid;
	char comm[64];
	char state; /* R S D Z T X … */
	pid_t ppid;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t start_time_ticks; /* tells a reused pid apart */
};
int proc_stat_parse(const char *text, struct proc_stat *ret); /* 0 or -EINVAL */
