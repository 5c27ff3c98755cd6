/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long one page takes to a block device and back, one request at a time, past the page cache.
 *
 * It is measured on a swap device of our own before swapon, so that a slow device is told from a kernel
 * that stalls. It destroys what is on the device.
 */
#pragma once

#include <stdint.h>

#include "fail.h"

/* The median of up to 64 direct 4 KiB writes and as many reads at queue depth 1, spread over @dev (a
 * block device or a file of its final size); fewer on a device that takes more than 5 s for them, at
 * least 4 of each. 0, or -errno with @f filled. */
int device_latency(const char *dev, uint64_t *ret_median_ns, struct fail *f);
