/* SPDX-License-Identifier: GPL-2.0-only */
#include "sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "meminfo.h"

enum source_kind {
	SOURCE_STAT,
	SOURCE_EVENTS,
	SOURCE_CURRENT,
	SOURCE_SWAP,
	SOURCE_LIMIT_HITS,
	SOURCE_PRESSURE,
	SOURCE_MEMINFO,
	SOURCE_NODE, /* one for each node */
};

/* The files of a memcg. memory.events of v2 holds the limit hits too; pressure is kept in the v2
 * hierarchy, whether the memory controller is there or not. */
struct memcg_file {
	enum source_kind kind;
	const char *name[3]; /* by version of the controller; NULL: has none */
};

static const struct memcg_file memcg_files[] = {
	{ SOURCE_STAT, { NULL, "memory.stat", "memory.stat" } },
	{ SOURCE_EVENTS, { NULL, "memory.oom_control", "memory.events" } },
	{ SOURCE_CURRENT, { NULL, "memory.usage_in_bytes", "memory.current" } },
	{ SOURCE_SWAP, { NULL, "memory.memsw.usage_in_bytes", "memory.swap.current" } },
	{ SOURCE_LIMIT_HITS, { NULL, "memory.failcnt", NULL } },
	{ SOURCE_PRESSURE, { NULL, "memory.pressure", "memory.pressure" } },
};

struct source {
	enum source_kind kind;
	int fd;
	ssize_t length; /* of the last read, or -errno */
	char *text;	/* KFILE_SIZE bytes */
};

struct sampler {
	unsigned int version;
	bool uses_uring;
	struct io_uring ring;
	struct source *sources;
	unsigned int nr_sources;
	char *texts; /* nr_sources × KFILE_SIZE, in one piece */
};

/* --- opening --- */

