/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>

#include "cleanup.h"
#include "kfile.h"
#include "memstat.h"

/* On success the fields are what the file says, absent where it says nothing; else nothing is
 * written. */
static void check_stat(const char *text, int (*parse)(const char *, struct memstat *),
		       const char *anon_key)
{
	struct memstat s, untouched;
	uint64_t anon = KFILE_ABSENT;
	int r_anon = kfile_key_u64(text, anon_key, &anon);
	int r;

	memset(&s, 0x5e, sizeof(s));
	memset(&untouched, 0x5e, sizeof(untouched));
	r = parse(text, &s);
	MUST(r == 0 || r == -EINVAL);
	MUST(r == 0 || memcmp(&s, &untouched, sizeof(s)) == 0);
	MUST(r != 0 || r_anon == 0 || r_anon == -ENOENT);
	MUST(r != 0 || s.anon_bytes == anon);
}

static void check_events(const char *text)
{
	struct memevents v1 = { .oom_kill = 7 }, v2 = { .oom_kill = 7 };
	int r1 = memevents_parse_v1(text, &v1), r2 = memevents_parse_v2(text, &v2);
	char again[160];

	MUST((r1 == 0 || r1 == -EINVAL) && (r2 == 0 || r2 == -EINVAL));
	MUST(r1 == 0 || v1.oom_kill == 7);
	MUST(r2 == 0 || v2.oom_kill == 7);
	/* v1's one key is v2's too. */
	MUST(r1 != 0 || r2 != 0 || v1.oom_kill == v2.oom_kill);
	if (r2)
		return;
	(void)snprintf(again, sizeof(again),
		       "low %" PRIu64 "\nhigh %" PRIu64 "\nmax %" PRIu64 "\noom %" PRIu64
		       "\noom_kill %" PRIu64 "\n",
		       v2.low, v2.high, v2.max, v2.oom, v2.oom_kill);
	memset(&v1, 0, sizeof(v1));
	MUST(memevents_parse_v2(again, &v1) == 0);
	MUST(memcmp(&v1, &v2, sizeof(v1)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);

	check_stat(text, memstat_parse_v2, "anon");
	check_stat(text, memstat_parse_v1, "total_rss");
	check_events(text);
	return 0;
}
