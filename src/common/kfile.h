/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel pseudo-files: one pread of the whole file at offset 0 on a kept descriptor, then text to
 * value. A short loop of small reads would see a seq_file change under it.
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

/* Reads from @fd into @buf and terminates it. Returns the length, or -errno (-E2BIG: does not fit). */
ssize_t kfile_pread(int fd, char *buf, size_t size);
/* Opens @path below @dirfd (AT_FDCWD allowed), reads, closes. Returns the length or -errno. */
ssize_t kfile_read_at(int dirfd, const char *path, char *buf, size_t size);
/* Writes @text in one write(2). Returns 0 or -errno. */
int kfile_write_at(int dirfd, const char *path, const char *text);
/* Reads a file that holds one number, or "max" (stored as UINT64_MAX). 0 or -errno. */
int kfile_read_u64_at(int dirfd, const char *path, uint64_t *ret);

/* Text of one number with an optional newline; "max" is UINT64_MAX. 0, -EINVAL or -ERANGE. */
int kfile_parse_u64(const char *text, uint64_t *ret);
/* Finds "KEY VALUE\n" (blank or tab between). 0, -ENOENT, or as kfile_parse_u64(). */
int kfile_key_u64(const char *text, const char *key, uint64_t *ret);

/* Table-driven form for files of many keys: each row says which key goes to which uint64_t field.
 * Absent keys leave the field as it was, so pre-set fields to KFILE_ABSENT. One pass over @text.
 * Returns how many rows were found, or -EINVAL for a malformed value of a wanted key. */
#define KFILE_ABSENT UINT64_MAX
struct kfile_field {
	const char *key;
	size_t offset; /* of a uint64_t in the target */
};
int kfile_parse_fields(const char *text, const struct kfile_field *fields, size_t nr_fields,
		       void *target);
