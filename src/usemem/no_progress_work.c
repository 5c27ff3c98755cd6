/* SPDX-License-Identifier: GPL-2.0-only */
/* The tasks inside the memcg. extra[0] of a slot is when its task began, extra[1] when it was done. */
#include "no_progress.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

/* 2^64 / golden ratio: words that all differ, so that zram finds nothing to compress. */
#define GOLDEN 0x9E3779B97F4A7C15ULL

struct buffer {
	unsigned char *base;
	uint64_t pages;
	size_t page_bytes;
};

static int make_buffer(const struct worker *w, struct buffer *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct buffer b = { .pages = w->run->plan.set_bytes / page, .page_bytes = page };

	b.base = mmap(NULL, b.pages * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b.base == MAP_FAILED) {
		progress_fail(w->progress, "mmap of %" PRIu64 " bytes: %s", w->run->plan.set_bytes,
			      strerror(errno));
		return -errno;
	}
	/* A huge page is 512 pages reclaimed at once: another load than the document's. */
	(void)madvise(b.base, b.pages * page, MADV_NOHUGEPAGE);
	*ret = b;
	return 0;
}

static void begin(struct progress_slot *slot)
{
	atomic_store(&slot->extra[0], clock_now_ns());
}

static void end(struct progress_slot *slot)
{
	atomic_store(&slot->extra[1], clock_now_ns());
}

/* One timed write, which may fault, then the rest of the page. */
static void dirty_page(const struct buffer *b, uint64_t page, struct progress_slot *slot,
		       struct hist *hist)
{
	volatile uint64_t *words = (volatile uint64_t *)(void *)(b->base + page * b->page_bytes);
	uint64_t value = (page + 1) * GOLDEN, before_ns = clock_now_ns();

	atomic_store_explicit(&slot->access_since_ns, before_ns, memory_order_relaxed);
	words[0] = value;
	hist_record(hist, clock_now_ns() - before_ns);
	atomic_store_explicit(&slot->access_since_ns, 0, memory_order_relaxed);
	for (size_t i = 1; i < b->page_bytes / sizeof(*words); i++)
		words[i] = value += GOLDEN;
	atomic_store_explicit(&slot->done,
			      atomic_load_explicit(&slot->done, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static int dirty_once(const struct worker *w, const struct buffer *b, struct progress_slot *slot)
{
	struct hist *hist = progress_hist(w->progress, w->first_slot, 0);

	begin(slot);
	for (uint64_t i = 0; i < b->pages; i++)
		dirty_page(b, i, slot, hist);
	end(slot);
	return 0;
}

static int dirty_for_ever(const struct worker *w, const struct buffer *b,
			  struct progress_slot *slot)
{
	struct hist *hist = progress_hist(w->progress, w->first_slot, 0);

	begin(slot);
	for (uint64_t i = 0; !progress_stopped(w->progress); i++)
		dirty_page(b, i % b->pages, slot, hist);
	end(slot);
	return 0;
}

static int lock_it(const struct worker *w, const struct buffer *b, struct progress_slot *slot)
{
	const struct rlimit infinite = { RLIM_INFINITY, RLIM_INFINITY };

	(void)w;
	/* CAP_IPC_LOCK does without; where neither is to be had mlock says so itself. */
	(void)setrlimit(RLIMIT_MEMLOCK, &infinite);
	begin(slot);
	/* Past the C library: AddressSanitizer turns its mlock() into nothing. */
	if (syscall(SYS_mlock, b->base, b->pages * b->page_bytes) < 0) {
		int err = errno;

		end(slot);
		_exit(MLOCK_ERROR_BASE + err);
	}
	end(slot);
	return 0;
}

int no_progress_work(const struct worker *w)
{
	static int (*const roles[TASKS])(const struct worker *w, const struct buffer *b,
					 struct progress_slot *slot) = {
		[TASK_DIRTY] = dirty_once,	 [TASK_MLOCK] = lock_it,
		[TASK_SWAPOFF] = dirty_for_ever, [TASK_KILL] = dirty_for_ever,
		[TASK_KILL_2] = dirty_for_ever,	 [TASK_KILL_3] = dirty_for_ever,
	};
	const struct no_progress *np = w->run->state;
	struct buffer buffer;
	char byte;
	int r = make_buffer(w, &buffer);

	if (r < 0)
		return r;
	(void)close(np->go_fds[1]);
	/* The supervisor lets go when it sees us through the probe. */
	if (read(np->go_fds[0], &byte, 1) != 1)
		return 0;
	return roles[w->index](w, &buffer, &w->progress->slots[w->first_slot]);
}
