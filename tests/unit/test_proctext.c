/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "proctext.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "support.h"

struct mounts {
	struct mount_entry entries[32];
	size_t nr;
};

static int collect_mount(const struct mount_entry *m, void *data)
{
	struct mounts *all = data;

	assert_true(all->nr < ARRAY_SIZE(all->entries));
	all->entries[all->nr++] = *m;
	return 0;
}

static int stop_at_second(const struct mount_entry *m, void *data)
{
	int *seen = data;

	(void)m;
	return ++*seen == 2 ? 42 : 0;
}

static void mounts_recorded(void **state)
{
	static struct mounts all;
	const struct mount_entry *memory = NULL;

	(void)state;
	all.nr = 0;
	assert_int_equal(mountinfo_each(recorded("6.18-v1/self.mountinfo"), collect_mount, &all),
			 0);
	assert_int_equal(all.nr, 19);
	for (size_t i = 0; i < all.nr; i++) {
		if (strcmp(all.entries[i].fs_type, "cgroup") == 0 &&
		    mount_option_has(all.entries[i].super_options, "memory"))
			memory = &all.entries[i];
	}
	assert_non_null(memory);
	assert_string_equal(memory->point, "/sys/fs/cgroup/memory");
	assert_string_equal(memory->root, "/");
	assert_string_equal(memory->options, "rw,relatime");
}

static void mount_oddities(void **state)
{
	static struct mounts all;
	const struct mount_entry *m = all.entries;

	(void)state;
	all.nr = 0;
	assert_int_equal(mountinfo_each(recorded("odd/mountinfo"), collect_mount, &all), 0);
	assert_int_equal(all.nr, 5); /* two of the seven lines are none */
	assert_string_equal(m[1].fs_type, "cgroup2");
	assert_true(mount_option_has(m[1].super_options, "memory_recursiveprot"));
	assert_false(mount_option_has(m[1].options, "memory_recursiveprot"));
	assert_string_equal(m[2].root, "/sub dir");
	assert_string_equal(m[2].point, "/mnt/with blank\\and\ttab");
	assert_string_equal(m[2].fs_type, "btrfs");
	assert_true(mount_option_has(m[2].super_options, "compress=zstd:3"));
	assert_string_equal(m[3].point, "/mnt/no-source");
	assert_string_equal(m[3].super_options, "rw,size=4k");
	/* 666 bytes of options: cut behind "rw", never inside lowerdir=…. */
	assert_string_equal(m[4].fs_type, "overlay");
	assert_string_equal(m[4].super_options, "rw");
}

static void mounts_stop_when_told(void **state)
{
	int seen = 0;

	(void)state;
	assert_int_equal(mountinfo_each(recorded("odd/mountinfo"), stop_at_second, &seen), 42);
	assert_int_equal(seen, 2);
	assert_int_equal(mountinfo_each("", stop_at_second, &seen), 0);
}

static void mount_with_a_path_too_long(void **state)
{
	static char text[PATH_MAX + 128];
	static struct mounts all;
	int n = snprintf(text, sizeof(text), "1 2 0:3 / /");

	(void)state;
	all.nr = 0;
	memset(text + n, 'x', PATH_MAX);
	(void)snprintf(text + n + PATH_MAX, sizeof(text) - (size_t)n - PATH_MAX,
		       " rw - tmpfs tmpfs rw\n2 2 0:3 / /ok rw - tmpfs tmpfs rw\n");
	assert_int_equal(mountinfo_each(text, collect_mount, &all), 0);
	assert_int_equal(all.nr, 1);
	assert_string_equal(all.entries[0].point, "/ok");
}

static void options_are_whole_words(void **state)
{
	(void)state;
	assert_true(mount_option_has("rw,memory", "memory"));
	assert_true(mount_option_has("memory", "memory"));
	assert_true(mount_option_has("memory,rw", "memory"));
	assert_false(mount_option_has("rw,memory_recursiveprot", "memory"));
	assert_false(mount_option_has("rw,xmemory", "memory"));
	assert_false(mount_option_has("", "memory"));
	assert_false(mount_option_has("rw", ""));
	assert_false(mount_option_has("", ""));
}

static void own_cgroup(void **state)
{
	char path[64];

	(void)state;
	assert_int_equal(
		proc_cgroup_path(recorded("6.18-v1/self.cgroup"), "memory", path, sizeof(path)), 0);
	assert_string_equal(path, "/some/group");
	assert_int_equal(proc_cgroup_path(recorded("6.18-v1/self.cgroup"), "", path, sizeof(path)),
			 0);
	assert_string_equal(path, "/");
	assert_int_equal(proc_cgroup_path(recorded("odd/cgroup"), "memory", path, sizeof(path)), 0);
	assert_string_equal(path, "/kubepods/pod:1/c d (deleted)");
	assert_int_equal(proc_cgroup_path(recorded("odd/cgroup"), "cpuacct", path, sizeof(path)),
			 0);
	assert_string_equal(path, "/a");
	assert_int_equal(proc_cgroup_path(recorded("odd/cgroup"), "", path, sizeof(path)), 0);
	assert_string_equal(path, "/user.slice/x");
	assert_int_equal(
		proc_cgroup_path(recorded("odd/cgroup"), "name=systemd", path, sizeof(path)), 0);
	assert_string_equal(path, "/init.scope");
}

