/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "support.h"

/* Lines as kernels write them (proc(5)); only the ones that matter. */
#define ROOT "26 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
#define V2(root, point, per_mount, super) \
	"30 26 0:27 " root " " point " " per_mount " shared:4 - cgroup2 cgroup2 " super "\n"
#define V1(n, root, point, controllers) \
	n " 26 0:3" n " " root " " point " rw,nosuid shared:9 - cgroup cgroup rw," controllers "\n"

#define SYSTEMD_SUPER "rw,nsdelegate,memory_recursiveprot"
#define V2_CONTROLLERS "cpuset cpu io memory hugetlb pids rdma misc\n"
#define SESSION "/user.slice/user-1000.slice/session-2.scope"

struct sample {
	const char *name, *mountinfo, *self, *controllers;
	enum cgroup_mode mode;
	unsigned int version; /* 0: refused */
	const char *mount, *own, *unified, *unified_own, *perf;
	bool recursive;
};

static const struct sample samples[] = {
	{ .name = "v2 under systemd",
	  .mountinfo = ROOT V2("/", "/sys/fs/cgroup", "rw,nosuid", SYSTEMD_SUPER),
	  .self = "0::" SESSION "\n",
	  .controllers = V2_CONTROLLERS,
	  .mode = CGROUP_V2,
	  .version = 2,
	  .mount = "/sys/fs/cgroup",
	  .own = SESSION,
	  .unified = "/sys/fs/cgroup",
	  .unified_own = SESSION,
	  .perf = "",
	  .recursive = true },
	{ .name = "v1 alone",
	  .mountinfo = ROOT V1("31", "/", "/sys/fs/cgroup/memory", "memory")
		  V1("32", "/", "/sys/fs/cgroup/perf_event", "perf_event"),
	  .self = "3:memory:/jobs/7\n2:perf_event:/\n",
	  .controllers = "",
	  .mode = CGROUP_V1,
	  .version = 1,
	  .mount = "/sys/fs/cgroup/memory",
	  .own = "/jobs/7",
	  .unified = "",
	  .unified_own = "/",
	  .perf = "/sys/fs/cgroup/perf_event" },
	{ .name = "hybrid: v2 without memory",
	  .mountinfo = ROOT V1("31", "/", "/sys/fs/cgroup/memory", "memory")
		  V2("/", "/sys/fs/cgroup/unified", "rw", "rw,nsdelegate"),
	  .self = "9:name=systemd:/\n4:memory:/process_api/41ac\n0::/x\n",
	  .controllers = "hugetlb\n",
	  .mode = CGROUP_HYBRID,
	  .version = 1,
	  .mount = "/sys/fs/cgroup/memory",
	  .own = "/process_api/41ac",
	  .unified = "/sys/fs/cgroup/unified",
	  .unified_own = "/x",
	  .perf = "" },
	{ .name = "cgroup_no_v1=memory: v1 beside, memory on v2",
	  .mountinfo = ROOT V1("31", "/", "/sys/fs/cgroup/cpu,cpuacct", "cpu,cpuacct")
		  V2("/", "/sys/fs/cgroup/unified", "rw", "rw"),
	  .self = "3:cpu,cpuacct:/\n0::/\n",
	  .controllers = "memory pids\n",
	  .mode = CGROUP_V2,
	  .version = 2,
	  .mount = "/sys/fs/cgroup/unified",
	  .own = "/",
	  .unified = "/sys/fs/cgroup/unified",
	  .unified_own = "/",
	  .perf = "" },
	{ .name = "cgroup namespace: mounted outside, shown from inside",
	  .mountinfo = ROOT V2("/../..", "/sys/fs/cgroup", "rw", SYSTEMD_SUPER),
	  .self = "0::/\n",
	  .controllers = V2_CONTROLLERS,
	  .mode = CGROUP_V2,
	  .version = 2,
	  .mount = "/sys/fs/cgroup",
	  .own = "/",
	  .unified = "/sys/fs/cgroup",
	  .unified_own = "/",
	  .perf = "",
	  .recursive = true },
	{ .name = "container without a namespace: part of the hierarchy, read-only",
	  .mountinfo = ROOT V2("/docker/abc", "/sys/fs/cgroup", "ro,nosuid", "rw,nsdelegate"),
	  .self = "0::/docker/abc/init\n",
	  .controllers = V2_CONTROLLERS,
	  .mode = CGROUP_V2,
	  .version = 2,
	  .mount = "/sys/fs/cgroup",
	  .own = "/init",
	  .unified = "/sys/fs/cgroup",
	  .unified_own = "/init",
	  .perf = "" },
	{ .name = "a name that merely begins like the mount's root",
	  .mountinfo = ROOT V1("31", "/docker/abc", "/sys/fs/cgroup/memory", "memory"),
	  .self = "4:memory:/docker/abcdef\n",
	  .controllers = "",
	  .mode = CGROUP_V1,
	  .version = 1,
	  .mount = "/sys/fs/cgroup/memory",
	  .own = "/",
	  .unified = "",
	  .unified_own = "/",
	  .perf = "" },
	{ .name = "moved out of the namespace's view",
	  .mountinfo = ROOT V2("/", "/sys/fs/cgroup", "rw", "rw"),
	  .self = "0::/../sibling\n",
	  .controllers = V2_CONTROLLERS,
	  .mode = CGROUP_V2,
	  .version = 2,
	  .mount = "/sys/fs/cgroup",
	  .own = "/",
	  .unified = "/sys/fs/cgroup",
	  .unified_own = "/",
	  .perf = "" },
	{ .name = "first of two mounts counts",
	  .mountinfo = ROOT V2("/", "/sys/fs/cgroup", "rw", "rw") V2("/a", "/mnt/bind", "rw", "rw"),
	  .self = "0::/a\n",
	  .controllers = V2_CONTROLLERS,
	  .mode = CGROUP_V2,
	  .version = 2,
	  .mount = "/sys/fs/cgroup",
	  .own = "/a",
	  .unified = "/sys/fs/cgroup",
	  .unified_own = "/a",
	  .perf = "" },
	{ .name = "v2 without the memory controller",
	  .mountinfo = ROOT V2("/", "/sys/fs/cgroup", "rw", "rw"),
	  .self = "0::/\n",
	  .controllers = "cpu memory_like pids\n" },
	{ .name = "nothing mounted", .mountinfo = ROOT, .self = "", .controllers = "" },
};

