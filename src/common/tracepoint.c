/* SPDX-License-Identifier: GPL-2.0-only */
#include "tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"

/* The longest event path, with room: "events/vmscan/mm_vmscan_memcg_softlimit_reclaim_begin/id". */
#define EVENT_PATH_SIZE 160

/* A mount point without its mount is an empty directory, so ask for something inside. */
static int open_mounted(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (faccessat(fd, "events", R_OK | X_OK, AT_EACCESS) < 0)
		return -errno;
	return take_fd(&fd);
}

/* A mount that is attached to no mount namespace: it goes away with its last descriptor. */
static int open_private(void)
{
	_cleanup_close_ int context = fsopen("tracefs", FSOPEN_CLOEXEC);
	int fd;

	if (context < 0)
		return -errno;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = fsmount(context, FSMOUNT_CLOEXEC,
		     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	return fd < 0 ? -errno : fd;
}

bool tracepoint_locked_down(void)
{
	char text[256];

	return kfile_read_at(AT_FDCWD, "/sys/kernel/security/lockdown", text, sizeof(text)) > 0 &&
	       strstr(text, "[confidentiality]");
}

int tracefs_open(struct fail *f)
{
	int mounted, private, fd;

	if (tracepoint_locked_down())
		return fail_say(f, EPERM, "the kernel is locked down (confidentiality)");
	mounted = open_mounted("/sys/kernel/tracing");
	if (mounted >= 0)
		return mounted;
	private = open_private();
	if (private >= 0)
		return private;
	/* The last choice: looking into debugfs makes the kernel mount tracefs there for good. */
	fd = open_mounted("/sys/kernel/debug/tracing");
	if (fd >= 0)
		return fd;
	if (private == -EPERM && mounted == -ENOENT)
		return fail_say(f, EPERM, "needs CAP_SYS_ADMIN to look into tracefs (not mounted)");
	/* Being refused says more than that the usual place is empty. */
	if (mounted == -EACCES || mounted == -EPERM)
		return fail_set(f, -mounted, "look into /sys/kernel/tracing");
	return fail_set(f, -private, "look into tracefs");
}

int tracepoint_find(int tracefs_fd, const char *event, uint64_t *ret_id)
{
	char path[EVENT_PATH_SIZE];
	int n;

	n = snprintf(path, sizeof(path), "events/%s/id", event);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return kfile_read_u64_at(tracefs_fd, path, ret_id);
}

static void close_all(const int *fds, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		(void)close(fds[i]);
}

static int open_one(const struct tracepoint *tp, struct perf_event_attr *attr, pid_t pid, int cpu,
		    int leader_fd, unsigned long flags, struct fail *f)
{
	_cleanup_close_ int fd = -1;

	attr->config = tp->id;
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader_fd,
			  flags | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		return fail_say(f, EACCES, "needs CAP_PERFMON to count tracepoints");
	if (fd < 0)
		return fail_set(f, errno, "perf_event_open of a tracepoint");
	if (tp->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, tp->filter) < 0)
		return fail_set(f, errno, "filter a tracepoint by \"%s\"", tp->filter);
	return take_fd(&fd);
}

static int open_group(const struct tracepoint *tps, size_t nr, struct perf_event_attr *attr,
		      pid_t pid, int cpu, unsigned long flags, int *ret_fds, struct fail *f)
{
	int fds[TRACEPOINT_GROUP_MAX];

	if (!nr || nr > TRACEPOINT_GROUP_MAX)
		return fail_set(f, EINVAL, "count %zu tracepoints in one group", nr);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_GROUP;
	for (size_t i = 0; i < nr; i++) {
		fds[i] = open_one(&tps[i], attr, pid, cpu, i ? fds[0] : -1, flags, f);
		if (fds[i] < 0) {
			int r = fds[i];

			close_all(fds, i);
			return r;
		}
	}
	memcpy(ret_fds, fds, nr * sizeof(*fds));
	return 0;
}

int tracepoint_open_cgroup(const struct tracepoint *tps, size_t nr, int cgroup_fd, int cpu,
			   int *ret_fds, struct fail *f)
{
	struct perf_event_attr attr = { 0 };

	return open_group(tps, nr, &attr, cgroup_fd, cpu, PERF_FLAG_PID_CGROUP, ret_fds, f);
}

int tracepoint_open_task(const struct tracepoint *tps, size_t nr, pid_t pid, int *ret_fds,
			 struct fail *f)
{
	struct perf_event_attr attr = { .inherit = 1 };

	return open_group(tps, nr, &attr, pid, -1, 0, ret_fds, f);
}

int tracepoint_read(int leader_fd, size_t nr, uint64_t *ret_counts)
{
	/* struct read_format of perf_event_open(2) for PERF_FORMAT_GROUP alone */
	struct {
		uint64_t nr;
		uint64_t counts[TRACEPOINT_GROUP_MAX];
	} group;
	ssize_t n;

	if (!nr || nr > TRACEPOINT_GROUP_MAX)
		return -EINVAL;
	n = read(leader_fd, &group, sizeof(group));
	if (n < 0)
		return -errno;
	if ((size_t)n != (nr + 1) * sizeof(uint64_t) || group.nr != nr)
		return -EIO;
	memcpy(ret_counts, group.counts, nr * sizeof(*ret_counts));
	return 0;
}
