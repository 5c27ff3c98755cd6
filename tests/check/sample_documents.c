/* SPDX-License-Identifier: GPL-2.0-only */
#include "sample_documents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define SECOND 1000000000ULL
#define MIB (1ULL << 20)

static char *fail_argv[] = { "usemem", "--threads", "192", "--memcg", "16M", "--time", "20s" };
static char *pass_argv[] = { "usemem", "--threads", "4", "--memcg", "16M", "--runs", "3" };
static char *odd_argv[] = { "usemem", "--json", "it's \"here\", # 1\n.json", "caf\xc3\xa9\xff" };

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static void fill_host(struct host_info *host)
{
	*host = (struct host_info){
		.kernel = "6.18.44",
		.arch = "x86_64",
		.cpus = 2,
		.nodes = 1,
		.page_size = 4096,
		.mem_total_bytes = 24 * 1024 * MIB + 123 * 4096,
		.cgroup = "hybrid",
		.memcg_version = 1,
		.lru = "classic",
		.swappiness = value_u64(60),
		.thp = "madvise",
		.zswap = false,
		.psi = false,
		.virtual_machine = "none",
		.probe = "bpf",
		.node_inactive_anon_pages = value_u64(20531),
		.swap = { { "zram", 256 * MIB } },
		.nr_swap = 1,
	};
}

static void fill_head(struct result_doc *doc, char **argv, int argc)
{
	result_init(doc);
	doc->tool = "usemem";
	doc->version = "0.1.0";
	doc->scenario = "over-isolation";
	doc->document = "seeds/000 (throttle MGLRU eviction when isolated folios pile up)";
	doc->fix = "mm/vmscan: throttle MGLRU eviction when isolated folios pile up";
	doc->argv = argv;
	doc->argc = argc;
	memcpy(doc->started, "2026-12-01T03:00:00+00:00", sizeof("2026-12-01T03:00:00+00:00"));
	fill_host(&doc->host);
	result_param_u64(doc, "threads", argc > 2 ? (uint64_t)atoi(argv[2]) : 64);
	result_param_u64(doc, "memcg_bytes", 16 * MIB);
	result_param_u64(doc, "set_bytes", 48 * MIB);
	result_param_real(doc, "time_scale", 1);
	result_param_u64(doc, "seed", 0xfedcba9876543210);
	result_param_text(doc, "swap", "zram:256M");
	result_param_flag(doc, "quiet", false);
}

static void add_check(struct run_result *run, const char *name, const char *unit,
		      struct value value, struct value bound, enum outcome outcome, const char *why)
{
	struct check *c = &run->checks[run->nr_checks++];

	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	(void)snprintf(c->why, sizeof(c->why), "%s", why);
	c->unit = unit;
	c->value = value;
	c->op = OP_LE;
	c->bound = bound;
	c->outcome = outcome;
}

/* A xorshift64* generator: the documents must be the same on every machine. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ULL;
}

/* Fast touches around @base_ns, and one in a hundred that waits for reclaim: a long tail. */
static void fill_touches(struct run_result *run, uint64_t seed, uint64_t base_ns, uint64_t n)
{
	struct hist *h = must(run_result_add_hist(run, "touch", "ns"));

	for (uint64_t i = 0; i < n; i++) {
		uint64_t ns = base_ns + draw(&seed) % base_ns;

		if (draw(&seed) % 100 == 0)
			ns <<= draw(&seed) % 12;
		if (draw(&seed) % 5000 == 0)
			ns <<= draw(&seed) % 10;
		hist_record(h, ns);
	}
	hist_record(h, 3 * SECOND / 1000 * (base_ns % 97 + 1));
}

static void fill_passes(struct run_result *run, uint64_t seed)
{
	struct hist *h = must(run_result_add_hist(run, "pass_reclaimed", "pages"));
	uint64_t latency = 3 * SECOND;

	for (uint64_t i = 0; i < 4000; i++)
		hist_record(h, draw(&seed) % 8 ? 32 + draw(&seed) % 6 : draw(&seed) % 33);
	for (size_t i = 0; i < 5; i++) {
		run->worst[i] = (struct worst_pass){ .latency_ns = latency,
						     .scanned = 130079 / (i + 1),
						     .reclaimed = 32 + draw(&seed) % 30,
						     .goal = 32,
						     .comm = "usemem" };
		latency = latency * 2 / 3;
	}
	run->nr_worst = 5;
}

