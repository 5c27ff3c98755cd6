/* SPDX-License-Identifier: GPL-2.0-only */
#include "progress.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL

uint64_t clock_now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void futex_wait(const _Atomic uint32_t *word, uint32_t expected, const struct timespec *ts)
{
	/* EAGAIN, EINTR and ETIMEDOUT all mean "look again", which every caller does. */
	(void)syscall(SYS_futex, word, FUTEX_WAIT, expected, ts, NULL, 0);
}

static void futex_wake_all(const _Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static size_t slots_offset(void)
{
	return round_up(sizeof(struct progress_head), PROGRESS_CACHE_LINE);
}

static size_t hists_offset(size_t nr_slots)
{
	return round_up(slots_offset() + nr_slots * sizeof(struct progress_slot),
			PROGRESS_CACHE_LINE);
}

size_t progress_bytes(size_t nr_slots, size_t nr_hists)
{
	size_t bytes = hists_offset(nr_slots) + nr_slots * nr_hists * sizeof(struct hist);

	return round_up(bytes, (size_t)sysconf(_SC_PAGESIZE));
}

int progress_create(size_t nr_slots, size_t nr_hists, struct progress *ret)
{
	size_t bytes = progress_bytes(nr_slots, nr_hists);
	unsigned char *map;

	if (nr_hists > PROGRESS_HISTS_MAX)
		return -EINVAL;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return -errno;
	/* A lock that is refused (RLIMIT_MEMLOCK) costs precision under pressure, not correctness. */
	(void)mlock(map, bytes);
	*ret = (struct progress){
		.head = (struct progress_head *)(void *)map,
		.slots = (struct progress_slot *)(void *)(map + slots_offset()),
		.hists = (struct hist *)(void *)(map + hists_offset(nr_slots)),
		.nr_slots = nr_slots,
		.nr_hists = nr_hists,
		.map = map,
		.map_bytes = bytes,
	};
	progress_reset(ret);
	return 0;
}

void progress_destroy(struct progress *p)
{
	if (p->map)
		(void)munmap(p->map, p->map_bytes);
	*p = (struct progress){ 0 };
}

void progress_reset(struct progress *p)
{
	/* Writing every page is what charges it to us. */
	memset(p->map, 0, p->map_bytes);
	for (size_t i = 0; i < p->nr_slots * p->nr_hists; i++)
		hist_init(&p->hists[i]);
}

bool progress_wait_start(struct progress *p, size_t slot)
{
	struct progress_head *h = p->head;

	atomic_store_explicit(&p->slots[slot].tid, (int32_t)syscall(SYS_gettid),
			      memory_order_relaxed);
	atomic_fetch_add(&h->ready, 1);
	futex_wake_all(&h->ready);
	while (!atomic_load(&h->go) && !atomic_load(&h->stop))
		futex_wait(&h->go, 0, NULL);
	return !atomic_load(&h->stop);
}

void progress_fail(struct progress *p, const char *fmt, ...)
{
	uint32_t expected = 0;
	va_list ap;

	/* 2 while the text is written, 1 once it may be read. */
	if (!atomic_compare_exchange_strong(&p->head->failed, &expected, 2))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(p->head->error, sizeof(p->head->error), fmt, ap);
	va_end(ap);
	atomic_store(&p->head->failed, 1);
}

unsigned int progress_ready(const struct progress *p)
{
	return atomic_load(&p->head->ready);
}

void progress_wait_ready_change(struct progress *p, unsigned int seen, uint64_t timeout_ns)
{
	const struct timespec ts = { .tv_sec = (time_t)(timeout_ns / NS_PER_S),
				     .tv_nsec = (long)(timeout_ns % NS_PER_S) };

	futex_wait(&p->head->ready, seen, &ts);
}

void progress_release(struct progress *p)
{
	atomic_store(&p->head->start_ns, clock_now_ns());
	atomic_store(&p->head->go, 1);
	futex_wake_all(&p->head->go);
}

void progress_stop(struct progress *p)
{
	atomic_store(&p->head->stop, 1);
	futex_wake_all(&p->head->stop);
	/* Those that still wait at the barrier sleep on the other word, whose value must change too:
	 * a waiter between its look at `stop` and its sleep would miss the wake. */
	atomic_store(&p->head->go, 1);
	futex_wake_all(&p->head->go);
}

uint64_t progress_done(const struct progress *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->nr_slots; i++)
		sum += atomic_load_explicit(&p->slots[i].done, memory_order_relaxed);
	return sum;
}

uint64_t progress_longest_access_ns(const struct progress *p, uint64_t now_ns)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < p->nr_slots; i++) {
		uint64_t since =
			atomic_load_explicit(&p->slots[i].access_since_ns, memory_order_relaxed);

		if (since && now_ns > since && now_ns - since > longest)
			longest = now_ns - since;
	}
	return longest;
}
