/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hot loop of mmapread: reads one word of one page after another through a mapping.
 *
 * Every access is timed. Whether it faulted, and whether it had to wait for the device, is told by the
 * thread's own fault counters (RUSAGE_THREAD): exact, and nobody else's. Asking costs 20 times what
 * reading the clock costs (505 ns against 26, natively), so it is asked only after an access of
 * READER_FAULT_NS or more; the counters are differences since the last look, so a fault that was
 * quicker is not lost but counted at the next slow access.
 *
 * The word read is compared with what belongs there (content.h): a reader that sees a wrong page says
 * so instead of going on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "content.h"
#include "progress.h"

/* No fault is quicker where mitigations are on (4.9 us at the median natively, with 64 KiB mapped
 * around it), and of accesses that hit memory at random 1 % take longer (531 ns). */
#define READER_FAULT_NS 400

/* Order of the histograms of a slot. */
enum { READER_HIST_TOUCH, READER_HIST_MAJOR, READER_HIST_MINOR, READER_HISTS };

struct reader {
	const unsigned char *base;
	size_t pages;
	size_t page_bytes;
	unsigned int file;
	const struct content *content;
	bool random; /* any page next, else the next one, and round again */
	uint64_t seed;
};

/* Reads until progress_stopped() or @visits pages are read (0: no end), counting them in the slot's
 * `done`, faults beside. 0, or -EBADMSG and in *ret_wrong the page that is not what belongs there. */
int reader_run(const struct reader *r, struct progress *p, size_t slot, uint64_t visits,
	       size_t *ret_wrong);
