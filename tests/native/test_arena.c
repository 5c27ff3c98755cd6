/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arena for real: things are made on this host and must be gone again, in order, whoever dies.
 * Needs root, a memory cgroup that we may write in, zram and loop devices; exits with 4 and the reason
 * where one is missing. Touches only what it has made itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "blockdev.h"
#include "caps.h"
#include "cgroup.h"
#include "cleanup.h"
#include "guard_log.h"
#include "kfile.h"
#include "parse.h"
#include "subproc.h"

#define TOOL "test_arena"
#define SKIPPED 4
#define CLOSE_NS 2000000000U /* design.md 3: nothing is left after 2 s */
#define FILE_BYTES (32U << 20)

/* Where everything goes; found once by main(). */
struct place {
	struct cgroup_host host;
	char memory[PATH_MAX], unified[PATH_MAX];
	char run_dir[PATH_MAX];
	bool have_mkfs, have_delay;
};

static struct place *place_of(void **state)
{
	return *state;
}

#define assert_made(call, f)                                      \
	do {                                                      \
		int r_ = (call);                                  \
		if (r_ < 0)                                       \
			print_error("%s: %s\n", #call, (f).what); \
		assert_true(r_ >= 0);                             \
	} while (0)

/* Every run has a size of its own that nobody would choose (an odd number of 64 KiB, the largest page),
 * so that a device can be told from those of others. */
static uint64_t zram_bytes(pid_t pid)
{
	return (32U << 20) + (((uint64_t)pid % 4096U * 2 + 1) << 16);
}

/* A scratch setting that nobody else reads. */
static void setting_path(char *buf, size_t size, pid_t pid)
{
	(void)snprintf(buf, size, "/var/tmp/arena-setting-%d", pid);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	(void)fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static bool text_is(const char *path, const char *want)
{
	char text[128];

	return kfile_read_at(AT_FDCWD, path, text, sizeof(text)) >= 0 &&
	       !strncmp(text, want, strlen(want));
}

/* One run's things, made step by step so that a test can stop behind each. */
struct scene {
	struct arena *a;
	char group[PATH_MAX], twin[PATH_MAX], image[PATH_MAX], dir[PATH_MAX], setting[PATH_MAX];
	char loop[PATH_MAX], zram[PATH_MAX], swap[PATH_MAX];
};

enum {
	STEP_OPEN,
	STEP_GROUP,
	STEP_WORKER,
	STEP_ZRAM,
	STEP_DELAY,
	STEP_SWAP,
	STEP_FILE,
	STEP_LOOP,
	STEP_DIR,
	STEP_MOUNT,
	STEP_SET,
	STEPS
};

/* A worker that would outlive us: only the guard can end it. */
static int start_worker(const struct place *p, const struct scene *s, struct fail *f)
{
	struct cgroup cg = CGROUP_CLOSED;
	int pidfd = -1, r = cgroup_open(&p->host, s->group, s->twin, &cg, f);

	if (r)
		return r;
	r = cgroup_fork(&cg, &pidfd, f);
	if (!r) {
		(void)prctl(PR_SET_PDEATHSIG, 0);
		(void)setsid();
		for (;;)
			(void)pause();
	}
	cgroup_close(&cg);
	cleanup_closep(&pidfd);
	return r < 0 ? r : 0;
}

static int make_step(const struct place *p, struct scene *s, int step, struct fail *f)
{
	switch (step) {
	case STEP_OPEN:
		return arena_open(TOOL, &s->a, f);
	case STEP_GROUP:
		(void)snprintf(s->group, PATH_MAX, "%.2000s/%s-1", p->memory, arena_name(s->a));
		if (p->unified[0])
			(void)snprintf(s->twin, PATH_MAX, "%.2000s/%s-1", p->unified,
				       arena_name(s->a));
		return arena_make_cgroup(s->a, s->group, s->twin, f);
	case STEP_WORKER:
		return start_worker(p, s, f);
	case STEP_ZRAM:
		return arena_make_zram(s->a, zram_bytes(getpid()), s->zram, f);
	case STEP_DELAY:
		if (!p->have_delay)
			(void)snprintf(s->swap, PATH_MAX, "%s", s->zram);
		return p->have_delay ? arena_make_delay(s->a, s->zram, "swap", 1, s->swap, f) : 0;
	case STEP_SWAP:
		return arena_swapon(s->a, s->swap, -1, f);
	case STEP_FILE:
		(void)snprintf(s->image, PATH_MAX, "/var/tmp/%s x%%y.img", arena_name(s->a));
		return arena_make_file(s->a, s->image, FILE_BYTES, f);
	case STEP_LOOP:
		return arena_make_loop(s->a, s->image, s->loop, f);
	case STEP_DIR:
		(void)snprintf(s->dir, PATH_MAX, "/var/tmp/%s-dir", arena_name(s->a));
		return arena_make_dir(s->a, s->dir, 0700, f);
	case STEP_MOUNT:
		return p->have_mkfs ? arena_make_mount(s->a, s->loop, s->dir, "ext4", "-q -F",
						       "noatime", f)
				    : 0;
	default:
		setting_path(s->setting, PATH_MAX, getpid());
		return arena_set_file(s->a, s->setting, "new", f);
	}
}

static int make_until(const struct place *p, struct scene *s, int last, struct fail *f)
{
	for (int step = 0; step <= last; step++) {
		int r = make_step(p, s, step, f);

		if (r)
			return r;
	}
	return 0;
}

static unsigned int count_names(const char *dir, const char *part)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	const struct dirent *e;
	unsigned int nr = 0;

	while (d && (e = readdir(d))) {
		if (strstr(e->d_name, part)) {
			print_error("left: %s/%s\n", dir, e->d_name);
			nr++;
		}
	}
	return nr;
}

static unsigned int count_devices(pid_t pid)
{
	char part[64], label[17], dev[32], file[PATH_MAX];
	unsigned int nr = 0;

	(void)snprintf(part, sizeof(part), "sqz-%d", pid);
	for (unsigned int i = 0; i < 16; i++) {
		(void)snprintf(dev, sizeof(dev), "/dev/zram%u", i);
		if (!swap_header_label(dev, label) && !strcmp(label, part)) {
			print_error("left: %s\n", dev);
			nr++;
		}
	}
	(void)snprintf(part, sizeof(part), "-%d ", pid);
	for (unsigned int i = 0; i < 64; i++) {
		if (!loop_backing(i, file) && strstr(file, part)) {
			print_error("left: /dev/loop%u %s\n", i, file);
			nr++;
		}
	}
	return nr;
}

/* How many zram devices have that size; 0: are not set up. */
static unsigned int count_zrams(uint64_t bytes)
{
	unsigned int nr = 0;
	uint64_t size;

	for (unsigned int i = 0; i < 64; i++)
		nr += !zram_size(i, &size) && size == bytes;
	return nr;
}

/* Other runs on this machine have an empty device for a moment while they make theirs. */
static bool no_new_empty_zram(unsigned int before)
{
	for (int i = 0; i < 400 && count_zrams(0) > before; i++)
		(void)poll(NULL, 0, 5);
	return count_zrams(0) <= before;
}

struct delay_count {
	const char *part;
	unsigned int nr;
};

static void count_delay(const char *name, void *data)
{
	struct delay_count *count = data;

	if (!strstr(name, count->part))
		return;
	print_error("left: dm device %s\n", name);
	count->nr++;
}

/* Everything of ours carries the pid. */
static unsigned int count_left(const struct place *p, pid_t pid)
{
	char part[64], mounts[65536], setting[PATH_MAX];
	unsigned int nr = count_devices(pid) + count_zrams(zram_bytes(pid));
	struct delay_count count = { 0 };

	(void)snprintf(part, sizeof(part), "%s-%d", TOOL, pid);
	count.part = part;
	(void)delay_each(count_delay, &count);
	nr += count.nr + count_names(p->memory, part) + count_names("/var/tmp", part);
	if (p->unified[0] && strcmp(p->unified, p->memory) != 0)
		nr += count_names(p->unified, part);
	if (kfile_read_at(AT_FDCWD, "/proc/self/mounts", mounts, sizeof(mounts)) >= 0 &&
	    strstr(mounts, part)) {
		print_error("left: a mount\n");
		nr++;
	}
	setting_path(setting, sizeof(setting), pid);
	/* Empty: killed while it wrote the first value. */
	if (text_is(setting, "new")) {
		print_error("left: a changed setting\n");
		nr++;
	}
	return nr;
}

/* Until the guard has removed its log; ten times what it is given. */
static void wait_for_guard(const struct place *p, pid_t pid)
{
	char path[PATH_MAX + 16];

	(void)snprintf(path, sizeof(path), "%s/%d", p->run_dir, pid);
	for (int i = 0; i < 4000 && !access(path, F_OK); i++)
		(void)poll(NULL, 0, 5);
	assert_int_equal(access(path, F_OK), -1);
}

static void undo_in_reverse(void **state)
{
	const struct place *p = place_of(state);
	struct scene s = { 0 };
	struct fail f = { 0 };
	unsigned int mark;
	char setting[PATH_MAX];

	setting_path(setting, sizeof(setting), getpid());
	write_text(setting, "old");
	assert_made(make_until(p, &s, STEP_WORKER, &f), f);
	mark = arena_mark(s.a);
	for (int step = STEP_ZRAM; step < STEPS; step++)
		assert_made(make_step(p, &s, step, &f), f);
	assert_int_equal(count_zrams(zram_bytes(getpid())), 1);
	assert_true(text_is(setting, "new"));
	assert_int_equal(access(s.image, F_OK), 0);
	/* What somebody else leaves in our folder goes with it. */
	(void)strncat(s.dir, "/file", sizeof(s.dir) - strlen(s.dir) - 1);
	write_text(s.dir, "x");
	assert_made(arena_undo_to(s.a, mark, &f), f);
	assert_int_equal(count_zrams(zram_bytes(getpid())), 0);
	assert_int_equal(access(s.image, F_OK), -1);
	assert_true(text_is(setting, "old"));
	assert_int_equal(access(s.group, F_OK), 0); /* below the mark */
	assert_made(arena_close(s.a, CLOSE_NS, &f), f);
	assert_int_equal(count_left(p, getpid()), 0);
	assert_int_equal(unlink(setting), 0);
}

static void refuses_what_is_not_its_own(void **state)
{
	const struct place *p = place_of(state);
	struct scene s = { 0 };
	struct fail f = { 0 };
	char path[PATH_MAX];

	assert_made(make_until(p, &s, STEP_GROUP, &f), f);
	(void)snprintf(path, sizeof(path), "/var/tmp/%s-theirs", arena_name(s.a));
	write_text(path, "theirs");
	assert_int_equal(arena_make_file(s.a, path, 4096, &f), -EEXIST);
	assert_int_equal(arena_adopt_path(s.a, path, &f), -EEXIST);
	assert_int_equal(arena_make_dir(s.a, path, 0700, &f), -EEXIST);
	assert_int_equal(arena_make_cgroup(s.a, s.group, s.twin, &f), -EEXIST);
	assert_int_equal(arena_adopt_path(s.a, "/var/tmp/../etc/x", &f), -EINVAL);
	assert_int_equal(arena_swapon(s.a, "/dev/zram0", -1, &f), -EINVAL);
	assert_int_equal(arena_make_file(s.a, "/var/tmp/squeeze-too-large", INT64_MAX, &f),
			 -ENOSPC);
	assert_non_null(strstr(f.what, "free"));
	assert_made(arena_close(s.a, CLOSE_NS, &f), f);
	assert_true(text_is(path, "theirs"));
	assert_int_equal(unlink(path), 0);
}

/* A supervisor of its own, that makes @last steps and says so (its guard's pid) through the pipe. */
static pid_t start_supervisor(const struct place *p, int last, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		struct scene s = { 0 };
		struct fail f = { 0 };
		pid_t guard = 0;
		char setting[PATH_MAX];

		/* A test that fails here must not leave it behind. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		setting_path(setting, sizeof(setting), getpid());
		write_text(setting, "old");
		if (make_until(p, &s, last, &f))
			print_error("supervisor: %s\n", f.what);
		else
			guard = arena_guard_pid(s.a);
		(void)write(fds[1], &guard, sizeof(guard));
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	(void)close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

static pid_t wait_until_made(int fd)
{
	pid_t guard = 0;

	assert_int_equal(read(fd, &guard, sizeof(guard)), sizeof(guard));
	assert_true(guard > 0);
	(void)close(fd);
	return guard;
}

static void end_supervisor(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void remove_setting(pid_t pid)
{
	char setting[PATH_MAX];

	setting_path(setting, sizeof(setting), pid);
	(void)unlink(setting);
}

static void killed_at_each_step(void **state)
{
	const struct place *p = place_of(state);
	unsigned int empty = count_zrams(0);

	for (int last = 0; last < STEPS; last++) {
		int fd;
		pid_t pid = start_supervisor(p, last, &fd);

		(void)wait_until_made(fd);
		end_supervisor(pid);
		wait_for_guard(p, pid);
		assert_int_equal(count_left(p, pid), 0);
		assert_true(no_new_empty_zram(empty));
		remove_setting(pid);
	}
}

static void killed_at_any_moment(void **state)
{
	const struct place *p = place_of(state);
	unsigned int empty = count_zrams(0), seed = (unsigned int)time(NULL);

	print_message("seed %u\n", seed);
	for (int i = 0; i < 20; i++) {
		int fd;
		pid_t pid = start_supervisor(p, STEPS - 1, &fd);
		/* The whole scene takes some 100 ms. */
		struct timespec t = { .tv_nsec = (rand_r(&seed) % 150) * 1000000L };

		(void)nanosleep(&t, NULL);
		end_supervisor(pid);
		(void)close(fd);
		wait_for_guard(p, pid);
		assert_int_equal(count_left(p, pid), 0);
		assert_true(no_new_empty_zram(empty));
		remove_setting(pid);
	}
}

