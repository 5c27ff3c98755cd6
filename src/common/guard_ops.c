/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of things, and those that are files: folders, files, mounts, settings. */
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "parse.h"
#include "subproc.h"

/* mkfs of the largest image that a run may want, under emulation. */
#define MKFS_NS 60000000000U

/* Refused so often (a second of passes while somebody waits), a mount of ours is detached lazily. */
#define DETACH_AFTER 24

/* Whoever is about to be removed recursively must be beyond doubt. */
static int check_path(const char *path, struct fail *f)
{
	if (path[0] != '/' || !path[1] || strstr(path, "/../") || strstr(path, "//"))
		return fail_set(f, EINVAL, "the path \"%s\"", path);
	return 0;
}

static int check_new(const char *path, struct fail *f)
{
	struct stat st;
	int r = check_path(path, f);

	if (r)
		return r;
	if (!lstat(path, &st))
		return fail_set(f, EEXIST, "%s", path);
	return errno == ENOENT ? 0 : fail_set(f, errno, "%s", path);
}

/* Removes @name below @dir_fd with all that is in it, but never across into another filesystem. */
static int remove_at(int dir_fd, const char *name, dev_t dev)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *e;
	struct stat st;
	int fd, r = 0;

	if (!unlinkat(dir_fd, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return -ENOMEM;
	}
	if (fstat(fd, &st))
		return -errno;
	if (st.st_dev != dev)
		return -EBUSY;
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		r = remove_at(fd, e->d_name, dev);
		if (r)
			return r;
	}
	return unlinkat(dir_fd, name, AT_REMOVEDIR) && errno != ENOENT ? -errno : 0;
}

static int undo_path(struct guard *g, struct thing *t, struct fail *f)
{
	const char *slash = strrchr(t->args[0], '/');
	_cleanup_close_ int dir_fd = -1;
	char parent[PATH_MAX];
	struct stat st;
	int r;

	(void)g;
	if (check_path(t->args[0], NULL) || !slash[1])
		return 0; /* a damaged log: nothing is what we would have made */
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - t->args[0] + 1), t->args[0]);
	dir_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return errno == ENOENT ? 0 : fail_set(f, errno, "%s", parent);
	if (fstat(dir_fd, &st))
		return fail_set(f, errno, "%s", parent);
	r = remove_at(dir_fd, slash + 1, st.st_dev);
	return r ? fail_set(f, -r, "unlink") : 0;
}

static int make_path(struct guard *g, const char *const args[REQUEST_ARGS],
		     char ret_value[PATH_MAX], struct fail *f)
{
	const char *const thing_args[THING_ARGS] = { args[0] };
	int r = check_new(args[0], f);

	(void)ret_value;
	if (r)
		return r;
	return guard_intend(g, THING_PATH, thing_args, f) ? 0 : -f->err;
}

static int make_dir(struct guard *g, const char *const args[REQUEST_ARGS], char ret_value[PATH_MAX],
		    struct fail *f)
{
	const char *const thing_args[THING_ARGS] = { args[0] };
	struct thing *t;
	uint64_t mode;
	int r = check_new(args[0], f);

	(void)ret_value;
	if (r)
		return r;
	if (parse_u64(args[1], &mode) || mode > 07777)
		return fail_set(f, EINVAL, "mode of %s", args[0]);
	t = guard_intend(g, THING_DIR, thing_args, f);
	if (!t)
		return -f->err;
	if (mkdir(args[0], (mode_t)mode)) {
		r = fail_set(f, errno, "making the folder %s", args[0]);
		/* Somebody else's, made this moment. */
		if (r == -EEXIST)
			(void)guard_note(g, t, THING_GONE, NULL);
		return r;
	}
	return guard_note(g, t, THING_MADE, f);
}

/* For filesystems without fallocate(): blocks by writing. Gives up when the supervisor dies. */
static int fill(const struct guard *g, int fd, uint64_t bytes)
{
	enum { CHUNK = 1 << 20 };
	_cleanup_free_ char *zeros = calloc(1, CHUNK);
	struct pollfd p = { .fd = g->supervisor_fd, .events = POLLIN };

	if (!zeros)
		return -ENOMEM;
	for (uint64_t done = 0; done < bytes;) {
		size_t want = bytes - done < CHUNK ? (size_t)(bytes - done) : CHUNK;
		ssize_t n = pwrite(fd, zeros, want, (off_t)done);

		if (n <= 0)
			return n ? -errno : -EIO;
		done += (uint64_t)n;
		if (poll(&p, 1, 0) > 0)
			return -ECANCELED;
	}
	return 0;
}

static int check_space(const char *path, uint64_t bytes, struct fail *f)
{
	char dir[PATH_MAX], want[32], have[32];
	struct statvfs vfs;
	uint64_t free_bytes;

	(void)snprintf(dir, sizeof(dir), "%s", path);
	*(strrchr(dir, '/') + 1) = '\0';
	if (statvfs(dir, &vfs))
		return fail_set(f, errno, "%s", dir);
	free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	if (bytes <= free_bytes)
		return 0;
	return fail_say(f, ENOSPC, "%s needs %s and %s has %s free", path,
			format_size(bytes, want, sizeof(want)), dir,
			format_size(free_bytes, have, sizeof(have)));
}

