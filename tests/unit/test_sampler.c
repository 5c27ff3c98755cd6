/* SPDX-License-Identifier: GPL-2.0-only */
/* A memcg is played by a folder of plain files; the host's files are the real ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "sampler.h"

struct fake_file {
	const char *name;
	const char *text;
};

static const struct fake_file v2_files[] = {
	{ "memory.stat", "anon 4096\nfile 8192\ninactive_anon 111\npgscan 77\npgsteal 55\n" },
	{ "memory.events", "low 1\nhigh 2\nmax 345\noom 4\noom_kill 5\n" },
	{ "memory.current", "16777216\n" },
	{ "memory.swap.current", "33554432\n" },
	{ "memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n"
			     "full avg10=0.00 avg60=0.00 avg300=0.00 total=567\n" },
};

static const struct fake_file v1_files[] = {
	{ "memory.stat", "cache 1\ntotal_cache 8192\ntotal_rss 4096\ntotal_inactive_anon 111\n" },
	{ "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n" },
	{ "memory.usage_in_bytes", "16777216\n" },
	{ "memory.memsw.usage_in_bytes", "50331648\n" },
	{ "memory.failcnt", "345\n" },
};

struct fixture {
	char path[64];
	struct cgroup cg;
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	strcpy(fx->path, "/tmp/squeeze-test-sampler-XXXXXX");
	assert_non_null(mkdtemp(fx->path));
	fx->cg = CGROUP_CLOSED;
	fx->cg.dir_fd = open(fx->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fx->cg.unified_fd = fx->cg.dir_fd;
	assert_true(fx->cg.dir_fd >= 0);
	*state = fx;
	return 0;
}

static void write_file(const struct fixture *fx, const char *name, const char *text)
{
	_cleanup_close_ int fd =
		openat(fx->cg.dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void fill(struct fixture *fx, unsigned int version)
{
	const struct fake_file *files = version == 1 ? v1_files : v2_files;
	size_t nr = version == 1 ? ARRAY_SIZE(v1_files) : ARRAY_SIZE(v2_files);

	fx->cg.version = version;
	for (size_t i = 0; i < nr; i++)
		write_file(fx, files[i].name, files[i].text);
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_SIZE(v2_files); i++)
		(void)unlinkat(fx->cg.dir_fd, v2_files[i].name, 0);
	for (size_t i = 0; i < ARRAY_SIZE(v1_files); i++)
		(void)unlinkat(fx->cg.dir_fd, v1_files[i].name, 0);
	close(fx->cg.dir_fd);
	assert_int_equal(rmdir(fx->path), 0);
	free(fx);
	return 0;
}

static void read_by(int (*open_fn)(const struct cgroup *, struct sampler **, struct fail *),
		    const struct cgroup *cg, struct snapshot *ret)
{
	struct sampler *s = NULL;
	struct fail f = { 0 };

	assert_int_equal(open_fn(cg, &s, &f), 0);
	assert_int_equal(sampler_read(s, ret), 0);
	sampler_close(s);
}

static void assert_common(const struct snapshot *snap)
{
	assert_int_equal(snap->stat.anon_bytes, 4096);
	assert_int_equal(snap->stat.file_bytes, 8192);
	assert_int_equal(snap->stat.inactive_anon_bytes, 111);
	assert_int_equal(snap->events.oom_kill, 5);
	assert_int_equal(snap->current_bytes, 16777216);
	assert_int_equal(snap->swap_bytes, 33554432);
	assert_int_equal(snap->limit_hits, 345);
}

static void test_v2(void **state)
{
	struct fixture *fx = *state;
	struct snapshot snap;

	fill(fx, 2);
	read_by(sampler_open_plain, &fx->cg, &snap);
	assert_common(&snap);
	assert_int_equal(snap.stat.pgscan, 77);
	assert_int_equal(snap.stat.pgsteal, 55);
	assert_int_equal(snap.psi.some_us, 1234);
	assert_int_equal(snap.psi.full_us, 567);
}

static void test_v1(void **state)
{
	struct fixture *fx = *state;
	struct snapshot snap;

	fill(fx, 1);
	read_by(sampler_open_plain, &fx->cg, &snap);
	assert_common(&snap);
	assert_true(snap.stat.pgscan == KFILE_ABSENT);
	assert_true(snap.psi.some_us == KFILE_ABSENT);
}

/* On hybrid the pressure of the twin in the v2 hierarchy counts. */
static void test_v1_pressure_of_twin(void **state)
{
	struct fixture *fx = *state;
	struct snapshot snap;

	fill(fx, 1);
	write_file(fx, v2_files[4].name, v2_files[4].text);
	read_by(sampler_open_plain, &fx->cg, &snap);
	assert_int_equal(snap.psi.some_us, 1234);
}

