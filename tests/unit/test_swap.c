/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "swap.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"

#define MIB ((uint64_t)1 << 20)

static void specs(void **state)
{
	static const struct {
		const char *text;
		struct swap_spec want;
	} good[] = {
		{ "auto", { SWAP_AUTO, 0, 0 } },
		{ "existing", { SWAP_EXISTING, 0, 0 } },
		{ "none", { SWAP_NONE, 0, 0 } },
		{ "zram", { SWAP_ZRAM, 0, 0 } },
		{ "zram:1G", { SWAP_ZRAM, 1024 * MIB, 0 } },
		{ "file:512m", { SWAP_FILE, 512 * MIB, 0 } },
		{ "delay:50", { SWAP_DELAY, 0, 50 } },
		{ "delay:50ms", { SWAP_DELAY, 0, 50 } },
		{ "delay:1.5s", { SWAP_DELAY, 0, 1500 } },
		{ "delay:0:64M", { SWAP_DELAY, 64 * MIB, 0 } },
		{ "delay:500ms:512MiB", { SWAP_DELAY, 512 * MIB, 500 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct swap_spec s = { SWAP_NONE, 1, 1 };

		print_message("%s\n", good[i].text);
		assert_int_equal(swap_spec_parse(good[i].text, &s), 0);
		assert_int_equal(s.kind, good[i].want.kind);
		assert_int_equal(s.size_bytes, good[i].want.size_bytes);
		assert_int_equal(s.delay_ms, good[i].want.delay_ms);
	}
}

static void bad_specs(void **state)
{
	static const char *const bad[] = { "",	       "Zram",	     "zram:",	 "zram:0",
					   "zram:x",   "zram:1G:",   "none:1G",	 "existing:1G",
					   "auto:1G",  "delay",	     "delay:",	 "delay::1G",
					   "delay:x",  "delay:5:",   "delay:-5", "delay:5ms:1G:1",
					   "file:50%", "delay:5ms5", " zram",	 "zramm" };
	struct swap_spec s = { SWAP_NONE, 1, 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		print_message("\"%s\"\n", bad[i]);
		assert_int_equal(swap_spec_parse(bad[i], &s), -EINVAL);
	}
	assert_int_equal(swap_spec_parse("delay:11m", &s), -ERANGE);
	assert_int_equal(swap_spec_parse("zram:99999999999999999999", &s), -ERANGE);
	assert_true(s.kind == SWAP_NONE && s.size_bytes == 1 && s.delay_ms == 1);
}

static const struct swap_host roomy = {
	.may_swapon = true,
	.have_zram = true,
	.have_loop = true,
	.have_delay = true,
	.mem_available_bytes = 4096 * MIB,
	.disk_free_bytes = 4096 * MIB,
};

struct decision {
	const char *name;
	struct swap_spec spec;
	uint64_t needed;
	bool shared_ok;
	int r;
	enum swap_kind kind;
	uint64_t size;
	const char *says;
	uint64_t most;
};

static void decide(const struct decision *d, const struct swap_host *host)
{
	struct swap_spec out = { SWAP_AUTO, 7, 7 };
	struct fail f = { 0 };
	const struct swap_need need = { d->needed, d->most };
	int r = swap_decide(&d->spec, &need, d->shared_ok, host, &out, &f);

	print_message("%s: %s\n", d->name, f.what);
	assert_int_equal(r, d->r);
	if (r) {
		assert_true(out.kind == SWAP_AUTO && out.size_bytes == 7);
		if (d->says)
			assert_non_null(strstr(f.what, d->says));
		return;
	}
	assert_int_equal(out.kind, d->kind);
	assert_int_equal(out.size_bytes, d->size);
	assert_int_equal(out.delay_ms,
			 d->spec.slow && d->kind == SWAP_DELAY ? 50 : d->spec.delay_ms);
}

static void sizes(void **state)
{
	static const struct decision all[] = {
		{ "at least 64 MiB", { SWAP_ZRAM, 0, 0 }, MIB, false, 0, SWAP_ZRAM, 64 * MIB, NULL },
		{ "a quarter more",
		  { SWAP_ZRAM, 0, 0 },
		  400 * MIB,
		  false,
		  0,
		  SWAP_ZRAM,
		  500 * MIB,
		  NULL },
		{ "all of it and an eighth where writing takes time",
		  { SWAP_DELAY, 0, 0 },
		  192 * MIB,
		  false,
		  0,
		  SWAP_DELAY,
		  324 * MIB,
		  NULL,
		  288 * MIB },
		{ "not on zram",
		  { SWAP_ZRAM, 0, 0 },
		  192 * MIB,
		  false,
		  0,
		  SWAP_ZRAM,
		  240 * MIB,
		  NULL,
		  288 * MIB },
		{ "nonsense, too",
		  { SWAP_FILE, 0, 0 },
		  MIB,
		  false,
		  -EOVERFLOW,
		  0,
		  0,
		  NULL,
		  UINT64_MAX },
		{ "as asked",
		  { SWAP_FILE, 10 * MIB, 0 },
		  400 * MIB,
		  false,
		  0,
		  SWAP_FILE,
		  10 * MIB,
		  NULL },
		{ "nonsense", { SWAP_ZRAM, 0, 0 }, UINT64_MAX, false, -EOVERFLOW, 0, 0, NULL },
		{ "none", { SWAP_NONE, 0, 0 }, 400 * MIB, false, 0, SWAP_NONE, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		decide(&all[i], &roomy);
}

static void what_auto_means(void **state)
{
	const struct decision d = { "auto", { SWAP_AUTO, 0, 0 }, 100 * MIB, false,
				    0,	    SWAP_ZRAM,		 125 * MIB, NULL };
	struct swap_host h = roomy;
	struct decision e = d;

	(void)state;
	decide(&d, &h);
	h.have_zram = false;
	e.kind = SWAP_FILE;
	decide(&e, &h);
	h = roomy;
	h.mem_available_bytes = 100 * MIB; /* no room for zram */
	decide(&e, &h);
	h = roomy;
	h.foreign_total_bytes = 512 * MIB;
	h.foreign_free_bytes = 200 * MIB;
	h.may_swapon = false; /* existing swap needs no rights */
	e.kind = SWAP_EXISTING;
	e.size = 0;
	decide(&e, &h);
	/* Too little of it, and our own device would divert everybody's. */
	h.may_swapon = true;
	h.foreign_free_bytes = 110 * MIB;
	e.r = -EEXIST;
	e.says = "--swap-shared-ok";
	decide(&e, &h);
	e = d;
	e.shared_ok = true;
	decide(&e, &h);
}

static void what_auto_means_where_slow_is_wanted(void **state)
{
	struct decision d = { "slow",	 { SWAP_AUTO, 0, 0, .slow = true },
			      100 * MIB, false,
			      0,	 SWAP_DELAY,
			      125 * MIB, NULL };
	struct swap_host h = roomy;

	(void)state;
	decide(&d, &h);
	/* Another run's zram would be slowed by ours. */
	h.own_kind_active = true;
	d.kind = SWAP_FILE;
	decide(&d, &h);
	h = roomy;
	h.have_delay = false;
	decide(&d, &h);
	h.disk_is_memory = true;
	d.kind = SWAP_ZRAM;
	decide(&d, &h);
}

static void what_is_missing(void **state)
{
	struct decision d = { "rights", { SWAP_ZRAM, 0, 0 },	   MIB, false, -EPERM, 0,
			      0,	"CAP_SYS_ADMIN for swapon" };
	struct swap_host h = roomy;

	(void)state;
	h.may_swapon = false;
	decide(&d, &h);
	h = roomy;
	h.have_zram = h.have_loop = h.have_delay = false;
	d = (struct decision){ "zram", { SWAP_ZRAM, 0, 0 }, MIB, false, -EOPNOTSUPP, 0, 0, "zram" };
	decide(&d, &h);
	d = (struct decision){ "loop", { SWAP_FILE, 0, 0 }, MIB, false, -EOPNOTSUPP, 0, 0, "loop" };
	decide(&d, &h);
	d = (struct decision){ "dm", { SWAP_DELAY, 0, 5 }, MIB, false, -EOPNOTSUPP, 0,
			       0,    "device-mapper" };
	decide(&d, &h);
	d = (struct decision){ "existing", { SWAP_EXISTING, 0, 0 }, MIB, false, -ENOENT, 0,
			       0,	   "no swap is active" };
	decide(&d, &h);
	h.foreign_total_bytes = 100 * MIB;
	h.foreign_free_bytes = 30 * MIB;
	d = (struct decision){ "full", { SWAP_EXISTING, 0, 0 },	     50 * MIB, false, -ENOSPC, 0,
			       0,      "50 MiB needed, 30 MiB there" };
	decide(&d, &h);
}

static void no_room(void **state)
{
	struct decision d = { "memory", { SWAP_ZRAM, 0, 0 },	     8192 * MIB, false, -ENOSPC, 0,
			      0,	"10 GiB needed, 4 GiB there" };
	struct swap_host h = roomy;

	(void)state;
	decide(&d, &h);
	d.name = "disk";
	d.spec.kind = SWAP_FILE;
	d.says = "4 GiB there";
	decide(&d, &h);
	h.disk_is_memory = true;
	d =
		(struct decision){ "tmpfs", { SWAP_FILE, 0, 0 }, MIB, false, -EOPNOTSUPP, 0, 0,
				   "tmpfs" };
	decide(&d, &h);
	/* A delay device takes whatever is below it. */
	d = (struct decision){ "delay", { SWAP_DELAY, 0, 9 }, MIB,	false,
			       0,	SWAP_DELAY,	      64 * MIB, NULL };
	decide(&d, &h);
	h.have_zram = false;
	d.r = -EOPNOTSUPP;
	decide(&d, &h);
}

static void beside_another_run(void **state)
{
	struct decision d = { "two zrams", { SWAP_AUTO, 0, 0 }, MIB,	  false,
			      0,	   SWAP_ZRAM,		64 * MIB, NULL };
	struct swap_host h = roomy;

	(void)state;
	h.own_kind_active = true;
	decide(&d, &h);
	d = (struct decision){ "slow beside fast", { SWAP_DELAY, 0, 9 }, MIB, false, -EEXIST, 0, 0,
			       "another run" };
	decide(&d, &h);
	h.own_delay_active = true;
	d.name = "fast beside slow";
	d.spec.kind = SWAP_ZRAM;
	decide(&d, &h);
	d.shared_ok = true;
	d.r = 0;
	d.kind = SWAP_ZRAM;
	d.size = 64 * MIB;
	d.spec.delay_ms = 0;
	decide(&d, &h);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(specs),
		cmocka_unit_test(bad_specs),
		cmocka_unit_test(sizes),
		cmocka_unit_test(what_auto_means),
		cmocka_unit_test(what_auto_means_where_slow_is_wanted),
		cmocka_unit_test(what_is_missing),
		cmocka_unit_test(no_room),
		cmocka_unit_test(beside_another_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
