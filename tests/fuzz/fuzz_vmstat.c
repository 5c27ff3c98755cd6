/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>

#include "cleanup.h"
#include "kfile.h"
#include "vmstat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	struct vmstat v, untouched;
	uint64_t direct = KFILE_ABSENT, kills = KFILE_ABSENT;
	int r;

	memset(&v, 0x5e, sizeof(v));
	memset(&untouched, 0x5e, sizeof(untouched));
	r = vmstat_parse(text, &v);
	MUST(r == 0 || r == -EINVAL);
	if (r) {
		MUST(memcmp(&v, &untouched, sizeof(v)) == 0);
		return 0;
	}
	(void)kfile_key_u64(text, "pgscan_direct", &direct);
	(void)kfile_key_u64(text, "oom_kill", &kills);
	MUST(v.pgscan_direct == direct && v.oom_kill == kills);
	return 0;
}
