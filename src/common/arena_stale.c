/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runs left behind that died together with their guard (a power cut does not: the kernel is gone
 * too, but image files and, where /run is on disk, logs stay).
 *
 * First the logs whose lock is free are replayed. Then names: everything of ours carries the
 * supervisor's pid; if no guard holds that pid's log and no tool of ours has that pid, it is stale.
 * Both are done by the guard's own undo, on a stack that is put together here.
 */
#include "arena.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blockdev.h"
#include "cgroup.h"
#include "cleanup.h"
#include "guard.h"
#include "kfile.h"
#include "parse.h"
#include "proctext.h"

/* For what one dead run has left; what the kernel still holds then stays for the next time. */
#define STALE_UNDO_NS 5000000000U

/* Numbers of loop and zram devices that are looked at. */
#define DEVICES_MAX 256

/* Where images are made by default, and so looked for. */
#define IMAGE_DIR "/var/tmp"

struct sweep {
	int run_dir;
	struct thing_stack found;
	void (*say)(const char *sentence, void *data);
	void *data;
	int nr_removed;
	struct fail *fail;
};

/* "squeeze-TOOL-PID", perhaps with "-1" or " x.img" behind it. 0: not a name of ours. */
static pid_t owner_of(const char *name, char *ret_tool, size_t size)
{
	static const char prefix[] = "squeeze-";
	const char *tool = name + sizeof(prefix) - 1;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return 0;
	for (const char *p = strchr(tool, '-'); p; p = strchr(p + 1, '-')) {
		const char *at = p + 1;
		uint64_t pid;

		if (parse_u64_at(&at, &pid) || !pid || pid > INT_MAX || isalnum((unsigned char)*at))
			continue;
		(void)snprintf(ret_tool, size, "%.*s", (int)(p - tool), tool);
		return (pid_t)pid;
	}
	return 0;
}

/* Whether a living process @pid is one of ours: pids are given out again. */
static bool is_living_tool(pid_t pid, const char *tool)
{
	static const char *const tools[] = { "usemem", "mmapread", "ccstorm", "squeeze",
					     "squeeze-guard" };
	char path[32], text[KFILE_SIZE];
	struct proc_stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (kfile_read_at(AT_FDCWD, path, text, sizeof(text)) < 0 || proc_stat_parse(text, &st) ||
	    st.state == 'Z' || st.state == 'X')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		if (!strcmp(st.comm, tools[i]))
			return true;
	}
	/* The kernel cuts comm at 15 characters. */
	return tool[0] && !strncmp(st.comm, tool, 15);
}

static bool is_stale(const struct sweep *s, pid_t pid, const char *tool)
{
	return pid > 0 && !guard_log_is_live(s->run_dir, pid) && !is_living_tool(pid, tool);
}

static bool is_stale_name(const struct sweep *s, const char *name)
{
	char tool[32];
	pid_t pid = owner_of(name, tool, sizeof(tool));

	return is_stale(s, pid, tool);
}

/* "sqz-PID". */
static bool is_stale_label(const struct sweep *s, const char *label)
{
	uint64_t pid;

	return !strncmp(label, "sqz-", 4) && !parse_u64(label + 4, &pid) && pid <= INT_MAX &&
	       is_stale(s, (pid_t)pid, "");
}

static void note(struct sweep *s, enum thing_kind kind, const char *a, const char *b, const char *c)
{
	const char *const args[THING_ARGS] = { a, b, c };

	(void)thing_push(&s->found, kind, args);
}

static void note_dir_entries(struct sweep *s, const char *dir, enum thing_kind kind)
{
	_cleanup_closedir_ DIR *d = dir[0] ? opendir(dir) : NULL;
	char path[PATH_MAX];
	const struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		/* Other users' runs have their logs elsewhere, so we cannot tell whether they live. */
		if (!is_stale_name(s, e->d_name) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    st.st_uid != geteuid())
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < PATH_MAX)
			note(s, kind, path, "", "");
	}
}

