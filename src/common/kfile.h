/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel pseudo-files: the whole file by pread from offset 0 on a kept descriptor, then text to
 * value.
 *
 * Reads are as large as the buffer. A file that the kernel makes as one record (everything in
 * cgroupfs and sysfs) comes in one piece; a seq_file of many records (/proc/vmstat, mountinfo)
 * comes a page at a time, however large the buffer, and is read on to its end. Who submits one read
 * of his own (io_uring) gets the first page of such a file only.
 *
 * Key look-up matches at the start of a line only, and the whole key: "pgscan" is not found inside
 * "pgscan_direct" (the kselftest helper's strstr() does that).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Large enough for a v2 memory.stat (4.5 KiB on 7.3) and /proc/vmstat (6 KiB) with room to grow. */
#define KFILE_SIZE 16384

/* Reads all of @fd into @buf and terminates it. Returns the length, or -errno (-E2BIG: does not
 * fit with its terminator; -EINVAL: @size is 0). */
ssize_t kfile_pread(int fd, char *buf, size_t size);
/* Opens @path below @dirfd (AT_FDCWD allowed), reads, closes. Returns the length or -errno. */
ssize_t kfile_read_at(int dirfd, const char *path, char *buf, size_t size);
/* Writes @text in one write(2). Returns 0 or -errno. */
int kfile_write_at(int dirfd, const char *path, const char *text);
/* Reads a file that holds one number, or "max" (stored as UINT64_MAX). 0 or -errno. */
int kfile_read_u64_at(int dirfd, const char *path, uint64_t *ret);

/* Text of one number with an optional newline; "max" is UINT64_MAX. 0, -EINVAL or -ERANGE. */
int kfile_parse_u64(const char *text, uint64_t *ret);
/* Finds "KEY VALUE\n" (blanks or tabs between); of a key that occurs twice the first counts. 0,
 * -ENOENT, or as kfile_parse_u64(). */
int kfile_key_u64(const char *text, const char *key, uint64_t *ret);

/* One line of a "KEY VALUE" file, as pointers into the text. */
struct kfile_line {
	const char *key; /* up to the first blank or tab */
	size_t key_len;
	const char *value; /* behind the blanks, up to the end of the line */
	size_t value_len;  /* 0: there is none */
};
/* Takes the line at *cursor and moves the cursor behind it; false at the end of the text. */
bool kfile_next_line(const char **cursor, struct kfile_line *ret);
/* Whether the line's key is @key, all of it. */
bool kfile_line_is(const struct kfile_line *line, const char *key);

/* Table-driven form for files of many keys: each row says which key goes to which uint64_t
 * field. Absent keys leave the field as it was, so pre-set fields to KFILE_ABSENT; of a key that
 * occurs twice the first counts. One pass over @text. Returns how many rows were found, or
 * -EINVAL for a malformed or too large value of a wanted key (fields before it are written by
 * then), or for a table of more than KFILE_FIELDS_MAX rows. */
#define KFILE_ABSENT UINT64_MAX
#define KFILE_FIELDS_MAX 64
struct kfile_field {
	const char *key;
	size_t offset; /* of a uint64_t in the target */
};
int kfile_parse_fields(const char *text, const struct kfile_field *fields, size_t nr_fields,
		       void *target);
