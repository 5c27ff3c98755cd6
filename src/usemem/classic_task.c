/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of one task: allocate, access, say how fast, sleep, free. */
#include "classic.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "classic_access.h"
#include "cleanup.h"

#define LINE_SIZE 128
#define NS_PER_S 1000000000ULL
/* Between two looks at the clock, as in the original; well under a millisecond without faults. */
#define ACCESSES_AT_ONCE 65536
/* pthread's default would be 8 MiB of address space each; nothing here is deep. */
#define STACK_BYTES (64u << 10)
/* 2^64 / golden ratio: seeds that follow each other give unrelated sequences. */
#define GOLDEN 0x9E3779B97F4A7C15ULL

struct unit {
	void *base;
	uint64_t bytes;
};

/* One that waits at the gates: a thread, or the process itself. */
struct slot {
	const struct classic_setup *s;
	unsigned int task;
	unsigned int index; /* among all slots of all tasks */
	uint64_t random_state;
	uint64_t bytes_done; /* as the original counts: an allocation is an eighth of its size */
	struct unit units[CLASSIC_UNITS_KEPT];
	uint64_t nr_units; /* may exceed what is kept */
	pthread_t thread;
	int r;
};

static int refuse(const struct slot *slot, const char *what)
{
	int err = errno;

	progress_fail(slot->s->progress, "%s: %s", what, strerror(err));
	return -err;
}

bool classic_say(const struct classic_setup *s, const char *text)
{
	size_t len = strlen(text);
	ssize_t n = write(s->out_fd, text, len);

	if (n == (ssize_t)len)
		return true;
	progress_fail(s->progress, "standard output: %s",
		      n < 0 ? strerror(errno) : "a line was cut short");
	return false;
}

