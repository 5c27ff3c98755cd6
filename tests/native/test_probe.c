/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe's back ends held against each other on one real load: a child in a 16 MiB memcg reads a
 * 64 MiB file over and over (no swap needed), or touches 64 MiB where there is swap but no disk.
 *
 * Exit code 4: something needed is missing here, and named. The limit is the group's own, so nothing
 * outside it comes under pressure.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "caps.h"
#include "cgroup.h"
#include "cleanup.h"
#include "kfile.h"
#include "meminfo.h"
#include "probe.h"

#define EXIT_SKIP 4
#define LIMIT_BYTES (16ULL << 20)
#define SET_BYTES (64ULL << 20)
#define ROUNDS 4 /* a thousand passes, so that 1 % is ten of them */
#define CHUNK 65536
#define ENOUGH_PASSES 300
#define CLOSE_NS 5000000000ULL

struct bench {
	struct arena *arena;
	struct cgroup_host host;
	char memory[PATH_MAX], unified[PATH_MAX]; /* our group */
	struct cgroup cg;
	char file[PATH_MAX]; /* "": the load is anonymous memory */
};

static struct bench bench = { .cg = { .dir_fd = -1, .unified_fd = -1 } };

/* --- the load --- */

static void read_file(const char *path)
{
	static char chunk[CHUNK];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	/* Without readahead there are no large folios, of which one pass would free very many. */
	if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) != 0)
		_exit(2);
	for (int i = 0; i < ROUNDS; i++) {
		if (lseek(fd, 0, SEEK_SET) < 0)
			_exit(2);
		while (read(fd, chunk, sizeof(chunk)) > 0)
			;
	}
}