static void recorded_hosts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct sample *s = &samples[i];
		struct cgroup_host h = { .memcg_version = 7 };
		struct fail f = { 0 };
		int r = cgroup_discover_from(s->mountinfo, s->self, s->controllers, &h, &f);

		print_message("%s\n", s->name);
		if (!s->version) {
			assert_int_equal(r, -EOPNOTSUPP);
			assert_non_null(strstr(f.what, "no memory cgroup controller"));
			assert_int_equal(h.memcg_version, 7);
			continue;
		}
		assert_int_equal(r, 0);
		assert_int_equal(h.mode, s->mode);
		assert_int_equal(h.memcg_version, s->version);
		assert_string_equal(h.memory_mount, s->mount);
		assert_string_equal(h.memory_own, s->own);
		assert_string_equal(h.unified_mount, s->unified);
		assert_string_equal(h.unified_own, s->unified_own);
		assert_string_equal(h.perf_mount, s->perf);
		assert_int_equal(h.recursive_protection, s->recursive);
	}
}

static void this_project_s_machine(void **state)
{
	struct cgroup_host h;
	char mountinfo[KFILE_SIZE];

	(void)state;
	(void)snprintf(mountinfo, sizeof(mountinfo), "%s", recorded("6.18-v1/self.mountinfo"));
	assert_int_equal(cgroup_discover_from(mountinfo, recorded("6.18-v1/self.cgroup"),
					      "hugetlb\n", &h, NULL),
			 0);
	assert_int_equal(h.mode, CGROUP_HYBRID);
	assert_int_equal(h.memcg_version, 1);
	assert_string_equal(h.memory_mount, "/sys/fs/cgroup/memory");
	assert_string_equal(h.unified_mount, "/sys/fs/cgroup/unified");
}

static void file_names(void **state)
{
	(void)state;
	assert_string_equal(cgroup_file_name(2, "memory.max"), "memory.max");
	assert_string_equal(cgroup_file_name(1, "memory.max"), "memory.limit_in_bytes");
	assert_string_equal(cgroup_file_name(1, "memory.current"), "memory.usage_in_bytes");
	assert_string_equal(cgroup_file_name(1, "memory.stat"), "memory.stat");
	assert_string_equal(cgroup_file_name(1, "memory.failcnt"), "memory.failcnt");
	assert_string_equal(cgroup_file_name(1, "memory.soft_limit_in_bytes"),
			    "memory.soft_limit_in_bytes");
	/* What a version lacks. */
	assert_null(cgroup_file_name(1, "memory.low"));
	assert_null(cgroup_file_name(1, "memory.swap.max"));
	assert_null(cgroup_file_name(1, "cgroup.kill"));
	assert_null(cgroup_file_name(2, "memory.failcnt"));
	assert_null(cgroup_file_name(2, "memory.swappiness"));
	/* Of what the table does not know, only v2 may have more. */
	assert_string_equal(cgroup_file_name(2, "memory.of.tomorrow"), "memory.of.tomorrow");
	assert_null(cgroup_file_name(1, "memory.of.tomorrow"));
}