static void note_zrams(struct sweep *s)
{
	/* We take an existing device only where there is no hot-add. */
	const char *how = access("/sys/class/zram-control/hot_add", R_OK) ? "reuse" : "hot";

	for (unsigned int nr = 0; nr < DEVICES_MAX; nr++) {
		char dev[32], number[16], size[24], label[17];
		uint64_t bytes;

		(void)snprintf(dev, sizeof(dev), "/dev/zram%u", nr);
		if (zram_size(nr, &bytes) || !bytes || swap_header_label(dev, label) ||
		    !is_stale_label(s, label))
			continue;
		(void)snprintf(number, sizeof(number), "%u", nr);
		(void)snprintf(size, sizeof(size), "%" PRIu64, bytes);
		note(s, THING_ZRAM, number, how, size);
	}
}

static void note_loops(struct sweep *s)
{
	char file[PATH_MAX], number[16];

	for (unsigned int nr = 0; nr < DEVICES_MAX; nr++) {
		const char *slash;

		if (loop_backing(nr, file))
			continue;
		slash = strrchr(file, '/');
		if (!is_stale_name(s, slash ? slash + 1 : file))
			continue;
		(void)snprintf(number, sizeof(number), "%u", nr);
		note(s, THING_LOOP, number, file, "");
	}
}

static void note_delay(const char *name, void *data)
{
	struct sweep *s = data;

	if (is_stale_name(s, name))
		note(s, THING_DELAY, name, "", "");
}

static int note_swap(const struct swap_entry *e, void *data)
{
	struct sweep *s = data;
	char label[17];

	if (e->partition && !swap_header_label(e->path, label) && is_stale_label(s, label))
		note(s, THING_SWAP, e->path, label, "");
	return 0;
}

/* A mount point of ours is a folder of ours, or lies in one. */
static int note_mount(const struct mount_entry *m, void *data)
{
	struct sweep *s = data;
	char part[NAME_MAX + 1];

	for (const char *p = m->point; *p;) {
		size_t len;

		p += strspn(p, "/");
		len = strcspn(p, "/");
		(void)snprintf(part, sizeof(part), "%.*s", (int)len, p);
		/* Mounts inside a cgroup directory do not exist; those of cgroupfs are not ours. */
		if (is_stale_name(s, part) && strncmp(m->fs_type, "cgroup", 6) != 0) {
			note(s, THING_MOUNT, m->point, "", "");
			return 0;
		}
		p += len;
	}
	return 0;
}

static void note_cgroups(struct sweep *s)
{
	struct cgroup_host host;
	char dir[2 * PATH_MAX];

	if (cgroup_discover(&host, NULL))
		return;
	note_dir_entries(s, host.memory_mount, THING_CGROUP);
	(void)snprintf(dir, sizeof(dir), "%s%s", host.memory_mount, host.memory_own);
	if (strcmp(host.memory_own, "/") != 0)
		note_dir_entries(s, dir, THING_CGROUP);
	if (host.memcg_version == 2 || !host.unified_mount[0])
		return;
	note_dir_entries(s, host.unified_mount, THING_CGROUP);
	(void)snprintf(dir, sizeof(dir), "%s%s", host.unified_mount, host.unified_own);
	if (strcmp(host.unified_own, "/") != 0)
		note_dir_entries(s, dir, THING_CGROUP);
}

static void read_and(const char *path, void (*use)(const char *text, struct sweep *s),
		     struct sweep *s)
{
	enum { TEXT_MAX = 4 << 20 }; /* mountinfo of a container host */
	_cleanup_free_ char *text = malloc(TEXT_MAX);

	if (text && kfile_read_at(AT_FDCWD, path, text, TEXT_MAX) >= 0)
		use(text, s);
}

static void use_swaps(const char *text, struct sweep *s)
{
	(void)swaps_each(text, note_swap, s);
}

static void use_mounts(const char *text, struct sweep *s)
{
	(void)mountinfo_each(text, note_mount, s);
}

static void __attribute__((format(printf, 2, 3))) say(const struct sweep *s, const char *fmt, ...)
{
	char sentence[PATH_MAX + 64];
	va_list ap;

	if (!s->say)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	s->say(sentence, s->data);
}

static void say_what(const struct sweep *s, const struct thing *t)
{
	const char *word = t->state == THING_GONE ? "removed" : "could not remove";

	if (t->kind == THING_LOOP || t->kind == THING_ZRAM)
		say(s, "%s left-over /dev/%s%s", word, thing_kind_name(t->kind), t->args[0]);
	else
		say(s, "%s left-over %s %s", word, thing_kind_name(t->kind), t->args[0]);
}

