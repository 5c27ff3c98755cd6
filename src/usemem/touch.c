/* SPDX-License-Identifier: GPL-2.0-only */
#include "touch.h"

/* 2^64 / golden ratio (Knuth, TAOCP 6.4): odd, so words of a page all differ and no compressor of
 * zram finds anything; the swap is then really as large as the set. */
#define GOLDEN 0x9E3779B97F4A7C15ULL

/* xorshift64* (Vigna, ACM TOMS 42, 2016). */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545F4914F6CDD1DULL;
}

static inline uint64_t start_state(uint64_t seed)
{
	return (seed + 1) * GOLDEN | 1;
}

static inline volatile uint64_t *pick(const struct touch_area *area, uint64_t *state)
{
	/* The high 32 bits scaled to the range: no division in the loop. */
	size_t page = (size_t)(((next_random(state) >> 32) * (uint64_t)area->pages) >> 32);

	return (volatile uint64_t *)(void *)(area->base + page * area->page_bytes);
}

static inline void fill(volatile uint64_t *words, size_t nr_words, uint64_t value)
{
	for (unsigned int round = 0; round < TOUCH_ROUNDS; round++)
		for (size_t w = 0; w < nr_words; w++)
			words[w] = value += GOLDEN;
}

static inline void visit(volatile uint64_t *words, size_t nr_words, struct progress_slot *slot,
			 struct hist *hist, uint64_t value)
{
	uint64_t before_ns = clock_now_ns();

	atomic_store_explicit(&slot->access_since_ns, before_ns, memory_order_relaxed);
	words[0] = value;
	hist_record(hist, clock_now_ns() - before_ns);
	atomic_store_explicit(&slot->access_since_ns, 0, memory_order_relaxed);
	fill(words, nr_words, value);
	/* One writer: a plain add, published as one store. */
	atomic_store_explicit(&slot->done,
			      atomic_load_explicit(&slot->done, memory_order_relaxed) + 1 +
				      TOUCH_ROUNDS * nr_words,
			      memory_order_relaxed);
}

static inline void visit_random(const struct touch_area *area, struct progress_slot *slot,
				struct hist *hist, uint64_t *state)
{
	volatile uint64_t *words = pick(area, state);

	visit(words, area->page_bytes / sizeof(uint64_t), slot, hist, *state);
}

void touch_part(const struct touch_area *area, size_t nr, size_t of, struct touch_area *ret)
{
	size_t first = area->pages * nr / of;

	*ret = (struct touch_area){
		.base = area->base + first * area->page_bytes,
		.pages = area->pages * (nr + 1) / of - first,
		.page_bytes = area->page_bytes,
	};
}

void touch_run(const struct touch_area *area, const struct touch_area *part, struct progress *p,
	       size_t slot, struct hist *hist, uint64_t seed)
{
	size_t nr_words = area->page_bytes / sizeof(uint64_t);
	uint64_t state = start_state(seed);

	for (size_t i = 0; i < part->pages && !progress_stopped(p); i++)
		visit((volatile uint64_t *)(void *)(part->base + i * part->page_bytes), nr_words,
		      &p->slots[slot], hist, next_random(&state));
	while (!progress_stopped(p))
		visit_random(area, &p->slots[slot], hist, &state);
}

void touch_measured(const struct touch_area *area, struct progress *p, size_t slot,
		    struct hist *hist, uint64_t visits, uint64_t seed)
{
	uint64_t state = start_state(seed);

	while (visits-- > 0 && !progress_stopped(p))
		visit_random(area, &p->slots[slot], hist, &state);
}

void touch_unmeasured(const struct touch_area *area, uint64_t visits, uint64_t seed)
{
	size_t nr_words = area->page_bytes / sizeof(uint64_t);
	uint64_t state = start_state(seed);

	while (visits-- > 0) {
		volatile uint64_t *words = pick(area, &state);

		words[0] = state;
		fill(words, nr_words, state);
	}
}
