/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resources that undo themselves when their variable goes out of scope.
 *
 * Declare with the initial value that means "nothing held" (-1 for a file descriptor, NULL for a
 * pointer); every destructor accepts that value. errno survives a destructor.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_closep(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

static inline void cleanup_freep(void *p)
{
	int saved = errno;

	free(*(void **)p);
	errno = saved;
}

static inline void cleanup_fclosep(FILE **f)
{
	int saved = errno;

	if (*f)
		(void)fclose(*f);
	errno = saved;
}

static inline void cleanup_closedirp(DIR **d)
{
	int saved = errno;

	if (*d)
		(void)closedir(*d);
	errno = saved;
}

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _cleanup_close_ _cleanup_(cleanup_closep)
#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_fclose_ _cleanup_(cleanup_fclosep)
#define _cleanup_closedir_ _cleanup_(cleanup_closedirp)

/* Gives up ownership: returns the descriptor and leaves -1 behind. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
