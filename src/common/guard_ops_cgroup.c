/* SPDX-License-Identifier: GPL-2.0-only */
/* Things that are cgroups, and what v2 asks for before one can have a memory limit. */
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup.h"
#include "cleanup.h"
#include "kfile.h"

static bool is_v2(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static bool is_cgroup(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) &&
	       (fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC);
}

/* Kills everything in the group and below; with @remove also the groups, from the leaves up, @dir_fd
 * itself excepted. The first refusal is returned when all has been tried. */
static int clear_tree(int dir_fd, bool remove)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *e;
	int r = 0;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	(void)cgroup_kill_at(dir_fd);
	while ((e = readdir(dir))) {
		_cleanup_close_ int child = -1;
		int sub = 0;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		child = openat(dir_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child >= 0)
			sub = clear_tree(child, remove);
		if (!sub && remove && unlinkat(dir_fd, e->d_name, AT_REMOVEDIR) && errno != ENOENT)
			sub = -errno;
		if (sub && !r)
			r = sub;
	}
	return r;
}

/* A path that is no cgroup (any more) is left alone: the log may be older than a remount. */
static int clear_group(const char *path, bool remove)
{
	_cleanup_close_ int fd = path[0] ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int r;

	if (fd < 0)
		return !path[0] || errno == ENOENT ? 0 : -errno;
	if (!is_cgroup(fd))
		return 0;
	r = clear_tree(fd, remove);
	if (r || !remove)
		return r;
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

static void halt_cgroup(struct guard *g, struct thing *t)
{
	(void)g;
	(void)clear_group(t->args[1], false);
	(void)clear_group(t->args[0], false);
}

static int undo_cgroup(struct guard *g, struct thing *t, struct fail *f)
{
	int r = clear_group(t->args[0], true);
	int twin = clear_group(t->args[1], true);

	(void)g;
	r = r ? r : twin;
	return r ? fail_set(f, -r, "rmdir") : 0;
}

static bool lists_memory(const char *dir, const char *file)
{
	char path[PATH_MAX + 32], text[KFILE_SIZE];
	const char *p;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (kfile_read_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	p = strstr(text, "memory"); /* no other controller's name contains it */
	return p && strchr(" \n", p[strlen("memory")]);
}

static int write_file(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	return kfile_write_at(AT_FDCWD, path, text);
}

static int move_pid(const char *dir, pid_t pid)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", pid);
	return write_file(dir, "cgroup.procs", text);
}

/* The no-internal-process rule: out of the group, into a leaf below it. */
static int move_us_to_leaf(struct guard *g, const char *dir, struct fail *f)
{
	char leaf[PATH_MAX];
	const char *const args[THING_ARGS] = { dir, leaf };
	struct thing *t;
	int r;

	/* The supervisor and ourselves we may move; nobody else. */
	if (cgroup_has_others(dir, g->supervisor) != 0)
		return fail_say(
			f, EBUSY,
			"other processes live in %s, so the memory controller cannot be enabled "
			"below it",
			dir);
	if (snprintf(leaf, sizeof(leaf), "%s/squeeze-self-%d", dir, g->supervisor) >= PATH_MAX)
		return fail_set(f, ENAMETOOLONG, "cgroup %s", dir);
	t = guard_intend(g, THING_LEAF, args, f);
	if (!t)
		return -f->err;
	if (mkdir(leaf, 0755))
		return fail_set(f, errno, "making the cgroup %s", leaf);
	r = move_pid(leaf, g->supervisor);
	if (!r)
		r = move_pid(leaf, getpid());
	if (r)
		return fail_set(f, -r, "moving ourselves to %s", leaf);
	return guard_note(g, t, THING_MADE, f);
}

/* Whoever is still in the leaf goes back to where it was. */
static int undo_leaf(struct guard *g, struct thing *t, struct fail *f)
{
	char path[PATH_MAX + 32];
	_cleanup_fclose_ FILE *file = NULL;
	long pid;

	(void)g;
	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", t->args[1]);
	file = fopen(path, "re");
	while (file && fscanf(file, "%ld", &pid) == 1)
		(void)move_pid(t->args[0], (pid_t)pid);
	if (rmdir(t->args[1]) && errno != ENOENT)
		return fail_set(f, errno, "rmdir");
	return 0;
}

static int refused(int err, const char *dir, struct fail *f)
{
	if (err == EROFS)
		return fail_say(f, err, "the cgroup filesystem is read-only at %s (a container?)",
				dir);
	if (err == EACCES || err == EPERM)
		return fail_say(f, err, "not allowed to enable the memory controller below %s",
				dir);
	if (err == ENOENT || err == EOPNOTSUPP)
		return fail_say(f, EOPNOTSUPP, "the memory controller is not available in %s", dir);
	return fail_set(f, err, "enabling the memory controller below %s", dir);
}

static int enable_memory(struct guard *g, const char *dir, struct fail *f)
{
	const char *const args[THING_ARGS] = { dir };
	struct thing *t;
	int r = guard_intend(g, THING_SUBTREE, args, f) ? 0 : -f->err;

	if (r)
		return r;
	r = write_file(dir, "cgroup.subtree_control", "+memory");
	if (r == -EBUSY) {
		/* Undone in reverse: memory off again, then back from the leaf. */
		(void)guard_note(g, &g->stack.things[g->stack.nr - 1], THING_GONE, NULL);
		r = move_us_to_leaf(g, dir, f);
		if (r)
			return r;
		if (!guard_intend(g, THING_SUBTREE, args, f))
			return -f->err;
		r = write_file(dir, "cgroup.subtree_control", "+memory");
	}
	t = &g->stack.things[g->stack.nr - 1];
	if (r) {
		(void)guard_note(g, t, THING_GONE, NULL);
		return refused(-r, dir, f);
	}
	return guard_note(g, t, THING_MADE, f);
}

/* Level by level from the top, as each passes on only what it has been given. */
static int ensure_memory(struct guard *g, const char *dir, struct fail *f)
{
	const char *const args[THING_ARGS] = { dir };
	char parent[PATH_MAX];
	int r;

	if (lists_memory(dir, "cgroup.subtree_control")) {
		/* If a live run of ours switched it on, the last of us switches it off. */
		if (!guard_log_shared(g->run_dir, g->supervisor, THING_SUBTREE, dir, NULL, NULL))
			return 0;
		return guard_intend(g, THING_SUBTREE, args, f) ? 0 : -f->err;
	}
	if (!lists_memory(dir, "cgroup.controllers")) {
		(void)snprintf(parent, sizeof(parent), "%s", dir);
		*strrchr(parent, '/') = '\0';
		if (!is_v2(parent))
			return refused(EOPNOTSUPP, dir, f);
		r = ensure_memory(g, parent, f);
		if (r)
			return r;
	}
	return enable_memory(g, dir, f);
}

static int undo_subtree(struct guard *g, struct thing *t, struct fail *f)
{
	_cleanup_close_ int lock = guard_run_lock(g->run_dir, f);
	int r;

	if (lock < 0)
		return lock;
	if (guard_log_shared(g->run_dir, g->supervisor, THING_SUBTREE, t->args[0], NULL, NULL))
		return 0;
	r = write_file(t->args[0], "cgroup.subtree_control", "-memory");
	/* EBUSY: somebody passes it further down by now, so it is not ours to take away. */
	if (r && r != -ENOENT && r != -EBUSY)
		return fail_set(f, -r, "disabling the memory controller");
	return 0;
}

static int make_group(const char *path, struct fail *f)
{
	if (!mkdir(path, 0755))
		return 0;
	if (errno == EROFS)
		return refused(EROFS, path, f);
	return fail_set(f, errno, "making the cgroup %s", path);
}

/* 5.10 still lets a v1 group not count its children. */
static void make_hierarchical(const char *path)
{
	(void)write_file(path, "memory.use_hierarchy", "1");
}

static int make_cgroup(struct guard *g, const char *const args[REQUEST_ARGS],
		       char ret_value[PATH_MAX], struct fail *f)
{
	const char *memory = args[0], *twin = args[1];
	const char *const thing_args[THING_ARGS] = { memory, strcmp(memory, twin) ? twin : "" };
	char parent[PATH_MAX];
	struct thing *t;
	int r = 0;

	(void)ret_value;
	if (memory[0] != '/' || !access(memory, F_OK) || (thing_args[1][0] && !access(twin, F_OK)))
		return fail_set(f, memory[0] == '/' ? EEXIST : EINVAL, "cgroup %s", memory);
	(void)snprintf(parent, sizeof(parent), "%s", memory);
	*strrchr(parent, '/') = '\0';
	if (is_v2(parent)) {
		_cleanup_close_ int lock = guard_run_lock(g->run_dir, f);

		r = lock < 0 ? lock : ensure_memory(g, parent, f);
	}
	if (r)
		return r;
	t = guard_intend(g, THING_CGROUP, thing_args, f);
	if (!t)
		return -f->err;
	r = make_group(memory, f);
	if (!r && thing_args[1][0])
		r = make_group(twin, f);
	if (r)
		return r;
	if (!is_v2(memory))
		make_hierarchical(memory);
	return guard_note(g, t, THING_MADE, f);
}

/* Made as a part of a cgroup only. */
static int make_nothing(struct guard *g, const char *const args[REQUEST_ARGS],
			char ret_value[PATH_MAX], struct fail *f)
{
	(void)g, (void)args, (void)ret_value;
	return fail_set(f, EINVAL, "guard");
}

const struct thing_op guard_op_cgroup = { .make = make_cgroup,
					  .undo = undo_cgroup,
					  .halt = halt_cgroup };
const struct thing_op guard_op_leaf = { .make = make_nothing, .undo = undo_leaf, .waits = true };
const struct thing_op guard_op_subtree = { .make = make_nothing,
					   .undo = undo_subtree,
					   .waits = true };
