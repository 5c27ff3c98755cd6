/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The classic scenario: the command lines of vm-scalability's usemem, `usemem [options] SIZE`, with
 * the same meaning and the same lines on standard output, which LKP parses.
 *
 * Processes. The original's main process is a child of ours here, the root task: it opens the file,
 * allocates what --prealloc wants, forks the tasks and opens the gates at which they wait for each
 * other. The tool stays outside (of the memcg too) and learns of every task's end through a pipe.
 *
 *   tool ── root task ── task 0 (threads) … task n-1
 *
 * Gates. A task says over a pipe that it is at a gate; the root opens a gate, by closing a pipe, as
 * soon as everybody who is still alive has come. A task that is killed is no longer waited for, which
 * is where the original hangs. Whoever loses its parent is killed by the kernel.
 *
 * Output is written by the tasks, a line in one write(2). What the original does besides and this one
 * does not have is in the manual page.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fail.h"
#include "progress.h"

#define CLASSIC_SLEEP_FOREVER UINT64_MAX
/* Chunks (--unit) of which a task knows the address, as in the original: more are freed by its end. */
#define CLASSIC_UNITS_KEPT 32

struct argp;

/* As on the command line; sizes in bytes, times in ns. */
struct classic_options {
	bool given; /* any of them, or SIZE */
	bool has_size;
	uint64_t size_bytes;
	unsigned int procs;   /* -n */
	unsigned int threads; /* -t; 0: the process itself does the work */
	unsigned int bind;    /* -b; 0: not bound */
	unsigned int repeat;  /* -r */
	const char *file;     /* -f; NULL: private memory */
	uint64_t unit_bytes;  /* -u; 0: all at once */
	uint64_t step_bytes;  /* -j */
	uint64_t sleep_ns;    /* -s */
	uint64_t runtime_ns;  /* -T; 0: not limited */
	bool heap;	      /* -a */
	bool prefault;	      /* -F */
	bool prealloc;	      /* -P */
	bool readonly;	      /* -o */
	bool open_rw;	      /* -w */
	bool random;	      /* -R */
	bool lock;	      /* -M */
	bool anonymous;	      /* -O */
	bool msync;	      /* -S */
	bool sync_rw;	      /* -y */
	bool sync_free;	      /* -x */
	bool quiet;	      /* -q: no dots */
	bool init_time;
};

extern const struct argp classic_argp; /* its input is a struct classic_options */
void classic_options_init(struct classic_options *o);
/* Whether the options make sense together, with the number of CPUs that are online. 0 or -EINVAL. */
int classic_check(const struct classic_options *o, unsigned int cpus, struct fail *f);
/* For the other scenarios: -EINVAL when any option of this one was given. */
int classic_refuse(const struct classic_options *o, struct fail *f);
/* Tasks that wait at a gate: all threads, or one a process. */
unsigned int classic_slots(const struct classic_options *o);
/* Memory that all of them together fill and that reclaim cannot just drop: none for what is only
 * read, or is written back to the file it came from. Saturates at UINT64_MAX. */
uint64_t classic_memory_bytes(const struct classic_options *o);

enum classic_gate { GATE_START, GATE_FREE, GATE_COUNT };

/* What a task is born with; the same for all of them. */
struct classic_setup {
	const struct classic_options *o;
	struct progress *progress;
	uint64_t seed;
	uint64_t start_ns; /* what "usecs" count from */
	int out_fd;	   /* where the lines go */
	int file_fd;	   /* -1: none */
	void *prealloc;	   /* NULL: none */
	int arrivals_fd;   /* writes struct classic_arrival */
	int gate_fds[GATE_COUNT];
};

/* A task's message to the root: one more of task @task is at @gate. */
struct classic_arrival {
	uint32_t task;
	uint32_t gate;
};

/* The root's message to the tool: task @task has ended, @status as wait(2). */
struct classic_end {
	uint32_t task;
	int32_t pid;
	int32_t status;
};

/* The life of one task process. 0 or -errno (after progress_fail()). */
int classic_task(const struct classic_setup *s, unsigned int task);
/* Memory as the options say: of malloc(), of the file, or anonymous. NULL and errno. */
void *classic_allocate(const struct classic_setup *s, uint64_t bytes);
/* Writes all of @text to the output at once; false (after progress_fail()) when it did not arrive. */
bool classic_say(const struct classic_setup *s, const char *text);
