/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backing.h"
#include "fsimage.h"

static void forms_that_are_taken(void **state)
{
	static const struct {
		const char *text, *type, *options;
	} good[] = {
		{ "btrfs", "btrfs", "" },
		{ "btrfs:zstd", "btrfs", "compress-force=zstd" },
		{ "btrfs:zstd:3", "btrfs", "compress-force=zstd:3" },
		{ "btrfs:zstd:15", "btrfs", "compress-force=zstd:15" },
		{ "ext4", "ext4", "" },
		{ "xfs", "xfs", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct fsimage fs;

		assert_int_equal(fsimage_parse(good[i].text, &fs), 0);
		assert_string_equal(fs.type, good[i].type);
		assert_string_equal(fs.mount_options, good[i].options);
	}
}

static void forms_that_are_not(void **state)
{
	static const char *const bad[] = { "",
					   "btrf",
					   "btrfs:",
					   "btrfs:lzo",
					   "btrfs:zstd:",
					   "btrfs:zstd:0",
					   "btrfs:zstd:16",
					   "btrfs:zstd:3x",
					   "btrfs:zstd:3,ro",
					   "ext4:zstd",
					   "ext4:",
					   "ext2",
					   "btrfs ",
					   "BTRFS",
					   "btrfs:zstd:-1" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fsimage fs = { .type = "untouched" };

		assert_int_equal(fsimage_parse(bad[i], &fs), -EINVAL);
		assert_string_equal(fs.type, "untouched");
	}
}

static void nothing_is_needed_without_it(void **state)
{
	const struct fsimage none = { 0 };
	struct fail f = { 0 };

	(void)state;
	assert_int_equal(fsimage_check(&none, &f), 0);
}

static void what_is_missing_is_named_with_its_package(void **state)
{
	struct fail f = { 0 };
	struct fsimage fs;

	(void)state;
	assert_int_equal(fsimage_parse("xfs", &fs), 0);
	if (access("/sbin/mkfs.xfs", X_OK) == 0 || access("/usr/sbin/mkfs.xfs", X_OK) == 0)
		skip();
	assert_int_equal(fsimage_check(&fs, &f), -EOPNOTSUPP);
	assert_string_equal(f.what, "needs mkfs.xfs for --fs xfs (Debian package xfsprogs)");
}

static void an_image_has_room_for_its_files(void **state)
{
	(void)state;
	assert_true(fsimage_bytes(0) >= 300ULL << 20);
	assert_true(fsimage_bytes(3ULL << 30) > (3ULL << 30) + (3ULL << 30) / 10);
}

static void memory_is_told_from_disks(void **state)
{
	char path[PATH_MAX];
	struct fail f = { 0 };

	(void)state;
	assert_false(backing_is_memory("/nonexistent"));
	if (access("/dev/shm", F_OK) == 0 && backing_is_memory("/dev/shm"))
		assert_int_equal(backing_readahead_file("/dev/shm", path, &f), -EOPNOTSUPP);
	assert_int_equal(backing_readahead_file("/proc", path, &f), -EOPNOTSUPP);
	assert_non_null(strstr(f.what, "/proc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_that_are_taken),
		cmocka_unit_test(forms_that_are_not),
		cmocka_unit_test(nothing_is_needed_without_it),
		cmocka_unit_test(what_is_missing_is_named_with_its_package),
		cmocka_unit_test(an_image_has_room_for_its_files),
		cmocka_unit_test(memory_is_told_from_disks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
