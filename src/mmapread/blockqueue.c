/* SPDX-License-Identifier: GPL-2.0-only */
#include "blockqueue.h"

#include <errno.h>
#include <inttypes.h>
#include <liburing.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"

/* Direct I/O wants the device's logical block size, 4 KiB at most; a huge page makes less of pages. */
#define DATA_ALIGN ((size_t)2 << 20)

struct open_file {
	int fd;
	uint64_t left; /* blocks not yet done; the last one closes */
};

struct op {
	struct block block;
	size_t moved;
	bool busy;
};

struct job {
	const struct blockqueue *q;
	uint64_t blocks_per_file;
	uint64_t next; /* the block to start, counted over all files */
	uint64_t total;
	struct open_file *files;
	unsigned char *data;
	struct op ops[BLOCKQUEUE_DEPTH];
	unsigned int busy;
	bool fixed; /* the buffers are registered: not pinned anew for every transfer */
	struct io_uring ring;
};

static int op_failed(const struct job *j, const struct op *op, int err, struct fail *f)
{
	uint64_t at_byte = op->block.offset + op->moved;
	char name[PATH_MAX];

	j->q->name(j->q->data, op->block.file, name, sizeof(name));
	if (err == ENODATA)
		return fail_say(f, ENODATA, "%s ends at byte %" PRIu64, name, at_byte);
	return fail_set(f, err, "%s %s at byte %" PRIu64, j->q->write ? "writing" : "reading", name,
			at_byte);
}

static bool is_stopped(const struct job *j)
{
	return j->q->stop && *j->q->stop;
}

/* Takes the next block into @op: opens its file if it is the first, fills it if it is to be written. */
static int op_take(struct job *j, struct op *op, struct fail *f)
{
	unsigned int file = (unsigned int)(j->next / j->blocks_per_file);
	uint64_t offset = j->next % j->blocks_per_file * BLOCKQUEUE_BLOCK;
	uint64_t left = j->q->file_bytes - offset;
	struct open_file *of = &j->files[file];

	if (of->fd < 0) {
		of->fd = j->q->open(j->q->data, file, f);
		if (of->fd < 0)
			return of->fd;
		of->left = j->blocks_per_file;
	}
	op->block.file = file;
	op->block.offset = offset;
	op->block.bytes = left < BLOCKQUEUE_BLOCK ? (size_t)left : BLOCKQUEUE_BLOCK;
	op->moved = 0;
	j->next++;
	return j->q->write ? j->q->each(j->q->data, &op->block, f) : 0;
}

/* What a transfer of @res bytes (or -errno) means. 1: the rest of the block is due; 0: it is done. */
static int op_moved(struct job *j, struct op *op, ssize_t res, struct fail *f)
{
	struct open_file *of = &j->files[op->block.file];
	int r = 0;

	if (res == -EINTR || res == -EAGAIN)
		return 1;
	if (res < 0)
		return op_failed(j, op, (int)-res, f);
	if (res == 0)
		return op_failed(j, op, j->q->write ? ENOSPC : ENODATA, f);
	op->moved += (size_t)res;
	if (op->moved < op->block.bytes)
		return 1;
	if (!j->q->write)
		r = j->q->each(j->q->data, &op->block, f);
	if (--of->left == 0) {
		/* Some filesystems tell only here that a delayed write found no room. */
		if (close(take_fd(&of->fd)) < 0 && r == 0)
			r = op_failed(j, op, errno, f);
	}
	return r;
}

static int run_plain(struct job *j, struct fail *f)
{
	struct op *op = &j->ops[0];

	while (j->next < j->total) {
		int r = is_stopped(j) ? fail_say(f, EINTR, "interrupted") : op_take(j, op, f);

		if (r < 0)
			return r;
		do {
			int fd = j->files[op->block.file].fd;
			unsigned char *data = op->block.data + op->moved;
			size_t bytes = op->block.bytes - op->moved;
			off_t at = (off_t)(op->block.offset + op->moved);
			ssize_t n = j->q->write ? pwrite(fd, data, bytes, at)
						: pread(fd, data, bytes, at);

			r = op_moved(j, op, n < 0 ? -errno : n, f);
		} while (r > 0);
		if (r < 0)
			return r;
	}
	return 0;
}

static void op_submit(struct job *j, struct op *op)
{
	/* Never NULL: the queue has as many entries as there are ops. */
	struct io_uring_sqe *sqe = io_uring_get_sqe(&j->ring);
	int fd = j->files[op->block.file].fd;
	unsigned int bytes = (unsigned int)(op->block.bytes - op->moved);
	uint64_t at = op->block.offset + op->moved;

	unsigned char *data = op->block.data + op->moved;

	if (j->q->write && j->fixed)
		io_uring_prep_write_fixed(sqe, fd, data, bytes, at, 0);
	else if (j->q->write)
		io_uring_prep_write(sqe, fd, data, bytes, at);
	else if (j->fixed)
		io_uring_prep_read_fixed(sqe, fd, data, bytes, at, 0);
	else
		io_uring_prep_read(sqe, fd, data, bytes, at);
	io_uring_sqe_set_data(sqe, op);
	if (!op->busy) {
		op->busy = true;
		j->busy++;
	}
}

