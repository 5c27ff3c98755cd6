/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>

#include "cleanup.h"
#include "kfile.h"

struct target {
	uint64_t anon, pgscan, pgscan_direct;
};
static const struct kfile_field fields[] = {
	{ "anon", offsetof(struct target, anon) },
	{ "pgscan", offsetof(struct target, pgscan) },
	{ "pgscan_direct", offsetof(struct target, pgscan_direct) },
};

/* The pieces lie in the text, in order, and cover it. */
static void check_lines(const char *text)
{
	const char *cursor = text, *before = text;
	struct kfile_line line;

	while (kfile_next_line(&cursor, &line)) {
		MUST(line.key == before && cursor > before);
		MUST(line.value >= line.key + line.key_len);
		MUST(line.value + line.value_len <= cursor);
		MUST(!memchr(line.key, '\n', (size_t)(line.value + line.value_len - line.key)));
		before = cursor;
	}
	MUST(*cursor == '\0' && cursor == text + strlen(text));
}

/* The table finds what single look-ups find. */
static void check_fields(const char *text)
{
	struct target t = { 7, 7, 7 };
	int found = kfile_parse_fields(text, fields, ARRAY_SIZE(fields), &t);
	bool malformed = false;
	int expected = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		uint64_t value = 7, in_table;
		int r = kfile_key_u64(text, fields[i].key, &value);

		MUST(r == 0 || r == -ENOENT || r == -EINVAL || r == -ERANGE);
		MUST(r == 0 || value == 7);
		malformed |= r == -EINVAL || r == -ERANGE;
		expected += r == 0;
		memcpy(&in_table, (char *)&t + fields[i].offset, sizeof(in_table));
		MUST(found < 0 || in_table == value);
	}
	MUST(malformed ? found == -EINVAL : found == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	uint64_t value = 7, back;
	char buf[32];
	int r = kfile_parse_u64(text, &value);

	MUST(r == 0 || r == -EINVAL || r == -ERANGE);
	MUST(r == 0 || value == 7);
	(void)snprintf(buf, sizeof(buf), "%" PRIu64 "\n", value);
	MUST(kfile_parse_u64(buf, &back) == 0 && back == value);
	check_lines(text);
	check_fields(text);
	return 0;
}
