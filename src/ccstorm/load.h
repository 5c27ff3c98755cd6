/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simple loads of soft-limit and over-scan, each for one worker: readers of files, eaters of
 * anonymous memory. They end when the stage says so, or progress_stop() where there is none, and
 * count pages in the slot's `done`.
 */
#pragma once

#include <stdint.h>

#include "progress.h"
#include "stage.h"

struct load {
	struct stage *stage; /* NULL: all begin and end together */
	unsigned int actor;
	struct progress *progress;
	size_t slot;
};

/* Reads all of @path once through the page cache. 0 or -errno after progress_fail(). */
int load_read_file(const struct load *l, const char *path);
/* The document's mem_eater: maps and populates @bytes in @chunks steps with a nap of @nap_ns after
 * each, says PART_FULL, then keeps visiting random pages of it. */
int load_eat(const struct load *l, uint64_t bytes, unsigned int chunks, uint64_t nap_ns);
/* Takes @bytes at once, says PART_FULL, and holds them. */
int load_hog(const struct load *l, uint64_t bytes);
/* Takes @bytes, locked so that reclaim can have nothing of them, and gives them back; again and again. */
int load_churn(const struct load *l, uint64_t bytes);
/* Keeps the last @bytes read of a file in the page cache, clean and never read twice: reads on and on,
 * and drops what is further back. So what reclaim takes comes back as new pages; read again, pages
 * would go to the active list, and refaults would change the kernel's balance. */
struct load_window {
	uint64_t from;	  /* in the file, which may be all hole, … */
	uint64_t span;	  /* … and how far it goes before it begins again */
	uint64_t bytes;	  /* kept; a multiple of the page */
	uint64_t step;	  /* read between two rests once the window is full; divides @span */
	uint64_t rest_ns; /* 0: none */
};

int load_slide(const struct load *l, const char *path, const struct load_window *w);
