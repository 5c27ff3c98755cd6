/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inner loop of the classic scenario and the lines it prints: pure.
 *
 * A pass accesses the first word of every step once, in order or at random places. A written word
 * holds its own index, so a later pass in order can see that nothing was lost on the way to swap and
 * back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access_pass {
	volatile uint64_t *words;
	uint64_t nr_words;
	uint64_t step_words; /* >= 1 */
	bool random;
	bool readonly;
	bool verify; /* of what an earlier pass wrote; only in order */
	uint64_t at; /* the next word in order; a random pass counts with it */
	uint64_t random_state;
	uint64_t wrong; /* index of the first word that did not hold its index, UINT64_MAX: none */
};

/* Starts the next pass over the same words. */
void access_begin(struct access_pass *p, bool verify);
/* At most @max accesses; returns how many. Less than @max: the pass is over, or p->wrong is set. */
uint64_t access_some(struct access_pass *p, uint64_t max);

/* "N bytes / M usecs = K KB/s", "N usecs to free memory", "the initialization time is X secs Y usecs",
 * each with its newline, as LKP's programs/vm-scalability/parse reads them. */
void classic_line_speed(char *buf, size_t size, uint64_t bytes, uint64_t ns);
void classic_line_free(char *buf, size_t size, uint64_t ns);
void classic_line_init(char *buf, size_t size, uint64_t ns);
