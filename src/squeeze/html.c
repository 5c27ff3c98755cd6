/* SPDX-License-Identifier: GPL-2.0-only */
#include "html.h"

#include <stdarg.h>
#include <stdlib.h>

#include "cleanup.h"

void html_text(FILE *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(*s, out);
		}
	}
}

void html_element(FILE *out, const char *tag, const char *s)
{
	fprintf(out, "<%s>", tag);
	html_text(out, s);
	fprintf(out, "</%s>", tag);
}

void html_printf(FILE *out, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		text = NULL;
	else
		html_text(out, text);
}