static void fill_timeline(struct run_result *run, uint64_t touches, size_t nr)
{
	if (timeline_reserve(&run->timeline, 256))
		abort();
	for (size_t i = 0; i < nr; i++) {
		struct sample s;

		sample_init(&s);
		s.v[SERIES_T_NS] = i * SECOND / 10;
		s.v[SERIES_PROGRESS] = touches * i / nr;
		s.v[SERIES_MEMCG_CURRENT_BYTES] = 16 * MIB - (i % 7) * 4096 * 32;
		/* The first reading of swap failed: a hole in a column. */
		if (i)
			s.v[SERIES_SWAP_FREE_BYTES] = 220 * MIB - (i % 5) * 4096;
		s.v[SERIES_LIMIT_HITS] = i * 2500;
		s.v[SERIES_RECLAIM_PASSES] = i * 2400;
		if (timeline_add(&run->timeline, &s))
			abort();
	}
}

static void fill_metrics(struct run_result *run, uint64_t touches, double seconds)
{
	run->metrics[METRIC_TOUCHES] = value_u64(touches);
	run->metrics[METRIC_TOUCHES_PER_S] = value_real((double)touches / seconds);
	run->metrics[METRIC_MAJOR_FAULTS] = value_u64(touches / 3000);
	run->metrics[METRIC_MINOR_FAULTS] = value_u64(touches / 9000);
	run->metrics[METRIC_OOM_KILLS] = value_u64(0);
	run->metrics[METRIC_LIMIT_HITS] = value_u64((uint64_t)(seconds * 25000));
	run->metrics[METRIC_RECLAIM_PASSES] = value_u64((uint64_t)(seconds * 24000));
	run->metrics[METRIC_RECLAIM_TIME_NS] = value_u64((uint64_t)(seconds * 1.7e9));
	run->metrics[METRIC_PASSES_IN_FLIGHT_PEAK] = value_u64(61);
	run->metrics[METRIC_PAGES_SCANNED] = value_u64((uint64_t)(seconds * 1.9e6));
	run->metrics[METRIC_PAGES_RECLAIMED] = value_u64((uint64_t)(seconds * 8e5));
	run->metrics[METRIC_SCAN_EFFICIENCY] = value_real(8e5 / 1.9e6);
	run->metrics[METRIC_ISOLATION_REACH] = value_real(61 * 32 / 4096.0);
	run->metrics[METRIC_THROTTLED_ISOLATED] = value_u64(0);
	run->metrics[METRIC_MEMCG_PEAK_BYTES] = value_u64(16 * MIB);
	run->metrics[METRIC_LONGEST_STALL_NS] = value_u64(137000000);
}

static void fill_fail(struct result_doc *doc)
{
	struct run_result *run;

	fill_head(doc, fail_argv, ARRAY_SIZE(fail_argv));
	run = must(result_add_run(doc));
	run->verdict = VERDICT_FAIL;
	run->duration_ns = 3217654321;
	(void)snprintf(run->reason, sizeof(run->reason), "%s",
		       "1 task was OOM-killed after 3.2 s while 14.1 MiB of its 16 MiB were "
		       "reclaimable and 212 MiB of swap were free.");
	fill_metrics(run, 246499132, 3.2);
	run->metrics[METRIC_OOM_KILLS] = value_u64(1);
	run->metrics[METRIC_TOUCHES] = value_u64(9007199254740993); /* 2^53 + 1 */
	add_check(run, "no_oom_kill", "count", value_u64(1), value_u64(0), OUTCOME_FAIL,
		  "1 of 1 worker process was OOM-killed");
	add_check(run, "no_oom_event", "count", value_absent(), value_absent(), OUTCOME_SKIP,
		  "cgroup v1 does not count OOM events");
	add_check(run, "progress", "ns", value_u64(137000000), value_u64(5 * SECOND), OUTCOME_PASS,
		  "the longest time without a touch while reclaim went on");
	add_check(run, "workers_die", "count", value_u64(0), value_u64(0), OUTCOME_PASS, "");
	fill_touches(run, 7, 850, 200000);
	fill_passes(run, 11);
	fill_timeline(run, 246499132, 32);
	run_result_note(run, "cgroup v1 has no isolation throttle by design.");
	run_result_note(run,
			"At the kill: usage 15.9 MiB, on the LRU lists 14.1 MiB, swap free 212 MiB "
			"of 256 MiB (sampled 61 ms before).");
	result_conclude(doc);
}

static void fill_pass(struct result_doc *doc)
{
	fill_head(doc, pass_argv, ARRAY_SIZE(pass_argv));
	for (uint64_t i = 0; i < 3; i++) {
		struct run_result *run = must(result_add_run(doc));

		run->verdict = VERDICT_PASS;
		run->duration_ns = 20 * SECOND + i * 1234567;
		(void)snprintf(run->reason, sizeof(run->reason), "%s",
			       "no OOM kill under 500,000 limit hits.");
		fill_metrics(run, 1500000000 + i * 31415926, 20);
		add_check(run, "no_oom_kill", "count", value_u64(0), value_u64(0), OUTCOME_PASS,
			  "");
		add_check(run, "progress", "ns", value_u64(137000000 + i * 1000000),
			  value_u64(5 * SECOND), OUTCOME_PASS,
			  "the longest time without a touch while reclaim went on");
		add_check(run, "scan_efficiency", "ratio", value_real(0.1 * (double)(i + 1)),
			  value_real(0.5), OUTCOME_PASS, "");
		fill_touches(run, 7 + i, 300, 50000);
		fill_timeline(run, 1500000000, 200);
	}
	result_conclude(doc);
}

