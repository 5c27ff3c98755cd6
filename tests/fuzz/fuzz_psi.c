/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>

#include "cleanup.h"
#include "kfile.h"
#include "psi.h"

#define AVERAGES "avg10=0.00 avg60=0.00 avg300=0.00 total=%" PRIu64 "\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	struct psi p = { 7, 7 }, back = { 7, 7 };
	int r = psi_parse(text, &p);
	char again[256];

	MUST(r == 0 || r == -EINVAL || r == -ENODATA);
	if (r) {
		MUST(p.some_us == 7 && p.full_us == 7);
		return 0;
	}
	MUST(strstr(text, "some") && strstr(text, "total="));
	(void)snprintf(again, sizeof(again), "some " AVERAGES "full " AVERAGES, p.some_us,
		       p.full_us);
	MUST(psi_parse(again, &back) == 0);
	MUST(back.some_us == p.some_us && back.full_us == p.full_us);
	return 0;
}
