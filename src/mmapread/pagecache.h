/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a file's pages are in memory, and getting them out.
 *
 * A page of the page cache belongs to the memcg that read it first and stays charged there. If a file
 * that readers are to fault in is still cached on somebody else's account, their memcg never fills,
 * and everything measured is about another load than the one meant. So nothing is believed here:
 * pages are counted after they were evicted.
 */
#pragma once

#include <stdint.h>

/* Pages of the first @bytes of @fd that are in memory: by cachestat(2) (6.5 and later), else by
 * mincore(2), which tells the truth about files that we own or may write. 0 or -errno. */
int pagecache_count(int fd, uint64_t bytes, uint64_t *ret_pages);
/* The mincore(2) half alone. */
int pagecache_count_mincore(int fd, uint64_t bytes, uint64_t *ret_pages);
/* Writes back and drops the first @bytes of @fd, and counts what stayed (mapped or locked by
 * somebody). 0 or -errno. */
int pagecache_evict(int fd, uint64_t bytes, uint64_t *ret_left_pages);
