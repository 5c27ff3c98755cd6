/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kfile.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "support.h"

/* An unlinked file of @len bytes of @text. */
static int file_of(const char *text, size_t len)
{
	int fd = memfd_create("kfile", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	return fd;
}

static void pread_takes_the_whole_file(void **state)
{
	_cleanup_close_ int fd = file_of("abc\n", 4);
	char buf[8];

	(void)state;
	for (int again = 0; again < 2; again++) {
		assert_int_equal(kfile_pread(fd, buf, sizeof(buf)), 4);
		assert_string_equal(buf, "abc\n");
	}
	assert_int_equal(kfile_pread(fd, buf, 5), 4); /* with its terminator it just fits */
	assert_int_equal(kfile_pread(fd, buf, 4), -E2BIG);
	assert_int_equal(kfile_pread(fd, buf, 1), -E2BIG);
	assert_int_equal(kfile_pread(fd, buf, 0), -EINVAL);
	assert_int_equal(kfile_pread(-1, buf, sizeof(buf)), -EBADF);
}

static void pread_of_an_empty_file(void **state)
{
	_cleanup_close_ int fd = file_of("", 0);
	char buf[8] = "x";

	(void)state;
	assert_int_equal(kfile_pread(fd, buf, 1), 0);
	assert_string_equal(buf, "");
}

/* A seq_file of many records comes a page at a time, however large the buffer. */
static void pread_goes_on_to_the_end_of_a_seq_file(void **state)
{
	enum { PAGES = 256, BUF_SIZE = 1 << 18 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	_cleanup_free_ char *buf = malloc(BUF_SIZE);
	_cleanup_close_ int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char *area = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t one;
	int lines = 0;

	(void)state;
	assert_non_null(buf);
	assert_true(fd >= 0 && area != MAP_FAILED);
	/* Every second page differs, so each is a line of its own. */
	for (size_t i = 0; i < PAGES; i += 2)
		assert_int_equal(mprotect(area + i * page, page, PROT_NONE), 0);
	one = pread(fd, buf, BUF_SIZE, 0);
	assert_true(kfile_pread(fd, buf, BUF_SIZE) >= one);
	for (const char *p = buf; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	assert_true(lines >= PAGES);
	assert_int_equal(munmap(area, PAGES * page), 0);
}

static void read_and_write_at(void **state)
{
	char dir[] = "/tmp/squeeze-test-kfile-XXXXXX";
	_cleanup_close_ int dirfd = -1;
	uint64_t value = 0;
	char buf[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	dirfd = open(dir, O_DIRECTORY | O_CLOEXEC);
	fd = openat(dirfd, "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(kfile_write_at(dirfd, "f", "4711\n"), 0);
	assert_int_equal(kfile_read_at(dirfd, "f", buf, sizeof(buf)), 5);
	assert_string_equal(buf, "4711\n");
	assert_int_equal(kfile_read_u64_at(dirfd, "f", &value), 0);
	assert_true(value == 4711);
	assert_int_equal(kfile_write_at(dirfd, "f", "0123456789012345678901234567890123456789\n"),
			 0);
	assert_int_equal(kfile_read_u64_at(dirfd, "f", &value), -EINVAL);
	assert_int_equal(kfile_read_at(dirfd, "none", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(kfile_read_u64_at(dirfd, "none", &value), -ENOENT);
	/* It must not make files: a mistyped name of a control file is an error. */
	assert_int_equal(kfile_write_at(dirfd, "none", "1"), -ENOENT);
	assert_true(value == 4711);
	assert_int_equal(unlinkat(dirfd, "f", 0), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} cases[] = {
		{ "0", 0, 0 },
		{ "42\n", 0, 42 },
		{ "max\n", 0, UINT64_MAX },
		{ "max", 0, UINT64_MAX },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "9223372036854771712\n", 0, 9223372036854771712ULL },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "42\n\n", -EINVAL, 0 },
		{ "42\r\n", -EINVAL, 0 },
		{ "42 ", -EINVAL, 0 },
		{ " 42", -EINVAL, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ "maximum", -EINVAL, 0 },
		{ "Max", -EINVAL, 0 },
		{ "1 2\n", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 7;

		assert_int_equal(kfile_parse_u64(cases[i].text, &value), cases[i].r);
		assert_true(value == (cases[i].r ? 7 : cases[i].value));
	}
}

static void keys_match_whole_and_at_line_start(void **state)
{
	const char *text = recorded("odd/prefix-keys.stat");
	uint64_t value = 0;

	(void)state;
	assert_int_equal(kfile_key_u64(text, "pgscan", &value), 0);
	assert_true(value == 4);
	assert_int_equal(kfile_key_u64(text, "pgscan_direct", &value), 0);
	assert_true(value == 2);
	assert_int_equal(kfile_key_u64(text, "anon", &value), 0);
	assert_true(value == 8);
	assert_int_equal(kfile_key_u64(text, "file", &value), -ENOENT);
	assert_int_equal(kfile_key_u64(text, "pgscan_", &value), -ENOENT);
	assert_int_equal(kfile_key_u64(text, "", &value), -ENOENT);
	assert_int_equal(kfile_key_u64("", "anon", &value), -ENOENT);
	assert_true(value == 8);
}

static void key_oddities(void **state)
{
	uint64_t value = 0;

	(void)state;
	assert_int_equal(kfile_key_u64(recorded("odd/duplicate-keys.stat"), "anon", &value), 0);
	assert_true(value == 100);
	assert_int_equal(kfile_key_u64(recorded("odd/tabs.stat"), "file", &value), 0);
	assert_true(value == 13);
	assert_int_equal(kfile_key_u64(recorded("odd/no-final-newline.stat"), "pgscan", &value), 0);
	assert_true(value == 99);
	assert_int_equal(kfile_key_u64(recorded("odd/too-huge.stat"), "anon", &value), -ERANGE);
	assert_int_equal(kfile_key_u64("anon\nfile 1\n", "anon", &value), -EINVAL);
	assert_int_equal(kfile_key_u64("anon 1 2\n", "anon", &value), -EINVAL);
	assert_int_equal(kfile_key_u64("anon 1\r\n", "anon", &value), -EINVAL);
	assert_true(value == 99);
}

static void lines_are_taken_apart(void **state)
{
	const char *cursor = "key  a b\nlonely\n\n blank";
	struct kfile_line line;

	(void)state;
	assert_true(kfile_next_line(&cursor, &line));
	assert_true(kfile_line_is(&line, "key"));
	assert_false(kfile_line_is(&line, "ke") || kfile_line_is(&line, "key "));
	assert_int_equal(line.value_len, 3);
	assert_memory_equal(line.value, "a b", 3);
	assert_true(kfile_next_line(&cursor, &line));
	assert_true(kfile_line_is(&line, "lonely"));
	assert_int_equal(line.value_len, 0);
	assert_true(kfile_next_line(&cursor, &line));
	assert_int_equal(line.key_len, 0);
	assert_true(kfile_next_line(&cursor, &line));
	assert_int_equal(line.key_len, 0);
	assert_false(kfile_line_is(&line, ""));
	assert_false(kfile_next_line(&cursor, &line));
}

struct two {
	uint64_t pgscan;
	uint64_t anon;
};
static const struct kfile_field two_fields[] = {
	{ "pgscan", offsetof(struct two, pgscan) },
	{ "anon", offsetof(struct two, anon) },
};

static void fields_go_where_the_table_says(void **state)
{
	struct two t = { KFILE_ABSENT, KFILE_ABSENT };

	(void)state;
	assert_int_equal(kfile_parse_fields(recorded("odd/prefix-keys.stat"), two_fields, 2, &t),
			 2);
	assert_true(t.pgscan == 4 && t.anon == 8);
	t = (struct two){ KFILE_ABSENT, KFILE_ABSENT };
	assert_int_equal(kfile_parse_fields(recorded("odd/missing-keys.stat"), two_fields, 2, &t),
			 1);
	assert_true(t.pgscan == 42 && t.anon == KFILE_ABSENT);
	assert_int_equal(kfile_parse_fields(recorded("odd/duplicate-keys.stat"), two_fields, 2, &t),
			 1);
	assert_true(t.anon == 100);
	assert_int_equal(kfile_parse_fields(recorded("odd/huge.stat"), two_fields, 2, &t), 2);
	assert_true(t.anon == UINT64_MAX - 1 && t.pgscan == UINT64_MAX);
	assert_int_equal(kfile_parse_fields(recorded("odd/too-huge.stat"), two_fields, 2, &t),
			 -EINVAL);
	assert_int_equal(kfile_parse_fields("anon x\n", two_fields, 2, &t), -EINVAL);
	assert_int_equal(kfile_parse_fields("file x\n", two_fields, 2, &t), 0);
	assert_int_equal(kfile_parse_fields("", two_fields, 2, &t), 0);
	assert_int_equal(kfile_parse_fields("", two_fields, KFILE_FIELDS_MAX + 1, &t), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pread_takes_the_whole_file),
		cmocka_unit_test(pread_of_an_empty_file),
		cmocka_unit_test(pread_goes_on_to_the_end_of_a_seq_file),
		cmocka_unit_test(read_and_write_at),
		cmocka_unit_test(numbers),
		cmocka_unit_test(keys_match_whole_and_at_line_start),
		cmocka_unit_test(key_oddities),
		cmocka_unit_test(lines_are_taken_apart),
		cmocka_unit_test(fields_go_where_the_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
