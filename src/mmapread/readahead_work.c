/* SPDX-License-Identifier: GPL-2.0-only */
/* readahead-livelock: one reader, from its file to its end. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mmapread.h"
#include "readahead.h"
#include "reader.h"
#include "run.h"

/* What the SIGBUS handler must know, which is handed nothing; one reader a process, so one of each. */
static struct {
	struct progress *progress;
	const unsigned char *base;
	size_t bytes;
	int fd;
	const char *path;
} victim;

/* Raised by our own read and nothing else, so what is called here need not be reentrant. */
static void on_sigbus(int signal, siginfo_t *info, void *context)
{
	const unsigned char *at = info->si_addr;
	struct stat st;

	(void)context;
	if (at < victim.base || at >= victim.base + victim.bytes) {
		progress_fail(victim.progress, "signal %d at an address of no file", signal);
		_exit(WORKER_FAILED);
	}
	progress_fail(victim.progress, "SIGBUS reading %s at byte %zu: %s", victim.path,
		      (size_t)(at - victim.base),
		      fstat(victim.fd, &st) == 0 &&
				      (uint64_t)st.st_size <= (uint64_t)(at - victim.base)
			      ? "the file was truncated"
			      : "I/O error");
	_exit(WORKER_FAILED);
}

static int map_file(const struct worker *w, const char *path, size_t bytes)
{
	static const int advices[] = { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL };
	const struct mmapread_options *o = w->run->tool_options;
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	void *base;

	/* Opened here and not before: a file takes over the readahead window when it is opened. */
	victim.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (victim.fd < 0) {
		progress_fail(w->progress, "%s: %s", path, strerror(errno));
		return -errno;
	}
	base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, victim.fd, 0);
	if (base == MAP_FAILED) {
		progress_fail(w->progress, "mapping %s: %s", path, strerror(errno));
		return -errno;
	}
	victim.progress = w->progress;
	victim.base = base;
	victim.bytes = bytes;
	victim.path = path;
	(void)madvise(base, bytes, advices[o->advice]);
	(void)sigaction(SIGBUS, &sa, NULL);
	return 0;
}

int readahead_work(const struct worker *w)
{
	const struct mmapread_options *o = w->run->tool_options;
	const struct readahead_state *s = w->run->state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)s->set.file_bytes, wrong = 0;
	struct reader reader = {
		.pages = bytes / page,
		.page_bytes = page,
		.file = w->index,
		.content = &s->set.content,
		.random = o->random,
		.seed = w->run->opt->seed,
	};
	char path[PATH_MAX];
	int r;

	dataset_path(&s->set, w->index, path, sizeof(path));
	r = map_file(w, path, bytes);
	if (r < 0)
		return r;
	reader.base = victim.base;
	if (!progress_wait_start(w->progress, w->first_slot))
		return 0;
	r = reader_run(&reader, w->progress, w->first_slot, 0, &wrong);
	if (r < 0)
		progress_fail(w->progress, "%s: page %zu is not what was written", path, wrong);
	return r;
}
