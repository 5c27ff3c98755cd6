/* SPDX-License-Identifier: GPL-2.0-only */
/* One memcg: its files under their v2 names, whatever the version. */
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_libcgroup.h"
#include "cleanup.h"
#include "kfile.h"

/*
 * v2 and v1 names of the same thing; NULL: that version has none. @twin: on a hybrid host the v2
 * twin has it although the memory controller is v1.
 * Semantics that differ are left out on purpose: v1's memsw counts memory and swap together.
 */
static const struct file_row {
	const char *v2;
	const char *v1;
	bool twin;
} file_table[] = {
	{ "memory.max", "memory.limit_in_bytes", false },
	{ "memory.current", "memory.usage_in_bytes", false },
	{ "memory.peak", "memory.max_usage_in_bytes", false },
	{ "memory.stat", "memory.stat", false },
	{ "memory.numa_stat", "memory.numa_stat", false },
	{ "memory.low", NULL, false },
	{ "memory.min", NULL, false },
	{ "memory.high", NULL, false },
	{ "memory.events", NULL, false },
	{ "memory.events.local", NULL, false },
	{ "memory.swap.max", NULL, false },
	{ "memory.swap.current", NULL, false },
	{ "memory.swap.peak", NULL, false },
	{ "memory.swap.events", NULL, false },
	{ "memory.zswap.max", NULL, false },
	{ "memory.zswap.current", NULL, false },
	{ "memory.oom.group", NULL, false },
	{ "memory.reclaim", NULL, false },
	{ "memory.pressure", NULL, true },
	{ "cgroup.procs", "cgroup.procs", false },
	{ "cgroup.events", NULL, true },
	{ "cgroup.kill", NULL, true },
	{ "cgroup.freeze", NULL, true },
	{ "cgroup.controllers", NULL, false },
	{ "cgroup.subtree_control", NULL, false },
	/* Only v1 has these. */
	{ NULL, "memory.failcnt", false },
	{ NULL, "memory.force_empty", false },
	{ NULL, "memory.memsw.limit_in_bytes", false },
	{ NULL, "memory.memsw.usage_in_bytes", false },
	{ NULL, "memory.oom_control", false },
	{ NULL, "memory.soft_limit_in_bytes", false },
	{ NULL, "memory.swappiness", false },
	{ NULL, "memory.use_hierarchy", false },
};

static const struct file_row *find_row(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_table); i++) {
		const struct file_row *row = &file_table[i];

		if (!strcmp(row->v2 ? row->v2 : row->v1, file))
			return row;
	}
	return NULL;
}

const char *cgroup_file_name(unsigned int version, const char *file)
{
	const struct file_row *row = find_row(file);

	if (version == 2)
		return row ? row->v2 : file; /* a newer kernel's file that the table lacks */
	return row ? row->v1 : NULL;
}

/* Which directory has @file, and under which name. -EOPNOTSUPP: none. */
static int locate(const struct cgroup *cg, const char *file, const char **ret_name)
{
	const struct file_row *row = find_row(file);
	const char *name = cgroup_file_name(cg->version, file);

	if (name) {
		*ret_name = name;
		return cg->dir_fd;
	}
	if (cg->version == 1 && row && row->twin && cg->unified_fd >= 0) {
		*ret_name = row->v2;
		return cg->unified_fd;
	}
	return -EOPNOTSUPP;
}

int cgroup_open(const struct cgroup_host *host, const char *memory_path, const char *unified_path,
		struct cgroup *ret, struct fail *f)
{
	struct cgroup cg = CGROUP_CLOSED;
	struct stat st;

	cg.version = host->memcg_version;
	(void)snprintf(cg.path, sizeof(cg.path), "%s", memory_path);
	cg.dir_fd = open(memory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cg.dir_fd < 0 || fstat(cg.dir_fd, &st)) {
		int err = errno;

		cgroup_close(&cg);
		return fail_set(f, err, "cgroup %s", memory_path);
	}
	cg.id = st.st_ino;
	if (cg.version == 2)
		cg.unified_fd = fcntl(cg.dir_fd, F_DUPFD_CLOEXEC, 3);
	else if (unified_path[0])
		cg.unified_fd = open(unified_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cg.unified_fd < 0 && (cg.version == 2 || unified_path[0])) {
		int err = errno;

		cgroup_close(&cg);
		return fail_set(f, err, "cgroup %s", unified_path);
	}
	*ret = cg;
	return 0;
}

void cgroup_close(struct cgroup *cg)
{
	cleanup_closep(&cg->dir_fd);
	cleanup_closep(&cg->unified_fd);
	cg->dir_fd = -1;
	cg->unified_fd = -1;
}

