/* SPDX-License-Identifier: GPL-2.0-only */
#include "vmstat.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cleanup.h"
#include "kfile.h"

/* The kernel's names are the fields' names. */
#define FIELD(name)                                  \
	{                                            \
#name, offsetof(struct vmstat, name) \
	}
static const struct kfile_field fields[] = {
	FIELD(nr_inactive_anon), FIELD(nr_active_anon),	  FIELD(nr_inactive_file),
	FIELD(nr_active_file),	 FIELD(nr_isolated_anon), FIELD(nr_isolated_file),
	FIELD(pswpin),		 FIELD(pswpout),	  FIELD(pgscan_direct),
	FIELD(pgsteal_direct),	 FIELD(oom_kill),
};
_Static_assert(sizeof(struct vmstat) == ARRAY_SIZE(fields) * sizeof(uint64_t), "a row a field");

int vmstat_parse(const char *text, struct vmstat *ret)
{
	struct vmstat v;

	/* KFILE_ABSENT is all ones. */
	memset(&v, 0xff, sizeof(v));
	if (kfile_parse_fields(text, fields, ARRAY_SIZE(fields), &v) <= 0)
		return -EINVAL;
	*ret = v;
	return 0;
}
