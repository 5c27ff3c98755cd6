/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the hierarchies are, where we are in them, and where our groups may go. */
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_libcgroup.h"
#include "cleanup.h"
#include "kfile.h"
#include "proctext.h"

/* /proc/self/mountinfo of a container host with a thousand mounts stays under this. */
#define MOUNTINFO_SIZE (4U << 20)

#define DELEGATE_HINT "start it as: systemd-run --user --scope -p Delegate=yes COMMAND"

/* The mounts that matter, and which part of the hierarchy each shows. */
struct mounts {
	struct cgroup_host host;
	char memory_root[PATH_MAX];
	char unified_root[PATH_MAX];
};

static void copy_path(char dst[PATH_MAX], const char *src)
{
	(void)snprintf(dst, PATH_MAX, "%s", src);
}

static int note_mount(const struct mount_entry *m, void *data)
{
	struct mounts *found = data;
	struct cgroup_host *host = &found->host;

	/* The first mount of a hierarchy counts: later ones are bind mounts of the same. */
	if (!strcmp(m->fs_type, "cgroup2") && !host->unified_mount[0]) {
		copy_path(host->unified_mount, m->point);
		copy_path(found->unified_root, m->root);
		host->recursive_protection =
			mount_option_has(m->super_options, "memory_recursiveprot");
	}
	if (strcmp(m->fs_type, "cgroup"))
		return 0;
	if (mount_option_has(m->super_options, "memory") && !host->memory_mount[0]) {
		copy_path(host->memory_mount, m->point);
		copy_path(found->memory_root, m->root);
	}
	if (mount_option_has(m->super_options, "perf_event") && !host->perf_mount[0])
		copy_path(host->perf_mount, m->point);
	return 0;
}

/* /proc/self/cgroup counts from the hierarchy's root (or our cgroup namespace's), the mount may show
 * only a part of it (a container without a namespace): take that part off. */
static void own_below_mount(const char *self_cgroup, const char *controller, const char *root,
			    char ret[PATH_MAX])
{
	size_t root_len = strcmp(root, "/") ? strlen(root) : 0;
	char path[PATH_MAX];

	copy_path(ret, "/");
	if (proc_cgroup_path(self_cgroup, controller, path, sizeof(path)))
		return;
	/* "/../x": we are outside what our namespace shows, so nothing below the mount is ours. */
	if (!strncmp(path, "/..", 3))
		return;
	if (root_len && (strncmp(path, root, root_len) || !strchr("/", path[root_len])))
		return;
	if (path[root_len])
		copy_path(ret, path + root_len);
}

