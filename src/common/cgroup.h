/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One cgroup API in v2 names over v2, v1 and hybrid hosts.
 *
 * Model. A host has one hierarchy that holds the memory controller (v1 or v2, decided from mountinfo
 * and cgroup.controllers, never from the kernel's version) and perhaps a v2 hierarchy beside it
 * ("hybrid": v2 without memory). A `struct cgroup` is a memcg of ours: a directory descriptor in the
 * memory hierarchy, and in the v2 hierarchy a twin of the same name for what only v2 can do
 * (cgroup.kill, CLONE_INTO_CGROUP, perf and BPF by cgroup). On a v2 host both are the same directory.
 *
 * Callers always use v2 file names; a table maps them to v1 ("memory.max" is
 * "memory.limit_in_bytes"). A file that v1 does not have gives -EOPNOTSUPP.
 *
 * Groups are created and removed by the guard (arena.h), never here: this module finds, opens,
 * reads, writes, spawns into, kills and waits. Everything is openat() on kept descriptors.
 *
 * libcgroup serves for finding mount points and for v1 limits; what it does wrong on v2 (orphans
 * of nested creation, deletion that moves live tasks to the parent) is why the rest is ours:
 * shared/field-notes/style-and-libraries.md, section 4.
 *
 * Model of the table: LTP's tst_cgroup; of mode detection: systemd's CGROUP_DELEGATION.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fail.h"
#include "memstat.h"

enum cgroup_mode { CGROUP_V1, CGROUP_V2, CGROUP_HYBRID };

struct cgroup_host {
	enum cgroup_mode mode;
	unsigned int memcg_version;   /* 1, 2; 0: no memory controller to be had */
	char memory_mount[PATH_MAX];  /* mount point of the hierarchy with the memory controller */
	char memory_own[PATH_MAX];    /* our own group there, as a path below the mount point */
	char unified_mount[PATH_MAX]; /* mount point of the v2 hierarchy, "" if there is none */
	char unified_own[PATH_MAX];
	char perf_mount[PATH_MAX]; /* v1 perf_event hierarchy, "" if perf_event is on v2 */
	bool recursive_protection; /* v2 mount option memory_recursiveprot */
};

struct cgroup {
	int dir_fd;	/* in the memory hierarchy */
	int unified_fd; /* in the v2 hierarchy: a dup of dir_fd on v2, the twin on hybrid, -1 without */
	unsigned int version; /* of the memory controller: 1 or 2 */
	uint64_t id;	      /* kernfs id (inode) of dir_fd: what BPF sees */
	char path[PATH_MAX];  /* absolute, in the memory hierarchy */
};
#define CGROUP_CLOSED ((struct cgroup){ .dir_fd = -1, .unified_fd = -1 })

/* Finds the hierarchies. 0, or -EOPNOTSUPP "no memory cgroup controller …". */
int cgroup_discover(struct cgroup_host *ret, struct fail *f);
/* As above, from recorded text: mountinfo, /proc/self/cgroup, and cgroup.controllers of the v2 root. */
int cgroup_discover_from(const char *mountinfo, const char *self_cgroup, const char *v2_controllers,
			 struct cgroup_host *ret, struct fail *f);

/* Chooses where our groups go. @wanted (--cgroup-parent, a path below the mount point or absolute)
 * or NULL for the default: the top of the memory hierarchy when we may write there, else our own
 * delegated group. Writes the absolute parent directories (ret_unified "" if none or not writable).
 * 0; -EACCES/-EPERM/-EROFS/-EBUSY each with its own sentence, with the "systemd-run --scope -p
 * Delegate=yes" line as a hint where delegation would help. */
int cgroup_choose_parent(const struct cgroup_host *host, const char *wanted,
			 char ret_memory[PATH_MAX], char ret_unified[PATH_MAX], struct fail *f);

/* Whether a process other than the caller and @known (0: none) is directly in the group @dir: 1, 0, -errno. */
int cgroup_has_others(const char *dir, pid_t known);

/* Opens an existing group (directories as the arena made them; @unified_path "" if none). */
int cgroup_open(const struct cgroup_host *host, const char *memory_path, const char *unified_path,
		struct cgroup *ret, struct fail *f);
void cgroup_close(struct cgroup *cg);

/* v2 file name → text or number. -EOPNOTSUPP: this version has no such file. "max" is UINT64_MAX. */
int cgroup_write(const struct cgroup *cg, const char *file, const char *text);
int cgroup_write_u64(const struct cgroup *cg, const char *file, uint64_t value);
ssize_t cgroup_read(const struct cgroup *cg, const char *file, char *buf, size_t size);
int cgroup_read_u64(const struct cgroup *cg, const char *file, uint64_t *ret);
/* Opens for reading, for the sampler's kept descriptors. The descriptor or -errno. */
int cgroup_open_file(const struct cgroup *cg, const char *file);
/* The v1 name for a v2 one, NULL if v1 has none; v2 names map to themselves on v2. */
const char *cgroup_file_name(unsigned int version, const char *file);

/* Sets the memory limit and, on v1, nothing else: writes, reads back (the kernel rounds to pages)
 * and returns what is in force. "memory.max" must be set before anything is charged. */
int cgroup_set_limit(const struct cgroup *cg, uint64_t bytes, uint64_t *ret_in_force,
		     struct fail *f);
/* How much swap a group below @dir_fd's ancestors may use: the least room over itself and every
 * ancestor (v2 memory.swap.max - current, v1 memsw limit - usage). UINT64_MAX: unlimited. */
int cgroup_swap_room(const struct cgroup_host *host, const char *memory_path, uint64_t *ret_bytes);
int cgroup_memstat(const struct cgroup *cg, struct memstat *ret);
int cgroup_memevents(const struct cgroup *cg, struct memevents *ret);

/* Forks a child that is in the group from its first instruction on: clone3(CLONE_INTO_CGROUP) on v2,
 * else the child waits on a pipe until it has been moved. Returns 0 in the child, its pid in the
 * parent (and in *ret_pidfd a pidfd), or -errno. Call before threads exist. */
pid_t cgroup_fork(const struct cgroup *cg, int *ret_pidfd, struct fail *f);
/* SIGKILL to everything in the group (cgroup.kill, else a loop over cgroup.procs until none is
 * left to signal). 0 or -errno. */
int cgroup_kill(const struct cgroup *cg);
/* As above for one directory of one hierarchy, for the guard, which has only paths. */
int cgroup_kill_at(int dir_fd);
/* Waits until no process is left, at most @timeout_ns. 0 or -ETIMEDOUT. */
int cgroup_wait_empty(const struct cgroup *cg, uint64_t timeout_ns);
