/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as a JSON string: the output is one string of valid UTF-8 without control characters,
 * and undoing the escapes gives the input back wherever that was valid UTF-8.
 */
#include "fuzz.h"
#include "jsonw.h"

/* Undoes the escapes of @json (between its quotes) into @buf, strict as the strictest reader. */
static void undo(const char *json, size_t size, char *buf)
{
	static const char names[] = "\"\\bfnrt", meanings[] = "\"\\\b\f\n\r\t";
	size_t at = 0;

	for (size_t i = 0; i < size; i++) {
		const char *name;
		unsigned int code;

		MUST((unsigned char)json[i] >= 0x20 && json[i] != '"');
		if (json[i] != '\\') {
			buf[at++] = json[i];
			continue;
		}
		MUST(++i < size);
		name = strchr(names, json[i]);
		if (name && *name) {
			buf[at++] = meanings[name - names];
		} else {
			/* Only control characters and DEL are written in this form. */
			MUST(json[i] == 'u' && size - i >= 5);
			MUST(sscanf(json + i + 1, "%4x", &code) == 1 && code <= 0x7f);
			buf[at++] = (char)code;
			i += 4;
		}
	}
	buf[at] = '\0';
}

/* Bytes of the well-formed character at @s, 0 if there is none. By decoding, not by the table that
 * jsonw has. */
static size_t character(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
	uint32_t code = len > 1 ? *s & (0x7fu >> len) : *s;

	for (size_t i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	if (len == 0 || code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

static int is_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		size_t len = character(s);

		if (len == 0)
			return 0;
		s += len;
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), *json = NULL, *back;
	size_t json_size;
	struct jsonw w;
	FILE *out = open_memstream(&json, &json_size);

	MUST(out);
	jsonw_init(&w, out);
	jsonw_string(&w, text);
	MUST(fclose(out) == 0);
	MUST(json_size >= 2 && json[0] == '"' && json[json_size - 1] == '"');
	MUST(is_utf8(json));
	back = malloc(json_size);
	MUST(back);
	undo(json + 1, json_size - 2, back);
	MUST(!is_utf8(text) || strcmp(text, back) == 0);
	free(back);
	free(json);
	free(text);
	return 0;
}
