/* SPDX-License-Identifier: GPL-2.0-only */
#include "memstat.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cleanup.h"
#include "kfile.h"

#define STAT(key, field)                             \
	{                                            \
		key, offsetof(struct memstat, field) \
	}
#define EVENT(name)                                     \
	{                                               \
#name, offsetof(struct memevents, name) \
	}

static const struct kfile_field stat_v2[] = {
	STAT("anon", anon_bytes),
	STAT("file", file_bytes),
	STAT("kernel", kernel_bytes),
	STAT("shmem", shmem_bytes),
	STAT("inactive_anon", inactive_anon_bytes),
	STAT("active_anon", active_anon_bytes),
	STAT("inactive_file", inactive_file_bytes),
	STAT("active_file", active_file_bytes),
	STAT("unevictable", unevictable_bytes),
	STAT("file_dirty", file_dirty_bytes),
	STAT("file_writeback", file_writeback_bytes),
	STAT("swapcached", swapcached_bytes),
	STAT("pgfault", pgfault),
	STAT("pgmajfault", pgmajfault),
	STAT("pgscan", pgscan),
	STAT("pgsteal", pgsteal),
	STAT("pgscan_direct", pgscan_direct),
	STAT("pgsteal_direct", pgsteal_direct),
	STAT("workingset_refault_anon", refault_anon),
	STAT("workingset_refault_file", refault_file),
	STAT("pswpin", swap_in),
	STAT("pswpout", swap_out),
};
_Static_assert(sizeof(struct memstat) == ARRAY_SIZE(stat_v2) * sizeof(uint64_t), "a row a field");

/* v1's pgpgin and pgpgout count charges, not swap, and are left out. */
static const struct kfile_field stat_v1[] = {
	STAT("total_rss", anon_bytes),
	STAT("total_cache", file_bytes),
	STAT("total_shmem", shmem_bytes),
	STAT("total_inactive_anon", inactive_anon_bytes),
	STAT("total_active_anon", active_anon_bytes),
	STAT("total_inactive_file", inactive_file_bytes),
	STAT("total_active_file", active_file_bytes),
	STAT("total_unevictable", unevictable_bytes),
	STAT("total_dirty", file_dirty_bytes),
	STAT("total_writeback", file_writeback_bytes),
	STAT("total_swapcached", swapcached_bytes),
	STAT("total_pgfault", pgfault),
	STAT("total_pgmajfault", pgmajfault),
	STAT("total_workingset_refault_anon", refault_anon),
	STAT("total_workingset_refault_file", refault_file),
};

static const struct kfile_field events_v2[] = {
	EVENT(low), EVENT(high), EVENT(max), EVENT(oom), EVENT(oom_kill),
};
static const struct kfile_field events_v1[] = { EVENT(oom_kill) };

void memstat_init(struct memstat *s)
{
	/* KFILE_ABSENT is all ones. */
	memset(s, 0xff, sizeof(*s));
}

void memevents_init(struct memevents *e)
{
	memset(e, 0xff, sizeof(*e));
}

static int parse_stat(const char *text, const struct kfile_field *fields, size_t nr_fields,
		      struct memstat *ret)
{
	struct memstat s;

	memstat_init(&s);
	if (kfile_parse_fields(text, fields, nr_fields, &s) <= 0)
		return -EINVAL;
	*ret = s;
	return 0;
}

static int parse_events(const char *text, const struct kfile_field *fields, size_t nr_fields,
			struct memevents *ret)
{
	struct memevents e;

	memevents_init(&e);
	if (kfile_parse_fields(text, fields, nr_fields, &e) <= 0)
		return -EINVAL;
	*ret = e;
	return 0;
}

int memstat_parse_v2(const char *text, struct memstat *ret)
{
	return parse_stat(text, stat_v2, ARRAY_SIZE(stat_v2), ret);
}

int memstat_parse_v1(const char *text, struct memstat *ret)
{
	return parse_stat(text, stat_v1, ARRAY_SIZE(stat_v1), ret);
}

int memevents_parse_v2(const char *text, struct memevents *ret)
{
	return parse_events(text, events_v2, ARRAY_SIZE(events_v2), ret);
}

int memevents_parse_v1(const char *oom_control, struct memevents *ret)
{
	return parse_events(oom_control, events_v1, ARRAY_SIZE(events_v1), ret);
}
