/* SPDX-License-Identifier: GPL-2.0-only */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void __attribute__((format(printf, 3, 0)))
fill(struct fail *f, int err, const char *fmt, va_list ap)
{
	f->err = err;
	if (vsnprintf(f->what, sizeof(f->what), fmt, ap) < 0)
		f->what[0] = '\0';
}

int fail_say(struct fail *f, int err, const char *fmt, ...)
{
	va_list ap;

	if (f) {
		va_start(ap, fmt);
		fill(f, err, fmt, ap);
		va_end(ap);
	}
	return -err;
}

int fail_set(struct fail *f, int err, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	if (!f)
		return -err;
	va_start(ap, fmt);
	fill(f, err, fmt, ap);
	va_end(ap);
	used = strlen(f->what);
	if (err)
		(void)snprintf(f->what + used, sizeof(f->what) - used, ": %s", strerror(err));
	return -err;
}
