/* SPDX-License-Identifier: GPL-2.0-only */
#include "count.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "progress.h"

#define NS_PER_S 1000000000ULL
/* A walk may take this part of the time at most. */
#define SHARE 20
/* Deeper trees than this are loops of mounts. */
#define DEPTH_MAX 64

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void look(struct count *c, int dir_fd, const char *name)
{
	struct stat st;

	if (fnmatch(c->pattern, name, 0) == 0 &&
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    !is_before(&st.st_mtim, &c->since) && is_before(&st.st_mtim, &c->until))
		c->nr++;
}

/* What goes away while we walk is not counted, and no error. */
static void walk(struct count *c, int fd, unsigned int depth)
{
	_cleanup_closedir_ DIR *dir = fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		(void)close(fd);
		return;
	}
	while ((e = readdir(dir))) {
		int child;

		if (e->d_name[0] == '.' && (!e->d_name[1] || !strcmp(e->d_name, "..")))
			continue;
		if (e->d_type == DT_DIR && depth < DEPTH_MAX) {
			child = openat(fd, e->d_name,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (child >= 0)
				walk(c, child, depth + 1);
		} else {
			look(c, fd, e->d_name);
		}
	}
}

void count_start(struct count *c, const char *dir, const char *pattern, uint64_t now_ns)
{
	*c = (struct count){ .dir = dir, .pattern = pattern, .next_ns = now_ns + NS_PER_S };
	/* Coarse, as the kernel stamps files: the fine clock would be ahead of a file made now. */
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &c->since);
}

static void walk_all(struct count *c)
{
	int fd = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	walk(c, fd, 0);
	c->since = c->until;
}

void count_tick(struct count *c, uint64_t now_ns)
{
	uint64_t cost_ns;

	if (now_ns < c->next_ns)
		return;
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &c->until);
	walk_all(c);
	cost_ns = clock_now_ns() - now_ns;
	c->next_ns = now_ns + (cost_ns * SHARE > NS_PER_S ? cost_ns * SHARE : NS_PER_S);
}

void count_finish(struct count *c)
{
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &c->until);
	c->until.tv_sec++; /* whoever could make more is gone */
	walk_all(c);
}