void *classic_allocate(const struct classic_setup *s, uint64_t bytes)
{
	const struct classic_options *o = s->o;
	int protection = PROT_READ | (o->readonly && !o->open_rw ? 0 : PROT_WRITE);
	int flags = (o->file ? MAP_SHARED : MAP_PRIVATE) | (o->prefault ? MAP_POPULATE : 0);
	void *p;

	if (o->heap)
		return malloc(bytes);
	if (s->file_fd < 0)
		flags |= MAP_ANONYMOUS;
	p = mmap(NULL, bytes, protection, flags, s->file_fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

static bool runtime_is_over(const struct classic_setup *s)
{
	return s->o->runtime_ns && clock_now_ns() - s->start_ns > s->o->runtime_ns;
}

/* Says that we are there, and sleeps until the root closes the pipe. */
static int wait_at(const struct slot *slot, enum classic_gate gate)
{
	const struct classic_arrival message = { .task = slot->task, .gate = gate };
	char byte;

	/* Shorter than PIPE_BUF: whole or not at all. */
	if (write(slot->s->arrivals_fd, &message, sizeof(message)) != sizeof(message))
		return refuse(slot, "waiting for the other tasks");
	while (read(slot->s->gate_fds[gate], &byte, 1) < 0 && errno == EINTR)
		;
	return 0;
}

static void count(const struct slot *slot, uint64_t accesses)
{
	struct progress_slot *p = &slot->s->progress->slots[slot->index];

	(void)atomic_fetch_add_explicit(&p->done, accesses, memory_order_relaxed);
}

static int access_once(struct slot *slot, struct access_pass *pass)
{
	uint64_t n;

	do {
		n = access_some(pass, ACCESSES_AT_ONCE);
		count(slot, n);
		slot->bytes_done += n * sizeof(uint64_t);
	} while (n == ACCESSES_AT_ONCE && !runtime_is_over(slot->s));
	if (pass->wrong == UINT64_MAX)
		return 0;
	progress_fail(slot->s->progress,
		      "wrong data at offset 0x%" PRIx64 ": 0x%" PRIx64 " expected, 0x%" PRIx64
		      " found",
		      pass->wrong * sizeof(uint64_t), pass->wrong, pass->words[pass->wrong]);
	return -EIO;
}

static int access_repeatedly(struct slot *slot, void *base, uint64_t bytes)
{
	const struct classic_options *o = slot->s->o;
	struct access_pass pass = {
		.words = base,
		.nr_words = bytes / sizeof(uint64_t),
		.step_words = o->step_bytes < sizeof(uint64_t) ? 1
							       : o->step_bytes / sizeof(uint64_t),
		.random = o->random,
		.readonly = o->readonly,
		.random_state = slot->random_state,
	};
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < o->repeat; i++) {
		if (i > 0 && runtime_is_over(slot->s))
			break;
		if (i > 0 && !o->quiet && !classic_say(slot->s, "."))
			return -EIO;
		access_begin(&pass, i > 0);
		r = access_once(slot, &pass);
		if (r == 0 && o->msync && msync(base, bytes, MS_SYNC) < 0)
			r = refuse(slot, "msync");
	}
	slot->random_state = pass.random_state;
	return r;
}

static int access_unit(struct slot *slot, uint64_t bytes)
{
	const struct classic_setup *s = slot->s;
	void *base = s->prealloc;

	if (!base && bytes) {
		base = classic_allocate(s, bytes);
		if (!base)
			return refuse(slot, "allocating memory");
		slot->bytes_done += bytes / 8;
		if (slot->nr_units < CLASSIC_UNITS_KEPT)
			slot->units[slot->nr_units] = (struct unit){ base, bytes };
	}
	slot->nr_units++;
	if (s->o->sync_rw) {
		int r = wait_at(slot, GATE_START);

		if (r < 0)
			return r;
	}
	return base ? access_repeatedly(slot, base, bytes) : 0;
}

static int access_all(struct slot *slot)
{
	const struct classic_options *o = slot->s->o;
	uint64_t left = o->size_bytes, unit = o->unit_bytes ? o->unit_bytes : left;
	char line[LINE_SIZE];
	int r;

	do {
		uint64_t bytes = left < unit ? left : unit;

		r = access_unit(slot, bytes);
		left -= bytes;
	} while (r == 0 && left && !runtime_is_over(slot->s));
	if (r < 0 || !slot->bytes_done)
		return r;
	classic_line_speed(line, sizeof(line), slot->bytes_done,
			   clock_now_ns() - slot->s->start_ns);
	return classic_say(slot->s, line) ? 0 : -EIO;
}

static int lock_all(const struct slot *slot)
{
	const struct classic_setup *s = slot->s;

	if (s->prealloc)
		return mlock(s->prealloc, s->o->size_bytes) < 0 ? refuse(slot, "mlock") : 0;
	for (uint64_t i = 0; i < slot->nr_units && i < CLASSIC_UNITS_KEPT; i++)
		if (mlock(slot->units[i].base, slot->units[i].bytes) < 0)
			return refuse(slot, "mlock");
	return 0;
}

static void doze(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };

	if (ns == CLASSIC_SLEEP_FOREVER)
		for (;;)
			(void)pause();
	while (ns && nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static int free_all(const struct slot *slot)
{
	uint64_t began_ns = clock_now_ns();
	char line[LINE_SIZE];

	for (uint64_t i = 0; i < slot->nr_units; i++) {
		const struct unit *u = &slot->units[i];

		if (slot->s->o->heap)
			free(u->base);
		else if (u->base)
			(void)munmap(u->base, u->bytes);
	}
	classic_line_free(line, sizeof(line), clock_now_ns() - began_ns);
	return classic_say(slot->s, line) ? 0 : -EIO;
}

static int live(struct slot *slot)
{
	const struct classic_options *o = slot->s->o;
	int r = o->sync_rw ? 0 : wait_at(slot, GATE_START);

	if (r == 0)
		r = access_all(slot);
	if (r == 0 && o->lock)
		r = lock_all(slot);
	if (r < 0)
		return r;
	doze(o->sleep_ns);
	if (o->sync_free)
		r = wait_at(slot, GATE_FREE);
	if (r == 0 && !slot->s->prealloc && slot->nr_units <= CLASSIC_UNITS_KEPT)
		r = free_all(slot);
	return r;
}

static int bind_slot(const struct slot *slot)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (!slot->s->o->bind || cpus < 1)
		return 0;
	CPU_ZERO(&set);
	CPU_SET((size_t)((uint64_t)slot->index * slot->s->o->bind % (uint64_t)cpus), &set);
	/* 0: the calling thread. */
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? refuse(slot, "binding to a CPU") : 0;
}

static void *thread_main(void *arg)
{
	struct slot *slot = arg;

	slot->r = bind_slot(slot);
	if (slot->r == 0)
		slot->r = live(slot);
	/* The others of this process may wait at a gate for one that will never come. */
	if (slot->r < 0)
		_exit(1);
	return NULL;
}

static void init_slot(struct slot *slot, const struct classic_setup *s, unsigned int task,
		      unsigned int nr)
{
	unsigned int index = task * (s->o->threads ? s->o->threads : 1) + nr;

	*slot = (struct slot){
		.s = s,
		.task = task,
		.index = index,
		.random_state = (s->seed + index + 1) * GOLDEN | 1,
		.bytes_done = s->prealloc ? s->o->size_bytes / 8 : 0,
	};
}

static int run_threads(const struct classic_setup *s, unsigned int task)
{
	_cleanup_free_ struct slot *slots = calloc(s->o->threads, sizeof(*slots));
	pthread_attr_t attr;
	int r = 0;

	if (!slots) {
		progress_fail(s->progress, "%u threads: %s", s->o->threads, strerror(ENOMEM));
		return -ENOMEM;
	}
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (unsigned int i = 0; r == 0 && i < s->o->threads; i++) {
		init_slot(&slots[i], s, task, i);
		r = -pthread_create(&slots[i].thread, &attr, thread_main, &slots[i]);
	}
	(void)pthread_attr_destroy(&attr);
	if (r < 0) {
		/* Its siblings are at the gate; the end of the process ends them. */
		progress_fail(s->progress, "thread of task %u: %s", task, strerror(-r));
		return r;
	}
	for (unsigned int i = 0; i < s->o->threads; i++)
		(void)pthread_join(slots[i].thread, NULL);
	return 0;
}

int classic_task(const struct classic_setup *s, unsigned int task)
{
	struct slot slot;

	if (s->o->threads)
		return run_threads(s, task);
	init_slot(&slot, s, task, 0);
	slot.r = bind_slot(&slot);
	return slot.r < 0 ? slot.r : live(&slot);
}
