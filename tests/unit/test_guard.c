/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard.h"
#include "guard_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "support.h"

#define HEAD "squeeze-guard 1 0123-45 77 usemem\n"

static void check_same(const struct thing *a, const struct thing *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->state, b->state);
	for (size_t i = 0; i < THING_ARGS; i++)
		assert_string_equal(a->args[i], b->args[i]);
}

/* Formats the only thing of @s, takes the line into another stack, compares. */
static void round_trip(const struct thing *t)
{
	struct thing_stack back = { 0 };
	char line[4096];
	ssize_t n = guard_log_format(t, line, sizeof(line));

	assert_true(n > 1);
	assert_int_equal(strlen(line), n);
	assert_int_equal(line[n - 1], '\n');
	assert_ptr_equal(strchr(line, '\n'), line + n - 1); /* one line, whatever is in it */
	assert_int_equal(guard_log_take_line(&back, line, (size_t)n - 1), 0);
	assert_int_equal(back.nr, 1);
	check_same(&back.things[0], t);
	thing_stack_free(&back);
}

static void awkward_paths(void **state)
{
	static const char *const paths[] = { "/a",	     "",      " ",	    "%",
					     "/a b\nc\td",   "%20",   "a%",	    "/\x01\x7f\xff",
					     "/caf\xc3\xa9", "\\040", "intent gone" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *const args[THING_ARGS] = { paths[i], "x", paths[i] };
		struct thing_stack s = { 0 };
		struct thing *t = thing_push(&s, THING_SET, args);

		assert_non_null(t);
		t->state = THING_MADE;
		round_trip(t);
		thing_stack_free(&s);
	}
}

static void random_round_trips(void **state)
{
	uint64_t seed = random_seed("guard");

	(void)state;
	for (int i = 0; i < 2000; i++) {
		char text[THING_ARGS][40];
		const char *args[THING_ARGS];
		struct thing_stack s = { 0 };
		struct thing *t;

		for (size_t k = 0; k < THING_ARGS; k++) {
			size_t len = random_next(&seed) % sizeof(text[k]);

			for (size_t j = 0; j < len; j++)
				text[k][j] = (char)(random_next(&seed) % 255 + 1);
			text[k][len ? len - 1 : 0] = '\0';
			args[k] = text[k];
		}
		t = thing_push(&s, (enum thing_kind)(random_next(&seed) % THING_KINDS), args);
		assert_non_null(t);
		t->state = (enum thing_state)(random_next(&seed) % THING_STATES);
		round_trip(t);
		thing_stack_free(&s);
	}
}

static void does_not_fit(void **state)
{
	const char *const args[THING_ARGS] = { "/some/path", "%%%", "" };
	struct thing_stack s = { 0 };
	char line[256];
	ssize_t whole;

	(void)state;
	assert_non_null(thing_push(&s, THING_LOOP, args));
	whole = guard_log_format(&s.things[0], line, sizeof(line));
	assert_true(whole > 0);
	for (size_t size = 1; size <= (size_t)whole; size++)
		assert_int_equal(guard_log_format(&s.things[0], line, size), -E2BIG);
	thing_stack_free(&s);
}

static void malformed_lines(void **state)
{
	static const char *const bad[] = {
		"",
		"1",
		"1 dir",
		"1 dir made",
		"1 dir made /a % ",
		"1 dir made /a",
		"1 dir made /a % % %",
		"0 dir made /a % %",
		"-1 dir made /a % %",
		"99999999 dir made /a % %",
		"x dir made /a % %",
		"1 door made /a % %",
		"1 dir maid /a % %",
		"1 dir made /a%2 % %",
		"1 dir made /a%zz % %",
		"1 dir made /a%00 % %",
		"1  dir made /a % %",
		" 1 dir made /a % %",
	};
	struct thing_stack s = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		print_message("\"%s\"\n", bad[i]);
		assert_int_equal(guard_log_take_line(&s, bad[i], strlen(bad[i])), -EINVAL);
		assert_int_equal(s.nr, 0);
	}
	assert_int_equal(guard_log_take_line(&s, "5 dir made /a % %", 17), 0);
	assert_int_equal(guard_log_take_line(&s, "5 dir\0made /a % %", 17), -EINVAL);
	/* IDs rise, and keep their kind. */
	assert_int_equal(guard_log_take_line(&s, "4 dir made /b % %", 17), -EINVAL);
	assert_int_equal(guard_log_take_line(&s, "5 file made /b % %", 18), -EINVAL);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.things[0].args[0], "/a");
	thing_stack_free(&s);
}

static void whole_logs(void **state)
{
	struct thing_stack s = { 0 };
	struct guard_log_head head;
	unsigned int bad = 0;

	(void)state;
	assert_int_equal(guard_log_parse(HEAD "1 dir intent /a % %\n"
					      "1 dir made /a % %\n"
					      "garbage\n"
					      "2 loop intent - /a/b%20c %\n"
					      "2 loop intent 3 /a/b%20c %\n"
					      "3 swap intent /dev/loop3 sqz-77 %\n"
					      "3 swap gone /dev/loop3 sqz-77 %\n"
					      "4 dir made /cut",
					 &head, &s, &bad),
			 0);
	assert_string_equal(head.boot, "0123-45");
	assert_string_equal(head.tool, "usemem");
	assert_int_equal(head.supervisor, 77);
	assert_int_equal(bad, 1);
	assert_int_equal(s.nr, 3); /* the cut line was never acted upon */
	assert_int_equal(s.things[0].state, THING_MADE);
	assert_string_equal(s.things[1].args[0], "3");
	assert_string_equal(s.things[1].args[1], "/a/b c");
	assert_int_equal(s.things[2].state, THING_GONE);
	assert_int_equal(s.last_id, 3);
	thing_stack_free(&s);
	assert_int_equal(guard_log_parse("", &head, &s, &bad), -EINVAL);
	assert_int_equal(guard_log_parse("squeeze-guard 2 x 1 t\n", &head, &s, &bad), -EINVAL);
	assert_int_equal(guard_log_parse("squeeze-guard 1 x -1 t\n", &head, &s, &bad), -EINVAL);
	assert_int_equal(guard_log_parse("1 dir made /a % %\n", &head, &s, &bad), -EINVAL);
	assert_int_equal(s.nr, 0);
}

