/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>

#include "cleanup.h"
#include "guard_log.h"

/* What was taken in must come out, and in again, as the same. */
static void check_round_trip(const struct thing *t)
{
	_cleanup_free_ char *line = malloc(65536);
	struct thing_stack back = { 0 };
	ssize_t n;

	MUST(line);
	n = guard_log_format(t, line, 65536);
	MUST(n > 0 && line[n - 1] == '\n' && strlen(line) == (size_t)n);
	MUST(guard_log_take_line(&back, line, (size_t)n - 1) == 0);
	MUST(back.nr == 1 && back.things[0].id == t->id && back.things[0].kind == t->kind);
	MUST(back.things[0].state == t->state);
	for (size_t i = 0; i < THING_ARGS; i++)
		MUST(!strcmp(back.things[0].args[i], t->args[i]));
	thing_stack_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	struct guard_log_head head = { .supervisor = -7 };
	struct thing_stack s = { 0 };
	unsigned int bad = 0, last = 0;
	int r = guard_log_parse(text, &head, &s, &bad);

	MUST(r == 0 || r == -EINVAL);
	if (r)
		MUST(head.supervisor == -7 && !s.nr);
	else
		MUST(head.supervisor > 0);
	for (size_t i = 0; i < s.nr; i++) {
		MUST(s.things[i].id > last);
		last = s.things[i].id;
		MUST(s.things[i].kind < THING_KINDS && s.things[i].state < THING_STATES);
		check_round_trip(&s.things[i]);
	}
	thing_stack_free(&s);
	return 0;
}
