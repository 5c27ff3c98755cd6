/* SPDX-License-Identifier: GPL-2.0-only */
#include "psi.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "kfile.h"
#include "parse.h"

/* The fields of a line, in the order of the bits that say which were seen. */
static const char *const averages[] = { "avg10=", "avg60=", "avg300=" };
#define TOTAL_BIT (1u << ARRAY_SIZE(averages))
#define ALL_BITS (TOTAL_BIT | (TOTAL_BIT - 1))

/* "12.34": checked and dropped. */
static int skip_average(const char **cursor)
{
	uint64_t ignored;

	if (parse_u64_at(cursor, &ignored) < 0 || **cursor != '.')
		return -EINVAL;
	++*cursor;
	return parse_u64_at(cursor, &ignored) < 0 ? -EINVAL : 0;
}

/* Recognises the field at *cursor and returns its bit, 0 for a field this program does not know (a
 * later kernel's), or -EINVAL. */
static int read_field(const char **cursor, uint64_t *ret_total)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(averages); i++) {
		size_t len = strlen(averages[i]);

		if (strncmp(*cursor, averages[i], len) == 0) {
			*cursor += len;
			return skip_average(cursor) < 0 ? -EINVAL : (int)(1u << i);
		}
	}
	if (strncmp(*cursor, "total=", strlen("total=")) == 0) {
		*cursor += strlen("total=");
		return parse_u64_at(cursor, ret_total) < 0 ? -EINVAL : (int)TOTAL_BIT;
	}
	*cursor += strcspn(*cursor, " \n");
	return 0;
}

/* All four fields must be there, once each. */
static int read_line(const struct kfile_line *line, uint64_t *ret_total)
{
	const char *p = line->value;
	const char *end = line->value + line->value_len;
	uint64_t total = 0;
	unsigned int seen = 0;

	while (p < end) {
		int bit = read_field(&p, &total);

		if (bit < 0 || (seen & (unsigned int)bit))
			return -EINVAL;
		if (p < end && *p != ' ')
			return -EINVAL;
		seen |= (unsigned int)bit;
		while (p < end && *p == ' ')
			p++;
	}
	if (seen != ALL_BITS)
		return -EINVAL;
	*ret_total = total;
	return 0;
}

int psi_parse(const char *text, struct psi *ret)
{
	struct psi psi = { .some_us = KFILE_ABSENT, .full_us = KFILE_ABSENT };
	bool some_seen = false, full_seen = false;
	struct kfile_line line;

	if (text[strspn(text, "\n")] == '\0')
		return -ENODATA;
	while (kfile_next_line(&text, &line)) {
		bool is_some = kfile_line_is(&line, "some");
		bool *seen = is_some ? &some_seen : &full_seen;

		if (!is_some && !kfile_line_is(&line, "full"))
			continue;
		if (*seen || read_line(&line, is_some ? &psi.some_us : &psi.full_us) < 0)
			return -EINVAL;
		*seen = true;
	}
	if (!some_seen)
		return -EINVAL;
	*ret = psi;
	return 0;
}
