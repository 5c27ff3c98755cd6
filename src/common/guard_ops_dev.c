/* SPDX-License-Identifier: GPL-2.0-only */
/* Things that are block devices, and the swap on them. */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blockdev.h"
#include "cleanup.h"
#include "kfile.h"
#include "parse.h"
#include "proctext.h"
#include "subproc.h"

/* mkswap writes two pages; on a slow dm-delay each takes a delay. */
#define MKSWAP_NS 60000000000U

/* Somebody else may take the free loop device between asking and attaching. */
#define LOOP_TRIES 16

static int number_of(const struct thing *t, unsigned int *ret)
{
	uint64_t nr;

	if (parse_u64(t->args[0], &nr) || nr > INT_MAX)
		return -EINVAL;
	*ret = (unsigned int)nr;
	return 0;
}

static int attach_some(struct guard *g, struct thing *t, const char *file, struct fail *f)
{
	char number[16];
	int nr, fd = -EBUSY;

	for (int try = 0; try < LOOP_TRIES && fd == -EBUSY; try++) {
		nr = loop_get_free(f);
		if (nr < 0)
			return nr;
		(void)snprintf(number, sizeof(number), "%d", nr);
		if (thing_set_arg(t, 0, number))
			return fail_set(f, ENOMEM, "loop");
		if (guard_note(g, t, THING_INTENT, f))
			return -f->err;
		fd = loop_attach((unsigned int)nr, file, f);
	}
	return fd;
}

static int make_loop(struct guard *g, const char *const args[REQUEST_ARGS],
		     char ret_value[PATH_MAX], struct fail *f)
{
	char file[PATH_MAX];
	/* No device has this number; the log gets the right one before it is attached. */
	const char *const thing_args[THING_ARGS] = { "-", file };
	_cleanup_close_ int lock = -1;
	struct thing *t;
	int fd;

	/* As the kernel will show it. */
	if (!realpath(args[0], file))
		return fail_set(f, errno, "%s", args[0]);
	lock = guard_run_lock(g->run_dir, f);
	if (lock < 0)
		return lock;
	t = guard_intend(g, THING_LOOP, thing_args, f);
	if (!t)
		return -f->err;
	fd = attach_some(g, t, file, f);
	if (fd < 0)
		return fd;
	/* Autoclear ends the device at the last close: hold it until it is undone. */
	t->kept_fd = fd;
	(void)snprintf(ret_value, PATH_MAX, "/dev/loop%s", t->args[0]);
	return guard_note(g, t, THING_MADE, f);
}

static int undo_loop(struct guard *g, struct thing *t, struct fail *f)
{
	unsigned int nr;
	int r;

	(void)g;
	cleanup_closep(&t->kept_fd);
	t->kept_fd = -1;
	if (number_of(t, &nr))
		return 0;
	r = loop_detach(nr, t->args[1]);
	return r ? fail_set(f, -r, "detaching /dev/loop%u", nr) : 0;
}

static int note_zram_number(struct guard *g, struct thing *t, int nr, struct fail *f)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "%d", nr);
	if (thing_set_arg(t, 0, number))
		return fail_set(f, ENOMEM, "zram");
	return guard_note(g, t, THING_INTENT, f);
}

static int make_zram(struct guard *g, const char *const args[REQUEST_ARGS],
		     char ret_value[PATH_MAX], struct fail *f)
{
	_cleanup_close_ int lock = guard_run_lock(g->run_dir, f);
	char number[16];
	const char *thing_args[THING_ARGS] = { number, NULL, args[0] };
	struct thing *t;
	uint64_t bytes;
	bool reuse;
	int nr;

	if (lock < 0)
		return lock;
	if (parse_u64(args[0], &bytes) || !bytes)
		return fail_set(f, EINVAL, "size of the zram device");
	nr = zram_choose(&reuse, f);
	if (nr < 0)
		return nr;
	(void)snprintf(number, sizeof(number), "%d", nr);
	thing_args[1] = reuse ? "reuse" : "hot";
	t = guard_intend(g, THING_ZRAM, thing_args, f);
	if (!t)
		return -f->err;
	if (!reuse)
		nr = zram_hot_add(f);
	if (nr < 0) {
		(void)guard_note(g, t, THING_GONE, NULL);
		return nr;
	}
	if (note_zram_number(g, t, nr, f) || zram_set_size((unsigned int)nr, bytes, f))
		return -f->err;
	(void)snprintf(ret_value, PATH_MAX, "/dev/zram%d", nr);
	return guard_note(g, t, THING_MADE, f);
}