static void test_v1_without_memsw(void **state)
{
	struct fixture *fx = *state;
	struct snapshot snap;

	fill(fx, 1);
	assert_int_equal(unlinkat(fx->cg.dir_fd, "memory.memsw.usage_in_bytes", 0), 0);
	read_by(sampler_open_plain, &fx->cg, &snap);
	assert_true(snap.swap_bytes == KFILE_ABSENT);
	assert_int_equal(snap.current_bytes, 16777216);
}

/* Usage read a moment after memsw may be above it: no swap then, not 2^64. */
static void test_v1_memsw_behind(void **state)
{
	struct fixture *fx = *state;
	struct snapshot snap;

	fill(fx, 1);
	write_file(fx, "memory.memsw.usage_in_bytes", "16777215\n");
	read_by(sampler_open_plain, &fx->cg, &snap);
	assert_int_equal(snap.swap_bytes, 0);
}

static void test_empty_group(void **state)
{
	struct fixture *fx = *state;
	struct snapshot snap;

	fx->cg.version = 2;
	read_by(sampler_open, &fx->cg, &snap);
	assert_true(snap.current_bytes == KFILE_ABSENT);
	assert_true(snap.stat.anon_bytes == KFILE_ABSENT);
	assert_true(snap.limit_hits == KFILE_ABSENT);
	assert_true(snap.swap_total_bytes != KFILE_ABSENT);
	assert_true(snap.mem_available_bytes != KFILE_ABSENT);
	assert_true(snap.nodes.nr_inactive_anon != KFILE_ABSENT);
}

static void test_malformed_is_absent(void **state)
{
	struct fixture *fx = *state;
	struct snapshot snap;

	fill(fx, 2);
	write_file(fx, "memory.current", "many\n");
	write_file(fx, "memory.pressure", "");
	read_by(sampler_open, &fx->cg, &snap);
	assert_true(snap.current_bytes == KFILE_ABSENT);
	assert_true(snap.psi.some_us == KFILE_ABSENT);
	assert_int_equal(snap.limit_hits, 345);
}

/* What both ways read of the memcg is the same to the byte; the host's files move meanwhile. */
static void test_ring_equals_plain(void **state)
{
	struct fixture *fx = *state;
	struct snapshot ring, plain;
	struct sampler *s = NULL;
	bool uses_uring;

	assert_int_equal(sampler_open(&fx->cg, &s, NULL), 0);
	uses_uring = sampler_uses_uring(s);
	sampler_close(s);
	if (!uses_uring)
		skip();
	for (unsigned int version = 1; version <= 2; version++) {
		fill(fx, version);
		read_by(sampler_open, &fx->cg, &ring);
		read_by(sampler_open_plain, &fx->cg, &plain);
		assert_memory_equal(&ring, &plain, offsetof(struct snapshot, nodes));
		assert_int_equal(ring.swap_total_bytes, plain.swap_total_bytes);
		assert_true((ring.nodes.pswpin == KFILE_ABSENT) ==
			    (plain.nodes.pswpin == KFILE_ABSENT));
		assert_true(ring.nodes.nr_active_file != KFILE_ABSENT);
	}
}

/* Every tick sees what the files say at that moment, also a text that became shorter. */
static void test_ticks(void **state)
{
	struct fixture *fx = *state;
	struct sampler *s = NULL;

	fill(fx, 2);
	assert_int_equal(sampler_open(&fx->cg, &s, NULL), 0);
	for (uint64_t i = 0; i < 200; i++) {
		struct snapshot snap;
		char text[32];

		(void)snprintf(text, sizeof(text), "%llu\n",
			       (unsigned long long)(i % 2 ? i : i * 100000));
		write_file(fx, "memory.current", text);
		assert_int_equal(sampler_read(s, &snap), 0);
		assert_int_equal(snap.current_bytes, i % 2 ? i : i * 100000);
	}
	sampler_close(s);
}

static void test_close_null(void **state)
{
	(void)state;
	sampler_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_v2),
		TEST(test_v1),
		TEST(test_v1_pressure_of_twin),
		TEST(test_v1_without_memsw),
		TEST(test_v1_memsw_behind),
		TEST(test_empty_group),
		TEST(test_malformed_is_absent),
		TEST(test_ring_equals_plain),
		TEST(test_ticks),
		cmocka_unit_test(test_close_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
