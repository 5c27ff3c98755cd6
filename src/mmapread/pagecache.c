/* SPDX-License-Identifier: GPL-2.0-only */
#include "pagecache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"

/* Newer than the headers of Debian 12; the number is the same on every architecture that has been
 * using the common table, which is all but alpha. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
/* A page on its way through a CPU's batch of the LRU lists is passed over; the kernel drains the
 * batches when that happens, so a second look finds it. */
#define EVICT_TRIES 3
/* Bytes mapped at a time for mincore: a vector of 64 KiB. */
#define MINCORE_PAGES 65536u

struct cachestat_range {
	uint64_t off;
	uint64_t len;
};
struct cachestat {
	uint64_t nr_cache;
	uint64_t nr_dirty;
	uint64_t nr_writeback;
	uint64_t nr_evicted;
	uint64_t nr_recently_evicted;
};

static int count_mapped(void *map, size_t bytes, uint64_t page_bytes, uint64_t *pages)
{
	size_t nr = (bytes + page_bytes - 1) / page_bytes;
	_cleanup_free_ unsigned char *vec = malloc(nr);

	if (!vec)
		return -ENOMEM;
	if (mincore(map, bytes, vec) < 0)
		return -errno;
	for (size_t i = 0; i < nr; i++)
		*pages += vec[i] & 1;
	return 0;
}

int pagecache_count_mincore(int fd, uint64_t bytes, uint64_t *ret_pages)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), pages = 0;

	for (uint64_t at = 0; at < bytes; at += MINCORE_PAGES * page_bytes) {
		uint64_t left = bytes - at, most = MINCORE_PAGES * page_bytes;
		size_t part = (size_t)(left < most ? left : most);
		/* PROT_NONE: under mlockall(MCL_FUTURE) a readable mapping would be filled at once, and
		 * the count would find what it had brought in itself. */
		void *map = mmap(NULL, part, PROT_NONE, MAP_SHARED, fd, (off_t)at);
		int r;

		if (map == MAP_FAILED)
			return -errno;
		r = count_mapped(map, part, page_bytes, &pages);
		(void)munmap(map, part);
		if (r < 0)
			return r;
	}
	*ret_pages = pages;
	return 0;
}

int pagecache_count(int fd, uint64_t bytes, uint64_t *ret_pages)
{
	struct cachestat_range range = { .off = 0, .len = bytes };
	struct cachestat cs;

	if (syscall(SYS_cachestat, fd, &range, &cs, 0) == 0) {
		*ret_pages = cs.nr_cache;
		return 0;
	}
	return pagecache_count_mincore(fd, bytes, ret_pages);
}

int pagecache_evict(int fd, uint64_t bytes, uint64_t *ret_left_pages)
{
	uint64_t left = 0;

	for (unsigned int i = 0; i < EVICT_TRIES; i++) {
		int r;

		/* Dirty pages and those under writeback are not dropped. */
		if (fdatasync(fd) < 0)
			return -errno;
		r = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (r == 0)
			r = pagecache_count(fd, bytes, &left);
		if (r < 0)
			return r;
		if (left == 0)
			break;
	}
	*ret_left_pages = left;
	return 0;
}