static int allocate(const struct guard *g, const char *path, uint64_t bytes)
{
	_cleanup_close_ int fd =
		open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (!fallocate(fd, 0, 0, (off_t)bytes))
		return 0;
	return errno == EOPNOTSUPP ? fill(g, fd, bytes) : -errno;
}

static int make_file(struct guard *g, const char *const args[REQUEST_ARGS],
		     char ret_value[PATH_MAX], struct fail *f)
{
	const char *const thing_args[THING_ARGS] = { args[0] };
	struct thing *t;
	uint64_t bytes;
	int r = check_new(args[0], f);

	(void)ret_value;
	if (r)
		return r;
	if (parse_u64(args[1], &bytes) || !bytes || bytes > INT64_MAX)
		return fail_set(f, EINVAL, "size of %s", args[0]);
	r = check_space(args[0], bytes, f);
	if (r)
		return r;
	t = guard_intend(g, THING_FILE, thing_args, f);
	if (!t)
		return -f->err;
	r = allocate(g, args[0], bytes);
	if (r == -EEXIST)
		(void)guard_note(g, t, THING_GONE, NULL);
	if (r)
		return fail_set(f, -r, "making the file %s", args[0]);
	return guard_note(g, t, THING_MADE, f);
}

/* The number of what is mounted at @point, and whether anything is. */
static int mounted_at(const char *point, char *ret_dev, size_t size)
{
	char parent[PATH_MAX + 4];
	struct stat st, up;

	(void)snprintf(parent, sizeof(parent), "%s/..", point);
	if (stat(point, &st) || stat(parent, &up))
		return -errno;
	if (st.st_dev == up.st_dev)
		return -ENOENT;
	(void)snprintf(ret_dev, size, "%u:%u", major(st.st_dev), minor(st.st_dev));
	return 0;
}

static int run_mkfs(const struct guard *g, const char *dev, const char *fs_type,
		    const char *options, struct fail *f)
{
	_cleanup_free_ char *copy = strdup(options);
	const char *argv[32];
	char name[64];
	char *rest = copy, *word;
	size_t nr = 0;

	if (!copy)
		return fail_set(f, ENOMEM, "mkfs");
	(void)snprintf(name, sizeof(name), "mkfs.%s", fs_type);
	argv[nr++] = name;
	while ((word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		if (nr == ARRAY_SIZE(argv) - 2)
			return fail_set(f, E2BIG, "options of %s", name);
		argv[nr++] = word;
	}
	argv[nr++] = dev;
	argv[nr] = NULL;
	return subproc_run(argv, MKFS_NS, g->supervisor_fd, f);
}

/* Takes the options that mount(2) wants as flags out of the comma list @options. */
static unsigned long take_flags(char *options)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} flags[] = { { "ro", MS_RDONLY },
		      { "noatime", MS_NOATIME },
		      { "nodiratime", MS_NODIRATIME },
		      { "relatime", MS_RELATIME },
		      { "strictatime", MS_STRICTATIME },
		      { "sync", MS_SYNCHRONOUS },
		      { "noexec", MS_NOEXEC } };
	unsigned long taken = MS_NOSUID | MS_NODEV;
	char *rest = options, *out = options, *word;

	while ((word = strsep(&rest, ","))) {
		size_t len = strlen(word), i;

		for (i = 0; i < ARRAY_SIZE(flags) && strcmp(flags[i].name, word) != 0; i++)
			;
		if (i < ARRAY_SIZE(flags)) {
			taken |= flags[i].flag;
			continue;
		}
		if (out != options)
			*out++ = ',';
		memmove(out, word, len);
		out += len;
	}
	*out = '\0';
	return taken;
}

static int make_mount(struct guard *g, const char *const args[REQUEST_ARGS],
		      char ret_value[PATH_MAX], struct fail *f)
{
	const char *dev = args[0], *point = args[1], *fs_type = args[2];
	const char *const thing_args[THING_ARGS] = { point };
	_cleanup_free_ char *options = strdup(args[4]);
	struct thing *t;
	char number[32];
	unsigned long flags;
	int r = check_path(point, f);

	(void)ret_value;
	if (r || !options)
		return r ? r : fail_set(f, ENOMEM, "mount");
	r = mounted_at(point, number, sizeof(number));
	if (r != -ENOENT)
		return fail_set(f, r ? -r : EBUSY, "mount point %s", point);
	r = run_mkfs(g, dev, fs_type, args[3], f);
	if (r)
		return r;
	t = guard_intend(g, THING_MOUNT, thing_args, f);
	if (!t)
		return -f->err;
	flags = take_flags(options);
	if (mount(dev, point, fs_type, flags, options))
		return fail_set(f, errno == ENODEV ? EOPNOTSUPP : errno, "mounting %s (%s) on %s",
				dev, fs_type, point);
	r = mounted_at(point, number, sizeof(number));
	if (r || thing_set_arg(t, 1, number))
		return fail_set(f, r ? -r : ENOMEM, "mount point %s", point);
	return guard_note(g, t, THING_MADE, f);
}

