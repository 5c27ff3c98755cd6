/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The document's stream I/O: a file of twice the memory is written through the page cache, over and
 * over, with a few writes in flight by io_uring. Where the kernel refuses io_uring, by pwrite().
 */
#pragma once

#include "load.h"

/* Until it is to leave. 0 or -errno after progress_fail(). */
int stream_write(const struct load *l, const char *path, uint64_t bytes);
