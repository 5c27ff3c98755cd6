/* SPDX-License-Identifier: GPL-2.0-only */
#include "dataset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blockqueue.h"
#include "cleanup.h"
#include "kfile.h"
#include "pagecache.h"
#include "text.h"

#define MANIFEST "manifest"
/* Raise the number when content.c makes other bytes of the same numbers. */
#define MANIFEST_FORM "squeeze-mmapread-files 1"
#define MANIFEST_SIZE 512
#define FILE_PREFIX "file-"

void dataset_path(const struct dataset *set, unsigned int file, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s/" FILE_PREFIX "%05u", set->dir, file);
}

static void name_file(const void *data, unsigned int file, char *buf, size_t size)
{
	dataset_path(data, file, buf, size);
}

/* A descriptor for direct I/O unless the set or the filesystem does not want that. */
static int open_file(const struct dataset *set, unsigned int file, int flags, struct fail *f)
{
	char path[PATH_MAX];
	int fd = -1;

	dataset_path(set, file, path, sizeof(path));
	if (!set->buffered)
		fd = open(path, flags | O_DIRECT | O_CLOEXEC, 0600);
	if (fd < 0 && (set->buffered || errno == EINVAL))
		fd = open(path, flags | O_CLOEXEC, 0600);
	return fd < 0 ? fail_set(f, errno, "%s", path) : fd;
}

static int open_to_write(const void *data, unsigned int file, struct fail *f)
{
	const struct dataset *set = data;
	_cleanup_close_ int fd = open_file(set, file, O_WRONLY | O_CREAT | O_TRUNC, f);
	char path[PATH_MAX];

	if (fd < 0)
		return fd;
	/* Says at once that the disk is too small, and lets direct writes go in parallel, since none
	 * makes the file longer. But btrfs never compresses what goes into allocated blocks. */
	if (!set->buffered && fallocate(fd, 0, 0, (off_t)set->file_bytes) < 0 &&
	    errno != EOPNOTSUPP) {
		dataset_path(set, file, path, sizeof(path));
		return fail_set(f, errno, "allocating %s", path);
	}
	return take_fd(&fd);
}

static int open_to_read(const void *data, unsigned int file, struct fail *f)
{
	return open_file(data, file, O_RDONLY, f);
}

static int fill(const void *data, const struct block *b, struct fail *f)
{
	const struct dataset *set = data;

	(void)f;
	content_fill(&set->content, b->file, b->offset, b->data, b->bytes);
	return 0;
}

static int compare(const void *data, const struct block *b, struct fail *f)
{
	const struct dataset *set = data;
	size_t at = content_differs(&set->content, b->file, b->offset, b->data, b->bytes);
	char path[PATH_MAX];

	if (at == b->bytes)
		return 0;
	dataset_path(set, b->file, path, sizeof(path));
	return fail_say(f, EIO, "%s differs from what was written at byte %" PRIu64, path,
			b->offset + at);
}

static struct blockqueue queue_of(const struct dataset *set)
{
	return (struct blockqueue){
		.nr_files = set->nr_files,
		.file_bytes = set->file_bytes,
		.plain = set->plain,
		.stop = set->stop,
		.name = name_file,
		.data = set,
	};
}

