/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <argp.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "classic.h"
#include "classic_access.h"
#include "usemem.h"

#define WORDS 1024
#define ALL UINT64_MAX

static uint64_t words[WORDS];

static struct access_pass pass_of(uint64_t step_words)
{
	memset(words, 0xff, sizeof(words));
	return (struct access_pass){
		.words = words, .nr_words = WORDS, .step_words = step_words, .random_state = 1
	};
}

static void test_every_step_is_written_once(void **state)
{
	static const uint64_t steps[] = { 1, 2, 3, 7, 512, WORDS - 1, WORDS, WORDS + 1, 1ULL << 40 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct access_pass p = pass_of(steps[i]);
		uint64_t n;

		access_begin(&p, false);
		n = access_some(&p, ALL);
		assert_int_equal(n, (WORDS + steps[i] - 1) / steps[i]);
		for (uint64_t w = 0; w < WORDS; w++)
			assert_int_equal(words[w], w % steps[i] ? UINT64_MAX : w);
		assert_int_equal(access_some(&p, ALL), 0);
	}
}

static void test_pieces_make_the_whole(void **state)
{
	struct access_pass p = pass_of(3);
	uint64_t total = 0, n;

	(void)state;
	access_begin(&p, false);
	while ((n = access_some(&p, 100)) == 100)
		total += n;
	assert_int_equal(total + n, (WORDS + 2) / 3);
	assert_int_equal(words[WORDS - 1], WORDS - 1);
	assert_int_equal(words[WORDS - 2], UINT64_MAX);
}

static void test_reading_writes_nothing(void **state)
{
	struct access_pass p = pass_of(1);

	(void)state;
	p.readonly = true;
	access_begin(&p, true);
	assert_int_equal(access_some(&p, ALL), WORDS);
	assert_int_equal(p.wrong, UINT64_MAX);
	for (uint64_t w = 0; w < WORDS; w++)
		assert_int_equal(words[w], UINT64_MAX);
}

static void test_a_lost_word_is_found(void **state)
{
	struct access_pass p = pass_of(1);

	(void)state;
	access_begin(&p, false);
	(void)access_some(&p, ALL);
	access_begin(&p, true);
	assert_int_equal(access_some(&p, ALL), WORDS);
	assert_int_equal(p.wrong, UINT64_MAX);
	words[700] = 0;
	access_begin(&p, true);
	assert_int_equal(access_some(&p, ALL), 700);
	assert_int_equal(p.wrong, 700);
}

static void test_random_stays_inside_and_reaches_most(void **state)
{
	struct access_pass p = pass_of(1);
	uint64_t first, hit = 0;

	(void)state;
	p.random = true;
	access_begin(&p, true);
	assert_false(p.verify);
	first = p.random_state;
	assert_int_equal(access_some(&p, ALL), WORDS);
	assert_int_not_equal(p.random_state, first);
	for (uint64_t w = 0; w < WORDS; w++) {
		hit += words[w] == w;
		assert_true(words[w] == w || words[w] == UINT64_MAX);
	}
	/* 1 - 1/e = 63 % are expected; 50 % is 8 standard deviations off. */
	assert_in_range(hit, WORDS / 2, WORDS);
}

static void test_nothing_to_access(void **state)
{
	struct access_pass p = { .step_words = 1, .random = true, .random_state = 1 };

	(void)state;
	access_begin(&p, false);
	assert_int_equal(access_some(&p, ALL), 0);
}

/* The expressions of LKP's programs/vm-scalability/parse, in POSIX form. */
#define LKP_SPEED "^\\.*([0-9]+) bytes / ([0-9]+) usecs = ([0-9]+) KB.s\n$"
#define LKP_FREE "^([0-9]+) usecs to free memory\n$"

static bool matches(const char *expression, const char *text)
{
	regex_t re;
	int r;

	assert_int_equal(regcomp(&re, expression, REG_EXTENDED | REG_NOSUB), 0);
	r = regexec(&re, text, 0, NULL, 0);
	regfree(&re);
	return r == 0;
}

static void test_lines(void **state)
{
	char line[128];

	(void)state;
	/* A line of LKP's fixture spec/fixtures/stats/vm-scalability/2. */
	classic_line_speed(line, sizeof(line), 12884901888, 859434826000);
	assert_string_equal(line, "12884901888 bytes / 859434826 usecs = 14640 KB/s\n");
	assert_true(matches(LKP_SPEED, line));
	classic_line_speed(line, sizeof(line), 9, 0);
	assert_string_equal(line, "9 bytes / 1 usecs = 8789 KB/s\n");
	classic_line_speed(line, sizeof(line), UINT64_MAX, UINT64_MAX);
	assert_true(matches(LKP_SPEED, line));
	classic_line_free(line, sizeof(line), 11880398999);
	assert_string_equal(line, "11880398 usecs to free memory\n");
	assert_true(matches(LKP_FREE, line));
	classic_line_init(line, sizeof(line), 61000002999);
	assert_string_equal(line, "the initialization time is 61 secs 2 usecs\n");
}

static struct classic_options parsed(int argc, const char *const *argv)
{
	struct classic_options o;

	classic_options_init(&o);
	assert_int_equal(argp_parse(&classic_argp, argc, (char **)(uintptr_t)argv, ARGP_NO_HELP,
				    NULL, &o),
			 0);
	return o;
}
#define PARSED(...)                                                                       \
	parsed((int)(sizeof((const char *[]){ "usemem", __VA_ARGS__ }) / sizeof(char *)), \
	       (const char *[]){ "usemem", __VA_ARGS__, NULL })

