/* SPDX-License-Identifier: GPL-2.0-only */
#include "meminfo.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cleanup.h"
#include "kfile.h"
#include "parse.h"

static const struct kfile_field fields[] = {
	{ "MemTotal:", offsetof(struct meminfo, total_bytes) },
	{ "MemFree:", offsetof(struct meminfo, free_bytes) },
	{ "MemAvailable:", offsetof(struct meminfo, available_bytes) },
	{ "SwapTotal:", offsetof(struct meminfo, swap_total_bytes) },
	{ "SwapFree:", offsetof(struct meminfo, swap_free_bytes) },
	{ "Shmem:", offsetof(struct meminfo, shmem_bytes) },
};
_Static_assert(sizeof(struct meminfo) == ARRAY_SIZE(fields) * sizeof(uint64_t), "a row a field");

/* "24684096 kB", where kB means 1024 bytes. */
static int value_bytes(const struct kfile_line *line, uint64_t *ret)
{
	const char *p = line->value;
	uint64_t kib, bytes;

	if (parse_u64_at(&p, &kib) < 0 || strncmp(p, " kB", strlen(" kB")) != 0)
		return -EINVAL;
	if (p + strlen(" kB") != line->value + line->value_len)
		return -EINVAL;
	if (__builtin_mul_overflow(kib, 1024, &bytes))
		return -EINVAL;
	*ret = bytes;
	return 0;
}

int meminfo_parse(const char *text, struct meminfo *ret)
{
	struct meminfo m;
	struct kfile_line line;
	unsigned int seen = 0;

	/* KFILE_ABSENT is all ones. */
	memset(&m, 0xff, sizeof(m));
	while (kfile_next_line(&text, &line)) {
		for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
			uint64_t bytes;

			if (seen >> i & 1 || !kfile_line_is(&line, fields[i].key))
				continue;
			if (value_bytes(&line, &bytes) < 0)
				return -EINVAL;
			memcpy((char *)&m + fields[i].offset, &bytes, sizeof(bytes));
			seen |= 1u << i;
		}
	}
	if (!seen)
		return -EINVAL;
	*ret = m;
	return 0;
}