/* Undoes what is in @stack, and reports what was there before. Returns whether nothing is left. */
static bool undo_stack(struct sweep *s, struct thing_stack *stack, pid_t supervisor)
{
	struct guard g = { .sock = -1,
			   .supervisor_fd = -1,
			   .run_dir = s->run_dir,
			   .log_fd = -1,
			   .supervisor = supervisor,
			   .stack = *stack,
			   .ops = guard_ops };
	_cleanup_free_ bool *was_gone = calloc(stack->nr + 1, sizeof(*was_gone));
	bool clean;

	if (!was_gone)
		return false;
	for (size_t i = 0; i < stack->nr; i++)
		was_gone[i] = stack->things[i].state == THING_GONE;
	clean = !guard_undo(&g, 0, STALE_UNDO_NS, s->fail);
	*stack = g.stack;
	for (size_t i = 0; i < stack->nr; i++) {
		if (was_gone[i])
			continue;
		s->nr_removed += stack->things[i].state == THING_GONE;
		say_what(s, &stack->things[i]);
	}
	return clean;
}

/* After a reboot only what is on disk can be left; the rest of the names has other owners. */
static void keep_files_only(struct thing_stack *stack)
{
	for (size_t i = 0; i < stack->nr; i++) {
		enum thing_kind kind = stack->things[i].kind;

		if (kind != THING_FILE && kind != THING_PATH && kind != THING_DIR)
			stack->things[i].state = THING_GONE;
	}
}

static void replay_log(struct sweep *s, const char *name)
{
	struct thing_stack stack = { 0 };
	struct guard_log_head head;
	_cleanup_close_ int lock = guard_run_lock(s->run_dir, s->fail);
	_cleanup_close_ int log_fd = -1;
	char boot[40];
	uint64_t pid;

	if (lock < 0)
		return;
	log_fd = guard_log_take_stale(s->run_dir, name, &head, &stack);
	(void)close(take_fd(&lock));
	if (log_fd == -EINVAL || log_fd == -E2BIG)
		say(s, "passed over the damaged undo log %s", name);
	if (log_fd < 0 || parse_u64(name, &pid) || (pid_t)pid != head.supervisor) {
		thing_stack_free(&stack);
		return;
	}
	guard_boot_id(boot);
	if (strcmp(head.boot, boot) != 0)
		keep_files_only(&stack);
	if (undo_stack(s, &stack, head.supervisor))
		(void)unlinkat(s->run_dir, name, 0);
	thing_stack_free(&stack);
}

static void replay_logs(struct sweep *s)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int fd = openat(s->run_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *e;

	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (e = readdir(dir))) {
		if (isdigit((unsigned char)e->d_name[0]))
			replay_log(s, e->d_name);
	}
}

/* From the bottom of a stack to its top. .lock keeps new runs from making anything meanwhile. */
static void find_by_name(struct sweep *s)
{
	_cleanup_close_ int lock = guard_run_lock(s->run_dir, s->fail);

	if (lock < 0)
		return;
	note_dir_entries(s, IMAGE_DIR, THING_PATH);
	if (!geteuid()) {
		note_zrams(s);
		note_loops(s);
		(void)delay_each(note_delay, s);
		read_and("/proc/swaps", use_swaps, s);
		read_and("/proc/self/mountinfo", use_mounts, s);
	}
	note_cgroups(s);
}

int arena_clean_stale(void (*say_fn)(const char *sentence, void *data), void *data, struct fail *f)
{
	struct fail ignored = { 0 };
	struct sweep s = { .say = say_fn, .data = data, .fail = f ? f : &ignored };
	_cleanup_close_ int run_dir = -1;
	char path[PATH_MAX];

	run_dir = guard_run_dir(path, f);
	if (run_dir < 0)
		return run_dir;
	s.run_dir = run_dir;
	s.fail->err = 0;
	replay_logs(&s);
	find_by_name(&s);
	(void)undo_stack(&s, &s.found, 0);
	thing_stack_free(&s.found);
	return s.fail->err ? -s.fail->err : s.nr_removed;
}
