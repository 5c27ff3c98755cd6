/* SPDX-License-Identifier: GPL-2.0-only */
#include "kfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "parse.h"

static ssize_t pread_retry(int fd, char *buf, size_t size, size_t offset)
{
	ssize_t n;

	do {
		n = pread(fd, buf, size, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t kfile_pread(int fd, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n;
	char beyond;

	if (size == 0)
		return -EINVAL;
	/* Only a read that returns 0 says that a seq_file has ended. Going on at the offset
	 * where the last read stopped does not make the kernel format anything again. */
	while (used < size - 1) {
		n = pread_retry(fd, buf + used, size - 1 - used, used);
		if (n < 0)
			return n;
		if (n == 0) {
			buf[used] = '\0';
			return (ssize_t)used;
		}
		used += (size_t)n;
	}
	n = pread_retry(fd, &beyond, 1, used);
	if (n != 0)
		return n < 0 ? n : -E2BIG;
	buf[used] = '\0';
	return (ssize_t)used;
}

ssize_t kfile_read_at(int dirfd, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return kfile_pread(fd, buf, size);
}

int kfile_write_at(int dirfd, const char *path, const char *text)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = write(fd, text, len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	/* The kernel takes each write as a whole command: a second write would be a second
	 * command. */
	return (size_t)n == len ? 0 : -EIO;
}

int kfile_read_u64_at(int dirfd, const char *path, uint64_t *ret)
{
	char buf[32]; /* 20 digits, newline, terminator, and room to see that there is more */
	ssize_t n = kfile_read_at(dirfd, path, buf, sizeof(buf));

	if (n == -E2BIG)
		return -EINVAL;
	if (n < 0)
		return (int)n;
	return kfile_parse_u64(buf, ret);
}

/* The whole of @s[0 … len) must be one number or "max". */
static int span_u64(const char *s, size_t len, uint64_t *ret)
{
	const char *p = s;
	uint64_t value = 0;
	int r;

	if (len == strlen("max") && memcmp(s, "max", len) == 0) {
		*ret = UINT64_MAX;
		return 0;
	}
	if (len == 0)
		return -EINVAL;
	/* Safe although the span is not terminated: digits end at the newline or NUL behind it. */
	r = parse_u64_at(&p, &value);
	if (p != s + len)
		return -EINVAL;
	if (!r)
		*ret = value;
	return r;
}

int kfile_parse_u64(const char *text, uint64_t *ret)
{
	size_t len = strlen(text);

	if (len > 0 && text[len - 1] == '\n')
		len--;
	return span_u64(text, len, ret);
}

bool kfile_next_line(const char **cursor, struct kfile_line *ret)
{
	const char *start = *cursor;
	const char *end;

	if (*start == '\0')
		return false;
	end = strchrnul(start, '\n');
	ret->key = start;
	ret->key_len = strcspn(start, " \t\n");
	ret->value = start + ret->key_len;
	ret->value += strspn(ret->value, " \t");
	ret->value_len = (size_t)(end - ret->value);
	*cursor = *end ? end + 1 : end;
	return true;
}

bool kfile_line_is(const struct kfile_line *line, const char *key)
{
	return line->key_len > 0 && strncmp(line->key, key, line->key_len) == 0 &&
	       key[line->key_len] == '\0';
}

int kfile_key_u64(const char *text, const char *key, uint64_t *ret)
{
	struct kfile_line line;

	while (kfile_next_line(&text, &line)) {
		if (kfile_line_is(&line, key))
			return span_u64(line.value, line.value_len, ret);
	}
	return -ENOENT;
}

int kfile_parse_fields(const char *text, const struct kfile_field *fields, size_t nr_fields,
		       void *target)
{
	struct kfile_line line;
	uint64_t seen = 0; /* bit i: row i is filled; hence KFILE_FIELDS_MAX */
	int found = 0;

	if (nr_fields > KFILE_FIELDS_MAX)
		return -EINVAL;
	while (kfile_next_line(&text, &line)) {
		for (size_t i = 0; i < nr_fields; i++) {
			uint64_t value = 0;

			if (seen >> i & 1 || !kfile_line_is(&line, fields[i].key))
				continue;
			if (span_u64(line.value, line.value_len, &value) < 0)
				return -EINVAL;
			memcpy((char *)target + fields[i].offset, &value, sizeof(value));
			seen |= 1ULL << i;
			found++;
		}
	}
	return found;
}
