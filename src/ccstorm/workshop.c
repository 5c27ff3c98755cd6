/* SPDX-License-Identifier: GPL-2.0-only */
#include "workshop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "compile.h"

#define HELPER "ccstorm-job"
#define DEFAULT_PARENT "/var/tmp"
#define BLOCK_WORDS 8192
#define GOLDEN 0x9E3779B97F4A7C15ULL
/* The largest object of the measured runs is 2 MiB, the mean 0.3. */
#define OBJECT_ROOM_BYTES (1ULL << 20)

uint64_t workshop_disk_bytes(unsigned int objects, unsigned int scale_percent)
{
	return (COMPILE_IMAGE_BYTES + COMPILE_HEADERS_BYTES + objects * OBJECT_ROOM_BYTES) *
	       scale_percent / 100;
}

static int join(char ret[PATH_MAX], const char *dir, const char *name, struct fail *f)
{
	if (snprintf(ret, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		return fail_set(f, ENAMETOOLONG, "%.64s…", dir);
	return 0;
}

/* Beside ourselves (a build tree), else where the install put it. */
static int find_helper(char ret[PATH_MAX], struct fail *f)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		if (join(ret, self, HELPER, f) == 0 && access(ret, X_OK) == 0)
			return 0;
		if (join(ret, self, "../libexec/squeeze/" HELPER, f) == 0 && access(ret, X_OK) == 0)
			return 0;
	}
	return fail_say(f, ENOENT, "%s is neither beside ccstorm nor in ../libexec/squeeze",
			HELPER);
}

static void noise(uint64_t *words, size_t nr, uint64_t *value)
{
	for (size_t i = 0; i < nr; i++) {
		*value += GOLDEN;
		words[i] = *value ^ (*value >> 29);
	}
}

static int write_noise(int fd, uint64_t bytes, uint64_t seed)
{
	static uint64_t block[BLOCK_WORDS];
	uint64_t value = seed;

	while (bytes > 0) {
		size_t n = bytes < sizeof(block) ? (size_t)bytes : sizeof(block);
		ssize_t done;

		noise(block, BLOCK_WORDS, &value);
		done = write(fd, block, n);
		if (done <= 0)
			return done ? -errno : -EIO;
		bytes -= (uint64_t)done;
	}
	return fsync(fd) ? -errno : 0;
}

int workshop_write_file(const char *path, uint64_t bytes, uint64_t seed, struct fail *f)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : write_noise(fd, bytes, seed);

	if (r < 0)
		return fail_set(f, -r, "writing %s", path);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

void workshop_drop_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

void workshop_forget(const struct workshop *w)
{
	workshop_drop_file(w->image);
	workshop_drop_file(w->headers);
}

int workshop_add_folder(const struct workshop *w, const char *name, char ret_path[PATH_MAX],
			struct fail *f)
{
	int r = join(ret_path, w->dir, name, f);

	if (r == 0 && mkdir(ret_path, 0700))
		r = fail_set(f, errno, "making the folder %s", ret_path);
	return r;
}

int workshop_make(struct arena *arena, const char *parent, const char *suffix,
		  unsigned int scale_percent, struct workshop *ret, struct fail *f)
{
	uint64_t image = COMPILE_IMAGE_BYTES * scale_percent / 100;
	uint64_t headers = COMPILE_HEADERS_BYTES * scale_percent / 100;
	struct workshop w;
	char name[128];
	int r = find_helper(w.helper, f);

	(void)snprintf(name, sizeof(name), "%s%s", arena_name(arena), suffix);
	if (r == 0)
		r = join(w.dir, parent ? parent : DEFAULT_PARENT, name, f);
	if (r == 0)
		r = join(w.image, w.dir, "image", f);
	if (r == 0)
		r = join(w.headers, w.dir, "headers", f);
	if (r == 0)
		r = arena_make_dir(arena, w.dir, 0700, f);
	if (r == 0)
		r = workshop_write_file(w.image, image, 1, f);
	if (r == 0)
		r = workshop_write_file(w.headers, headers, 2, f);
	if (r == 0)
		*ret = w;
	return r;
}