/* A device of another size has another owner by now. The kernel rounds up to pages. */
static bool zram_is_ours(const struct thing *t, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), wanted;

	if (parse_u64(t->args[2], &wanted))
		return false;
	return !bytes || bytes == (wanted + page - 1) / page * page;
}

static int undo_zram(struct guard *g, struct thing *t, struct fail *f)
{
	uint64_t bytes;
	unsigned int nr;
	int r;

	(void)g;
	if (number_of(t, &nr) || zram_size(nr, &bytes) || !zram_is_ours(t, bytes))
		return 0;
	if (bytes) {
		r = zram_reset(nr);
		if (r)
			return fail_set(f, -r, "resetting zram%u", nr);
	}
	if (strcmp(t->args[1], "hot") != 0)
		return 0;
	r = zram_hot_remove(nr);
	return r && r != -ENODEV ? fail_set(f, -r, "removing zram%u", nr) : 0;
}

static int make_delay(struct guard *g, const char *const args[REQUEST_ARGS],
		      char ret_value[PATH_MAX], struct fail *f)
{
	const char *lower = args[0], *name = args[1];
	const char *const thing_args[THING_ARGS] = { name };
	struct thing *t;
	uint64_t delay_ms;
	int r;

	if (parse_u64(args[2], &delay_ms) || delay_ms > INT_MAX)
		return fail_set(f, EINVAL, "delay of %s", name);
	t = guard_intend(g, THING_DELAY, thing_args, f);
	if (!t)
		return -f->err;
	r = delay_create(name, lower, (unsigned int)delay_ms, ret_value, f);
	if (r == -EEXIST)
		(void)guard_note(g, t, THING_GONE, NULL);
	if (r)
		return r;
	if (thing_set_arg(t, 1, ret_value))
		return fail_set(f, ENOMEM, "%s", name);
	return guard_note(g, t, THING_MADE, f);
}

static int undo_delay(struct guard *g, struct thing *t, struct fail *f)
{
	(void)g;
	return delay_remove(t->args[0], f);
}

/* mkswap destroys what is on a device: only what this run has made. */
static bool made_here(const struct guard *g, const char *dev)
{
	for (size_t i = 0; i < g->stack.nr; i++) {
		const struct thing *t = &g->stack.things[i];
		char path[64];

		if (t->state != THING_MADE)
			continue;
		if (t->kind == THING_DELAY && !strcmp(dev, t->args[1]))
			return true;
		if (t->kind != THING_LOOP && t->kind != THING_ZRAM)
			continue;
		(void)snprintf(path, sizeof(path), "/dev/%s%.32s", thing_kind_name(t->kind),
			       t->args[0]);
		if (!strcmp(dev, path))
			return true;
	}
	return false;
}

static int make_swap(struct guard *g, const char *const args[REQUEST_ARGS],
		     char ret_value[PATH_MAX], struct fail *f)
{
	const char *dev = args[0];
	char label[17];
	const char *const thing_args[THING_ARGS] = { dev, label };
	const char *const argv[] = { "mkswap", "-L", label, dev, NULL };
	int flags = 0, r;
	struct thing *t;
	uint64_t priority;

	(void)ret_value;
	if (!made_here(g, dev))
		return fail_say(f, EINVAL, "%s is not a device of this run", dev);
	if (args[1][0]) {
		if (parse_u64(args[1], &priority) || priority > SWAP_FLAG_PRIO_MASK)
			return fail_set(f, EINVAL, "swap priority %s", args[1]);
		flags = SWAP_FLAG_PREFER | (int)priority;
	}
	(void)snprintf(label, sizeof(label), "sqz-%d", g->supervisor);
	t = guard_intend(g, THING_SWAP, thing_args, f);
	if (!t)
		return -f->err;
	r = subproc_run(argv, MKSWAP_NS, g->supervisor_fd, f);
	if (r)
		return r;
	if (swapon(dev, flags))
		return fail_set(f, errno, "swapon %s", dev);
	return guard_note(g, t, THING_MADE, f);
}

/* What is looked for in /proc/swaps, where a device may have another name of its own. */
struct wanted_swap {
	const char *dev;
	bool has_number;
	dev_t number;
	uint64_t used_bytes; /* of the one that was found */
};

static int is_wanted(const struct swap_entry *s, void *data)
{
	struct wanted_swap *wanted = data;
	struct stat st;

	if (strcmp(s->path, wanted->dev) != 0 &&
	    (!wanted->has_number || stat(s->path, &st) || !S_ISBLK(st.st_mode) ||
	     st.st_rdev != wanted->number))
		return 0;
	wanted->used_bytes = s->used_bytes;
	return 1;
}

