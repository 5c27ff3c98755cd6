/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why something could not be done: the errno and one clause that names the operation and the
 * object, filled in where it happened and printed once, by the tool.
 *
 * Functions that take a `struct fail *` return 0 or -errno and fill it on error; they never log.
 * -EOPNOTSUPP, -EPERM, -EACCES and -ENOENT with a filled fail mean "missing here": the engine
 * turns them into SKIP where the thing was a need of the scenario, into ERROR anywhere else.
 */
#pragma once

#define FAIL_TEXT_SIZE 320

struct fail {
	int err; /* positive errno, 0: nothing failed */
	char what[FAIL_TEXT_SIZE];
};

/* Fills @f (may be NULL) with @err (positive errno) and the clause; returns -@err. The text gets
 * ": strerror(err)" appended unless @err is 0. */
int fail_set(struct fail *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* As fail_set(), but the clause stands alone: no ": strerror" is appended. */
int fail_say(struct fail *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