int cgroup_open_file(const struct cgroup *cg, const char *file)
{
	const char *name;
	int dir = locate(cg, file, &name);
	int fd;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cgroup_write(const struct cgroup *cg, const char *file, const char *text)
{
	const char *name;
	int dir = locate(cg, file, &name);

	if (dir < 0)
		return dir;
	/* v1's word for "no limit". */
	if (cg->version == 1 && !strcmp(text, "max"))
		text = "-1";
	return kfile_write_at(dir, name, text);
}

int cgroup_write_u64(const struct cgroup *cg, const char *file, uint64_t value)
{
	char text[24];

	if (value == UINT64_MAX)
		return cgroup_write(cg, file, "max");
	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	return cgroup_write(cg, file, text);
}

ssize_t cgroup_read(const struct cgroup *cg, const char *file, char *buf, size_t size)
{
	const char *name;
	int dir = locate(cg, file, &name);

	return dir < 0 ? dir : kfile_read_at(dir, name, buf, size);
}

/* v1 says "no limit" as LONG_MAX rounded down to a page (PAGE_COUNTER_MAX). */
static uint64_t v1_number(uint64_t value)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return value >= (uint64_t)LONG_MAX / page * page ? UINT64_MAX : value;
}

int cgroup_read_u64(const struct cgroup *cg, const char *file, uint64_t *ret)
{
	const char *name;
	int dir = locate(cg, file, &name);
	uint64_t value;
	int r;

	if (dir < 0)
		return dir;
	r = kfile_read_u64_at(dir, name, &value);
	if (!r)
		*ret = cg->version == 1 ? v1_number(value) : value;
	return r;
}

/* libcgroup first, as it is what administrators know; by hand when it fails, for the errno. */
static int write_v1_limit(const struct cgroup *cg, uint64_t bytes)
{
	char mount[PATH_MAX], text[24];
	size_t len;

	(void)snprintf(text, sizeof(text), "%" PRIu64, bytes);
	if (!libcgroup_mount_point("memory", mount, sizeof(mount))) {
		len = strlen(mount);
		if (!strncmp(cg->path, mount, len) && cg->path[len] == '/' &&
		    !libcgroup_set_v1(cg->path + len + 1, "memory", "memory.limit_in_bytes", text))
			return 0;
	}
	return cgroup_write_u64(cg, "memory.max", bytes);
}

int cgroup_set_limit(const struct cgroup *cg, uint64_t bytes, uint64_t *ret_in_force,
		     struct fail *f)
{
	uint64_t in_force;
	int r;

	if (cg->version == 1 && bytes != UINT64_MAX)
		r = write_v1_limit(cg, bytes);
	else
		r = cgroup_write_u64(cg, "memory.max", bytes);
	if (!r)
		r = cgroup_read_u64(cg, "memory.max", &in_force);
	if (r)
		return fail_set(f, -r, "memory limit of %s", cg->path);
	*ret_in_force = in_force;
	return 0;
}

/* The room of one group: limit - usage of what bounds swap there. Files that are missing (no swap
 * accounting, the root) bound nothing. */
static uint64_t room_at(const char *dir, unsigned int version)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *limit_file = version == 2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes";
	const char *usage_file = version == 2 ? "memory.swap.current"
					      : "memory.memsw.usage_in_bytes";
	uint64_t limit, usage;

	if (fd < 0 || kfile_read_u64_at(fd, limit_file, &limit) ||
	    kfile_read_u64_at(fd, usage_file, &usage))
		return UINT64_MAX;
	if (version == 1)
		limit = v1_number(limit);
	if (limit == UINT64_MAX)
		return UINT64_MAX;
	return limit > usage ? limit - usage : 0;
}

int cgroup_swap_room(const struct cgroup_host *host, const char *memory_path, uint64_t *ret_bytes)
{
	size_t mount_len = strlen(host->memory_mount);
	uint64_t room = UINT64_MAX;
	char path[PATH_MAX];

	if (strncmp(memory_path, host->memory_mount, mount_len) || strlen(memory_path) >= PATH_MAX)
		return -EINVAL;
	(void)snprintf(path, sizeof(path), "%s", memory_path);
	while (strlen(path) > mount_len) {
		uint64_t here = room_at(path, host->memcg_version);

		if (here < room)
			room = here;
		*strrchr(path, '/') = '\0';
	}
	*ret_bytes = room;
	return 0;
}

int cgroup_memstat(const struct cgroup *cg, struct memstat *ret)
{
	char text[KFILE_SIZE];
	ssize_t n = cgroup_read(cg, "memory.stat", text, sizeof(text));

	if (n < 0)
		return (int)n;
	return cg->version == 2 ? memstat_parse_v2(text, ret) : memstat_parse_v1(text, ret);
}

int cgroup_memevents(const struct cgroup *cg, struct memevents *ret)
{
	const char *file = cg->version == 2 ? "memory.events" : "memory.oom_control";
	struct memevents events;
	char text[KFILE_SIZE];
	ssize_t n = cgroup_read(cg, file, text, sizeof(text));
	int r;

	if (n < 0)
		return (int)n;
	r = cg->version == 2 ? memevents_parse_v2(text, &events)
			     : memevents_parse_v1(text, &events);
	if (r)
		return r;
	/* v1 counts the same hits in a file of its own. */
	if (cg->version == 1)
		(void)cgroup_read_u64(cg, "memory.failcnt", &events.max);
	*ret = events;
	return 0;
}
