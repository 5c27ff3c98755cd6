/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a memcg says of itself: memory.stat and memory.events (v2), memory.stat and
 * memory.oom_control (v1), in one struct of v2 names and bytes or events.
 *
 * Text in, struct out. A field that this kernel or version does not have stays KFILE_ABSENT: v1 has
 * no pgscan/pgsteal at all, older v2 files only their sum without pgscan_direct, and only recent
 * ones say pswpin/pswpout. A file's value of 2^64 - 1 cannot be told from an absent one. v1 files
 * count the subtree in total_*, which is what is taken; total_rss and total_cache are what v2 calls
 * anon and file.
 */
#pragma once

#include <stdint.h>

struct memstat {
	uint64_t anon_bytes;
	uint64_t file_bytes;
	uint64_t kernel_bytes;
	uint64_t shmem_bytes;
	uint64_t inactive_anon_bytes;
	uint64_t active_anon_bytes;
	uint64_t inactive_file_bytes;
	uint64_t active_file_bytes;
	uint64_t unevictable_bytes;
	uint64_t file_dirty_bytes;
	uint64_t file_writeback_bytes;
	uint64_t swapcached_bytes;
	uint64_t pgfault;
	uint64_t pgmajfault;
	uint64_t pgscan;
	uint64_t pgsteal;
	uint64_t pgscan_direct;
	uint64_t pgsteal_direct;
	uint64_t refault_anon;
	uint64_t refault_file;
	uint64_t swap_in;  /* pages */
	uint64_t swap_out; /* pages */
};

struct memevents {
	uint64_t low;
	uint64_t high;
	uint64_t max; /* limit hits */
	uint64_t oom;
	uint64_t oom_kill;
};

/* Set every field to KFILE_ABSENT. */
void memstat_init(struct memstat *s);
void memevents_init(struct memevents *e);
/* v2 memory.stat. 0 or -EINVAL (a wanted value is malformed, or no wanted key is there). */
int memstat_parse_v2(const char *text, struct memstat *ret);
/* v1 memory.stat. As above. */
int memstat_parse_v1(const char *text, struct memstat *ret);
/* v2 memory.events. As above. */
int memevents_parse_v2(const char *text, struct memevents *ret);
/* v1 memory.oom_control: only oom_kill (4.13 and later). As above. */
int memevents_parse_v1(const char *oom_control, struct memevents *ret);
