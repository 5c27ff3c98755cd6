/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What measuring costs: the touch loop with and without clock and histogram, in turn, and a bare
 * histogram record. Ratios within one run; the best of the rounds, since everything that
 * disturbs a loop makes it slower. Budgets: design.md, section 8. Exit 1 when one is broken.
 *
 * bench_touch [MIB]: also prints words written per second, to be held against another tool's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parse.h"
#include "touch.h"

#define ROUNDS 7
#define VISITS 100000
#define RECORDS 4000000
#define DEFAULT_MIB 64

static double seconds_since(uint64_t began_ns)
{
	return (double)(clock_now_ns() - began_ns) / 1e9;
}

static double best(double a, double b)
{
	return a < b ? a : b;
}

static int bench_touching(size_t mib)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct touch_area area = { .pages = (mib << 20) / page, .page_bytes = page };
	double with = 1e9, without = 1e9, words, ratio;
	struct progress p;

	area.base = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (area.base == MAP_FAILED || progress_create(1, 1, &p) < 0)
		return EXIT_FAILURE;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t t = clock_now_ns();

		touch_unmeasured(&area, VISITS, (uint64_t)i);
		without = best(without, seconds_since(t));
		t = clock_now_ns();
		touch_measured(&area, &p, 0, progress_hist(&p, 0, 0), VISITS, (uint64_t)i);
		with = best(with, seconds_since(t));
	}
	words = (double)VISITS * (1.0 + TOUCH_ROUNDS * (double)page / sizeof(uint64_t));
	ratio = without / with;
	printf("touching measured / unmeasured          %5.3f   budget >= 0.95\n", ratio);
	printf("words written per second, measured      %.3g over %zu MiB\n", words / with, mib);
	progress_destroy(&p);
	return ratio >= 0.95 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int bench_histogram(void)
{
	static struct hist h;
	double record = 1e9, empty = 1e9, ns;
	volatile uint64_t sink = 0;

	hist_init(&h);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t t = clock_now_ns(), x = 88172645463325252ULL;

		for (int k = 0; k < RECORDS; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			sink = x >> 36;
		}
		empty = best(empty, seconds_since(t));
		t = clock_now_ns();
		for (int k = 0; k < RECORDS; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			hist_record(&h, x >> 36); /* 2^28 ns: 0.27 s */
		}
		record = best(record, seconds_since(t));
	}
	(void)sink;
	ns = (record - empty) * 1e9 / RECORDS;
	printf("one histogram record, ns                %5.2f   budget <= 5\n", ns);
	printf("one histogram, bytes                    %5zu   budget <= 36864\n", sizeof(h));
	return ns <= 5 && sizeof(h) <= 36u << 10 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	uint64_t mib = DEFAULT_MIB;
	int r;

	if (argc > 1 && parse_u64(argv[1], &mib) < 0) {
		fprintf(stderr, "usage: bench_touch [MIB]\n");
		return 64;
	}
	r = bench_touching((size_t)mib);
	return bench_histogram() | r;
}
