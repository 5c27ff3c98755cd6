/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * readahead-livelock: N processes fault in mapped files, each its own, inside one memcg at its limit.
 * Readahead adds the folios of its window one at a time; each is charged alone, each charge at the
 * limit runs a reclaim pass of its own, and what one pass frees the other readers take. So reclaim
 * runs tens of times a window, in the worst case without end. shared/seeds/001.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backing.h"
#include "cleanup.h"
#include "dataset.h"
#include "kfile.h"
#include "mmapread.h"
#include "parse.h"
#include "readahead.h"
#include "reader.h"
#include "run.h"

#define NS_PER_S 1000000000ULL

/* The document's run on 52 hardware threads: 104 processes, 1 GiB memory.max. */
#define DEFAULT_PROCS 104
#define DEFAULT_MEMCG (1ULL << 30)
/* Files together: three times the limit, so that two thirds of them are never in memory. */
#define DEFAULT_FILES_FACTOR 3
#define DEFAULT_TIME_NS (30 * NS_PER_S)
/* btrfs's own default, the document's filesystem (design.md, section 7). */
#define DEFAULT_READAHEAD (4ULL << 20)
#define DEFAULT_DIR "/var/tmp"
#define KEPT_FOLDER "mmapread-files"
/* Whole blocks for the writer. */
#define FILE_ROUND (1ULL << 20)
/* With MADV_RANDOM there is no window; a charge is of 32 to 64 pages and so is what a pass frees. */
#define RANDOM_WINDOW_PAGES 32
/* What a reader costs the memcg besides its pages: 24 KiB measured natively (6.18, v1, 104 and 400
 * processes with a file of one page each), and its page tables. */
#define PROCESS_OVERHEAD (64ULL << 10)

const char *const advice_names[] = { "normal", "random", "sequential" };

