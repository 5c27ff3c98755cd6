/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves all blocks of a row of files of equal size between memory and disk, in order, with
 * BLOCKQUEUE_DEPTH of them under way at once across the files' borders, so that a disk is as busy with
 * many small files as with one large one. By io_uring; where that is refused, one block at a time.
 *
 * A short transfer is taken up again where it ended. The first error ends the job, after everything
 * under way has come back: the kernel must not write to memory that is free.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fail.h"

/* With blocks of 1 MiB, 32 MiB are under way: what fio is compared with (bench/dataset-vs-fio.sh). */
#define BLOCKQUEUE_DEPTH 32u
#define BLOCKQUEUE_BLOCK ((size_t)1 << 20)

struct block {
	unsigned int file;
	uint64_t offset;
	size_t bytes;
	unsigned char *data; /* aligned for direct I/O */
};

struct blockqueue {
	unsigned int nr_files;
	uint64_t file_bytes;
	bool write;
	bool plain; /* without io_uring (tests) */
	/* Ends the job with -EINTR when set; may be NULL. */
	const volatile sig_atomic_t *stop;
	/* The descriptor of a file, opened when its first block is due and closed after its last. */
	int (*open)(const void *data, unsigned int file, struct fail *f);
	/* Writing: fills b->data before it goes. Reading: looks at it afterwards. 0 or -errno. */
	int (*each)(const void *data, const struct block *b, struct fail *f);
	/* "/var/tmp/x/file-00007", for sentences. */
	void (*name)(const void *data, unsigned int file, char *buf, size_t size);
	const void *data;
};

/* 0 or -errno: -ENOSPC the disk is full, -ENODATA a file ended early, … */
int blockqueue_run(const struct blockqueue *q, struct fail *f);
