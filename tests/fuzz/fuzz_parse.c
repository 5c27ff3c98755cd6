/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "cleanup.h"
#include "parse.h"

#define UNTOUCHED 0x5eed5eed5eed5eedULL

static void check_answer(int r, uint64_t value)
{
	MUST(r == 0 || r == -EINVAL || r == -ERANGE);
	MUST(r == 0 || value == UNTOUCHED);
}

/* In what people read there is one blank, before the unit. */
static void drop_blank(char *s)
{
	char *blank = strchr(s, ' ');

	MUST(blank);
	memmove(blank, blank + 1, strlen(blank));
}

static void size_round_trip(uint64_t bytes)
{
	uint64_t back, again;
	char buf[32];

	MUST(format_size(bytes, buf, sizeof(buf)) == buf);
	drop_blank(buf);
	MUST(parse_size(buf, &back) == 0);
	MUST(back <= bytes && bytes - back <= bytes / 100);
	(void)snprintf(buf, sizeof(buf), "%" PRIu64, bytes);
	MUST(parse_size(buf, &again) == 0 && again == bytes);
}

static void duration_round_trip(uint64_t ns)
{
	uint64_t back;
	char buf[32];

	MUST(format_duration(ns, buf, sizeof(buf)) == buf);
	drop_blank(buf);
	if (parse_duration_ns(buf, &back) == -ERANGE) {
		MUST(ns > UINT64_MAX - 500000000); /* rounded up to a second that does not fit */
		return;
	}
	/* Three digits, or whole seconds: half a step at most, which is 1/200 of the value. */
	MUST((back > ns ? back - ns : ns - back) <= ns / 200 + 1);
}

static void list_round_trip(const char *text)
{
	static struct number_set set, back;
	static char list[PARSE_LIST_MAX * 5];
	unsigned int count = 0;
	size_t used = 0;
	int r = parse_list(text, &set);

	MUST(r == 0 || r == -EINVAL || r == -ERANGE);
	if (r)
		return;
	list[0] = '\0';
	for (unsigned int n = 0; n < PARSE_LIST_MAX; n++) {
		if (!number_set_has(&set, n))
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u", count ? "," : "",
					 n);
		count++;
	}
	MUST(count == number_set_count(&set));
	MUST(parse_list(list, &back) == 0);
	MUST(memcmp(&set, &back, sizeof(set)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	uint64_t bytes = UNTOUCHED, ns = UNTOUCHED, plain = UNTOUCHED, share = UNTOUCHED;
	double real = -7;
	int r;

	r = parse_u64(text, &plain);
	check_answer(r, plain);
	if (!r) {
		size_round_trip(plain);
		duration_round_trip(plain);
	}
	r = parse_size(text, &bytes);
	check_answer(r, bytes);
	if (!r)
		size_round_trip(bytes);
	/* A plain number is as many bytes, and a size is a size or percent. */
	MUST(plain == UNTOUCHED || bytes == plain);
	r = parse_size_or_percent(text, 1000, &share);
	check_answer(r, share);
	MUST(bytes == UNTOUCHED || share == bytes);
	r = parse_duration_ns(text, &ns);
	check_answer(r, ns);
	if (!r)
		duration_round_trip(ns);
	r = parse_real(text, &real);
	MUST(r == 0 || r == -EINVAL || r == -ERANGE);
	MUST(r ? real == -7 : isfinite(real) && real >= 0);
	list_round_trip(text);
	return 0;
}