static void test_command_lines_of_public_posts(void **state)
{
	struct classic_options o = PARSED("--init-time", "-O", "-y", "-x", "-n", "31", "1G");

	(void)state;
	assert_true(o.given && o.init_time && o.anonymous && o.sync_rw && o.sync_free);
	assert_int_equal(o.procs, 31);
	assert_int_equal(o.size_bytes, 1u << 30);
	assert_int_equal(classic_slots(&o), 31);
	o = PARSED("--init-time", "-w", "-O", "-s", "10", "-n", "70", "1g");
	assert_true(o.open_rw);
	assert_int_equal(o.sleep_ns, 10000000000);
	o = PARSED("-t", "4", "-R", "-r", "3", "64m");
	assert_true(o.random);
	assert_int_equal(o.repeat, 3);
	assert_int_equal(classic_slots(&o), 4);
	o = PARSED("-n", "2", "-t", "3", "1m");
	assert_int_equal(classic_slots(&o), 6);
	o = PARSED("-f", "FILE", "--readonly", "-j", "4096", "-s", "-1", "1m");
	assert_string_equal(o.file, "FILE");
	assert_true(o.readonly);
	assert_int_equal(o.step_bytes, 4096);
	assert_int_equal(o.sleep_ns, CLASSIC_SLEEP_FOREVER);
	/* case-anon-cow-seq, with the options that LKP puts before it. */
	o = PARSED("--runtime", "300", "-y", "-x", "-b", "2", "-r", "1", "-n", "8", "--prealloc",
		   "--prefault", "4096");
	assert_true(o.prealloc && o.prefault);
	assert_int_equal(o.runtime_ns, 300000000000);
	assert_int_equal(o.bind, 2);
	o = PARSED("-u", "1m", "-aFPMSq", "0");
	assert_true(o.heap && o.prefault && o.prealloc && o.lock && o.msync && o.quiet);
	assert_int_equal(o.unit_bytes, 1u << 20);
	assert_true(o.has_size);
}

static void refused(struct classic_options o, const char *words_expected)
{
	struct fail f = { 0 };

	assert_int_equal(classic_check(&o, 4, &f), -EINVAL);
	if (!strstr(f.what, words_expected))
		fail_msg("'%s' has no '%s'", f.what, words_expected);
}

static void test_what_makes_no_sense_is_refused(void **state)
{
	struct fail f = { 0 };
	struct classic_options o = PARSED("-n", "2", "-u", "1m", "-y", "1m");

	(void)state;
	assert_int_equal(classic_check(&o, 4, &f), 0);
	refused(PARSED("-n", "2"), "SIZE is missing");
	refused(PARSED("-u", "1m", "-y", "2m"), "--sync-rw");
	refused(PARSED("-u", "4k", "-M", "2m"), "--mlock");
	refused(PARSED("-b", "4", "2m"), "--bind");
	refused(PARSED("-n", "4000000", "-t", "4000000", "2m"), "--thread");
	o = PARSED("1m");
	assert_int_equal(classic_refuse(&o, &f), -EINVAL);
	classic_options_init(&o);
	assert_int_equal(classic_refuse(&o, &f), 0);
}

static uint64_t memory(struct classic_options o)
{
	return classic_memory_bytes(&o);
}

static void test_memory_they_fill(void **state)
{
	(void)state;
	assert_int_equal(memory(PARSED("1m")), 1u << 20);
	assert_int_equal(memory(PARSED("-n", "2", "-t", "3", "1m")), 6u << 20);
	assert_int_equal(memory(PARSED("-n", "2", "-t", "3", "-P", "1m")), 2u << 20);
	assert_int_equal(memory(PARSED("-n", "2", "-P", "-F", "1m")), 3u << 20);
	assert_int_equal(memory(PARSED("-n", "2", "-o", "1m")), 0);
	assert_int_equal(memory(PARSED("-n", "2", "-f", "x", "1m")), 0);
	assert_int_equal(memory(PARSED("-n", "2", "-f", "x", "-O", "1m")), 2u << 20);
	assert_int_equal(memory(PARSED("-n", "2", "-f", "x", "-O", "-P", "1m")), 1u << 20);
	assert_true(memory(PARSED("-n", "1000", "-t", "1000", "90000t")) == UINT64_MAX);
}

static struct run_result judged(enum run_end end, const char *error)
{
	struct measurement m = { .end = end, .time_scale = 1 };
	struct run_result r = { 0 };

	(void)snprintf(m.worker_error, sizeof(m.worker_error), "%s", error);
	classic.judge(&m, &r);
	return r;
}

static void test_verdicts(void **state)
{
	struct run_result r = judged(END_WORKERS_DONE, "");

	(void)state;
	assert_int_equal(r.verdict, VERDICT_PASS);
	r = judged(END_WORKER_KILLED, "2 of 2 tasks were killed");
	assert_int_equal(r.verdict, VERDICT_FAIL);
	assert_string_equal(r.reason, "2 of 2 tasks were killed");
	r = judged(END_WORKER_FAILED, "mlock: Cannot allocate memory");
	assert_int_equal(r.verdict, VERDICT_ERROR);
	assert_non_null(strstr(r.reason, "mlock"));
	r = judged(END_INTERRUPTED, "");
	assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_step_is_written_once),
		cmocka_unit_test(test_pieces_make_the_whole),
		cmocka_unit_test(test_reading_writes_nothing),
		cmocka_unit_test(test_a_lost_word_is_found),
		cmocka_unit_test(test_random_stays_inside_and_reaches_most),
		cmocka_unit_test(test_nothing_to_access),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_command_lines_of_public_posts),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_memory_they_fill),
		cmocka_unit_test(test_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
