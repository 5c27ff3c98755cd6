/* SPDX-License-Identifier: GPL-2.0-only */
/* Things as text, and back. No I/O here: tests/fuzz/fuzz_guard_log.c feeds it anything. */
#include "guard_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "parse.h"

#define HEAD_WORD "squeeze-guard"
#define HEAD_FORMAT "1"

/* A log of a run with 1,000 memcgs has 2,000 lines; more IDs than this is not ours. */
#define THINGS_MAX 65536

static const char *const kind_names[THING_KINDS] = {
	[THING_DIR] = "dir",	   [THING_FILE] = "file",   [THING_PATH] = "path",
	[THING_CGROUP] = "cgroup", [THING_LEAF] = "leaf",   [THING_SUBTREE] = "subtree",
	[THING_LOOP] = "loop",	   [THING_ZRAM] = "zram",   [THING_DELAY] = "delay",
	[THING_SWAP] = "swap",	   [THING_MOUNT] = "mount", [THING_SET] = "set",
};

static const char *const state_names[THING_STATES] = {
	[THING_INTENT] = "intent",
	[THING_MADE] = "made",
	[THING_GONE] = "gone",
};

const char *thing_kind_name(enum thing_kind kind)
{
	return kind_names[kind];
}

static void thing_release(struct thing *t)
{
	for (size_t i = 0; i < THING_ARGS; i++)
		free(t->args[i]);
	cleanup_closep(&t->kept_fd);
}

void thing_stack_free(struct thing_stack *s)
{
	for (size_t i = 0; i < s->nr; i++)
		thing_release(&s->things[i]);
	free(s->things);
	*s = (struct thing_stack){ 0 };
}

int thing_set_arg(struct thing *t, size_t nr, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(t->args[nr]);
	t->args[nr] = copy;
	return 0;
}

static int reserve(struct thing_stack *s)
{
	size_t capacity = s->capacity ? s->capacity * 2 : 16;
	struct thing *things;

	if (s->nr < s->capacity)
		return 0;
	things = realloc(s->things, capacity * sizeof(*things));
	if (!things)
		return -ENOMEM;
	s->things = things;
	s->capacity = capacity;
	return 0;
}

static struct thing *push_id(struct thing_stack *s, unsigned int id, enum thing_kind kind,
			     const char *const args[])
{
	struct thing t = { .id = id, .kind = kind, .kept_fd = -1 };

	for (size_t i = 0; i < THING_ARGS; i++) {
		t.args[i] = strdup(args[i] ? args[i] : "");
		if (!t.args[i]) {
			thing_release(&t);
			return NULL;
		}
	}
	if (reserve(s)) {
		thing_release(&t);
		return NULL;
	}
	s->things[s->nr] = t;
	s->last_id = id;
	return &s->things[s->nr++];
}

struct thing *thing_push(struct thing_stack *s, enum thing_kind kind, const char *const args[])
{
	return push_id(s, s->last_id + 1, kind, args);
}

/* Appends @text escaped; the new end, or NULL when it does not fit. */
static char *escape(char *out, const char *end, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	if (!*text) {
		if (end - out < 2)
			return NULL;
		*out++ = '%';
	}
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (end - out < 4)
			return NULL;
		if (c > ' ' && c < 0x7f && c != '%') {
			*out++ = (char)c;
			continue;
		}
		*out++ = '%';
		*out++ = hex[c >> 4];
		*out++ = hex[c & 15];
	}
	return out;
}

