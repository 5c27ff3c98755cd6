/* SPDX-License-Identifier: GPL-2.0-only */
#include "stage.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
/* progress_stop() wakes nobody here: how late it may be seen. */
#define LOOK_NS 50000000ULL

int stage_create(struct stage **ret, struct fail *f)
{
	void *p = mmap(NULL, sizeof(struct stage), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		return fail_set(f, errno, "shared memory");
	*ret = p;
	return 0;
}

void stage_destroy(struct stage *s)
{
	if (s)
		(void)munmap(s, sizeof(*s));
}

void stage_reset(struct stage *s)
{
	memset(s, 0, sizeof(*s));
}

void stage_cue(struct stage *s, unsigned int actor, enum cue cue)
{
	struct actor *a = &s->actors[actor];

	atomic_store(&a->leave, cue == CUE_LEAVE);
	atomic_store(&a->cue, (uint32_t)cue);
	(void)syscall(SYS_futex, &a->cue, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

enum part stage_part(const struct stage *s, unsigned int actor)
{
	return (enum part)atomic_load(&s->actors[actor].part);
}

void stage_say(struct stage *s, unsigned int actor, enum part part)
{
	atomic_store(&s->actors[actor].part, (uint32_t)part);
}

static void sleep_at(const struct actor *a, uint32_t cue, uint64_t ns)
{
	const struct timespec ts = { .tv_sec = (time_t)(ns / NS_PER_S),
				     .tv_nsec = (long)(ns % NS_PER_S) };

	(void)syscall(SYS_futex, &a->cue, FUTEX_WAIT, cue, &ts, NULL, 0);
}

bool stage_left(const struct stage *s, unsigned int actor, const struct progress *p)
{
	return progress_stopped(p) || atomic_load(&s->actors[actor].cue) == CUE_LEAVE;
}

bool stage_wait_begin(struct stage *s, unsigned int actor, const struct progress *p)
{
	const struct actor *a = &s->actors[actor];

	while (atomic_load(&a->cue) == CUE_WAIT && !progress_stopped(p))
		sleep_at(a, CUE_WAIT, LOOK_NS);
	return !stage_left(s, actor, p);
}

void stage_rest(struct stage *s, unsigned int actor, uint64_t ns)
{
	if (atomic_load(&s->actors[actor].cue) == CUE_BEGIN)
		sleep_at(&s->actors[actor], CUE_BEGIN, ns);
}
