/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "cmd.h"
#include "launch.h"

#define S UINT64_C(1000000000)

static void suites_hold_together(void **state)
{
	unsigned int seconds[SUITE_NR] = { 0 };

	(void)state;
	for (size_t i = 0; i < suite_table_nr; i++) {
		const struct suite_entry *e = &suite_table[i];

		assert_ptr_equal(suite_find(e->suite, e->name), e); /* the name is unique */
		assert_non_null(e->tool);
		assert_non_null(e->summary);
		assert_non_null(e->needs);
		assert_null(strpbrk(e->name, "/ ")); /* it becomes a file's name */
		assert_null(e->args[SUITE_ARGS_MAX - 1]);
		seconds[e->suite] += e->seconds;
	}
	/* "The whole quick suite natively: <= 3 min" (design.md 8). */
	assert_in_range(seconds[SUITE_QUICK], 1, 180);
	assert_null(suite_find(SUITE_QUICK, "no such"));
	assert_int_equal(suite_parse("full"), SUITE_FULL);
	assert_int_equal(suite_parse("fu"), SUITE_NR);
}

static void the_worst_verdict_counts(void **state)
{
	struct session s = { .quiet = true, .rounds = 1 };

	(void)state;
	assert_int_equal(session_verdict(&s), VERDICT_INCONCLUSIVE);
	s.nr = 2;
	s.items[0].entry = s.items[1].entry = &suite_table[0];
	session_record(&s, &s.items[0], VERDICT_PASS, "fine", S);
	assert_int_equal(session_verdict(&s), VERDICT_PASS);
	session_record(&s, &s.items[1], VERDICT_SKIP, "needs a thing", S);
	assert_int_equal(session_verdict(&s), VERDICT_SKIP);
	session_record(&s, &s.items[0], VERDICT_FAIL, "killed", S);
	session_record(&s, &s.items[0], VERDICT_PASS, "fine again", S);
	assert_int_equal(session_verdict(&s), VERDICT_FAIL);
	assert_string_equal(s.items[0].reason, "killed");
	assert_int_equal(s.items[0].failed, 1);
	assert_int_equal(s.items[0].judged, 3);
	assert_int_equal(cmd_verdict_code(VERDICT_FAIL), 1);
	assert_int_equal(cmd_verdict_code(VERDICT_ERROR), 2);
	assert_int_equal(cmd_verdict_code(VERDICT_INCONCLUSIVE), 4);
	assert_int_equal(cmd_worse(VERDICT_ERROR, VERDICT_FAIL), VERDICT_FAIL);
	assert_int_equal(cmd_worse(VERDICT_INCONCLUSIVE, VERDICT_SKIP), VERDICT_INCONCLUSIVE);
}

static void the_rest_is_estimated(void **state)
{
	struct session s = { .rounds = 2, .round = 1, .nr = 2 };
	unsigned int a, b;

	(void)state;
	s.items[0].entry = &suite_table[0];
	s.items[1].entry = &suite_table[1];
	a = suite_table[0].seconds;
	b = suite_table[1].seconds;
	s.current = &s.items[0];
	assert_int_equal(session_seconds_left(&s, 0), 2 * (a + b));
	assert_int_equal(session_seconds_left(&s, 5 * S), 2 * (a + b) - 5);
	assert_int_equal(session_seconds_left(&s, 10000 * S), a + 2 * b); /* overdue */
	s.round = 2;
	s.current = &s.items[1];
	assert_int_equal(session_seconds_left(&s, 2 * S), b - 2);
}

static void last_line(const char *content, const char *expected)
{
	char path[] = "/tmp/squeeze-test-XXXXXX", line[64];
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	(void)close(fd);
	if (expected) {
		assert_true(session_last_line(path, line, sizeof(line)));
		assert_string_equal(line, expected);
	} else {
		assert_false(session_last_line(path, line, sizeof(line)));
	}
	(void)unlink(path);
}

static void the_last_words_are_found(void **state)
{
	char line[64], *longer = calloc(1, 5001);

	(void)state;
	last_line("", NULL);
	last_line("\n\n", NULL);
	last_line("one", "one");
	last_line("one\ntwo\n\n", "two");
	last_line("one\n\033[31mtwo\n", "?[31mtwo");
	memset(longer, 'x', 4990);
	memcpy(longer + 4990, "\nend", 4);
	last_line(longer, "end");
	free(longer);
	assert_false(session_last_line("/nonexistent", line, sizeof(line)));
}

static int run_shell(const char *script, uint64_t limit_ns, struct launch_end *end)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct launch l = {
		.program = "/bin/sh",
		.argv = (char *const *)argv,
		.stdout_path = "/dev/null",
		.stderr_path = "/dev/null",
		.limit_ns = limit_ns,
	};
	struct fail f = { 0 };

	return launch_run(&l, end, &f);
}

static void a_tool_is_run_to_its_end(void **state)
{
	struct launch_end end;

	(void)state;
	launch_block_signals();
	assert_int_equal(run_shell("exit 4", 60 * S, &end), 0);
	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), 4);
	assert_false(end.timed_out);
	assert_int_equal(end.signal, 0);
	/* It has no signal blocked, and a process group of its own. */
	assert_int_equal(run_shell("test $(cut -d' ' -f5 /proc/$$/stat) = $$ && "
				   "grep -q '^SigBlk:.0*$' /proc/self/status",
				   60 * S, &end),
			 0);
	assert_int_equal(WEXITSTATUS(end.status), 0);
	assert_int_equal(run_shell("kill -9 $$", 60 * S, &end), 0);
	assert_true(WIFSIGNALED(end.status));
}

static void a_tool_that_hangs_is_interrupted(void **state)
{
	struct launch_end end;

	(void)state;
	launch_block_signals();
	assert_int_equal(run_shell("trap 'exit 7' INT; while :; do sleep 0.05; done", S / 10, &end),
			 0);
	assert_true(end.timed_out);
	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), 7);
}

static void a_signal_to_us_reaches_the_tool(void **state)
{
	char script[128];
	struct launch_end end;

	(void)state;
	launch_block_signals();
	/* The tool sends it, when it is ready for it. */
	(void)snprintf(script, sizeof(script),
		       "trap 'exit 9' INT; kill -TERM %d; while :; do sleep 0.05; done",
		       (int)getpid());
	assert_int_equal(run_shell(script, 60 * S, &end), 0);
	assert_int_equal(end.signal, SIGTERM);
	assert_false(end.timed_out);
	assert_int_equal(WEXITSTATUS(end.status), 9);
	assert_int_equal(launch_pending_signal(), 0);
	assert_int_equal(kill(getpid(), SIGINT), 0);
	assert_int_equal(launch_pending_signal(), SIGINT);
}

static void tools_are_found_beside_us_first(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(launch_find("test_session", path), 0);
	assert_non_null(strstr(path, "/test_session"));
	assert_int_equal(launch_find("sh", path), 0);
	assert_int_equal(launch_find("no-such-tool-of-ours", path), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suites_hold_together),
		cmocka_unit_test(the_worst_verdict_counts),
		cmocka_unit_test(the_rest_is_estimated),
		cmocka_unit_test(the_last_words_are_found),
		cmocka_unit_test(a_tool_is_run_to_its_end),
		cmocka_unit_test(a_tool_that_hangs_is_interrupted),
		cmocka_unit_test(a_signal_to_us_reaches_the_tool),
		cmocka_unit_test(tools_are_found_beside_us_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