ssize_t guard_log_format(const struct thing *t, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%u %s %s", t->id, kind_names[t->kind], state_names[t->state]);
	const char *end = buf + size;
	char *out = buf + n;

	if (n < 0 || (size_t)n >= size)
		return -E2BIG;
	for (size_t i = 0; i < THING_ARGS; i++) {
		if (end - out < 2)
			return -E2BIG;
		*out++ = ' ';
		out = escape(out, end, t->args[i]);
		if (!out)
			return -E2BIG;
	}
	if (end - out < 2)
		return -E2BIG;
	*out++ = '\n';
	*out = '\0';
	return out - buf;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* In place; the result is never longer. */
static int unescape(char *word)
{
	char *out = word;

	if (!strcmp(word, "%")) {
		*word = '\0';
		return 0;
	}
	for (const char *p = word; *p; p++) {
		int high, low;

		if (*p != '%') {
			*out++ = *p;
			continue;
		}
		high = hex_digit(p[1]);
		low = high < 0 ? -1 : hex_digit(p[2]);
		if (low < 0 || !(high | low))
			return -EINVAL;
		*out++ = (char)(high << 4 | low);
		p += 2;
	}
	*out = '\0';
	return 0;
}

static int find_name(const char *const names[], int nr, const char *word)
{
	for (int i = 0; i < nr; i++) {
		if (!strcmp(names[i], word))
			return i;
	}
	return -EINVAL;
}

static struct thing *find_id(const struct thing_stack *s, uint64_t id)
{
	for (size_t i = s->nr; i-- > 0;) {
		if (s->things[i].id == id)
			return &s->things[i];
	}
	return NULL;
}

/* All arguments or none: a half-changed thing would be undone wrongly. */
static int replace_args(struct thing *t, const char *const args[])
{
	char *copies[THING_ARGS] = { 0 };

	for (size_t i = 0; i < THING_ARGS; i++) {
		copies[i] = strdup(args[i]);
		if (copies[i])
			continue;
		while (i-- > 0)
			free(copies[i]);
		return -ENOMEM;
	}
	for (size_t i = 0; i < THING_ARGS; i++) {
		free(t->args[i]);
		t->args[i] = copies[i];
	}
	return 0;
}

/* ID KIND STATE and the arguments. */
#define LINE_WORDS (3 + THING_ARGS)

static int split(char *line, char *words[LINE_WORDS])
{
	size_t nr = 0;
	char *word;

	while ((word = strsep(&line, " "))) {
		if (nr == LINE_WORDS || !*word)
			return -EINVAL;
		words[nr++] = word;
	}
	return nr == LINE_WORDS ? 0 : -EINVAL;
}

static int take_words(struct thing_stack *s, char *words[LINE_WORDS])
{
	const char *args[THING_ARGS];
	struct thing *t;
	int kind, state;
	uint64_t id;

	kind = find_name(kind_names, THING_KINDS, words[1]);
	state = find_name(state_names, THING_STATES, words[2]);
	if (kind < 0 || state < 0 || parse_u64(words[0], &id) || !id || id > THINGS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < THING_ARGS; i++) {
		if (unescape(words[3 + i]))
			return -EINVAL;
		args[i] = words[3 + i];
	}
	t = find_id(s, id);
	if (t && t->kind != (enum thing_kind)kind)
		return -EINVAL;
	/* IDs only rise: an unknown smaller one would be undone in the wrong order. */
	if (!t && s->last_id >= id)
		return -EINVAL;
	if (!t)
		t = push_id(s, (unsigned int)id, (enum thing_kind)kind, args);
	else if (replace_args(t, args))
		return -ENOMEM;
	if (!t)
		return -ENOMEM;
	t->state = (enum thing_state)state;
	return 0;
}

int guard_log_take_line(struct thing_stack *s, const char *line, size_t len)
{
	_cleanup_free_ char *copy = strndup(line, len);
	char *words[LINE_WORDS];

	if (!copy)
		return -ENOMEM;
	if (strlen(copy) != len || split(copy, words))
		return -EINVAL;
	return take_words(s, words);
}

static int take_head(const char *text, struct guard_log_head *ret)
{
	char word[16], format[4];
	int pid;

	if (sscanf(text, "%15s %3s %39s %9d %31s", word, format, ret->boot, &pid, ret->tool) != 5 ||
	    strcmp(word, HEAD_WORD) || strcmp(format, HEAD_FORMAT) || pid <= 0)
		return -EINVAL;
	ret->supervisor = pid;
	return 0;
}

int guard_log_parse(const char *text, struct guard_log_head *ret_head, struct thing_stack *s,
		    unsigned int *ret_bad)
{
	const char *line = strchr(text, '\n');
	struct guard_log_head head;
	unsigned int bad = 0;

	if (!line || take_head(text, &head))
		return -EINVAL;
	for (line++; *line;) {
		const char *end = strchr(line, '\n');
		int r;

		if (!end)
			break; /* never acted upon */
		r = guard_log_take_line(s, line, (size_t)(end - line));
		if (r == -ENOMEM)
			return r;
		bad += r ? 1 : 0;
		line = end + 1;
	}
	*ret_head = head;
	if (ret_bad)
		*ret_bad = bad;
	return 0;
}