static void count_sentence(const char *sentence, void *data)
{
	unsigned int *nr = data;

	print_message("  %s\n", sentence);
	++*nr;
}

/* Until it has let go of its log's lock; it is not our child. */
static void end_guard(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	assert_true(p.fd >= 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(poll(&p, 1, 20000), 1);
	(void)close(p.fd);
}

/* Nobody is left to undo: the next run does, from the log or, without one, by the names. Returns how
 * many things it removed; a run of somebody else may have been that next run. */
static int killed_with_its_guard(const struct place *p, bool keep_log)
{
	unsigned int said = 0;
	struct fail f = { 0 };
	char path[PATH_MAX + 16];
	int fd, nr;
	pid_t pid = start_supervisor(p, keep_log ? STEP_SET : STEP_MOUNT, &fd);
	pid_t guard = wait_until_made(fd);

	/* A live run is none of --clean's business; somebody else's dead one may be. */
	assert_made(arena_clean_stale(NULL, NULL, &f), f);
	assert_int_equal(count_zrams(zram_bytes(pid)), 1);
	end_guard(guard);
	end_supervisor(pid);
	(void)snprintf(path, sizeof(path), "%s/%d", p->run_dir, pid);
	if (!keep_log)
		(void)unlink(path);
	nr = arena_clean_stale(count_sentence, &said, &f);
	assert_made(nr, f);
	assert_true((unsigned int)nr <= said);
	wait_for_guard(p, pid);
	assert_int_equal(count_left(p, pid), 0);
	remove_setting(pid);
	return nr;
}

/* Cgroup, zram, swap, image at least; three chances against other runs on this machine. */
static bool is_cleaned(const struct place *p, bool keep_log)
{
	for (int i = 0; i < 3; i++) {
		if (killed_with_its_guard(p, keep_log) >= 4)
			return true;
	}
	return false;
}

static void stale_by_log(void **state)
{
	assert_true(is_cleaned(place_of(state), true));
}

static void stale_by_name(void **state)
{
	assert_true(is_cleaned(place_of(state), false));
}

static void guard_killed_alone(void **state)
{
	const struct place *p = place_of(state);
	struct scene s = { 0 };
	struct fail f = { 0 };
	char setting[PATH_MAX];

	setting_path(setting, sizeof(setting), getpid());
	write_text(setting, "old");
	assert_made(make_until(p, &s, STEP_SET, &f), f);
	assert_int_equal(kill(arena_guard_pid(s.a), SIGKILL), 0);
	assert_made(arena_close(s.a, CLOSE_NS, &f), f);
	wait_for_guard(p, getpid());
	assert_int_equal(count_left(p, getpid()), 0);
	assert_int_equal(unlink(setting), 0);
}

static void two_at_once(void **state)
{
	const struct place *p = place_of(state);
	char shared[PATH_MAX];
	struct scene s = { 0 };
	struct fail f = { 0 };
	pid_t pid;
	int fd;

	(void)snprintf(shared, sizeof(shared), "/var/tmp/arena-setting-%d", getpid());
	write_text(shared, "old");
	pid = start_supervisor(p, STEP_MOUNT, &fd);
	(void)wait_until_made(fd);
	assert_made(make_until(p, &s, STEP_SET, &f), f);
	assert_int_equal(count_zrams(zram_bytes(pid)), 1);
	end_supervisor(pid);
	wait_for_guard(p, pid);
	assert_int_equal(count_left(p, pid), 0);
	/* The other is untouched. */
	assert_int_equal(count_zrams(zram_bytes(getpid())), 1);
	assert_int_equal(access(s.group, F_OK), 0);
	assert_int_equal(access(s.image, F_OK), 0);
	assert_true(text_is(shared, "new"));
	assert_made(arena_close(s.a, CLOSE_NS, &f), f);
	assert_int_equal(count_left(p, getpid()), 0);
	remove_setting(pid);
	assert_int_equal(unlink(shared), 0);
}

/* Two runs change one setting: the last one restores it, and a third value is refused. */
static void shared_setting(void **state)
{
	char path[PATH_MAX];
	struct arena *a;
	struct fail f = { 0 };
	int fds[2], status, r;
	char byte = 0;
	pid_t pid;

	(void)state;
	setting_path(path, sizeof(path), getpid());
	write_text(path, "old");
	assert_made(arena_open(TOOL, &a, &f), f);
	assert_made(arena_set_file(a, path, "new", &f), f);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		struct arena *b = NULL;

		r = arena_open(TOOL, &b, &f);
		if (!r && arena_set_file(b, path, "odd", &f) != -EBUSY)
			r = -EINVAL;
		if (!r)
			r = arena_set_file(b, path, "new", &f);
		(void)write(fds[1], &byte, 1);
		/* Until the first has closed. */
		(void)raise(SIGSTOP);
		if (!r && !text_is(path, "new"))
			r = -EIO;
		if (!r)
			r = arena_close(b, CLOSE_NS, &f);
		_exit(r ? 1 : 0);
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_made(arena_close(a, CLOSE_NS, &f), f);
	assert_true(text_is(path, "new"));
	(void)kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(text_is(path, "old"));
	assert_int_equal(unlink(path), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void forks_into_the_group(void **state)
{
	const struct place *p = place_of(state);
	struct scene s = { 0 };
	struct cgroup cg = CGROUP_CLOSED;
	struct fail f = { 0 };
	int pidfd = -1;
	uint64_t limit = 0, room = 0;
	char procs[64];
	pid_t pid;

	assert_made(make_until(p, &s, STEP_GROUP, &f), f);
	assert_made(cgroup_open(&p->host, s.group, s.twin, &cg, &f), f);
	assert_made(cgroup_set_limit(&cg, (16U << 20) + 1, &limit, &f), f);
	assert_int_equal(limit, 16U << 20); /* the kernel counts pages */
	assert_int_equal(cgroup_swap_room(&p->host, s.group, &room), 0);
	assert_int_equal(cgroup_wait_empty(&cg, 0), 0);
	pid = cgroup_fork(&cg, &pidfd, &f);
	if (!pid) {
		for (;;)
			(void)pause();
	}
	assert_made(pid, f);
	assert_true(pidfd >= 0);
	assert_true(cgroup_read(&cg, "cgroup.procs", procs, sizeof(procs)) > 0);
	assert_int_equal(atoi(procs), pid);
	assert_int_equal(cgroup_wait_empty(&cg, 50000000U), -ETIMEDOUT);
	assert_int_equal(cgroup_kill(&cg), 0);
	assert_int_equal(cgroup_wait_empty(&cg, CLOSE_NS), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void)close(pidfd);
	cgroup_close(&cg);
	assert_made(arena_close(s.a, CLOSE_NS, &f), f);
	assert_int_equal(count_left(p, getpid()), 0);
}

static void give_to_nobody(const char *dir, const char *file)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.2000s/%s", dir, file);
	assert_int_equal(chown(path, 65534, 65534), 0);
}

/* A user in a delegated group: moved to a leaf so that memory can be switched on, and back. */
static int run_as_user(const char *dir)
{
	char memory[PATH_MAX], unified[PATH_MAX], text[256];
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_host host;
	struct fail f = { 0 };
	struct arena *a = NULL;
	int r = -EIO;

	(void)snprintf(text, sizeof(text), "%d", getpid());
	if (fd < 0 || kfile_write_at(fd, "cgroup.procs", text) || setgid(65534) || setuid(65534))
		return 1;
	(void)prctl(PR_SET_DUMPABLE, 1); /* else /proc/self belongs to root */
	r = cgroup_discover(&host, &f);
	if (!r)
		r = cgroup_choose_parent(&host, NULL, memory, unified, &f);
	if (!r && strcmp(memory, dir) != 0)
		r = fail_say(&f, EINVAL, "chose %s", memory);
	if (!r)
		r = arena_open(TOOL, &a, &f);
	if (!r) {
		(void)snprintf(text, sizeof(text), "%.180s/%s", memory, arena_name(a));
		r = arena_make_cgroup(a, text, text, &f);
	}
	(void)strncat(text, "/memory.max", sizeof(text) - strlen(text) - 1);
	if (!r && access(text, F_OK))
		r = fail_set(&f, errno, "%s", text);
	if (!r)
		r = arena_close(a, CLOSE_NS, &f);
	/* As it was: memory off, we in the group again, no leaf. */
	if (!r && (kfile_read_at(fd, "cgroup.subtree_control", text, sizeof(text)) != 0 ||
		   kfile_read_at(fd, "cgroup.procs", text, sizeof(text)) <= 0))
		r = fail_say(&f, EIO, "not as it was: %s", text);
	if (r)
		print_error("as a user: %s\n", f.what);
	return r ? 1 : 0;
}

static void delegated_to_a_user(void **state)
{
	const struct place *p = place_of(state);
	char dir[PATH_MAX];
	int status = 0;
	pid_t pid;

	if (p->host.memcg_version != 2 || strcmp(p->memory, p->host.memory_mount) != 0)
		skip();
	(void)snprintf(dir, sizeof(dir), "%.2000s/arena-test-%d", p->memory, getpid());
	assert_int_equal(mkdir(dir, 0755), 0);
	give_to_nobody(dir, "");
	give_to_nobody(dir, "cgroup.procs");
	give_to_nobody(dir, "cgroup.subtree_control");
	pid = fork();
	if (!pid)
		_exit(run_as_user(dir));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < 400 && rmdir(dir) && errno == EBUSY; i++)
		(void)poll(NULL, 0, 5);
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(status, 0);
}

/* Some kernels (no CONFIG_BLK_DEV_WRITE_MOUNTED) refuse to mount what anybody has open for writing. */
static void a_loop_is_held_by_a_reader(void **state)
{
	char file[] = "/var/tmp/squeeze-arena-test-XXXXXX", path[64], read_only[16];
	struct fail f = { 0 };
	int fd = mkstemp(file), nr = -EBUSY, loop = -EBUSY;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
	for (int i = 0; i < 8 && loop == -EBUSY; i++) {
		nr = loop_get_free(&f);
		loop = nr < 0 ? nr : loop_attach((unsigned int)nr, file, &f);
	}
	(void)close(fd);
	(void)unlink(file);
	assert_true(loop >= 0);
	assert_int_equal(fcntl(loop, F_GETFL) & O_ACCMODE, O_RDONLY);
	(void)snprintf(path, sizeof(path), "/sys/block/loop%d/ro", nr);
	assert_true(kfile_read_at(AT_FDCWD, path, read_only, sizeof(read_only)) > 0);
	(void)close(loop);
	assert_int_equal(read_only[0], '0');
}

static int skip_all(const char *why)
{
	(void)printf("skipped: %s\n", why);
	return SKIPPED;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(undo_in_reverse),
		cmocka_unit_test(refuses_what_is_not_its_own),
		cmocka_unit_test(forks_into_the_group),
		cmocka_unit_test(killed_at_each_step),
		cmocka_unit_test(killed_at_any_moment),
		cmocka_unit_test(stale_by_log),
		cmocka_unit_test(stale_by_name),
		cmocka_unit_test(guard_killed_alone),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(shared_setting),
		cmocka_unit_test(delegated_to_a_user),
		cmocka_unit_test(a_loop_is_held_by_a_reader),
	};
	struct place p = { 0 };
	struct fail f = { 0 };
	struct CMUnitTest with_place[ARRAY_SIZE(tests)];
	char path[PATH_MAX];
	int fd;

	if (caps_need(CAP_SYS_ADMIN, "swapon, loop and mount", &f) ||
	    cgroup_discover(&p.host, &f) ||
	    cgroup_choose_parent(&p.host, NULL, p.memory, p.unified, &f) ||
	    blockdev_probe(BLOCKDEV_ZRAM, &f) || blockdev_probe(BLOCKDEV_LOOP, &f))
		return skip_all(f.what);
	fd = guard_run_dir(p.run_dir, &f);
	if (fd < 0)
		return skip_all(f.what);
	(void)close(fd);
	p.have_delay = !blockdev_probe(BLOCKDEV_DELAY, &f);
	if (!p.have_delay)
		(void)printf("without dm-delay: %s\n", f.what);
	p.have_mkfs = !subproc_find("mkfs.ext4", path, sizeof(path));
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		with_place[i] = tests[i];
		with_place[i].initial_state = &p;
	}
	return cmocka_run_group_tests(with_place, NULL, NULL) ? 1 : 0;
}
