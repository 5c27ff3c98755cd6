/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>

#include "cleanup.h"
#include "kfile.h"
#include "meminfo.h"

/* Present values are whole KiB. */
static void check_value(uint64_t bytes)
{
	MUST(bytes == KFILE_ABSENT || bytes % 1024 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	struct meminfo m, back;
	char again[160];
	int r;

	memset(&m, 0x5e, sizeof(m));
	memset(&back, 0x5e, sizeof(back));
	r = meminfo_parse(text, &m);
	MUST(r == 0 || r == -EINVAL);
	if (r) {
		MUST(memcmp(&m, &back, sizeof(m)) == 0);
		return 0;
	}
	check_value(m.total_bytes);
	check_value(m.free_bytes);
	check_value(m.available_bytes);
	check_value(m.swap_total_bytes);
	check_value(m.swap_free_bytes);
	check_value(m.shmem_bytes);
	if (m.total_bytes == KFILE_ABSENT)
		return 0;
	(void)snprintf(again, sizeof(again), "MemTotal:   %" PRIu64 " kB\n", m.total_bytes / 1024);
	MUST(meminfo_parse(again, &back) == 0 && back.total_bytes == m.total_bytes);
	return 0;
}
