/* SPDX-License-Identifier: GPL-2.0-only */
#include "reader.h"

#include <errno.h>
#include <sys/resource.h>

struct cursor {
	uint64_t state; /* of the random order */
	size_t page;
	uint64_t minor, major; /* of this thread, at the last look */
};

static void look(struct cursor *c, uint64_t *ret_minor, uint64_t *ret_major)
{
	struct rusage u;

	(void)getrusage(RUSAGE_THREAD, &u);
	*ret_minor = (uint64_t)u.ru_minflt - c->minor;
	*ret_major = (uint64_t)u.ru_majflt - c->major;
	c->minor = (uint64_t)u.ru_minflt;
	c->major = (uint64_t)u.ru_majflt;
}

/* One writer: a plain add, published as one store. */
static inline void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static void tell_faults(struct cursor *c, struct progress *p, size_t slot, uint64_t took_ns)
{
	uint64_t minor, major;

	look(c, &minor, &major);
	count(&p->slots[slot].minor_faults, minor);
	count(&p->slots[slot].major_faults, major);
	if (major)
		hist_record(progress_hist(p, slot, READER_HIST_MAJOR), took_ns);
	else if (minor)
		hist_record(progress_hist(p, slot, READER_HIST_MINOR), took_ns);
}

static inline void step(const struct reader *r, struct cursor *c)
{
	uint64_t x = c->state;

	if (!r->random) {
		c->page = c->page + 1 < r->pages ? c->page + 1 : 0;
		return;
	}
	/* xorshift64* (Vigna, ACM TOMS 42, 2016); the high 32 bits scaled to the range. */
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	c->state = x;
	c->page = (size_t)(((x * 0x2545F4914F6CDD1DULL >> 32) * (uint64_t)r->pages) >> 32);
}

/* Returns the word that was read. */
static inline uint64_t visit(const struct reader *r, struct cursor *c, struct progress *p,
			     size_t slot)
{
	const volatile uint64_t *word =
		(const volatile uint64_t *)(const void *)(r->base + c->page * r->page_bytes);
	struct progress_slot *s = &p->slots[slot];
	uint64_t before_ns = clock_now_ns(), took_ns, seen;

	atomic_store_explicit(&s->access_since_ns, before_ns, memory_order_relaxed);
	seen = *word;
	took_ns = clock_now_ns() - before_ns;
	atomic_store_explicit(&s->access_since_ns, 0, memory_order_relaxed);
	hist_record(progress_hist(p, slot, READER_HIST_TOUCH), took_ns);
	if (took_ns >= READER_FAULT_NS)
		tell_faults(c, p, slot, took_ns);
	count(&s->done, 1);
	return seen;
}

int reader_run(const struct reader *r, struct progress *p, size_t slot, uint64_t visits,
	       size_t *ret_wrong)
{
	struct cursor c = { .state = content_word(r->content, r->file, r->seed) | 1 };
	uint64_t ignored, minor, major;

	/* Faults so far are the start's, not the reader's. */
	look(&c, &ignored, &ignored);
	if (r->random)
		step(r, &c);
	for (uint64_t n = 0; !progress_stopped(p) && (visits == 0 || n < visits); n++) {
		uint64_t place = (uint64_t)c.page * (r->page_bytes / CONTENT_PAGE);

		if (visit(r, &c, p, slot) != content_word(r->content, r->file, place)) {
			*ret_wrong = c.page;
			return -EBADMSG;
		}
		step(r, &c);
	}
	look(&c, &minor, &major);
	count(&p->slots[slot].minor_faults, minor);
	count(&p->slots[slot].major_faults, major);
	return 0;
}
