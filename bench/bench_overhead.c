/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a worker thread costs the memcg besides its set: memory.stat of a group with 32 and with 192
 * threads at the barrier, the difference by thread. Anonymous memory is ours (budget 12 KiB,
 * design.md, section 8), the rest is the kernel's own. Exit 4 where no memcg can be made.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "cgroup.h"
#include "kfile.h"
#include "progress.h"
#include "worker.h"

#define FEW 32
#define MANY 192
#define LIMIT (64ULL << 20)

static void wait_body(const struct worker *w, size_t slot)
{
	(void)progress_wait_start(w->progress, slot);
}

static int measure(struct arena *a, const struct cgroup_host *host, const char *memory,
		   const char *unified, unsigned int threads, uint64_t *ret_anon,
		   uint64_t *ret_usage, struct fail *f)
{
	unsigned int mark = arena_mark(a);
	struct cgroup cg = CGROUP_CLOSED;
	struct progress p;
	struct memstat st;
	uint64_t in_force;
	int pidfd = -1, r = arena_make_cgroup(a, memory, unified, f);
	pid_t pid;

	if (r == 0)
		r = cgroup_open(host, memory, unified, &cg, f);
	if (r == 0)
		r = cgroup_set_limit(&cg, LIMIT, &in_force, f);
	if (r == 0)
		r = progress_create(threads, 1, &p);
	if (r < 0)
		return r;
	pid = cgroup_fork(&cg, &pidfd, f);
	if (pid == 0) {
		struct worker w = { .progress = &p, .threads = threads };

		_exit(worker_run_threads(&w, wait_body) < 0);
	}
	for (unsigned int ready; pid > 0 && (ready = progress_ready(&p)) < threads;)
		progress_wait_ready_change(&p, ready, 1000000000ULL);
	r = cgroup_memstat(&cg, &st);
	if (r == 0)
		r = cgroup_read_u64(&cg, "memory.current", ret_usage);
	*ret_anon = st.anon_bytes;
	progress_stop(&p);
	(void)waitpid(pid, NULL, 0);
	(void)close(pidfd);
	cgroup_close(&cg);
	progress_destroy(&p);
	return arena_undo_to(a, mark, f) < 0 ? -EBUSY : r;
}

int main(void)
{
	static struct cgroup_host host;
	static char parent[PATH_MAX], parent2[PATH_MAX], memory[PATH_MAX + 64],
		unified[PATH_MAX + 64];
	struct arena *a = NULL;
	struct fail f = { 0 };
	uint64_t anon[2] = { 0 }, usage[2] = { 0 };
	double per_thread, all;
	int r = cgroup_discover(&host, &f);

	if (r == 0)
		r = cgroup_choose_parent(&host, NULL, parent, parent2, &f);
	if (r == 0)
		r = arena_open("bench", &a, &f);
	if (r < 0) {
		printf("skipped: %s\n", f.what);
		return 4;
	}
	(void)snprintf(memory, sizeof(memory), "%s/%s", parent, arena_name(a));
	unified[0] = '\0';
	if (parent2[0])
		(void)snprintf(unified, sizeof(unified), "%s/%s", parent2, arena_name(a));
	for (int i = 0; r == 0 && i < 2; i++)
		r = measure(a, &host, memory, unified, i ? MANY : FEW, &anon[i], &usage[i], &f);
	(void)arena_close(a, 10000000000ULL, NULL);
	if (r < 0) {
		fprintf(stderr, "bench_overhead: %s\n", f.what[0] ? f.what : strerror(-r));
		return 1;
	}
	per_thread = (double)(anon[1] - anon[0]) / (MANY - FEW) / 1024;
	all = (double)(usage[1] - usage[0]) / (MANY - FEW) / 1024;
	printf("charged by a worker thread, KiB         %5.1f   budget <= 12\n", per_thread);
	printf("  with the kernel's own, KiB            %5.1f   the plan assumes %.0f\n", all,
	       (double)worker_thread_overhead_bytes((uint64_t)sysconf(_SC_PAGESIZE)) / 1024);
	return per_thread <= 12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
