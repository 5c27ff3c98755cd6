/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running somebody else's program (mkswap, mkfs, modprobe) to its end, within a time limit, without
 * a shell: found in /sbin:/usr/sbin:/bin:/usr/bin, in English, with standard input and output closed
 * and its last words on standard error kept for the sentence that says what went wrong.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fail.h"

/* Writes the absolute path of @name. 0 or -ENOENT. */
int subproc_find(const char *name, char *ret_path, size_t size);
/* Runs @argv (NULL-terminated; argv[0] is looked up) and waits. It is killed when @timeout_ns is over
 * or when @cancel_fd (-1: none) becomes readable. 0; -ENOENT "X is missing"; -ETIMEDOUT;
 * -ECANCELED; -EIO "X failed: its last words". */
int subproc_run(const char *const argv[], uint64_t timeout_ns, int cancel_fd, struct fail *f);