static bool swap_is_active(const char *dev, uint64_t *ret_used_bytes)
{
	struct wanted_swap wanted = { .dev = dev };
	char text[KFILE_SIZE];
	struct stat st;

	if (kfile_read_at(AT_FDCWD, "/proc/swaps", text, sizeof(text)) < 0)
		return false;
	if (!stat(dev, &st) && S_ISBLK(st.st_mode)) {
		wanted.has_number = true;
		wanted.number = st.st_rdev;
	}
	if (swaps_each(text, is_wanted, &wanted) != 1)
		return false;
	*ret_used_bytes = wanted.used_bytes;
	return true;
}

/* How long other runs' pages may keep our device: twice a run of default length. Refusals come once a
 * second, but for the first two seconds, when they come every 50 ms. */
#define KEEP_FOR_OTHERS (40 + 120)

/* Whether the group has swapped anything; if it does not say so, it may have. */
static bool has_swapped(const char *group)
{
	_cleanup_close_ int fd = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[KFILE_SIZE];
	uint64_t bytes;

	if (fd < 0)
		return false;
	if (!kfile_read_u64_at(fd, "memory.swap.current", &bytes))
		return bytes;
	if (kfile_read_at(fd, "memory.stat", text, sizeof(text)) < 0 ||
	    kfile_key_u64(text, "total_swap", &bytes))
		return true;
	return bytes;
}

/* Pages of another run may be on our device. Bringing them back in is charged to its memcg, at its
 * limit, and could OOM-kill what is measured there: it goes first. */
static bool serves_others(const struct guard *g, uint64_t used_bytes, struct fail *f)
{
	struct thing_stack groups = { 0 };
	_cleanup_close_ int lock = -1;
	bool serves = false;
	pid_t pid = 0;

	if (!used_bytes)
		return false;
	lock = guard_run_lock(g->run_dir, NULL);
	if (lock >= 0)
		(void)guard_log_shared(g->run_dir, g->supervisor, THING_CGROUP, NULL, &groups,
				       &pid);
	for (size_t i = 0; i < groups.nr && !serves; i++)
		serves = has_swapped(groups.things[i].args[0]);
	thing_stack_free(&groups);
	if (serves)
		(void)fail_say(f, EBUSY, "kept while another run (pid %d) has pages on it", pid);
	return serves;
}

/* Exit codes of the child that does the swapoff; else an errno. */
enum { SWAPOFF_DONE = 0, SWAPOFF_NOT_OURS = 255 };

/* swapoff() may take for ever, and reading the header of a slow device a while. */
static pid_t start_swapoff(const char *dev, const char *label)
{
	pid_t pid = fork();
	char found[17];

	if (pid)
		return pid < 0 ? -errno : pid;
	if (swap_header_label(dev, found) || strcmp(found, label) != 0)
		_exit(SWAPOFF_NOT_OURS);
	_exit(swapoff(dev) ? errno & 0x7f : SWAPOFF_DONE);
}

static int undo_swap(struct guard *g, struct thing *t, struct fail *f)
{
	uint64_t used_bytes = 0;
	int status, r;

	if (!t->child) {
		if (!swap_is_active(t->args[0], &used_bytes))
			return 0;
		if (t->nr_refused < KEEP_FOR_OTHERS && serves_others(g, used_bytes, f))
			return -EBUSY;
		t->child = start_swapoff(t->args[0], t->args[1]);
		if (t->child < 0) {
			r = t->child;
			t->child = 0;
			return fail_set(f, -r, "fork");
		}
	}
	r = waitpid(t->child, &status, WNOHANG);
	if (!r)
		return fail_say(f, EBUSY, "swapoff is under way");
	t->child = 0;
	if (r < 0 || !WIFEXITED(status))
		return fail_say(f, EAGAIN, "swapoff was killed");
	if (WEXITSTATUS(status) == SWAPOFF_NOT_OURS || !swap_is_active(t->args[0], &used_bytes))
		return 0;
	return fail_set(f, WEXITSTATUS(status), "swapoff");
}

const struct thing_op guard_op_loop = { .make = make_loop, .undo = undo_loop };
const struct thing_op guard_op_zram = { .make = make_zram, .undo = undo_zram };
const struct thing_op guard_op_delay = { .make = make_delay, .undo = undo_delay };
const struct thing_op guard_op_swap = { .make = make_swap, .undo = undo_swap };