/* Calls @each with a descriptor of every file in turn. */
static int for_each(const struct dataset *set,
		    int (*each)(const struct dataset *set, int fd, const char *path,
				struct fail *f),
		    struct fail *f)
{
	for (unsigned int i = 0; i < set->nr_files; i++) {
		char path[PATH_MAX];
		_cleanup_close_ int fd = -1;
		int r;

		if (set->stop && *set->stop)
			return fail_say(f, EINTR, "interrupted");
		dataset_path(set, i, path, sizeof(path));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return fail_set(f, errno, "%s", path);
		r = each(set, fd, path, f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int sync_one(const struct dataset *set, int fd, const char *path, struct fail *f)
{
	(void)set;
	return fsync(fd) < 0 ? fail_set(f, errno, "syncing %s", path) : 0;
}

static int evict_one(const struct dataset *set, int fd, const char *path, struct fail *f)
{
	uint64_t left = 0;
	int r = pagecache_evict(fd, set->file_bytes, &left);

	if (r < 0)
		return fail_set(f, -r, "evicting %s", path);
	if (left > 0)
		return fail_say(f, EBUSY,
				"%s still has %" PRIu64 " pages in memory after its eviction: they "
				"are on somebody else's account, and the memcg would not fill",
				path, left);
	return 0;
}

int dataset_write(const struct dataset *set, struct fail *f)
{
	struct blockqueue q = queue_of(set);
	int r;

	q.write = true;
	q.open = open_to_write;
	q.each = fill;
	r = blockqueue_run(&q, f);
	return r < 0 ? r : for_each(set, sync_one, f);
}

int dataset_verify(const struct dataset *set, struct fail *f)
{
	struct blockqueue q = queue_of(set);
	int r;

	/* What is verified is the disk, not what writing left in memory. */
	if (set->buffered) {
		r = dataset_evict(set, f);
		if (r < 0)
			return r;
	}
	q.open = open_to_read;
	q.each = compare;
	return blockqueue_run(&q, f);
}

int dataset_evict(const struct dataset *set, struct fail *f)
{
	return for_each(set, evict_one, f);
}

int dataset_lock(const struct dataset *set, struct fail *f)
{
	_cleanup_close_ int fd = open(set->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fail_set(f, errno, "%s", set->dir);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? fail_say(f, EWOULDBLOCK,
						       "%s is in use by another mmapread", set->dir)
					    : fail_set(f, errno, "locking %s", set->dir);
	return take_fd(&fd);
}

static void manifest_text(const struct dataset *set, char *buf, size_t size)
{
	char ratio[TEXT_NUMBER_SIZE];

	(void)snprintf(buf, size,
		       MANIFEST_FORM "\nfiles %u\nbytes %" PRIu64 "\nratio %s\nseed %" PRIu64
				     "\nbuffered %d\n",
		       set->nr_files, set->file_bytes,
		       text_real(set->content.ratio, ratio, sizeof(ratio)), set->content.seed,
		       set->buffered);
}

static void manifest_path(const struct dataset *set, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s/" MANIFEST, set->dir);
}

bool dataset_matches(const struct dataset *set)
{
	char path[PATH_MAX], wanted[MANIFEST_SIZE], found[MANIFEST_SIZE];
	struct stat st;

	manifest_path(set, path, sizeof(path));
	manifest_text(set, wanted, sizeof(wanted));
	if (kfile_read_at(AT_FDCWD, path, found, sizeof(found)) < 0 || strcmp(found, wanted) != 0)
		return false;
	for (unsigned int i = 0; i < set->nr_files; i++) {
		dataset_path(set, i, path, sizeof(path));
		if (stat(path, &st) < 0 || (uint64_t)st.st_size != set->file_bytes)
			return false;
	}
	return true;
}

int dataset_write_manifest(const struct dataset *set, struct fail *f)
{
	char path[PATH_MAX], text[MANIFEST_SIZE];
	_cleanup_fclose_ FILE *out = NULL;

	manifest_path(set, path, sizeof(path));
	manifest_text(set, text, sizeof(text));
	out = fopen(path, "we");
	/* Half a manifest matches nothing, so a crash here costs a rewrite only. */
	if (!out || fputs(text, out) == EOF || fflush(out) != 0 || fsync(fileno(out)) < 0)
		return fail_set(f, errno, "%s", path);
	return 0;
}

int dataset_clear(const struct dataset *set, struct fail *f)
{
	_cleanup_closedir_ DIR *d = opendir(set->dir);
	struct dirent *e;

	if (!d)
		return fail_set(f, errno, "%s", set->dir);
	if (unlinkat(dirfd(d), MANIFEST, 0) < 0 && errno != ENOENT)
		return fail_set(f, errno, "%s/" MANIFEST, set->dir);
	while ((e = readdir(d))) {
		/* Only what we name so: the folder may hold things of others. */
		if (strncmp(e->d_name, FILE_PREFIX, strlen(FILE_PREFIX)) == 0 &&
		    unlinkat(dirfd(d), e->d_name, 0) < 0)
			return fail_set(f, errno, "%s/%s", set->dir, e->d_name);
	}
	return 0;
}
