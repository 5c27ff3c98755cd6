/* SPDX-License-Identifier: GPL-2.0-only */
#include "compile.h"

#define KIB 1024ULL
#define MIB (1ULL << 20)

/*
 * Deciles of 300 runs of cc1 (docs/ccstorm-jobs.md): the mean of each tenth, ordered by the
 * largest resident size, less the 20 MiB of it that were the image.
 */
static const struct compile_class {
	unsigned int anon_kib;
	unsigned int header_kib;
	unsigned int object_kib;
	unsigned int user_ms;
} classes[COMPILE_CLASSES] = {
	{ 28400, 1800, 28, 110 },     { 49300, 3380, 58, 200 },	  { 58000, 3810, 128, 270 },
	{ 65800, 4340, 140, 310 },    { 73200, 4680, 224, 410 },  { 88100, 5350, 243, 430 },
	{ 95500, 5810, 295, 460 },    { 102200, 6120, 373, 540 }, { 113000, 6440, 503, 700 },
	{ 158200, 6950, 1135, 1700 },
};

/* RssFile of a running cc1: 17 to 26 MiB. */
#define TEXT_BYTES (20 * MIB)
/* Of the pages of a running cc1, what it referenced in 100 ms of its time, less the new ones. */
#define HOT_PERCENT 20
/* A visit takes about 0.5 us where there is no pressure. cc1 computes besides; a job does a fifth of
 * its work, so that a run of a minute compiles hundreds of objects and memory weighs more. */
#define VISITS_PER_MS (1000 * 2 / 5)
/* In 1024ths of its class. */
#define WHOLE 1024
#define EIGHTH_LESS (WHOLE - WHOLE / 8)
#define EIGHTH_MORE (WHOLE + WHOLE / 8)

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a good number from any two. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a + b * 0x9E3779B97F4A7C15ULL + 0x9E3779B97F4A7C15ULL;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

static uint64_t scaled(uint64_t bytes, unsigned int scale_percent)
{
	return bytes * scale_percent / 100;
}

void compile_job_make(uint64_t seed, uint64_t index, unsigned int scale_percent,
		      struct compile_job *ret)
{
	uint64_t dice = mix(seed, index);
	const struct compile_class *c = &classes[dice % COMPILE_CLASSES];
	/* Within its class a job is up to an eighth smaller or larger: no two are alike. */
	uint64_t part = EIGHTH_LESS + (dice >> 32) % (EIGHTH_MORE - EIGHTH_LESS + 1);

	*ret = (struct compile_job){
		.text_bytes = scaled(TEXT_BYTES, scale_percent),
		.header_bytes = scaled(c->header_kib * KIB, scale_percent),
		.anon_bytes = scaled(c->anon_kib * KIB * part / WHOLE, scale_percent),
		.object_bytes = scaled(c->object_kib * KIB, scale_percent),
		.visits = scaled((uint64_t)c->user_ms * VISITS_PER_MS, scale_percent),
		.hot_percent = HOT_PERCENT,
		.seed = dice,
	};
}

/* The image as far as it is used, and the headers: once for all. */
static uint64_t shared_bytes(unsigned int scale_percent)
{
	return scaled(TEXT_BYTES + COMPILE_HEADERS_BYTES, scale_percent);
}

uint64_t compile_demand_bytes(unsigned int jobs, unsigned int scale_percent)
{
	uint64_t largest = classes[COMPILE_CLASSES - 1].anon_kib * KIB;

	return jobs * scaled(largest, scale_percent) + shared_bytes(scale_percent);
}

uint64_t compile_demand_max_bytes(unsigned int jobs, unsigned int scale_percent)
{
	uint64_t largest = classes[COMPILE_CLASSES - 1].anon_kib * KIB * EIGHTH_MORE / WHOLE;

	return jobs * scaled(largest, scale_percent) + shared_bytes(scale_percent);
}

uint64_t compile_demand_mean_bytes(unsigned int jobs, unsigned int scale_percent)
{
	uint64_t anon_kib_ms = 0, ms = 0;

	for (unsigned int i = 0; i < COMPILE_CLASSES; i++) {
		anon_kib_ms += (uint64_t)classes[i].anon_kib * classes[i].user_ms;
		ms += classes[i].user_ms;
	}
	/* While it grows a job has half of it. */
	return jobs * scaled(anon_kib_ms / ms * KIB * (200 - COMPILE_GROWTH_PERCENT) / 200,
			     scale_percent) +
	       shared_bytes(scale_percent);
}

const char *const compile_level_names[LEVEL_NR] = { "light", "heavy", "extreme" };

uint64_t compile_limit_bytes(enum compile_level level, uint64_t demand_bytes)
{
	/* 2048, 1536 and 1024 of 3072 MB (shared/seeds/000, test 2). */
	static const unsigned int sixths[LEVEL_NR] = { 4, 3, 2 };

	return demand_bytes * sixths[level] / 6 / MIB * MIB;
}
