/* SPDX-License-Identifier: GPL-2.0-only */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"

#define BLOCK (256u << 10)
/* A page cache write ends when it is copied: more in flight would only be a longer queue. */
#define IN_FLIGHT 4

struct stream {
	const struct load *load;
	int fd;
	uint64_t bytes;
	uint64_t at;
	unsigned int in_flight;
};

static unsigned char block[BLOCK];

static bool left(const struct stream *s)
{
	return stage_left(s->load->stage, s->load->actor, s->load->progress);
}

static void wrote(const struct stream *s, uint64_t bytes)
{
	_Atomic uint64_t *done = &s->load->progress->slots[s->load->slot].done;

	atomic_store_explicit(done,
			      atomic_load_explicit(done, memory_order_relaxed) +
				      bytes / (uint64_t)sysconf(_SC_PAGESIZE),
			      memory_order_relaxed);
}

static uint64_t next_offset(struct stream *s)
{
	uint64_t at = s->at;

	s->at = s->at + 2 * BLOCK <= s->bytes ? s->at + BLOCK : 0;
	return at;
}

static int by_ring(struct stream *s, struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int r = 0;

	while (r == 0 && (s->in_flight || !left(s))) {
		while (s->in_flight < IN_FLIGHT && !left(s)) {
			struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

			io_uring_prep_write(sqe, s->fd, block, BLOCK, next_offset(s));
			s->in_flight++;
		}
		if (!s->in_flight)
			break;
		r = io_uring_submit_and_wait(ring, 1);
		/* The group's OOM killer and our own stop both come as a signal. */
		r = r == -EINTR || r > 0 ? 0 : r;
		while (r == 0 && io_uring_peek_cqe(ring, &cqe) == 0) {
			r = cqe->res < 0 ? cqe->res : 0;
			wrote(s, BLOCK);
			io_uring_cqe_seen(ring, cqe);
			s->in_flight--;
		}
	}
	return r;
}

static int by_hand(struct stream *s)
{
	while (!left(s)) {
		if (pwrite(s->fd, block, BLOCK, (off_t)next_offset(s)) < 0)
			return -errno;
		wrote(s, BLOCK);
	}
	return 0;
}

int stream_write(const struct load *l, const char *path, uint64_t bytes)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stream s = { .load = l, .fd = fd, .bytes = bytes };
	struct io_uring ring;
	int r = fd < 0 ? -errno : 0;

	memset(block, 0xA5, sizeof(block));
	if (r == 0 && io_uring_queue_init(IN_FLIGHT, &ring, 0) == 0) {
		r = by_ring(&s, &ring);
		io_uring_queue_exit(&ring);
	} else if (r == 0) {
		r = by_hand(&s);
	}
	if (r < 0)
		progress_fail(l->progress, "writing %s: %s", path, strerror(-r));
	return r;
}
