/* SPDX-License-Identifier: GPL-2.0-only */
#include "suite.h"

#include <string.h>

#include "cleanup.h"

const char *const suite_names[SUITE_NR] = { "quick", "full" };

#define NEEDS_MEMCG_SWAP "a memory cgroup, rights to make swap"
#define NEEDS_MEMCG_DISK "a memory cgroup, 1 to 4 GiB of disk"
#define NEEDS_MEMCG "a memory cgroup"

const struct suite_entry suite_table[] = {
	{ .name = "over-isolation",
	  .suite = SUITE_QUICK,
	  .tool = "usemem",
	  .args = { "--scenario", "over-isolation", "--threads", "192", "--time", "20s" },
	  .seconds = 22,
	  .needs = NEEDS_MEMCG_SWAP,
	  .summary = "192 threads isolate everything; the memcg OOM-kills" },
	{ .name = "over-isolation-control",
	  .suite = SUITE_QUICK,
	  .tool = "usemem",
	  .args = { "--scenario", "over-isolation", "--threads", "4", "--time", "10s" },
	  .seconds = 12,
	  .needs = NEEDS_MEMCG_SWAP,
	  .summary = "the same with 4 threads: must survive" },
	{ .name = "no-progress",
	  .suite = SUITE_QUICK,
	  .tool = "usemem",
	  .args = { "--scenario", "no-progress", "--time", "5s" },
	  .seconds = 20,
	  .needs = NEEDS_MEMCG_SWAP,
	  .summary = "reclaim sleeps without progress; tasks cannot be killed" },
	{ .name = "readahead-livelock",
	  .suite = SUITE_QUICK,
	  .tool = "mmapread",
	  .args = { "--scenario", "readahead-livelock", "--procs", "104", "--memcg", "256M",
		    "--time", "10s" },
	  .seconds = 25,
	  .needs = NEEDS_MEMCG_DISK,
	  .summary = "each readahead folio runs a reclaim pass; readers livelock" },
	{ .name = "build-pod",
	  .suite = SUITE_QUICK,
	  .tool = "ccstorm",
	  .args = { "--scenario", "build-pod", "--time", "20s" },
	  .seconds = 30,
	  .needs = NEEDS_MEMCG,
	  .summary = "a compile storm in one limited memcg" },
	{ .name = "soft-limit",
	  .suite = SUITE_QUICK,
	  .tool = "ccstorm",
	  .args = { "--scenario", "soft-limit", "--case", "siblings", "--time", "10s" },
	  .seconds = 30,
	  .needs = "a cgroup v2 memory controller",
	  .summary = "reclaim takes from the group that should be spared" },
	{ .name = "over-scan",
	  .suite = SUITE_QUICK,
	  .tool = "ccstorm",
	  .args = { "--scenario", "over-scan", "--time", "10s" },
	  .seconds = 15,
	  .needs = "a small virtual machine and the BPF probe",
	  .summary = "one reclaim pass frees far beyond its goal" },

	{ .name = "over-isolation",
	  .suite = SUITE_FULL,
	  .tool = "usemem",
	  .args = { "--scenario", "over-isolation", "--threads", "192", "--time", "60s" },
	  .seconds = 62,
	  .needs = NEEDS_MEMCG_SWAP,
	  .summary = "192 threads isolate everything; the memcg OOM-kills" },
	{ .name = "over-isolation-64",
	  .suite = SUITE_FULL,
	  .tool = "usemem",
	  .args = { "--scenario", "over-isolation", "--threads", "64", "--time", "60s" },
	  .seconds = 62,
	  .needs = NEEDS_MEMCG_SWAP,
	  .summary = "64 threads: neither of the document's kernels kills here" },
	{ .name = "over-isolation-control",
	  .suite = SUITE_FULL,
	  .tool = "usemem",
	  .args = { "--scenario", "over-isolation", "--threads", "4", "--time", "20s" },
	  .seconds = 22,
	  .needs = NEEDS_MEMCG_SWAP,
	  .summary = "the same with 4 threads: must survive" },
	{ .name = "no-progress",
	  .suite = SUITE_FULL,
	  .tool = "usemem",
	  .args = { "--scenario", "no-progress" },
	  .seconds = 60,
	  .needs = NEEDS_MEMCG_SWAP,
	  .summary = "reclaim sleeps without progress; tasks cannot be killed" },
	{ .name = "readahead-livelock",
	  .suite = SUITE_FULL,
	  .tool = "mmapread",
	  .args = { "--scenario", "readahead-livelock", "--procs", "104", "--memcg", "1G", "--time",
		    "60s" },
	  .seconds = 120,
	  .needs = NEEDS_MEMCG_DISK,
	  .summary = "each readahead folio runs a reclaim pass; readers livelock" },
	{ .name = "readahead-control",
	  .suite = SUITE_FULL,
	  .tool = "mmapread",
	  .args = { "--scenario", "readahead-livelock", "--procs", "104", "--memcg", "256M",
		    "--advice", "random", "--time", "20s" },
	  .seconds = 40,
	  .needs = NEEDS_MEMCG_DISK,
	  .summary = "the same with random advice: one pass a window is right" },
	{ .name = "build-pod",
	  .suite = SUITE_FULL,
	  .tool = "ccstorm",
	  .args = { "--scenario", "build-pod", "--time", "10m" },
	  .seconds = 620,
	  .needs = NEEDS_MEMCG,
	  .summary = "a compile storm in one limited memcg" },
	{ .name = "soft-limit",
	  .suite = SUITE_FULL,
	  .tool = "ccstorm",
	  .args = { "--scenario", "soft-limit", "--case", "siblings" },
	  .seconds = 60,
	  .needs = "a cgroup v2 memory controller",
	  .summary = "reclaim takes from the group that should be spared" },
	{ .name = "soft-limit-stream-eater",
	  .suite = SUITE_FULL,
	  .tool = "ccstorm",
	  .args = { "--scenario", "soft-limit", "--case", "stream-eater" },
	  .seconds = 120,
	  .needs = "a cgroup v2 memory controller",
	  .summary = "the document's second test: a stream beside a memory eater" },
	{ .name = "over-scan",
	  .suite = SUITE_FULL,
	  .tool = "ccstorm",
	  .args = { "--scenario", "over-scan", "--pressure", "global" },
	  .seconds = 120,
	  .needs = "a small virtual machine and the BPF probe",
	  .summary = "one reclaim pass frees far beyond its goal" },
};
const size_t suite_table_nr = ARRAY_SIZE(suite_table);

const struct suite_entry *suite_find(enum suite suite, const char *name)
{
	for (size_t i = 0; i < suite_table_nr; i++) {
		if (suite_table[i].suite == suite && !strcmp(suite_table[i].name, name))
			return &suite_table[i];
	}
	return NULL;
}

enum suite suite_parse(const char *name)
{
	enum suite s = SUITE_QUICK;

	while (s < SUITE_NR && strcmp(suite_names[s], name) != 0)
		s++;
	return s;
}