/* Hands out what is to be done and what is free, and submits it. */
static int ring_fill(struct job *j, struct fail *f)
{
	for (size_t i = 0; i < BLOCKQUEUE_DEPTH && j->next < j->total; i++) {
		struct op *op = &j->ops[i];
		int r;

		if (op->busy)
			continue;
		r = op_take(j, op, f);
		if (r < 0)
			return r;
		op_submit(j, op);
		/* At once: making the next block's bytes takes as long as the disk takes for them. */
		(void)io_uring_submit(&j->ring);
	}
	return 0;
}

/* Takes what has come back, after waiting for at least one. */
static int ring_reap(struct job *j, struct fail *f)
{
	struct io_uring_cqe *cqe;
	int r = io_uring_submit_and_wait(&j->ring, 1);

	if (r < 0 && r != -EINTR)
		return fail_set(f, -r, "io_uring");
	while (io_uring_peek_cqe(&j->ring, &cqe) == 0) {
		struct op *op = io_uring_cqe_get_data(cqe);
		ssize_t res = cqe->res;

		io_uring_cqe_seen(&j->ring, cqe);
		r = op_moved(j, op, res, f);
		if (r > 0) {
			op_submit(j, op);
			continue;
		}
		op->busy = false;
		j->busy--;
		if (r < 0)
			return r;
	}
	return 0;
}

static void ring_drain(struct job *j)
{
	struct io_uring_cqe *cqe;

	while (j->busy > 0) {
		int r = io_uring_submit_and_wait(&j->ring, 1);

		if (r < 0 && r != -EINTR)
			break;
		while (io_uring_peek_cqe(&j->ring, &cqe) == 0) {
			io_uring_cqe_seen(&j->ring, cqe);
			j->busy--;
		}
	}
}

static int run_ring(struct job *j, struct fail *f)
{
	const struct iovec all = { j->data, BLOCKQUEUE_DEPTH * BLOCKQUEUE_BLOCK };
	int r = 0;

	/* Refused by a small RLIMIT_MEMLOCK. */
	j->fixed = io_uring_register_buffers(&j->ring, &all, 1) == 0;

	while (r == 0 && (j->next < j->total || j->busy > 0)) {
		if (is_stopped(j))
			r = fail_say(f, EINTR, "interrupted");
		if (r == 0)
			r = ring_fill(j, f);
		if (r == 0)
			r = ring_reap(j, f);
	}
	ring_drain(j);
	io_uring_queue_exit(&j->ring);
	return r;
}

static int job_init(struct job *j, const struct blockqueue *q, struct fail *f)
{
	*j = (struct job){ .q = q };
	j->blocks_per_file = (q->file_bytes + BLOCKQUEUE_BLOCK - 1) / BLOCKQUEUE_BLOCK;
	j->total = j->blocks_per_file * q->nr_files;
	j->data = aligned_alloc(DATA_ALIGN, BLOCKQUEUE_DEPTH * BLOCKQUEUE_BLOCK);
	j->files = calloc(q->nr_files, sizeof(*j->files));
	if (j->data)
		(void)madvise(j->data, BLOCKQUEUE_DEPTH * BLOCKQUEUE_BLOCK, MADV_HUGEPAGE);
	if (!j->data || !j->files)
		return fail_set(f, ENOMEM, "buffers for the files");
	for (unsigned int i = 0; i < q->nr_files; i++)
		j->files[i].fd = -1;
	for (size_t i = 0; i < BLOCKQUEUE_DEPTH; i++)
		j->ops[i].block.data = j->data + i * BLOCKQUEUE_BLOCK;
	return 0;
}

static void job_free(struct job *j)
{
	for (unsigned int i = 0; j->files && i < j->q->nr_files; i++)
		if (j->files[i].fd >= 0)
			(void)close(j->files[i].fd);
	free(j->files);
	free(j->data);
}

int blockqueue_run(const struct blockqueue *q, struct fail *f)
{
	struct job j;
	int r = job_init(&j, q, f);

	if (r == 0) {
		/* Refused by kernel.io_uring_disabled, seccomp, or an old RLIMIT_MEMLOCK. */
		bool ring = !q->plain && io_uring_queue_init(BLOCKQUEUE_DEPTH, &j.ring, 0) == 0;

		r = ring ? run_ring(&j, f) : run_plain(&j, f);
	}
	job_free(&j);
	return r;
}
