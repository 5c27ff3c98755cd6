/* SPDX-License-Identifier: GPL-2.0-only */
#include "classic_access.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_US 1000
#define US_PER_S 1000000

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

/* Below @n, without a division: the high half of the product. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)next_random(state) * n) >> 64);
}

void access_begin(struct access_pass *p, bool verify)
{
	p->at = 0;
	p->verify = verify && !p->random && !p->readonly;
	p->wrong = UINT64_MAX;
}

static uint64_t at_random(struct access_pass *p, uint64_t nr)
{
	uint64_t state = p->random_state;

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t word = random_below(&state, p->nr_words);

		if (p->readonly)
			(void)p->words[word];
		else
			p->words[word] = word;
	}
	p->random_state = state;
	return nr;
}

static uint64_t read_in_order(struct access_pass *p, uint64_t nr)
{
	for (uint64_t i = 0, word = p->at; i < nr; i++, word += p->step_words)
		(void)p->words[word];
	return nr;
}

static uint64_t write_in_order(struct access_pass *p, uint64_t nr)
{
	for (uint64_t i = 0, word = p->at; i < nr; i++, word += p->step_words)
		p->words[word] = word;
	return nr;
}

static uint64_t rewrite_in_order(struct access_pass *p, uint64_t nr)
{
	for (uint64_t i = 0, word = p->at; i < nr; i++, word += p->step_words) {
		if (p->words[word] != word) {
			p->wrong = word;
			return i;
		}
		p->words[word] = word;
	}
	return nr;
}

uint64_t access_some(struct access_pass *p, uint64_t max)
{
	uint64_t rest = p->at < p->nr_words ? p->nr_words - p->at : 0;
	uint64_t left = rest / p->step_words + (rest % p->step_words != 0);
	uint64_t nr = left < max ? left : max;

	if (p->random)
		nr = at_random(p, nr);
	else if (p->readonly)
		nr = read_in_order(p, nr);
	else if (p->verify)
		nr = rewrite_in_order(p, nr);
	else
		nr = write_in_order(p, nr);
	p->at += nr * p->step_words;
	return nr;
}

void classic_line_speed(char *buf, size_t size, uint64_t bytes, uint64_t ns)
{
	/* The original divides by what may be 0 for a tiny SIZE. */
	uint64_t us = ns < NS_PER_US ? 1 : ns / NS_PER_US;
	uint64_t kb_per_s = (uint64_t)(((unsigned __int128)bytes * US_PER_S >> 10) / us);

	(void)snprintf(buf, size, "%" PRIu64 " bytes / %" PRIu64 " usecs = %" PRIu64 " KB/s\n",
		       bytes, us, kb_per_s);
}

void classic_line_free(char *buf, size_t size, uint64_t ns)
{
	(void)snprintf(buf, size, "%" PRIu64 " usecs to free memory\n", ns / NS_PER_US);
}

void classic_line_init(char *buf, size_t size, uint64_t ns)
{
	uint64_t us = ns / NS_PER_US;

	(void)snprintf(buf, size, "the initialization time is %" PRIu64 " secs %" PRIu64 " usecs\n",
		       us / US_PER_S, us % US_PER_S);
}