/* Whether the blank-separated list @words holds @word. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = words; *p;) {
		size_t n = strcspn(p, " \n");

		if (n == len && !strncmp(p, word, len))
			return true;
		p += n;
		p += strspn(p, " \n");
	}
	return false;
}

static int decide(struct mounts *found, const char *self_cgroup, const char *v2_controllers,
		  struct fail *f)
{
	struct cgroup_host *host = &found->host;

	own_below_mount(self_cgroup, "", found->unified_root, host->unified_own);
	if (has_word(v2_controllers, "memory") && host->unified_mount[0]) {
		host->memcg_version = 2;
		host->mode = CGROUP_V2;
		copy_path(host->memory_mount, host->unified_mount);
		copy_path(host->memory_own, host->unified_own);
		return 0;
	}
	if (host->memory_mount[0]) {
		host->memcg_version = 1;
		host->mode = host->unified_mount[0] ? CGROUP_HYBRID : CGROUP_V1;
		own_below_mount(self_cgroup, "memory", found->memory_root, host->memory_own);
		return 0;
	}
	if (host->unified_mount[0])
		return fail_say(
			f, EOPNOTSUPP,
			"no memory cgroup controller: %s/cgroup.controllers lacks \"memory\" "
			"and no v1 hierarchy has it",
			host->unified_mount);
	return fail_say(f, EOPNOTSUPP,
			"no memory cgroup controller: no cgroup hierarchy is mounted");
}

int cgroup_discover_from(const char *mountinfo, const char *self_cgroup, const char *v2_controllers,
			 struct cgroup_host *ret, struct fail *f)
{
	_cleanup_free_ struct mounts *found = calloc(1, sizeof(*found));
	int r;

	if (!found)
		return fail_set(f, ENOMEM, "cgroup discovery");
	(void)mountinfo_each(mountinfo, note_mount, found);
	r = decide(found, self_cgroup, v2_controllers, f);
	if (!r)
		*ret = found->host;
	return r;
}

/* What libcgroup says, for a mountinfo that our parser makes nothing of. */
static int discover_by_libcgroup(const char *self_cgroup, struct cgroup_host *ret, struct fail *f)
{
	_cleanup_free_ struct mounts *found = calloc(1, sizeof(*found));
	char controllers[PATH_MAX + 32], text[KFILE_SIZE] = "";
	char *mount;
	int r;

	if (!found)
		return fail_set(f, ENOMEM, "cgroup discovery");
	mount = found->host.memory_mount;
	copy_path(found->memory_root, "/");
	copy_path(found->unified_root, "/");
	r = libcgroup_mount_point("memory", mount, PATH_MAX);
	if (r)
		return r;
	(void)snprintf(controllers, sizeof(controllers), "%s/cgroup.controllers", mount);
	if (kfile_read_at(AT_FDCWD, controllers, text, sizeof(text)) >= 0)
		copy_path(found->host.unified_mount, mount);
	r = decide(found, self_cgroup, text, f);
	if (!r)
		*ret = found->host;
	return r;
}

int cgroup_discover(struct cgroup_host *ret, struct fail *f)
{
	_cleanup_free_ struct mounts *found = calloc(1, sizeof(*found));
	_cleanup_free_ char *mountinfo = malloc(MOUNTINFO_SIZE);
	char path[PATH_MAX + 32], self_cgroup[KFILE_SIZE], controllers[KFILE_SIZE] = "";
	ssize_t n;
	int r;

	if (!found || !mountinfo)
		return fail_set(f, ENOMEM, "cgroup discovery");
	n = kfile_read_at(AT_FDCWD, "/proc/self/mountinfo", mountinfo, MOUNTINFO_SIZE);
	if (n < 0)
		return fail_set(f, (int)-n, "/proc/self/mountinfo");
	n = kfile_read_at(AT_FDCWD, "/proc/self/cgroup", self_cgroup, sizeof(self_cgroup));
	if (n < 0)
		return fail_set(f, n == -ENOENT ? EOPNOTSUPP : (int)-n, "/proc/self/cgroup");
	(void)mountinfo_each(mountinfo, note_mount, found);
	if (found->host.unified_mount[0]) {
		(void)snprintf(path, sizeof(path), "%s/cgroup.controllers",
			       found->host.unified_mount);
		(void)kfile_read_at(AT_FDCWD, path, controllers, sizeof(controllers));
	}
	r = decide(found, self_cgroup, controllers, f);
	if (r && !discover_by_libcgroup(self_cgroup, ret, NULL))
		return 0;
	if (!r)
		*ret = found->host;
	return r;
}

/* Why no group can be made in @dir: 0, or -EACCES, -EROFS, … */
static int may_create(const char *dir, struct fail *f)
{
	struct stat st;

	if (stat(dir, &st))
		return fail_set(f, errno, "cgroup %s", dir);
	if (!S_ISDIR(st.st_mode))
		return fail_set(f, ENOTDIR, "cgroup %s", dir);
	if (!faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS))
		return 0;
	if (errno == EROFS)
		return fail_say(
			f, EROFS,
			"cannot make a cgroup in %s: the cgroup filesystem is mounted read-only "
			"(a container?)",
			dir);
	return fail_say(f, errno, "cannot make a cgroup in %s as uid %u: not delegated to us; %s",
			dir, geteuid(), DELEGATE_HINT);
}

int cgroup_has_others(const char *dir, pid_t known)
{
	char path[PATH_MAX + 32];
	_cleanup_fclose_ FILE *file = NULL;
	long pid;

	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fscanf(file, "%ld", &pid) == 1) {
		if (pid != getpid() && pid != known)
			return 1;
	}
	return 0;
}

