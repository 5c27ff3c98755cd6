/* SPDX-License-Identifier: GPL-2.0-only */
/* The fixed points that the kernel's own self-tests of memory protection document. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "protection.h"

#define MIB (1ULL << 20)

/* memcg_protection.m's own example, and test_memcontrol.c's expectation: C 29, D 21, E and F 0. */
static void overcommitted_siblings_end_at_29_and_21(void **state)
{
	struct protection_group g[] = {
		{ 75 * MIB, 50 * MIB }, { 25 * MIB, 50 * MIB }, { 0, 50 * MIB }, { 500 * MIB, 0 }
	};

	(void)state;
	protection_settle(g, 4, 50 * MIB, true, 0);
	assert_in_range(g[0].usage, 28 * MIB, 30 * MIB);
	assert_in_range(g[1].usage, 20 * MIB, 22 * MIB);
	assert_in_range(g[2].usage, 0, MIB);
	assert_int_equal(g[3].usage, 0);
	assert_in_range(g[0].usage + g[1].usage + g[2].usage, 49 * MIB, 51 * MIB);
}

/* The scenario's case: pressed to 52, so what is shielded is nearly all that is left. */
static void the_pressure_ends_at_its_target(void **state)
{
	struct protection_group g[] = { { 75 * MIB, 50 * MIB },
					{ 25 * MIB, 50 * MIB },
					{ 0, 50 * MIB } };

	(void)state;
	protection_settle(g, 3, 50 * MIB, true, 52 * MIB);
	assert_in_range(g[0].usage + g[1].usage + g[2].usage, 52 * MIB - 4096, 52 * MIB + 4096);
	assert_in_range(g[0].usage, 28 * MIB, 30 * MIB);
	assert_in_range(g[1].usage, 20 * MIB, 23 * MIB);
}

static void more_claims_than_the_parent_has_are_shared_in_proportion(void **state)
{
	(void)state;
	/* 75 and 25 claimed and used of 50: three quarters and one. */
	assert_int_equal(protection_effective(80 * MIB, 160 * MIB, 75 * MIB, 50 * MIB, 100 * MIB,
					      true),
			 75 * MIB / 2);
	assert_int_equal(protection_effective(80 * MIB, 160 * MIB, 25 * MIB, 50 * MIB, 100 * MIB,
					      true),
			 25 * MIB / 2);
	/* What is claimed and not used is not shared. */
	assert_int_equal(protection_effective(0, 160 * MIB, 500 * MIB, 50 * MIB, 100 * MIB, true),
			 0);
}

static void what_nobody_claims_goes_down_only_if_recursive(void **state)
{
	(void)state;
	/* 20 of 50 claimed; 30 over, shared by the unprotected rest, here 40 of 80. */
	assert_int_equal(protection_effective(60 * MIB, 100 * MIB, 20 * MIB, 50 * MIB, 20 * MIB,
					      true),
			 35 * MIB);
	assert_int_equal(protection_effective(60 * MIB, 100 * MIB, 20 * MIB, 50 * MIB, 20 * MIB,
					      false),
			 20 * MIB);
	/* All is claimed: no rest. */
	assert_int_equal(protection_effective(60 * MIB, 100 * MIB, 50 * MIB, 50 * MIB, 50 * MIB,
					      true),
			 50 * MIB);
	/* Usage is not read atomically: a child larger than its parent. */
	assert_int_equal(protection_effective(90 * MIB, 60 * MIB, 0, 50 * MIB, 0, true), 50 * MIB);
	assert_int_equal(protection_effective(0, 0, 0, 50 * MIB, 0, true), 0);
}

static void a_parent_without_protection_shields_nobody(void **state)
{
	struct protection_group g[] = { { 75 * MIB, 50 * MIB }, { 25 * MIB, 50 * MIB } };

	(void)state;
	assert_int_equal(protection_effective(50 * MIB, 100 * MIB, 75 * MIB, 0, 75 * MIB, true), 0);
	protection_settle(g, 2, 0, true, 0);
	assert_int_equal(g[0].usage + g[1].usage, 0);
}

/* Equals under equal pressure stay equal; that is what ignored protection looks like. */
static void equals_stay_equal(void **state)
{
	struct protection_group g[] = { { 0, 50 * MIB }, { 0, 50 * MIB } };

	(void)state;
	protection_settle(g, 2, 50 * MIB, true, 52 * MIB);
	assert_int_equal(g[0].usage, g[1].usage);
}

/* A and B directly below the limit: B has its memory.low, whatever A does. */
static void children_of_the_root_have_what_they_claim(void **state)
{
	struct protection_group g[] = { { 0, 300 * MIB }, { 300 * MIB, 300 * MIB } };

	(void)state;
	protection_settle(g, 2, UINT64_MAX, true, 512 * MIB);
	assert_int_equal(g[1].usage, 300 * MIB);
	assert_in_range(g[0].usage, 212 * MIB - 4096, 212 * MIB + 4096);
	/* Less than B's claim is left: reclaim of what is not shielded ends, no further. */
	protection_settle(g, 2, UINT64_MAX, true, 100 * MIB);
	assert_int_equal(g[0].usage, 0);
	assert_int_equal(g[1].usage, 300 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overcommitted_siblings_end_at_29_and_21),
		cmocka_unit_test(the_pressure_ends_at_its_target),
		cmocka_unit_test(more_claims_than_the_parent_has_are_shared_in_proportion),
		cmocka_unit_test(what_nobody_claims_goes_down_only_if_recursive),
		cmocka_unit_test(a_parent_without_protection_shields_nobody),
		cmocka_unit_test(equals_stay_equal),
		cmocka_unit_test(children_of_the_root_have_what_they_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