/* A folder that plays the cgroup filesystem. */
struct play {
	char dir[64];
	struct cgroup_host host;
};

static void write_in(const struct play *p, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void play_begin(struct play *p, unsigned int version)
{
	*p = (struct play){ .dir = "/tmp/test-cgroup-XXXXXX" };
	assert_non_null(mkdtemp(p->dir));
	p->host.memcg_version = version;
	p->host.mode = version == 2 ? CGROUP_V2 : CGROUP_V1;
	(void)snprintf(p->host.memory_mount, PATH_MAX, "%s", p->dir);
	(void)snprintf(p->host.memory_own, PATH_MAX, "/");
	write_in(p, "cgroup.subtree_control", "cpu\n");
	write_in(p, "cgroup.controllers", "cpu memory\n");
	write_in(p, "cgroup.procs", "");
}

static void play_end(const struct play *p)
{
	static const char *const files[] = { "cgroup.subtree_control", "cgroup.controllers",
					     "cgroup.procs", "cgroup.type" };
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", p->dir, files[i]);
		(void)unlink(path);
	}
	assert_int_equal(rmdir(p->dir), 0);
}

static int choose(const struct play *p, const char *wanted, struct fail *f)
{
	char memory[PATH_MAX] = "", unified[PATH_MAX] = "";
	int r = cgroup_choose_parent(&p->host, wanted, memory, unified, f);

	if (!r) {
		assert_string_equal(memory, p->dir);
		assert_string_equal(unified, p->host.memcg_version == 2 ? p->dir : "");
	}
	return r;
}

static void parent_is_the_top(void **state)
{
	struct play p;
	struct fail f = { 0 };

	(void)state;
	play_begin(&p, 2);
	assert_int_equal(choose(&p, NULL, &f), 0);
	assert_int_equal(choose(&p, "/", &f), 0);
	assert_int_equal(choose(&p, p.dir, &f), 0);
	assert_int_equal(choose(&p, "/nowhere", &f), -ENOENT);
	play_end(&p);
	play_begin(&p, 1);
	assert_int_equal(choose(&p, NULL, &f), 0);
	play_end(&p);
}

static void no_internal_processes(void **state)
{
	struct play p;
	struct fail f = { 0 };
	char procs[32];

	(void)state;
	play_begin(&p, 2);
	/* The real root has no cgroup.type, and may hold processes. */
	write_in(&p, "cgroup.procs", "1\n");
	assert_int_equal(choose(&p, NULL, &f), 0);
	write_in(&p, "cgroup.type", "domain\n");
	assert_int_equal(choose(&p, NULL, &f), -EBUSY);
	assert_non_null(strstr(f.what, "no-internal-process"));
	assert_non_null(strstr(f.what, "systemd-run --user --scope -p Delegate=yes"));
	/* Ourselves we can move. */
	(void)snprintf(procs, sizeof(procs), "%d\n", getpid());
	write_in(&p, "cgroup.procs", procs);
	assert_int_equal(choose(&p, NULL, &f), 0);
	/* Where memory is on already, nothing needs to be switched. */
	write_in(&p, "cgroup.procs", "1\n");
	write_in(&p, "cgroup.subtree_control", "cpu memory\n");
	assert_int_equal(choose(&p, NULL, &f), 0);
	play_end(&p);
}

static void not_delegated(void **state)
{
	struct play p;
	struct fail f = { 0 };

	(void)state;
	if (!geteuid()) {
		print_message("root may write anywhere: seen as another user only\n");
		if (seteuid(65534))
			skip();
	}
	(void)seteuid(0);
	play_begin(&p, 2);
	assert_int_equal(chmod(p.dir, 0555), 0);
	(void)seteuid(65534);
	if (!geteuid()) {
		play_end(&p);
		skip();
	}
	assert_int_equal(choose(&p, NULL, &f), -EACCES);
	assert_non_null(strstr(f.what, "Delegate=yes"));
	(void)seteuid(0);
	assert_int_equal(chmod(p.dir, 0755), 0);
	play_end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_hosts),
		cmocka_unit_test(this_project_s_machine),
		cmocka_unit_test(file_names),
		cmocka_unit_test(parent_is_the_top),
		cmocka_unit_test(no_internal_processes),
		cmocka_unit_test(not_delegated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