/* Keeps @fd as one more source; a negative one is a file that is not there. */
static int add_source(struct sampler *s, enum source_kind kind, int fd)
{
	_cleanup_close_ int owned = fd;
	struct source *grown;

	if (fd < 0)
		return 0;
	grown = reallocarray(s->sources, s->nr_sources + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->sources = grown;
	grown[s->nr_sources++] = (struct source){ .kind = kind, .fd = take_fd(&owned) };
	return 0;
}

static int add_memcg(struct sampler *s, const struct cgroup *cg)
{
	for (size_t i = 0; i < ARRAY_SIZE(memcg_files); i++) {
		const struct memcg_file *file = &memcg_files[i];
		const char *name = file->name[cg->version];
		int r, dir = file->kind == SOURCE_PRESSURE ? cg->unified_fd : cg->dir_fd;

		if (!name)
			continue;
		r = add_source(s, file->kind, openat(dir, name, O_RDONLY | O_CLOEXEC));
		if (r < 0)
			return r;
	}
	return 0;
}

/* The files of single nodes exist with CONFIG_NUMA only. They lack the event counters (pswpin …) of
 * /proc/vmstat, but reading one does not sum over all CPUs. */
static int add_nodes(struct sampler *s)
{
	_cleanup_closedir_ DIR *dir = opendir("/sys/devices/system/node");
	unsigned int before = s->nr_sources;
	struct dirent *entry;
	int r;

	while (dir && (entry = readdir(dir))) {
		_cleanup_close_ int node = -1;

		if (strncmp(entry->d_name, "node", 4) != 0 ||
		    strspn(entry->d_name + 4, "0123456789") != strlen(entry->d_name + 4))
			continue;
		node = openat(dirfd(dir), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		r = add_source(s, SOURCE_NODE, openat(node, "vmstat", O_RDONLY | O_CLOEXEC));
		if (r < 0)
			return r;
	}
	if (s->nr_sources > before)
		return 0;
	return add_source(s, SOURCE_NODE, open("/proc/vmstat", O_RDONLY | O_CLOEXEC));
}

static int add_sources(struct sampler *s, const struct cgroup *cg)
{
	int r;

	r = add_memcg(s, cg);
	if (r < 0)
		return r;
	r = add_source(s, SOURCE_MEMINFO, open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
	if (r < 0)
		return r;
	r = add_nodes(s);
	if (r < 0)
		return r;
	if (!s->nr_sources)
		return -ENOENT;
	s->texts = calloc(s->nr_sources, KFILE_SIZE);
	if (!s->texts)
		return -ENOMEM;
	/* Written once, so that no tick has to wait for a page of it. */
	memset(s->texts, 1, (size_t)s->nr_sources * KFILE_SIZE);
	for (unsigned int i = 0; i < s->nr_sources; i++)
		s->sources[i].text = s->texts + (size_t)i * KFILE_SIZE;
	return 0;
}

/* IORING_OP_READ came in 5.6, after io_uring itself. */
static bool ring_can_read(struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	bool can = probe && io_uring_opcode_supported(probe, IORING_OP_READ);

	io_uring_free_probe(probe);
	return can;
}

static bool register_fds(struct sampler *s)
{
	_cleanup_free_ int *fds = calloc(s->nr_sources, sizeof(*fds));

	if (!fds)
		return false;
	for (unsigned int i = 0; i < s->nr_sources; i++)
		fds[i] = s->sources[i].fd;
	return io_uring_register_files(&s->ring, fds, s->nr_sources) == 0;
}

/* Any refusal (sysctl kernel.io_uring_disabled, seccomp, an old kernel) leaves the plain reads. */
static void open_ring(struct sampler *s)
{
	/* Kernel files cannot be read without waiting, so the ring passes each to a thread of its
	 * own; two of them overlap the slow memory.stat with the rest and leave the CPUs alone. */
	unsigned int max_workers[2] = { 2, 1 };

	if (io_uring_queue_init(s->nr_sources, &s->ring, 0) < 0)
		return;
	if (!ring_can_read(&s->ring) || !register_fds(s)) {
		io_uring_queue_exit(&s->ring);
		return;
	}
	(void)io_uring_register_iowq_max_workers(&s->ring, max_workers);
	s->uses_uring = true;
}

static int open_sampler(const struct cgroup *cg, bool want_ring, struct sampler **ret,
			struct fail *f)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return fail_set(f, ENOMEM, "open the sampler");
	s->version = cg->version;
	r = add_sources(s, cg);
	if (r < 0) {
		sampler_close(s);
		return fail_set(f, -r, "open the kernel files to sample of %s", cg->path);
	}
	if (want_ring)
		open_ring(s);
	*ret = s;
	return 0;
}

int sampler_open(const struct cgroup *cg, struct sampler **ret, struct fail *f)
{
	return open_sampler(cg, true, ret, f);
}

int sampler_open_plain(const struct cgroup *cg, struct sampler **ret, struct fail *f)
{
	return open_sampler(cg, false, ret, f);
}

bool sampler_uses_uring(const struct sampler *s)
{
	return s->uses_uring;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	if (s->uses_uring)
		io_uring_queue_exit(&s->ring);
	for (unsigned int i = 0; i < s->nr_sources; i++)
		(void)close(s->sources[i].fd);
	free(s->sources);
	free(s->texts);
	free(s);
}

/* --- reading --- */

/* One read gives the whole file but of /proc/vmstat, which comes a page at a time: goes on from
 * where the first read of @source ended, and terminates the text. */
static void read_rest(struct source *source)
{
	size_t used = source->length > 0 ? (size_t)source->length : 0;
	bool more = source->kind == SOURCE_NODE && used;

	while (more && used < KFILE_SIZE - 1) {
		ssize_t n =
			pread(source->fd, source->text + used, KFILE_SIZE - 1 - used, (off_t)used);

		more = n > 0;
		used += more ? (size_t)n : 0;
	}
	source->text[used] = '\0';
	if (source->length > 0)
		source->length = (ssize_t)used;
}

static void read_plain(struct sampler *s)
{
	for (unsigned int i = 0; i < s->nr_sources; i++) {
		struct source *source = &s->sources[i];

		source->length = pread(source->fd, source->text, KFILE_SIZE - 1, 0);
		if (source->length < 0)
			source->length = -errno;
	}
}

/* Takes in what is complete; returns how many that were. */
static unsigned int reap(struct sampler *s)
{
	struct io_uring_cqe *cqe;
	unsigned int head, nr = 0;

	io_uring_for_each_cqe(&s->ring, head, cqe)
	{
		struct source *source = io_uring_cqe_get_data(cqe);

		source->length = cqe->res;
		nr++;
	}
	io_uring_cq_advance(&s->ring, nr);
	return nr;
}

static int read_ring(struct sampler *s)
{
	unsigned int pending = s->nr_sources;

	for (unsigned int i = 0; i < s->nr_sources; i++) {
		struct source *source = &s->sources[i];
		struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

		/* The ring has an entry for each source, and all were consumed last time. */
		if (!sqe)
			return -EBUSY;
		io_uring_prep_read(sqe, (int)i, source->text, KFILE_SIZE - 1, 0);
		io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
		io_uring_sqe_set_data(sqe, source);
	}
	/* Never returns with a read under way: it would write into a text that is being parsed. */
	while (pending) {
		int r = io_uring_submit_and_wait(&s->ring, pending);

		if (r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY)
			return r;
		pending -= reap(s);
	}
	return 0;
}

/* --- text to numbers --- */

static void add(uint64_t *sum, uint64_t value)
{
	if (value == KFILE_ABSENT)
		return;
	*sum = *sum == KFILE_ABSENT ? value : *sum + value;
}

static void add_node(struct vmstat *sum, const char *text)
{
	/* struct vmstat is nothing but counters, and adding is all we do with them. */
	enum { NR = sizeof(struct vmstat) / sizeof(uint64_t) };
	uint64_t node[NR], total[NR];
	struct vmstat parsed;

	if (vmstat_parse(text, &parsed) < 0)
		return;
	memcpy(node, &parsed, sizeof(node));
	memcpy(total, sum, sizeof(total));
	for (size_t i = 0; i < NR; i++)
		add(&total[i], node[i]);
	memcpy(sum, total, sizeof(total));
}

static void take_meminfo(struct snapshot *to, const char *text)
{
	struct meminfo info;

	if (meminfo_parse(text, &info) < 0)
		return;
	to->swap_free_bytes = info.swap_free_bytes;
	to->swap_total_bytes = info.swap_total_bytes;
	to->mem_available_bytes = info.available_bytes;
}

static void take_events(struct snapshot *to, unsigned int version, const char *text)
{
	if (version == 1) {
		(void)memevents_parse_v1(text, &to->events);
		return;
	}
	if (memevents_parse_v2(text, &to->events) == 0)
		to->limit_hits = to->events.max;
}

static void take(struct snapshot *to, unsigned int version, const struct source *source)
{
	const char *text = source->text;

	/* A parser that fails leaves its fields absent; there is nobody to tell at 10 Hz. */
	switch (source->kind) {
	case SOURCE_STAT:
		(void)(version == 1 ? memstat_parse_v1 : memstat_parse_v2)(text, &to->stat);
		break;
	case SOURCE_EVENTS:
		take_events(to, version, text);
		break;
	case SOURCE_CURRENT:
		(void)kfile_parse_u64(text, &to->current_bytes);
		break;
	case SOURCE_SWAP:
		(void)kfile_parse_u64(text, &to->swap_bytes);
		break;
	case SOURCE_LIMIT_HITS:
		(void)kfile_parse_u64(text, &to->limit_hits);
		break;
	case SOURCE_PRESSURE:
		(void)psi_parse(text, &to->psi);
		break;
	case SOURCE_MEMINFO:
		take_meminfo(to, text);
		break;
	case SOURCE_NODE:
		add_node(&to->nodes, text);
		break;
	}
}

static void init_snapshot(struct snapshot *snap)
{
	/* KFILE_ABSENT is all ones, and every field is a uint64_t. */
	memset(snap, 0xff, sizeof(*snap));
}

/* v1 counts memory and swap together, in a file read at another moment than memory alone. */
static void split_memsw(struct snapshot *snap)
{
	if (snap->swap_bytes == KFILE_ABSENT)
		return;
	if (snap->current_bytes == KFILE_ABSENT)
		snap->swap_bytes = KFILE_ABSENT;
	else if (snap->swap_bytes > snap->current_bytes)
		snap->swap_bytes -= snap->current_bytes;
	else
		snap->swap_bytes = 0;
}

int sampler_read(struct sampler *s, struct snapshot *ret)
{
	unsigned int nr_read = 0;
	struct snapshot snap;
	int r = -EIO;

	if (s->uses_uring) {
		r = read_ring(s);
		if (r < 0)
			return r;
	} else {
		read_plain(s);
	}
	init_snapshot(&snap);
	for (unsigned int i = 0; i < s->nr_sources; i++) {
		read_rest(&s->sources[i]);
		if (s->sources[i].length <= 0)
			continue;
		take(&snap, s->version, &s->sources[i]);
		nr_read++;
	}
	if (s->version == 1)
		split_memsw(&snap);
	if (!nr_read)
		return s->sources[0].length < 0 ? (int)s->sources[0].length : -ENODATA;
	*ret = snap;
	return 0;
}