/* On v2 a child has memory.max only if its parent passes the controller on. The guard switches it
 * on; here is whether it will be able to. */
static int may_enable_memory(const struct cgroup_host *host, const char *dir, struct fail *f)
{
	char path[PATH_MAX + 32], text[KFILE_SIZE];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	n = kfile_read_at(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return fail_set(f, (int)-n, "%s", path);
	if (has_word(text, "memory"))
		return 0;
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return fail_say(f, errno,
				"cannot enable the memory controller below %s as uid %u; %s", dir,
				geteuid(), DELEGATE_HINT);
	(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
	if (kfile_read_at(AT_FDCWD, path, text, sizeof(text)) >= 0 && !has_word(text, "memory") &&
	    may_create(host->memory_mount, NULL))
		return fail_say(f, EOPNOTSUPP,
				"the memory controller is not passed on to %s "
				"(cgroup.controllers lacks it); %s",
				dir, DELEGATE_HINT);
	/* Only groups that are not the real root have cgroup.type; the real root may hold processes. */
	(void)snprintf(path, sizeof(path), "%s/cgroup.type", dir);
	if (!access(path, F_OK) && cgroup_has_others(dir, 0) > 0)
		return fail_say(
			f, EBUSY,
			"other processes live in %s, so the memory controller cannot be enabled "
			"below it (no-internal-process rule); %s",
			dir, DELEGATE_HINT);
	return 0;
}

static int check_parent(const struct cgroup_host *host, const char *dir, struct fail *f)
{
	int r = may_create(dir, f);

	if (!r && host->memcg_version == 2)
		r = may_enable_memory(host, dir, f);
	return r;
}

/* "@mount/@below" without a doubled slash. */
static int join(const char *mount, const char *below, char ret[PATH_MAX])
{
	size_t len = strlen(mount);
	int n;

	if (!strncmp(below, mount, len) && (below[len] == '/' || !below[len]))
		n = snprintf(ret, PATH_MAX, "%s", below);
	else if (!below[strspn(below, "/")])
		n = snprintf(ret, PATH_MAX, "%s", mount);
	else
		n = snprintf(ret, PATH_MAX, "%s/%s", mount, below + strspn(below, "/"));
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* The twin's parent on a hybrid host: the same path if it exists there, else our own group or the
 * top, whichever lets us; "" if none does, and then we do without a twin. */
static void choose_unified(const struct cgroup_host *host, const char *wanted, const char *memory,
			   char ret[PATH_MAX])
{
	const char *below = wanted ? wanted : "/";

	ret[0] = '\0';
	if (host->memcg_version == 2) {
		copy_path(ret, memory);
		return;
	}
	if (!host->unified_mount[0])
		return;
	if (wanted && !strncmp(wanted, host->memory_mount, strlen(host->memory_mount)))
		below = wanted + strlen(host->memory_mount);
	if (!join(host->unified_mount, below, ret) && !may_create(ret, NULL))
		return;
	if (!join(host->unified_mount, "/", ret) && !may_create(ret, NULL))
		return;
	if (!join(host->unified_mount, host->unified_own, ret) && !may_create(ret, NULL))
		return;
	ret[0] = '\0';
}

int cgroup_choose_parent(const struct cgroup_host *host, const char *wanted,
			 char ret_memory[PATH_MAX], char ret_unified[PATH_MAX], struct fail *f)
{
	char memory[PATH_MAX];
	int r;

	if (join(host->memory_mount, wanted ? wanted : "/", memory))
		return fail_set(f, ENAMETOOLONG, "cgroup parent");
	r = check_parent(host, memory, f);
	if (r && !wanted) {
		if (join(host->memory_mount, host->memory_own, memory))
			return fail_set(f, ENAMETOOLONG, "cgroup parent");
		r = check_parent(host, memory, f);
	}
	if (r)
		return r;
	copy_path(ret_memory, memory);
	choose_unified(host, wanted, memory, ret_unified);
	return 0;
}
