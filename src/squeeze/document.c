/* SPDX-License-Identifier: GPL-2.0-only */
#include "document.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "document_impl.h"

/* Reads the whole regular file. O_NONBLOCK: a FIFO in the folder must not hold us up. */
static int read_file(const char *path, char **ret_data, size_t *ret_size, struct fail *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *data = NULL;
	struct stat st;
	size_t size, have = 0;

	if (fd < 0)
		return fail_set(f, errno, "%s", path);
	if (fstat(fd, &st) < 0)
		return fail_set(f, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return fail_say(f, EINVAL, "%s: not a regular file", path);
	if (st.st_size > DOCUMENT_SIZE_MAX)
		return fail_say(f, EFBIG, "%s: %lld MiB; result documents over %u MiB are not read",
				path, (long long)(st.st_size >> 20), DOCUMENT_SIZE_MAX >> 20);
	size = (size_t)st.st_size;
	data = malloc(size + 1);
	if (!data)
		return fail_set(f, ENOMEM, "%s", path);
	while (have < size) {
		ssize_t n = read(fd, data + have, size - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_set(f, errno, "%s", path);
		if (n == 0)
			break; /* it shrank under us: what is there will say so */
		have += (size_t)n;
	}
	*ret_data = data;
	*ret_size = have;
	data = NULL;
	return 0;
}

/* The length of a number's digits at @s if it is an integer, else of the whole number. */
static size_t number_length(const char *s, const char *end, bool *ret_integer)
{
	const char *p = s;

	*ret_integer = true;
	for (; p < end && strchr("0123456789+-.eE", *p) && *p; p++) {
		if (*p < '0' || *p > '9')
			*ret_integer = false;
	}
	return (size_t)(p - s);
}

char *reader_quote_large(const char *text, size_t size, size_t *ret_size)
{
	/* Two quotes for at least 19 digits: at most an eighth more. */
	char *out = malloc(size + size / 8 + 2), *to = out;
	const char *end = text + size;
	bool in_string = false;

	while (out && text < end) {
		bool escaped = in_string && *text == '\\' && text + 1 < end;
		size_t length = 1;
		bool integer = false;

		if (*text == '"')
			in_string = !in_string;
		else if (escaped)
			length = 2;
		else if (!in_string && ((*text >= '0' && *text <= '9') || *text == '-'))
			length = number_length(text, end, &integer);
		integer = integer && length >= READER_LARGE_DIGITS;
		if (integer)
			*to++ = '"';
		memcpy(to, text, length);
		to += length;
		text += length;
		if (integer)
			*to++ = '"';
	}
	*ret_size = out ? (size_t)(to - out) : 0;
	return out;
}

int document_load(const char *path, struct document **ret, struct fail *f)
{
	_cleanup_free_ char *data = NULL;
	size_t size = 0;
	int r = read_file(path, &data, &size, f);

	return r < 0 ? r : document_parse(path, data, size, ret, f);
}

void document_free(struct document *doc)
{
	if (!doc)
		return;
	pool_free(&doc->pool);
	free(doc);
}

int document_same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
			return 0;
	}
	return *a == *b;
}

static const struct doc_fact *find_fact(const struct doc_fact *facts, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (document_same_name(facts[i].name, name))
			return &facts[i];
	}
	return NULL;
}

const char *document_param(const struct document *doc, const char *name)
{
	const struct doc_fact *fact = find_fact(doc->params, doc->nr_params, name);

	return fact ? fact->text : "";
}

const char *document_host(const struct document *doc, const char *name)
{
	const struct doc_fact *fact = find_fact(doc->host, doc->nr_host, name);

	return fact ? fact->text : "";
}

struct value document_param_number(const struct document *doc, const char *name)
{
	const struct doc_fact *fact = find_fact(doc->params, doc->nr_params, name);

	return fact ? fact->number : value_absent();
}

const double *doc_run_series(const struct doc_run *run, const char *name)
{
	for (size_t i = 0; i < run->nr_series; i++) {
		if (!strcmp(run->series[i].name, name))
			return run->series[i].v;
	}
	return NULL;
}

const struct hist *doc_run_hist(const struct doc_run *run, const char *name)
{
	for (size_t i = 0; i < run->nr_hists; i++) {
		if (!strcmp(run->hists[i].name, name))
			return run->hists[i].hist;
	}
	return NULL;
}