static const char *base_dir(const struct mmapread_options *o)
{
	return o->dir ? o->dir : DEFAULT_DIR;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static void add_params(struct run *run, unsigned int procs, uint64_t file_bytes)
{
	const struct mmapread_options *o = run->tool_options;
	struct result_doc *doc = &run->doc;

	result_param_u64(doc, "procs", procs);
	result_param_u64(doc, "file_bytes", file_bytes);
	result_param_text(doc, "pattern", o->random ? "rand" : "seq");
	result_param_text(doc, "advice", advice_names[o->advice]);
	if (o->readahead_keep)
		result_param_text(doc, "readahead", "keep");
	else
		result_param_u64(doc, "readahead_bytes",
				 o->readahead_bytes ? o->readahead_bytes : DEFAULT_READAHEAD);
	result_param_text(doc, "dir", base_dir(o));
	result_param_text(doc, "fs", o->fs.type ? o->fs.type : "as it is");
	if (o->fs.mount_options[0])
		result_param_text(doc, "mount_options", o->fs.mount_options);
	result_param_real(doc, "compress", o->compress);
	result_param_flag(doc, "keep_files", o->keep_files);
}

static int refuse(const struct mmapread_options *o, unsigned int procs, uint64_t memcg,
		  struct fail *f)
{
	char need[32], limit[32];
	uint64_t overhead = procs * PROCESS_OVERHEAD;

	if (overhead > memcg / 2)
		return fail_say(f, EINVAL,
				"--procs: %u processes take %s by themselves, more than half of "
				"--memcg %s",
				procs, format_size(overhead, need, sizeof(need)),
				format_size(memcg, limit, sizeof(limit)));
	if (o->keep_files && o->fs.type)
		return fail_say(f, EINVAL,
				"--keep-files: the image of --fs goes away with everything in it");
	if (o->image_bytes && !o->fs.type)
		return fail_say(f, EINVAL, "--image-size: is for --fs");
	if (o->dir && o->dir[0] != '/')
		return fail_say(f, EINVAL, "--dir: '%s' is not an absolute path", o->dir);
	/* Our own names are behind it. */
	if (o->dir && strlen(o->dir) > DATASET_DIR_SIZE - 64)
		return fail_set(f, ENAMETOOLONG, "--dir");
	if (o->dir && access(o->dir, F_OK) < 0)
		return fail_set(f, EINVAL, "--dir: '%s' is no folder", o->dir);
	if (o->dir && backing_is_memory(o->dir))
		return fail_say(f, EINVAL,
				"--dir: '%s' is a tmpfs, whose pages are in memory already",
				o->dir);
	return 0;
}

static int plan(struct run *run, struct fail *f)
{
	const struct mmapread_options *o = run->tool_options;
	struct plan *p = &run->plan;
	unsigned int procs = o->procs ? o->procs : DEFAULT_PROCS;
	uint64_t file_bytes, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int r;

	p->memcg_bytes = run->opt->memcg_bytes ? run->opt->memcg_bytes : DEFAULT_MEMCG;
	r = refuse(o, procs, p->memcg_bytes, f);
	if (r < 0)
		return r;
	file_bytes = o->file_bytes
			     ? round_up(o->file_bytes, page)
			     : round_up(DEFAULT_FILES_FACTOR * p->memcg_bytes / procs, FILE_ROUND);
	p->nr_procs = procs;
	p->set_bytes = file_bytes * procs;
	p->demand_bytes = p->set_bytes + procs * PROCESS_OVERHEAD;
	p->disk_bytes = p->set_bytes;
	if (o->fs.type)
		p->disk_bytes = o->image_bytes ? o->image_bytes : fsimage_bytes(p->set_bytes);
	p->disk_dir = base_dir(o);
	p->duration_ns = run->opt->time_ns ? run->opt->time_ns : DEFAULT_TIME_NS;
	p->default_params = procs == DEFAULT_PROCS && p->memcg_bytes == DEFAULT_MEMCG &&
			    !o->file_bytes && o->advice == ADVICE_NORMAL;
	p->nr_hists = READER_HISTS;
	p->hist_names[READER_HIST_TOUCH] = "touch";
	p->hist_names[READER_HIST_MAJOR] = "major_fault";
	p->hist_names[READER_HIST_MINOR] = "minor_fault";
	for (size_t i = 0; i < READER_HISTS; i++)
		p->hist_units[i] = "ns";
	add_params(run, procs, file_bytes);
	return 0;
}

static struct dataset dataset_of(const struct run *run)
{
	const struct mmapread_options *o = run->tool_options;
	struct dataset set = {
		.nr_files = run->plan.nr_procs,
		.file_bytes = run->plan.set_bytes / run->plan.nr_procs,
		.content = { .seed = run->opt->seed, .ratio = o->compress },
		.stop = &run_stop_requested,
	};

	(void)snprintf(set.dir, sizeof(set.dir), "%s/" KEPT_FOLDER, base_dir(o));
	set.buffered = backing_wants_buffered(base_dir(o));
	return set;
}

static int check(struct run *run, struct fail *f)
{
	const struct mmapread_options *o = run->tool_options;
	char path[PATH_MAX];
	int r;

	if (backing_is_memory(base_dir(o)))
		return fail_say(f, EOPNOTSUPP,
				"needs a folder on a disk: %s is a tmpfs (give one with --dir)",
				base_dir(o));
	if (access(base_dir(o), W_OK) < 0)
		return fail_say(f, EACCES, "needs to write to %s (give another --dir)",
				base_dir(o));
	if (o->fs.type)
		return fsimage_check(&o->fs, f);
	if (o->keep_files) {
		struct dataset set = dataset_of(run);

		if (dataset_matches(&set))
			run->plan.disk_bytes = 0;
	}
	r = backing_readahead_file(base_dir(o), path, f);
	if (r == 0 && !o->readahead_keep && access(path, W_OK) < 0)
		return fail_say(f, EACCES,
				"needs to write to %s for the readahead window (--readahead keep "
				"leaves it)",
				path);
	return r;
}

/* Makes the folder of the files, in an image of its own or not, to be kept or not. */
static int make_folder(struct run *run, struct readahead_state *s, struct fail *f)
{
	const struct mmapread_options *o = run->tool_options;
	const char *name = arena_name(run->arena);
	char image[PATH_MAX];
	int r;

	if (o->keep_files) {
		if (mkdir(s->set.dir, 0700) < 0 && errno != EEXIST)
			return fail_set(f, errno, "making the folder %s", s->set.dir);
		return 0;
	}
	(void)snprintf(s->set.dir, sizeof(s->set.dir), "%s/%s", base_dir(o), name);
	if (!o->fs.type) {
		r = arena_adopt_path(run->arena, s->set.dir, f);
		if (r == 0 && mkdir(s->set.dir, 0700) < 0)
			r = fail_set(f, errno, "making the folder %s", s->set.dir);
		return r;
	}
	r = arena_make_dir(run->arena, s->set.dir, 0700, f);
	if (r == 0 && snprintf(image, sizeof(image), "%s.img", s->set.dir) >= (int)sizeof(image))
		r = fail_set(f, ENAMETOOLONG, "%s", s->set.dir);
	if (r == 0)
		r = fsimage_make(&o->fs, run->arena, image, run->plan.disk_bytes, s->set.dir, f);
	/* Only now can it be told what is beneath. */
	s->set.buffered = backing_wants_buffered(s->set.dir);
	return r;
}

static int make_files(struct readahead_state *s, bool keep, struct fail *f)
{
	uint64_t began_ns = clock_now_ns();
	int r = 0;

	s->lock_fd = dataset_lock(&s->set, f);
	if (s->lock_fd < 0)
		return s->lock_fd;
	if (keep && dataset_matches(&s->set))
		return 0;
	if (keep)
		r = dataset_clear(&s->set, f);
	if (r == 0)
		r = dataset_write(&s->set, f);
	s->wrote_ns = clock_now_ns() - began_ns;
	if (r == 0)
		r = dataset_verify(&s->set, f);
	if (r == 0 && keep)
		r = dataset_write_manifest(&s->set, f);
	return r;
}

static int set_readahead(struct run *run, struct readahead_state *s, struct fail *f)
{
	const struct mmapread_options *o = run->tool_options;
	uint64_t wanted = o->readahead_bytes ? o->readahead_bytes : DEFAULT_READAHEAD, kib;
	char text[32];
	int r = backing_readahead_file(s->set.dir, s->readahead_file, f);

	if (r < 0)
		return r;
	(void)kfile_read_u64_at(AT_FDCWD, s->readahead_file, &s->readahead_was_kib);
	(void)snprintf(text, sizeof(text), "%" PRIu64, wanted >> 10);
	if (!o->readahead_keep) {
		r = arena_set_file(run->arena, s->readahead_file, text, f);
		if (r < 0)
			return r;
	}
	/* As the kernel took it, in whole pages. */
	r = kfile_read_u64_at(AT_FDCWD, s->readahead_file, &kib);
	if (r < 0)
		return fail_set(f, -r, "%s", s->readahead_file);
	s->window_bytes = kib << 10;
	return 0;
}

static int setup(struct run *run, struct fail *f)
{
	const struct mmapread_options *o = run->tool_options;
	struct readahead_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return fail_set(f, ENOMEM, "state");
	run->state = s;
	s->lock_fd = -1;
	s->set = dataset_of(run);
	r = make_folder(run, s, f);
	if (r == 0)
		r = make_files(s, o->keep_files, f);
	return r == 0 ? set_readahead(run, s, f) : r;
}

static int prepare(struct run *run, struct fail *f)
{
	const struct readahead_state *s = run->state;

	return dataset_evict(&s->set, f);
}

static void finish(struct run *run)
{
	struct readahead_state *s = run->state;

	if (s && s->lock_fd >= 0)
		(void)close(s->lock_fd);
	free(s);
	run->state = NULL;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How unequal the readers' shares were: one that starves does not show in a sum. */
static void note_shares(const struct run *run, struct run_result *res)
{
	size_t nr = run->progress.nr_slots;
	_cleanup_free_ uint64_t *done = nr ? calloc(nr, sizeof(*done)) : NULL;

	if (!done)
		return;
	for (size_t i = 0; i < nr; i++)
		done[i] = atomic_load(&run->progress.slots[i].done);
	qsort(done, nr, sizeof(*done), compare_u64);
	run_result_note(res,
			"pages read by a process: %" PRIu64 " at least, %" PRIu64
			" at the median, %" PRIu64 " at most",
			done[0], done[nr / 2], done[nr - 1]);
}

static void note_files(const struct run *run, const struct readahead_state *s,
		       struct run_result *res)
{
	char size[32], speed[32], window[32], was[32];
	uint64_t bytes = s->set.nr_files * s->set.file_bytes;

	if (s->wrote_ns)
		run_result_note(
			res, "files: %u of %s, written at %s/s%s, verified, evicted before the run",
			s->set.nr_files, format_size(s->set.file_bytes, size, sizeof(size)),
			format_size((uint64_t)((double)bytes * NS_PER_S / (double)s->wrote_ns),
				    speed, sizeof(speed)),
			s->set.buffered ? " through the page cache" : "");
	else
		run_result_note(res,
				"files: %u of %s, kept from an earlier run, evicted before "
				"this one",
				s->set.nr_files,
				format_size(s->set.file_bytes, size, sizeof(size)));
	run_result_note(res, "readahead window: %s (%s before)",
			format_size(s->window_bytes, window, sizeof(window)),
			format_size(s->readahead_was_kib << 10, was, sizeof(was)));
	note_shares(run, res);
}

static struct value ratio(struct value a, double b)
{
	return value_is_present(a) && b > 0 ? value_real(value_as_real(a) / b) : value_absent();
}

static void collect(struct run *run, struct run_result *res)
{
	const struct mmapread_options *o = run->tool_options;
	const struct readahead_state *s = run->state;
	struct value *m = run->m.metrics;
	uint64_t minor = 0, major = 0;
	double seconds = (double)run->m.duration_ns / NS_PER_S;

	for (size_t i = 0; i < run->progress.nr_slots; i++) {
		minor += atomic_load(&run->progress.slots[i].minor_faults);
		major += atomic_load(&run->progress.slots[i].major_faults);
	}
	/* The readers' own, counted from the first page on; memory.stat has the fork's as well. */
	m[METRIC_MINOR_FAULTS] = value_u64(minor);
	m[METRIC_MAJOR_FAULTS] = value_u64(major);
	m[METRIC_PASSES_PER_MAJOR_FAULT] = ratio(m[METRIC_RECLAIM_PASSES], (double)major);
	if (value_is_present(m[METRIC_PAGES_READ]) && seconds > 0)
		m[METRIC_READ_BYTES_PER_S] = value_real((double)m[METRIC_PAGES_READ].u *
							(double)run->m.page_size / seconds);
	run->m.random_advice = o->advice == ADVICE_RANDOM;
	run->m.window_pages = run->m.random_advice ? RANDOM_WINDOW_PAGES
						   : s->window_bytes / run->m.page_size;
	if (value_is_present(m[METRIC_RECLAIM_PASSES]))
		m[METRIC_PASSES_PER_WINDOW] =
			ratio(value_real(value_as_real(m[METRIC_RECLAIM_PASSES]) *
					 (double)run->m.window_pages),
			      value_as_real(m[METRIC_PAGES_RECLAIMED]));
	note_files(run, s, res);
}

const struct scenario readahead_livelock = {
	.name = "readahead-livelock",
	.summary = "every readahead folio triggers a memcg reclaim pass; the readers livelock",
	.document = "seeds/001: mm/readahead: avoid per-folio memcg reclaim",
	.fix = "that patch: readahead adds its folios without reclaim and reclaims once a window",
	.explain =
		"N processes each map a file of their own and read it page by page, all in one memcg\n"
		"that holds a third of the files. The readahead window of the device is set to 4 MiB.\n"
		"Readahead adds the pages of a window one folio at a time; at the limit each one's\n"
		"charge runs a reclaim pass, and what a pass frees is taken by the other readers. So\n"
		"reclaim runs tens of times for a window that is speculative anyway, and in the worst\n"
		"case all are in reclaim and nobody reads any more.\n"
		"\n"
		"FAIL means: reclaim ran more than 4 times for each window of pages that it freed (17\n"
		"to 20 with the failure, under 2 without), or in some 5 s the group read under 1 % of\n"
		"its own median, and not a page a reader, while reclaim went on (livelock), or a worker\n"
		"was OOM-killed. The reason says which. PASS needs proof: 100 limit hits or reclaim\n"
		"passes, 100 major faults, and a window of at least 1 MiB. A slow disk is not a\n"
		"livelock: reclaim stands still then too.\n"
		"\n"
		"Control: --advice random reads no page ahead and must PASS.",
	.unit = "pages",
	.unit_metric = METRIC_PAGES_READ,
	.plan = plan,
	.check = check,
	.setup = setup,
	.prepare = prepare,
	.work = readahead_work,
	.collect = collect,
	.judge = readahead_judge,
	.finish = finish,
};
