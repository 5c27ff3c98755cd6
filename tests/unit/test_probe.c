/* SPDX-License-Identifier: GPL-2.0-only */
/* Which back end is taken and what is said of the others, with back ends that only pretend. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "bpf/reclaim.h"
#include "hist.h"
#include "kfile.h"
#include "probe.h"
#include "probe_impl.h"

static int open_refused(const struct probe_target *target, void **ret_state, struct fail *f)
{
	(void)target;
	(void)ret_state;
	return fail_say(f, EPERM, "needs CAP_BPF");
}

static int open_missing(const struct probe_target *target, void **ret_state, struct fail *f)
{
	(void)target;
	(void)ret_state;
	return fail_say(f, ENOENT, "no tracefs");
}

static int open_fine(const struct probe_target *target, void **ret_state, struct fail *f)
{
	(void)target;
	(void)f;
	*ret_state = NULL;
	return 0;
}

static int read_fine(void *state, struct probe_counts *ret)
{
	(void)state;
	probe_counts_init(ret);
	ret->passes_begun = 7;
	return 0;
}

static void close_fine(void *state)
{
	(void)state;
}

static const struct probe_ops bpf_refused = { .kind = PROBE_BPF,
					      .name = "bpf",
					      .open = open_refused };
static const struct probe_ops perf_missing = { .kind = PROBE_PERF,
					       .name = "perf",
					       .open = open_missing };
static const struct probe_ops bpf_fine = {
	.kind = PROBE_BPF, .name = "bpf", .open = open_fine, .read = read_fine, .close = close_fine
};
static const struct probe_ops files_fine = { .kind = PROBE_FILES,
					     .name = "files",
					     .blind_to = "passes",
					     .open = open_fine,
					     .read = read_fine,
					     .close = close_fine };

static int open_list(const struct probe_ops *const *list, enum probe_kind kind, struct probe **ret,
		     char *why, struct fail *f)
{
	const struct probe_target target = { 0 };

	return probe_open_from(list, kind, &target, ret, why, f);
}

static void test_kind_parse(void **state)
{
	enum probe_kind kind = PROBE_FILES;

	(void)state;
	assert_int_equal(probe_kind_parse("auto", &kind), 0);
	assert_int_equal(kind, PROBE_AUTO);
	assert_int_equal(probe_kind_parse("bpf", &kind), 0);
	assert_int_equal(kind, PROBE_BPF);
	assert_int_equal(probe_kind_parse("perf", &kind), 0);
	assert_int_equal(probe_kind_parse("files", &kind), 0);
	assert_int_equal(kind, PROBE_FILES);
	assert_int_equal(probe_kind_parse("", &kind), -EINVAL);
	assert_int_equal(probe_kind_parse("BPF", &kind), -EINVAL);
	assert_int_equal(kind, PROBE_FILES);
}

static void test_best_is_taken(void **state)
{
	const struct probe_ops *const list[] = { &bpf_fine, &perf_missing, &files_fine, NULL };
	struct probe *p = NULL;
	char why[TEXT_SIZE] = "x";

	(void)state;
	assert_int_equal(open_list(list, PROBE_AUTO, &p, why, NULL), 0);
	assert_string_equal(probe_name(p), "bpf");
	assert_string_equal(why, "");
	probe_close(p);
}

static void test_falls_back_and_says_why(void **state)
{
	const struct probe_ops *const list[] = { &bpf_refused, &perf_missing, &files_fine, NULL };
	struct probe_counts counts;
	struct probe *p = NULL;
	char why[TEXT_SIZE];

	(void)state;
	assert_int_equal(open_list(list, PROBE_AUTO, &p, why, NULL), 0);
	assert_string_equal(probe_name(p), "files");
	assert_string_equal(probe_blind_to(p), "passes");
	assert_string_equal(why, "no bpf probe: needs CAP_BPF; no perf probe: no tracefs");
	/* What a back end does not have to do is not called. */
	assert_int_equal(probe_add_worker(p, 1, NULL), 0);
	assert_int_equal(probe_start(p, NULL), 0);
	assert_int_equal(probe_collect(p, NULL), 0);
	assert_int_equal(probe_read(p, &counts), 0);
	assert_int_equal(counts.passes_begun, 7);
	assert_true(counts.passes_ended == KFILE_ABSENT);
	assert_true(counts.oom_victims == KFILE_ABSENT);
	probe_close(p);
}

static void test_forced_does_not_fall_back(void **state)
{
	const struct probe_ops *const list[] = { &bpf_refused, &perf_missing, &files_fine, NULL };
	struct fail f = { 0 };
	struct probe *p = NULL;
	char why[TEXT_SIZE] = "untouched";

	(void)state;
	assert_int_equal(open_list(list, PROBE_BPF, &p, why, &f), -EPERM);
	assert_null(p);
	assert_string_equal(why, "untouched");
	assert_non_null(strstr(f.what, "needs CAP_BPF"));
	assert_int_equal(open_list(list, PROBE_FILES, &p, why, &f), 0);
	assert_string_equal(why, "");
	probe_close(p);
}

static void test_nothing_works(void **state)
{
	const struct probe_ops *const list[] = { &bpf_refused, &perf_missing, NULL };
	struct fail f = { 0 };
	struct probe *p = NULL;
	char why[TEXT_SIZE];

	(void)state;
	assert_int_equal(open_list(list, PROBE_AUTO, &p, why, &f), -ENOENT);
	assert_int_equal(open_list(list, PROBE_FILES, &p, why, &f), -EOPNOTSUPP);
	assert_non_null(strstr(f.what, "files"));
	probe_close(NULL);
}

/* What BPF counts in a bucket is copied to the same bucket of a struct hist. */
static void test_bpf_buckets_are_those_of_hist(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 100000; value++) {
		assert_int_equal(reclaim_bucket(value, RECLAIM_TIME_BITS), hist_index(value));
		assert_int_equal(reclaim_bucket(value, RECLAIM_PAGES_BITS), hist_index(value));
	}
	for (unsigned int bit = 1; bit < 64; bit++) {
		for (uint64_t off = 0; off < 3; off++) {
			uint64_t value = (1ULL << bit) + off - 1;

			assert_int_equal(reclaim_bucket(value, RECLAIM_TIME_BITS),
					 hist_index(value));
		}
	}
	/* Beyond the range is the last bucket, and the tables are as long as that. */
	assert_int_equal(RECLAIM_BUCKETS(RECLAIM_TIME_BITS), HIST_BUCKETS);
	assert_int_equal(reclaim_bucket(1ULL << RECLAIM_PAGES_BITS, RECLAIM_PAGES_BITS),
			 RECLAIM_BUCKETS(RECLAIM_PAGES_BITS) - 1);
	assert_int_equal(reclaim_bucket(UINT64_MAX, RECLAIM_TIME_BITS), HIST_BUCKETS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kind_parse),
		cmocka_unit_test(test_best_is_taken),
		cmocka_unit_test(test_falls_back_and_says_why),
		cmocka_unit_test(test_forced_does_not_fall_back),
		cmocka_unit_test(test_nothing_works),
		cmocka_unit_test(test_bpf_buckets_are_those_of_hist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