static void touch_memory(void)
{
	char *p = mmap(NULL, SET_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(2);
	(void)madvise(p, SET_BYTES, MADV_NOHUGEPAGE);
	for (int i = 0; i < ROUNDS; i++)
		for (size_t at = 0; at < SET_BYTES; at += 4096)
			((volatile char *)p)[at] = (char)i;
}

static void load(void)
{
	if (bench.file[0])
		read_file(bench.file);
	else
		touch_memory();
	_exit(0);
}

/* Whatever is cached is charged already, to whoever read it: begin with nothing cached. */
static void drop_file(void)
{
	_cleanup_close_ int fd = -1;

	if (!bench.file[0])
		return;
	fd = open(bench.file, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	(void)fsync(fd);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
}

/* Runs the load in @cg (NULL: where we are) under the eyes of @probes. */
static void run_load(const struct cgroup *cg, struct probe **probes, size_t nr_probes)
{
	struct fail f = { 0 };
	int gate[2], status = 0, pidfd = -1;
	char byte = 0;
	pid_t pid;

	drop_file();
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	pid = cg ? cgroup_fork(cg, &pidfd, &f) : fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 1)
			_exit(2);
		load();
	}
	for (size_t i = 0; i < nr_probes; i++) {
		assert_int_equal(probe_add_worker(probes[i], pid, &f), 0);
		assert_int_equal(probe_start(probes[i], &f), 0);
	}
	assert_int_equal(write(gate[1], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(gate[0]);
	close(gate[1]);
	if (pidfd >= 0)
		close(pidfd);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- helpers --- */

static struct probe *open_probe(enum probe_kind kind, const struct cgroup_host *host,
				const struct cgroup *groups, size_t nr)
{
	const struct probe_options options = { .kind = kind, .verbose = getenv("VERBOSE") };
	struct fail f = { 0 };
	struct probe *p = NULL;
	char why[TEXT_SIZE];

	if (probe_open(&options, host, groups, nr, &p, why, &f) < 0) {
		print_message("skipped: %s\n", f.what);
		return NULL;
	}
	return p;
}

static struct probe_counts counts_of(struct probe *p)
{
	struct probe_counts c;

	assert_int_equal(probe_read(p, &c), 0);
	print_message("  %-5s begun %llu ended %llu scanned %lld reclaimed %lld time %lld ns\n",
		      probe_name(p), (unsigned long long)c.passes_begun,
		      (unsigned long long)c.passes_ended, (long long)c.scanned_pages,
		      (long long)c.reclaimed_pages, (long long)c.reclaim_time_ns);
	return c;
}

static void assert_within(uint64_t a, uint64_t b, unsigned int percent)
{
	uint64_t more = a > b ? a : b, less = a > b ? b : a;

	if ((more - less) * 100 > more * percent)
		fail_msg("%llu and %llu differ by more than %u %%", (unsigned long long)a,
			 (unsigned long long)b, percent);
}

/* --- the tests --- */

static void test_perf_counts_the_group_only(void **state)
{
	struct probe *p = open_probe(PROBE_PERF, &bench.host, &bench.cg, 1);
	struct probe_counts inside, outside;

	(void)state;
	if (!p)
		skip();
	run_load(&bench.cg, &p, 1);
	inside = counts_of(p);
	assert_true(inside.passes_begun >= ENOUGH_PASSES);
	assert_int_equal(inside.passes_begun, inside.passes_ended);
	assert_int_equal(inside.oom_victims, 0);
	assert_true(inside.scanned_pages == KFILE_ABSENT);
	assert_true(inside.reclaim_time_ns == KFILE_ABSENT);
	/* The same outside the group, which has no limit: not one pass is ours. */
	drop_file();
	assert_int_equal(probe_start(p, NULL), 0);
	run_load(NULL, NULL, 0);
	outside = counts_of(p);
	assert_int_equal(outside.passes_begun, 0);
	probe_close(p);
}

/* Without a cgroup that perf understands it counts by task; the same load gives the same count. */
static void test_by_task_equals_by_cgroup(void **state)
{
	struct cgroup no_perf = bench.cg;
	struct probe *probes[2];
	struct probe_counts by_cgroup, by_task;

	(void)state;
	no_perf.unified_fd = -1;
	probes[0] = open_probe(PROBE_PERF, &bench.host, &bench.cg, 1);
	if (!probes[0])
		skip();
	probes[1] = open_probe(PROBE_PERF, &bench.host, &no_perf, 1);
	assert_non_null(probes[1]);
	run_load(&bench.cg, probes, 2);
	by_cgroup = counts_of(probes[0]);
	by_task = counts_of(probes[1]);
	assert_true(by_task.passes_begun >= ENOUGH_PASSES);
	assert_within(by_cgroup.passes_begun, by_task.passes_begun, 1);
	assert_within(by_cgroup.passes_ended, by_task.passes_ended, 1);
	probe_close(probes[0]);
	probe_close(probes[1]);
}

static void check_histogram(const struct run_result *run, const char *name, uint64_t count,
			    uint64_t sum)
{
	for (size_t i = 0; i < run->nr_hists; i++) {
		uint64_t n = 0;

		if (strcmp(run->hists[i].name, name) != 0)
			continue;
		for (size_t b = 0; b < HIST_BUCKETS; b++)
			n += run->hists[i].hist->buckets[b];
		assert_int_equal(n, count);
		assert_int_equal(run->hists[i].hist->count, count);
		assert_int_equal(run->hists[i].hist->sum, sum);
		return;
	}
	fail_msg("no histogram %s", name);
}

static void check_collected(struct probe *p, const struct probe_counts *c)
{
	struct result_doc doc;
	struct run_result *run;

	result_init(&doc);
	run = result_add_run(&doc);
	assert_non_null(run);
	assert_int_equal(probe_collect(p, run), 0);
	check_histogram(run, "reclaim_latency", c->passes_ended, c->reclaim_time_ns);
	check_histogram(run, "pass_reclaimed", c->passes_ended, c->reclaimed_pages);
	if (c->scanned_pages != KFILE_ABSENT)
		check_histogram(run, "pass_scanned", c->passes_ended, c->scanned_pages);
	assert_int_equal(run->nr_worst, WORST_PASSES_MAX);
	for (size_t i = 0; i < run->nr_worst; i++) {
		print_message("  worst %2zu: %llu ns, scanned %llu, reclaimed %llu of %llu, %s\n",
			      i + 1, (unsigned long long)run->worst[i].latency_ns,
			      (unsigned long long)run->worst[i].scanned,
			      (unsigned long long)run->worst[i].reclaimed,
			      (unsigned long long)run->worst[i].goal, run->worst[i].comm);
		assert_true(run->worst[i].goal >= 32);
		if (i)
			assert_true(run->worst[i].latency_ns <= run->worst[i - 1].latency_ns);
	}
	for (size_t i = 0; i < run->nr_notes; i++)
		print_message("  note: %s\n", run->notes[i]);
	result_free(&doc);
}

static void test_bpf_equals_perf(void **state)
{
	struct probe *probes[3];
	struct probe_counts bpf, perf, files;

	(void)state;
	probes[0] = open_probe(PROBE_BPF, &bench.host, &bench.cg, 1);
	if (!probes[0])
		skip();
	probes[1] = open_probe(PROBE_PERF, &bench.host, &bench.cg, 1);
	if (!probes[1]) {
		probe_close(probes[0]);
		skip();
	}
	probes[2] = open_probe(PROBE_FILES, &bench.host, &bench.cg, 1);
	assert_non_null(probes[2]);
	run_load(&bench.cg, probes, 3);
	bpf = counts_of(probes[0]);
	perf = counts_of(probes[1]);
	files = counts_of(probes[2]);
	assert_true(bpf.passes_begun >= ENOUGH_PASSES);
	assert_within(bpf.passes_begun, perf.passes_begun, 1);
	assert_within(bpf.passes_ended, perf.passes_ended, 1);
	assert_int_equal(bpf.passes_begun, bpf.passes_ended);
	assert_true(bpf.reclaimed_pages != KFILE_ABSENT && bpf.reclaimed_pages > 0);
	assert_true(bpf.reclaim_time_ns > 0);
	/* v1 does not tell what was reclaimed. */
	if (files.reclaimed_pages != KFILE_ABSENT)
		assert_within(bpf.reclaimed_pages, files.reclaimed_pages, 2);
	check_collected(probes[0], &bpf);
	for (size_t i = 0; i < 3; i++)
		probe_close(probes[i]);
}

/* Starting again begins at nothing, and passes of others never count. */
static void test_bpf_counts_the_group_only(void **state)
{
	struct probe *p = open_probe(PROBE_BPF, &bench.host, &bench.cg, 1);
	struct probe_counts c;

	(void)state;
	if (!p)
		skip();
	run_load(&bench.cg, &p, 1);
	c = counts_of(p);
	assert_true(c.passes_begun >= ENOUGH_PASSES);
	drop_file();
	assert_int_equal(probe_start(p, NULL), 0);
	run_load(NULL, NULL, 0);
	c = counts_of(p);
	assert_int_equal(c.passes_begun, 0);
	assert_int_equal(c.passes_ended, 0);
	assert_int_equal(c.reclaimed_pages, 0);
	probe_close(p);
}

static void make_child(const char *parent, char ret[PATH_MAX])
{
	ret[0] = '\0';
	if (!parent[0])
		return;
	assert_true(snprintf(ret, PATH_MAX, "%s/pod", parent) < PATH_MAX);
	assert_int_equal(mkdir(ret, 0755), 0);
}

/* A group below ours is counted with it, by every back end. */
static void test_group_below(void **state)
{
	char memory[PATH_MAX], unified[PATH_MAX];
	struct probe *probes[2];
	struct probe_counts c[2];
	struct cgroup pod;
	size_t nr = 0;

	(void)state;
	make_child(bench.memory, memory);
	make_child(strcmp(bench.memory, bench.unified) ? bench.unified : "", unified);
	if (!strcmp(bench.memory, bench.unified))
		strcpy(unified, memory);
	assert_int_equal(cgroup_open(&bench.host, memory, unified, &pod, NULL), 0);
	for (enum probe_kind kind = PROBE_BPF; kind <= PROBE_PERF; kind++) {
		probes[nr] = open_probe(kind, &bench.host, &bench.cg, 1);
		nr += probes[nr] != NULL;
	}
	if (nr)
		run_load(&pod, probes, nr);
	for (size_t i = 0; i < nr; i++) {
		c[i] = counts_of(probes[i]);
		probe_close(probes[i]);
	}
	cgroup_close(&pod);
	(void)rmdir(memory);
	(void)rmdir(unified);
	for (size_t i = 0; i < nr; i++)
		assert_true(c[i].passes_begun >= ENOUGH_PASSES);
	if (!nr)
		skip();
}

/* --- what is taken where something is missing --- */

/* In a child, as rights and mounts do not come back: opens `auto` after @spoil, and expects that a back
 * end other than @lost is taken, and that the reason has @word in it. */
static void check_fallback(int (*spoil)(void), const char *lost, const char *word)
{
	const struct probe_options options = { .kind = PROBE_AUTO };
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct fail f = { 0 };
		struct probe *p = NULL;
		char why[TEXT_SIZE] = "";

		if (spoil() < 0)
			_exit(EXIT_SKIP);
		if (probe_open(&options, &bench.host, &bench.cg, 1, &p, why, &f) < 0)
			_exit(1);
		fprintf(stderr, "  %s: %s\n", probe_name(p), why);
		_exit(!strcmp(probe_name(p), lost) || !strstr(why, word));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == EXIT_SKIP)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int drop_rights(void)
{
	const cap_value_t keep[] = { CAP_DAC_OVERRIDE };

	caps_keep_only(keep, 1);
	return 0;
}

static int hide_btf(void)
{
	if (access("/sys/kernel/btf", F_OK) < 0)
		return 0;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL) < 0)
		return -errno;
	return 0;
}

static void test_without_rights(void **state)
{
	struct probe *p = open_probe(PROBE_BPF, &bench.host, &bench.cg, 1);

	(void)state;
	if (!p)
		skip();
	probe_close(p);
	check_fallback(drop_rights, "bpf", "CAP_BPF");
}

static void test_without_btf(void **state)
{
	struct probe *p = open_probe(PROBE_BPF, &bench.host, &bench.cg, 1);

	(void)state;
	if (!p)
		skip();
	probe_close(p);
	check_fallback(hide_btf, "bpf", "BTF");
}

static int spoil_nothing(void)
{
	return 0;
}

/* Whatever this kernel allows: something is taken, and it says why nothing better was. */
static void test_as_it_is(void **state)
{
	(void)state;
	check_fallback(spoil_nothing, "", "");
}

/* --- what the tests stand on --- */

static bool has_page_cache_of_its_own(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC &&
	       fs.f_type != OVERLAYFS_SUPER_MAGIC && fs.f_type != V9FS_MAGIC;
}

static uint64_t swap_free(void)
{
	char text[KFILE_SIZE];
	struct meminfo info = { 0 };

	if (kfile_read_at(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) > 0)
		(void)meminfo_parse(text, &info);
	return info.swap_free_bytes;
}

static int make_file(struct fail *f)
{
	const char *dir = getenv("SQUEEZE_TEST_DIR") ?: "/var/tmp";
	static char chunk[CHUNK];
	int fd, r;

	if (!has_page_cache_of_its_own(dir))
		return swap_free() > 2 * SET_BYTES
			       ? 0
			       : fail_say(f, ENOSPC,
					  "neither a disk for 64 MiB nor swap for 128 MiB");
	(void)snprintf(bench.file, sizeof(bench.file), "%.3900s/%s", dir, arena_name(bench.arena));
	r = arena_make_file(bench.arena, bench.file, SET_BYTES, f);
	if (r < 0)
		return r;
	/* Real data on the disk, as reading blocks that were never written takes no I/O. */
	fd = open(bench.file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_set(f, errno, "open %s", bench.file);
	for (uint64_t at = 0; at < SET_BYTES; at += sizeof(chunk)) {
		if (write(fd, chunk, sizeof(chunk)) != sizeof(chunk)) {
			close(fd);
			return fail_set(f, errno, "write %s", bench.file);
		}
	}
	(void)fsync(fd);
	close(fd);
	return 0;
}

/* The groups of the arena's name in both hierarchies. */
static int make_group(const char *memory, const char *unified, struct fail *f)
{
	const char *name = arena_name(bench.arena);
	uint64_t in_force;
	int r;

	(void)snprintf(bench.memory, PATH_MAX, "%.3900s/%s", memory, name);
	if (unified[0])
		(void)snprintf(bench.unified, PATH_MAX, "%.3900s/%s", unified, name);
	r = arena_make_cgroup(bench.arena, bench.memory, bench.unified, f);
	if (r == 0)
		r = cgroup_open(&bench.host, bench.memory, bench.unified, &bench.cg, f);
	if (r == 0)
		r = cgroup_set_limit(&bench.cg, LIMIT_BYTES, &in_force, f);
	return r;
}

static int prepare(struct fail *f)
{
	char memory[PATH_MAX], unified[PATH_MAX];
	int r;

	r = cgroup_discover(&bench.host, f);
	if (r == 0)
		r = cgroup_choose_parent(&bench.host, NULL, memory, unified, f);
	if (r == 0)
		r = arena_open("test-probe", &bench.arena, f);
	if (r == 0)
		r = make_group(memory, unified, f);
	if (r == 0)
		r = make_file(f);
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_counts_the_group_only),
		cmocka_unit_test(test_by_task_equals_by_cgroup),
		cmocka_unit_test(test_bpf_equals_perf),
		cmocka_unit_test(test_bpf_counts_the_group_only),
		cmocka_unit_test(test_group_below),
		cmocka_unit_test(test_as_it_is),
		cmocka_unit_test(test_without_rights),
		cmocka_unit_test(test_without_btf),
	};
	struct fail f = { 0 };
	int r = prepare(&f);

	if (r < 0)
		print_message("skipped: %s\n", f.what);
	else
		r = cmocka_run_group_tests(tests, NULL, NULL);
	cgroup_close(&bench.cg);
	if (arena_close(bench.arena, CLOSE_NS, &f) < 0) {
		print_message("%s\n", f.what);
		return 1;
	}
	return r < 0 ? EXIT_SKIP : r;
}
