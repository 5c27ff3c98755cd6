/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the frequency of this machine's time stamp counter in kHz.
 *
 * An emulated guest counts with this very counter but must find out its rate by
 * itself, and on a busy host it errs by factors; lab/run therefore tells it.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct point {
	uint64_t ns;
	uint64_t tsc;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The closest bracket of many: what was interrupted between its two readings loses. */
static struct point sample(void)
{
	struct point best = { 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = now_ns();
		uint64_t after = __rdtsc();

		if (after - before < width) {
			width = after - before;
			best = (struct point){ ns, before + width / 2 };
		}
	}
	return best;
}

int main(void)
{
	struct point a = sample();

	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);

	struct point b = sample();

	printf("%.0f\n", (double)(b.tsc - a.tsc) * 1e6 / (double)(b.ns - a.ns));
	return 0;
}