/* Fake things: the first argument is a letter, the second how often undo is refused. */
struct trace {
	char text[128];
};

static struct trace *trace_of(const struct thing *t)
{
	return (struct trace *)(uintptr_t)strtoull(t->args[2], NULL, 16);
}

static int fake_undo(struct guard *g, struct thing *t, struct fail *f)
{
	uint64_t refusals = 0;

	(void)g;
	assert_int_equal(parse_u64(t->args[1], &refusals), 0);
	(void)strcat(trace_of(t)->text, t->args[0]);
	return t->nr_refused < refusals ? fail_say(f, EBUSY, "not yet") : 0;
}

static void fake_halt(struct guard *g, struct thing *t)
{
	(void)g;
	(void)strcat(trace_of(t)->text, "!");
}

static const struct thing_op fake_plain = { .undo = fake_undo };
static const struct thing_op fake_waits = { .undo = fake_undo, .waits = true };
static const struct thing_op fake_halts = { .undo = fake_undo, .halt = fake_halt };
static const struct thing_op *const fake_ops[THING_KINDS] = {
	[THING_SET] = &fake_plain,
	[THING_FILE] = &fake_waits,
	[THING_CGROUP] = &fake_halts,
};

static void push_fake(struct guard *g, struct trace *trace, enum thing_kind kind,
		      const char *letter, const char *refusals)
{
	char pointer[32];
	const char *const args[THING_ARGS] = { letter, refusals, pointer };
	struct fail f = { 0 };

	(void)snprintf(pointer, sizeof(pointer), "%llx", (unsigned long long)(uintptr_t)trace);
	assert_non_null(guard_intend(g, kind, args, &f));
}

#define GUARD_FAKE ((struct guard){ .sock = -1, .run_dir = -1, .log_fd = -1, .ops = fake_ops })

static void undone_in_reverse(void **state)
{
	struct guard g = GUARD_FAKE;
	struct trace trace = { "" };
	struct fail f = { 0 };

	(void)state;
	push_fake(&g, &trace, THING_SET, "a", "0");
	push_fake(&g, &trace, THING_CGROUP, "b", "0");
	push_fake(&g, &trace, THING_SET, "c", "0");
	assert_int_equal(guard_undo(&g, 2, 0, &f), 0);
	assert_string_equal(trace.text, "c");
	push_fake(&g, &trace, THING_SET, "d", "0");
	assert_int_equal(g.stack.last_id, 4); /* an ID is never given twice */
	trace.text[0] = '\0';
	/* First whatever lives is killed; what is gone is not undone again. */
	assert_int_equal(guard_undo(&g, 0, 0, &f), 0);
	assert_string_equal(trace.text, "!dba");
	assert_int_equal(guard_undo(&g, 0, 0, &f), 0);
	assert_string_equal(trace.text, "!dba");
	thing_stack_free(&g.stack);
}

static void one_refusal_does_not_block_the_rest(void **state)
{
	struct guard g = GUARD_FAKE;
	struct trace trace = { "" };

	(void)state;
	push_fake(&g, &trace, THING_SET, "a", "0");
	push_fake(&g, &trace, THING_FILE, "b", "0");
	push_fake(&g, &trace, THING_SET, "c", "2");
	push_fake(&g, &trace, THING_FILE, "d", "0");
	assert_int_equal(guard_undo_pass(&g, 0), 2); /* c, and b that waits for it */
	assert_string_equal(trace.text, "dca");
	assert_int_equal(guard_undo_pass(&g, 0), 2);
	assert_string_equal(trace.text, "dcac");
	assert_int_equal(guard_undo_pass(&g, 0), 0);
	assert_string_equal(trace.text, "dcaccb");
	thing_stack_free(&g.stack);
}

static void the_time_limit_names_what_is_left(void **state)
{
	struct guard g = GUARD_FAKE;
	struct trace trace = { "" };
	struct fail f = { 0 };

	(void)state;
	push_fake(&g, &trace, THING_SET, "stuck", "3");
	push_fake(&g, &trace, THING_SET, "z", "0");
	assert_int_equal(guard_undo(&g, 0, 0, &f), -EBUSY);
	assert_non_null(strstr(f.what, "set stuck (not yet)"));
	assert_null(strstr(f.what, "z ("));
	/* With time it retries by itself. */
	assert_int_equal(guard_undo(&g, 0, 10000000000U, &f), 0);
	thing_stack_free(&g.stack);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(awkward_paths),
		cmocka_unit_test(random_round_trips),
		cmocka_unit_test(does_not_fit),
		cmocka_unit_test(malformed_lines),
		cmocka_unit_test(whole_logs),
		cmocka_unit_test(undone_in_reverse),
		cmocka_unit_test(one_refusal_does_not_block_the_rest),
		cmocka_unit_test(the_time_limit_names_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
