/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The synthetic compiler job: how large the cc1 of one source file is, and what it does.
 *
 * Model. A real cc1 maps a 32 MiB image of which it uses two thirds, reads megabytes of headers
 * through the page cache, grows steadily to some ten thousand anonymous pages, of which it keeps
 * touching a part, and ends with an object file. Ten classes, equally likely, are the deciles of
 * real runs of gcc on kernel sources: docs/ccstorm-jobs.md has the measurement.
 *
 * Everything here is pure, and equal for equal seeds.
 */
#pragma once

#include <stdint.h>

#define COMPILE_CLASSES 10
/* cc1 of gcc 12.2 on amd64, and all headers that the measured jobs read, once each. */
#define COMPILE_IMAGE_BYTES (32ULL << 20)
#define COMPILE_HEADERS_BYTES (14ULL << 20)

/* cc1 has most of its memory after parsing, in the first 60 % of its time. */
#define COMPILE_GROWTH_PERCENT 60

/* What one job does; the helper program ccstorm-job gets it as its arguments. */
struct compile_job {
	uint64_t text_bytes;   /* of the compiler's image that are used */
	uint64_t header_bytes; /* read, many of them by every job */
	uint64_t anon_bytes;   /* at the end */
	uint64_t object_bytes; /* written */
	uint64_t visits;       /* to pages, while it grows and after it */
	uint64_t hot_percent;  /* of its pages that it comes back to */
	uint64_t seed;	       /* of its choices */
};

/* The job of source file @index of a build of @seed, with all its memory scaled to @scale_percent
 * (100: as measured). */
void compile_job_make(uint64_t seed, uint64_t index, unsigned int scale_percent,
		      struct compile_job *ret);

/* What @jobs at once want when they are in the largest class, all at their end, with the shared image
 * and headers once: for 20 it is the document's "about 3 GB". */
uint64_t compile_demand_bytes(unsigned int jobs, unsigned int scale_percent);
/* As above with the largest jobs of that class: more is never needed. */
uint64_t compile_demand_max_bytes(unsigned int jobs, unsigned int scale_percent);

/* What @jobs at once have at any moment, on the average: a large job is there for longer, and grows in
 * the first part of its time. About half of the demand above. */
uint64_t compile_demand_mean_bytes(unsigned int jobs, unsigned int scale_percent);

/* The document's three pressure levels, 2048, 1536 and 1024 MB for a demand of 3 GB. */
enum compile_level { LEVEL_LIGHT, LEVEL_HEAVY, LEVEL_EXTREME, LEVEL_NR };
extern const char *const compile_level_names[LEVEL_NR];
/* The memcg's limit for @level, whole MiB. */
uint64_t compile_limit_bytes(enum compile_level level, uint64_t demand_bytes);