static int undo_mount(struct guard *g, struct thing *t, struct fail *f)
{
	char number[32];
	int flags = UMOUNT_NOFOLLOW;

	(void)g;
	if (mounted_at(t->args[0], number, sizeof(number)))
		return 0;
	/* Only we could mount there between intent and made; afterwards the number tells. */
	if (t->state == THING_MADE && strcmp(number, t->args[1]) != 0)
		return 0;
	if (t->nr_refused >= DETACH_AFTER)
		flags |= MNT_DETACH;
	if (umount2(t->args[0], flags) && errno != EINVAL && errno != ENOENT)
		return fail_set(f, errno, "umount");
	return 0;
}

/* What has to be written to have again what was read: "always [madvise] never" is "madvise". */
static void value_of(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	text[strcspn(text, "\n")] = '\0';
	if (!close || close < open)
		return;
	memmove(text, open + 1, (size_t)(close - open - 1));
	text[close - open - 1] = '\0';
}

/* What it was before any live run of ours changed it; -EBUSY if one wants it otherwise. */
static int original_value(const struct guard *g, const char *path, const char *text, char *old,
			  size_t size, struct fail *f)
{
	struct thing_stack theirs = { 0 };
	pid_t pid = 0;
	int r = 0;

	if (!guard_log_shared(g->run_dir, g->supervisor, THING_SET, path, &theirs, &pid))
		return 0;
	if (strcmp(theirs.things[0].args[2], text) != 0)
		r = fail_say(f, EBUSY,
			     "another run (pid %d) has set %s to \"%s\", this one wants \"%s\"",
			     pid, path, theirs.things[0].args[2], text);
	else
		(void)snprintf(old, size, "%s", theirs.things[0].args[1]);
	thing_stack_free(&theirs);
	return r;
}

static int make_set(struct guard *g, const char *const args[REQUEST_ARGS], char ret_value[PATH_MAX],
		    struct fail *f)
{
	const char *path = args[0], *text = args[1];
	char old[1024];
	const char *const thing_args[THING_ARGS] = { path, old, text };
	_cleanup_close_ int lock = -1;
	struct thing *t;
	ssize_t n;
	int r = check_path(path, f);

	(void)ret_value;
	if (r)
		return r;
	lock = guard_run_lock(g->run_dir, f);
	if (lock < 0)
		return lock;
	n = kfile_read_at(AT_FDCWD, path, old, sizeof(old));
	if (n < 0)
		return fail_set(f, (int)-n, "reading %s", path);
	value_of(old);
	r = original_value(g, path, text, old, sizeof(old), f);
	if (r)
		return r;
	t = guard_intend(g, THING_SET, thing_args, f);
	if (!t)
		return -f->err;
	r = kfile_write_at(AT_FDCWD, path, text);
	if (r) {
		(void)guard_note(g, t, THING_GONE, NULL);
		return fail_set(f, -r, "writing \"%s\" to %s", text, path);
	}
	return guard_note(g, t, THING_MADE, f);
}

/* The last of the runs that share a setting restores it. */
static int undo_set(struct guard *g, struct thing *t, struct fail *f)
{
	_cleanup_close_ int lock = guard_run_lock(g->run_dir, f);
	int r;

	if (lock < 0)
		return lock;
	if (guard_log_shared(g->run_dir, g->supervisor, THING_SET, t->args[0], NULL, NULL))
		return 0;
	r = kfile_write_at(AT_FDCWD, t->args[0], t->args[1]);
	if (r && r != -ENOENT && r != -ENODEV)
		return fail_set(f, -r, "writing back \"%s\"", t->args[1]);
	return 0;
}

static const struct thing_op op_dir = { .make = make_dir, .undo = undo_path, .waits = true };
static const struct thing_op op_file = { .make = make_file, .undo = undo_path, .waits = true };
static const struct thing_op op_path = { .make = make_path, .undo = undo_path, .waits = true };
static const struct thing_op op_mount = { .make = make_mount, .undo = undo_mount };
static const struct thing_op op_set = { .make = make_set, .undo = undo_set };

const struct thing_op *const guard_ops[THING_KINDS] = {
	[THING_DIR] = &op_dir,		 [THING_FILE] = &op_file,
	[THING_PATH] = &op_path,	 [THING_CGROUP] = &guard_op_cgroup,
	[THING_LEAF] = &guard_op_leaf,	 [THING_SUBTREE] = &guard_op_subtree,
	[THING_LOOP] = &guard_op_loop,	 [THING_ZRAM] = &guard_op_zram,
	[THING_DELAY] = &guard_op_delay, [THING_SWAP] = &guard_op_swap,
	[THING_MOUNT] = &op_mount,	 [THING_SET] = &op_set,
};