static void own_cgroup_not_found(void **state)
{
	char path[8] = "before";

	(void)state;
	assert_int_equal(proc_cgroup_path(recorded("odd/cgroup"), "cpuset", path, sizeof(path)),
			 -ENOENT);
	assert_int_equal(proc_cgroup_path("", "", path, sizeof(path)), -ENOENT);
	assert_int_equal(proc_cgroup_path("0:\nx::/\n1::/\n", "", path, sizeof(path)), -ENOENT);
	assert_int_equal(proc_cgroup_path("0::/1234567", "", path, sizeof(path)), -ENAMETOOLONG);
	assert_string_equal(path, "before");
	assert_int_equal(proc_cgroup_path("0::/123456", "", path, sizeof(path)), 0);
	assert_string_equal(path, "/123456");
}

struct swaps {
	struct swap_entry entries[8];
	size_t nr;
};

static int collect_swap(const struct swap_entry *s, void *data)
{
	struct swaps *all = data;

	assert_true(all->nr < ARRAY_SIZE(all->entries));
	all->entries[all->nr++] = *s;
	return 0;
}

static void swaps(void **state)
{
	static struct swaps all;
	const struct swap_entry *s = all.entries;

	(void)state;
	all.nr = 0;
	assert_int_equal(swaps_each(recorded("6.18-v1/swaps.none"), collect_swap, &all), 0);
	assert_int_equal(all.nr, 0);
	assert_int_equal(swaps_each(recorded("odd/swaps"), collect_swap, &all), 0);
	assert_int_equal(all.nr, 3);
	assert_string_equal(s[0].path, "/dev/zram0");
	assert_true(s[0].partition && s[0].size_bytes == 2097148ULL * 1024);
	assert_true(s[0].used_bytes == 1024 * 1024 && s[0].priority == 100);
	assert_string_equal(s[1].path, "/swap file");
	assert_false(s[1].partition);
	assert_int_equal(s[1].priority, -2);
	assert_string_equal(s[2].path, "/gone (deleted)");
	assert_true(s[2].used_bytes == s[2].size_bytes);
}

static void task_recorded(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_int_equal(proc_stat_parse(recorded("6.18-v1/pid.stat"), &s), 0);
	assert_string_equal(s.comm, "sh");
	assert_true(s.pid > 0 && s.ppid > 0 && s.state == 'S');
	assert_true(s.minor_faults == 129 && s.major_faults == 0 && s.start_time_ticks == 118659);
	assert_int_equal(proc_stat_parse(recorded("6.18-v1/kthread.stat"), &s), 0);
	assert_string_equal(s.comm, "kworker/0:0H-events_highpri");
	assert_int_equal(s.ppid, 2);
	assert_int_equal(s.state, 'I');
}

static void task_with_a_misleading_name(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_int_equal(proc_stat_parse(recorded("odd/comm.stat"), &s), 0);
	assert_int_equal(s.pid, 4321);
	assert_string_equal(s.comm, "a) R 1 (b\n c");
	assert_int_equal(s.state, 'D');
	assert_int_equal(s.ppid, 77);
	assert_true(s.minor_faults == 103 && s.major_faults == 11 && s.start_time_ticks == 987654);
}

#define SIXTY_FOUR "0123456789012345678901234567890123456789012345678901234567890123"

static void task_malformed(void **state)
{
	static const char *const bad[] = {
		"",
		"1",
		"1 (x",
		"1 x) S 0",
		"(x) S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9",
		"1(x) S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9",
		"x (x) S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9",
		"99999999999 (x) S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9",
		"1 (x)",
		"1 (x) ",
		"1 (x) S",
		"1 (x) SS 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9",
		"1 (x) S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0",
		"1 (x) S 0 0 0 0 -1 0 y 0 2 0 0 0 0 0 0 0 0 0 9",
		"1 (x) S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9x",
		"1 (" SIXTY_FOUR ") S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9",
	};
	struct proc_stat s = { .pid = 7 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (proc_stat_parse(bad[i], &s) != -EINVAL)
			print_error("taken: %s\n", bad[i]);
		assert_int_equal(proc_stat_parse(bad[i], &s), -EINVAL);
	}
	assert_int_equal(s.pid, 7);
	assert_int_equal(proc_stat_parse("1 () S 0 0 0 0 -1 0 1 0 2 0 0 0 0 0 0 0 0 0 9", &s), 0);
	assert_string_equal(s.comm, "");
	assert_true(s.major_faults == 2 && s.start_time_ticks == 9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts_recorded),
		cmocka_unit_test(mount_oddities),
		cmocka_unit_test(mounts_stop_when_told),
		cmocka_unit_test(mount_with_a_path_too_long),
		cmocka_unit_test(options_are_whole_words),
		cmocka_unit_test(own_cgroup),
		cmocka_unit_test(own_cgroup_not_found),
		cmocka_unit_test(swaps),
		cmocka_unit_test(task_recorded),
		cmocka_unit_test(task_with_a_misleading_name),
		cmocka_unit_test(task_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
