/* SPDX-License-Identifier: GPL-2.0-only */
#include "device_latency.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "progress.h"

#define BLOCK_BYTES 4096
#define PAIRS_MAX 64
#define PAIRS_MIN 4
#define BUDGET_NS 5000000000ULL
/* 2^64 / golden ratio: steps of it spread evenly over any range (Knuth, TAOCP 6.4), and as data it
 * compresses to nothing less. */
#define GOLDEN 0x9E3779B97F4A7C15ULL

static int size_of(int fd, uint64_t *ret_bytes)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISBLK(st.st_mode))
		return ioctl(fd, BLKGETSIZE64, ret_bytes) < 0 ? -errno : 0;
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

static void fill(uint64_t *block, uint64_t value)
{
	for (size_t i = 0; i < BLOCK_BYTES / sizeof(*block); i++)
		block[i] = value += GOLDEN;
}

/* One write and one read of the same block. */
static int time_pair(int fd, void *block, off_t at, uint64_t ret_ns[2])
{
	uint64_t began_ns = clock_now_ns(), between_ns;
	ssize_t n = pwrite(fd, block, BLOCK_BYTES, at);

	if (n != BLOCK_BYTES)
		return n < 0 ? -errno : -EIO;
	between_ns = clock_now_ns();
	n = pread(fd, block, BLOCK_BYTES, at);
	if (n != BLOCK_BYTES)
		return n < 0 ? -errno : -EIO;
	ret_ns[0] = between_ns - began_ns;
	ret_ns[1] = clock_now_ns() - between_ns;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int device_latency(const char *dev, uint64_t *ret_median_ns, struct fail *f)
{
	_cleanup_close_ int fd = open(dev, O_RDWR | O_DIRECT | O_CLOEXEC);
	_cleanup_free_ void *block = NULL;
	uint64_t ns[2 * PAIRS_MAX], bytes = 0, began_ns = clock_now_ns();
	size_t nr = 0;
	int r;

	if (fd < 0)
		return fail_set(f, errno, "%s for direct I/O", dev);
	r = size_of(fd, &bytes);
	if (r == 0 && bytes < BLOCK_BYTES)
		r = -ENOSPC;
	if (r == 0)
		r = -posix_memalign(&block, BLOCK_BYTES, BLOCK_BYTES);
	for (uint64_t i = 0; r == 0 && i < PAIRS_MAX; i++) {
		uint64_t at = i * GOLDEN % (bytes / BLOCK_BYTES);

		if (i >= PAIRS_MIN && clock_now_ns() - began_ns > BUDGET_NS)
			break;
		fill(block, i);
		r = time_pair(fd, block, (off_t)(at * BLOCK_BYTES), &ns[nr]);
		nr += 2;
	}
	if (r < 0)
		return fail_set(f, -r, "timing %s", dev);
	qsort(ns, nr, sizeof(ns[0]), by_size);
	*ret_median_ns = ns[nr / 2];
	return 0;
}