static void fill_skip(struct result_doc *doc)
{
	fill_head(doc, fail_argv, ARRAY_SIZE(fail_argv));
	doc->verdict = VERDICT_SKIP;
	(void)snprintf(doc->reason, sizeof(doc->reason), "%s",
		       "needs CAP_SYS_ADMIN for swapon (no swap is active).");
	doc->host.nr_swap = 0;
	doc->host.swappiness = value_absent();
	doc->host.node_inactive_anon_pages = value_absent();
	doc->host.probe[0] = '\0';
}

static void fill_error(struct result_doc *doc)
{
	struct run_result *run;

	fill_head(doc, odd_argv, ARRAY_SIZE(odd_argv));
	run = must(result_add_run(doc));
	run->verdict = VERDICT_ERROR;
	run->duration_ns = 12345;
	/* Everything that a dialect could trip over. */
	(void)snprintf(
		run->reason, sizeof(run->reason), "%s",
		"cannot write memory.limit_in_bytes # 1: TFAIL, \"TPASS\"\n<b>\x1b[31m caf\xc3\xa9 "
		"\xff\xed\xa0\x80.");
	add_check(run, "no_oom_kill", "count", value_u64(0), value_u64(0), OUTCOME_PASS, "");
	must(run_result_add_hist(run, "touch", "ns"));
	result_conclude(doc);
}

static void fill_inconclusive(struct result_doc *doc)
{
	struct run_result *run;

	fill_head(doc, pass_argv, ARRAY_SIZE(pass_argv));
	run = must(result_add_run(doc));
	run->verdict = VERDICT_INCONCLUSIVE;
	run->duration_ns = 20 * SECOND;
	(void)snprintf(run->reason, sizeof(run->reason), "%s",
		       "the pressure was not reached: 12 limit hits, 100 are needed.");
	fill_metrics(run, 1600000, 20);
	run->metrics[METRIC_LIMIT_HITS] = value_u64(12);
	add_check(run, "no_oom_kill", "count", value_u64(0), value_u64(0), OUTCOME_PASS, "");
	fill_touches(run, 5, 200, 1000);
	hist_record(run->hists[0].hist, 1ULL << 41); /* 37 minutes: above what has a bucket */
	result_conclude(doc);
}

static void fill_mixed(struct result_doc *doc)
{
	static const enum verdict verdicts[] = { VERDICT_FAIL, VERDICT_PASS, VERDICT_ERROR,
						 VERDICT_INCONCLUSIVE };
	static const char *const reasons[] = {
		"1 task was OOM-killed after 3.2 s.", "no OOM kill under 500,000 limit hits.",
		"a worker ended with \"mmap: Cannot allocate memory\".",
		"12 limit hits, 100 are needed."
	};

	fill_head(doc, pass_argv, ARRAY_SIZE(pass_argv));
	for (uint64_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		struct run_result *run = must(result_add_run(doc));
		bool failed = verdicts[i] == VERDICT_FAIL;

		run->verdict = verdicts[i];
		run->duration_ns = (i + 3) * SECOND;
		(void)snprintf(run->reason, sizeof(run->reason), "%s", reasons[i]);
		if (verdicts[i] == VERDICT_ERROR)
			continue;
		fill_metrics(run, 1000000000 + i, (double)i + 3);
		add_check(run, "no_oom_kill", "count", value_u64(failed), value_u64(0),
			  failed ? OUTCOME_FAIL : OUTCOME_PASS, reasons[i]);
		fill_touches(run, 3 + i, 400, 3000);
		fill_passes(run, 3 + i);
		run_result_note(run, "This is run %u.", (unsigned int)i + 1);
	}
	result_conclude(doc);
}

const struct sample_document sample_documents[] = {
	{ "fail", "one run, OOM-killed", fill_fail },
	{ "pass", "three runs without a failure", fill_pass },
	{ "skip", "nothing could be run", fill_skip },
	{ "error", "Squeeze broke; hostile texts", fill_error },
	{ "inconclusive", "one run without proof of pressure", fill_inconclusive },
	{ "mixed", "four runs of four verdicts", fill_mixed },
};
const size_t sample_documents_nr = ARRAY_SIZE(sample_documents);

const struct sample_document *sample_document_find(const char *name)
{
	for (size_t i = 0; i < sample_documents_nr; i++) {
		if (strcmp(sample_documents[i].name, name) == 0)
			return &sample_documents[i];
	}
	return NULL;
}
