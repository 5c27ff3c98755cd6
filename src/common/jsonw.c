/* SPDX-License-Identifier: GPL-2.0-only */
#include "jsonw.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "text.h"

void jsonw_init(struct jsonw *w, FILE *out)
{
	*w = (struct jsonw){ .out = out };
}

static void newline(const struct jsonw *w)
{
	fprintf(w->out, "\n%*s", (int)(2 * w->depth), "");
}

/* Whatever must stand between the last token and the next item of the open container. */
static void before_item(struct jsonw *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->depth == 0)
		return;
	if (w->has_items[w->depth - 1])
		putc(',', w->out);
	if (!w->inlined[w->depth - 1])
		newline(w);
	else if (w->has_items[w->depth - 1] || !w->in_array[w->depth - 1])
		putc(' ', w->out);
	w->has_items[w->depth - 1] = true;
}

static void before_value(struct jsonw *w)
{
	assert(w->depth == 0 || w->in_array[w->depth - 1] || w->after_key);
	before_item(w);
}

static void begin(struct jsonw *w, bool array, bool inlined)
{
	before_value(w);
	assert(w->depth < JSONW_DEPTH);
	/* What stands inside something on one line is on that line too. */
	inlined = inlined || (w->depth && w->inlined[w->depth - 1]);
	w->in_array[w->depth] = array;
	w->inlined[w->depth] = inlined;
	w->has_items[w->depth] = false;
	w->depth++;
	putc(array ? '[' : '{', w->out);
}

static void end(struct jsonw *w, bool array)
{
	bool has_items, inlined;

	assert(w->depth && w->in_array[w->depth - 1] == array && !w->after_key);
	w->depth--;
	has_items = w->has_items[w->depth];
	inlined = w->inlined[w->depth];
	if (has_items && !inlined)
		newline(w);
	else if (has_items && !array)
		putc(' ', w->out);
	putc(array ? ']' : '}', w->out);
	if (w->depth == 0)
		putc('\n', w->out);
}

void jsonw_object_begin(struct jsonw *w)
{
	begin(w, false, false);
}

void jsonw_object_begin_inline(struct jsonw *w)
{
	begin(w, false, true);
}

void jsonw_object_end(struct jsonw *w)
{
	end(w, false);
}

void jsonw_array_begin(struct jsonw *w)
{
	begin(w, true, false);
}

void jsonw_array_begin_inline(struct jsonw *w)
{
	begin(w, true, true);
}

void jsonw_array_end(struct jsonw *w)
{
	end(w, true);
}

/* The well-formed byte sequences of Unicode, table 3-7: the lead byte's range, and the range of the
 * second byte, which excludes overlong forms, surrogates and what is above U+10FFFF. */
static const struct utf8_form {
	unsigned char lead_lo, lead_hi, second_lo, second_hi, len;
} utf8_forms[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

/* Bytes of the multi-byte character at @s if it is well formed, else 0 and in *ret_bad the bytes of
 * the ill-formed part that one U+FFFD stands for. The terminating NUL is never part of either. */
static size_t utf8_sequence(const unsigned char *s, size_t *ret_bad)
{
	const size_t nr = sizeof(utf8_forms) / sizeof(utf8_forms[0]);
	const struct utf8_form *form = utf8_forms;
	size_t at = 1;

	*ret_bad = 1;
	while (form < utf8_forms + nr && (*s < form->lead_lo || *s > form->lead_hi))
		form++;
	if (form == utf8_forms + nr || s[1] < form->second_lo || s[1] > form->second_hi)
		return 0;
	for (at = 2; at < form->len; at++) {
		if (s[at] < 0x80 || s[at] > 0xbf) {
			*ret_bad = at;
			return 0;
		}
	}
	return form->len;
}

/* An ASCII character: as it is, or as its escape. */
static void put_ascii(FILE *out, unsigned char c)
{
	static const char short_names[] = "\"\\\b\f\n\r\t";
	static const char short_escapes[] = "\"\\bfnrt";
	const char *found = memchr(short_names, c, sizeof(short_names) - 1);

	if (found)
		fprintf(out, "\\%c", short_escapes[found - short_names]);
	else if (c < 0x20 || c == 0x7f) /* DEL is legal, and unkind to terminals */
		fprintf(out, "\\u%04x", c);
	else
		putc(c, out);
}

static void put_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		size_t bad, len;

		if (*s < 0x80) {
			put_ascii(out, *s++);
			continue;
		}
		len = utf8_sequence(s, &bad);
		if (len)
			(void)fwrite(s, 1, len, out);
		else
			fputs("\xef\xbf\xbd", out); /* U+FFFD */
		s += len ? len : bad;
	}
	putc('"', out);
}

void jsonw_key(struct jsonw *w, const char *key)
{
	assert(w->depth && !w->in_array[w->depth - 1] && !w->after_key);
	before_item(w);
	put_string(w->out, key);
	fputs(": ", w->out);
	w->after_key = true;
}

void jsonw_string(struct jsonw *w, const char *s)
{
	before_value(w);
	put_string(w->out, s);
}

void jsonw_u64(struct jsonw *w, uint64_t u)
{
	before_value(w);
	fprintf(w->out, "%llu", (unsigned long long)u);
}

void jsonw_real(struct jsonw *w, double d)
{
	char buf[TEXT_NUMBER_SIZE];

	before_value(w);
	fputs(isfinite(d) ? text_real(d, buf, sizeof(buf)) : "null", w->out);
}

void jsonw_bool(struct jsonw *w, bool b)
{
	before_value(w);
	fputs(b ? "true" : "false", w->out);
}

void jsonw_null(struct jsonw *w)
{
	before_value(w);
	fputs("null", w->out);
}

void jsonw_value(struct jsonw *w, struct value v)
{
	switch (v.kind) {
	case VALUE_COUNT:
		jsonw_u64(w, v.u);
		return;
	case VALUE_REAL:
		jsonw_real(w, v.d);
		return;
	case VALUE_ABSENT:
		break;
	}
	jsonw_null(w);
}

void jsonw_kv_string(struct jsonw *w, const char *key, const char *s)
{
	jsonw_key(w, key);
	jsonw_string(w, s);
}

void jsonw_kv_u64(struct jsonw *w, const char *key, uint64_t u)
{
	jsonw_key(w, key);
	jsonw_u64(w, u);
}

void jsonw_kv_bool(struct jsonw *w, const char *key, bool b)
{
	jsonw_key(w, key);
	jsonw_bool(w, b);
}

void jsonw_kv_value(struct jsonw *w, const char *key, struct value v)
{
	jsonw_key(w, key);
	jsonw_value(w, v);
}
