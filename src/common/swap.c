/* SPDX-License-Identifier: GPL-2.0-only */
#include "swap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "blockdev.h"
#include "caps.h"
#include "cleanup.h"
#include "device_latency.h"
#include "kfile.h"
#include "meminfo.h"
#include "parse.h"
#include "proctext.h"

/* Never on /tmp, which is often memory. */
#define IMAGE_DIR "/var/tmp"

/* Under this a device of its own is not worth the trouble: swap clusters alone are 2 MiB per CPU. */
#define SIZE_MIN_BYTES (64U << 20)

/* An image must not fill the filesystem of the whole system to its last byte. */
#define DISK_RESERVE_BYTES (64U << 20)
/* seeds/000: "swap on a dm-delay device (50ms) to slow swap-out and lengthen the isolation window". */
#define DOCUMENT_DELAY_MS 50

#define NS_PER_MS 1000000U

const char *const swap_kind_names[] = {
	[SWAP_AUTO] = "auto", [SWAP_EXISTING] = "existing", [SWAP_NONE] = "none",
	[SWAP_ZRAM] = "zram", [SWAP_FILE] = "file",	    [SWAP_DELAY] = "delay",
};

/* "50ms", or a plain number of milliseconds. */
static int parse_delay(const char *s, unsigned int *ret_ms)
{
	uint64_t value;
	int r = parse_u64(s, &value);

	if (r == -EINVAL) {
		r = parse_duration_ns(s, &value);
		value /= NS_PER_MS;
	}
	if (r)
		return r;
	/* dm-delay itself takes 32 bits; more than ten minutes a request is a mistake. */
	if (value > 600000U)
		return -ERANGE;
	*ret_ms = (unsigned int)value;
	return 0;
}

static int parse_kind(const char *word, enum swap_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(swap_kind_names); i++) {
		if (!strcmp(word, swap_kind_names[i])) {
			*ret = (enum swap_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

int swap_spec_parse(const char *s, struct swap_spec *ret)
{
	struct swap_spec spec = { 0 };
	char copy[128], *rest = copy, *word;
	int r;

	if (snprintf(copy, sizeof(copy), "%s", s) >= (int)sizeof(copy))
		return -EINVAL;
	r = parse_kind(strsep(&rest, ":"), &spec.kind);
	if (!r && spec.kind == SWAP_DELAY) {
		word = strsep(&rest, ":");
		r = word ? parse_delay(word, &spec.delay_ms) : -EINVAL;
	}
	if (!r && rest) {
		if (spec.kind != SWAP_ZRAM && spec.kind != SWAP_FILE && spec.kind != SWAP_DELAY)
			return -EINVAL;
		r = parse_size(rest, &spec.size_bytes);
		if (!r && !spec.size_bytes)
			r = -EINVAL;
	}
	if (!r)
		*ret = spec;
	return r;
}

struct totals {
	uint64_t total_bytes;
	uint64_t free_bytes;
	struct swap_host *host; /* may be NULL: everything counts */
	int max_priority;	/* of what is not ours; -1: none has a positive one */
};

static bool is_of_a_run(const char *dev)
{
	char label[17];

	return !swap_header_label(dev, label) && !strncmp(label, "sqz-", 4);
}

static int add_swap(const struct swap_entry *s, void *data)
{
	struct totals *t = data;

	if (t->host && s->partition && is_of_a_run(s->path)) {
		t->host->own_kind_active = true;
		/* /dev/dm-0 or /dev/mapper/squeeze-… */
		if (!strncmp(s->path, "/dev/dm-", 8) || !strncmp(s->path, "/dev/mapper/", 12))
			t->host->own_delay_active = true;
		return 0;
	}
	t->total_bytes += s->size_bytes;
	t->free_bytes += s->size_bytes - s->used_bytes;
	if (s->priority > t->max_priority)
		t->max_priority = s->priority;
	return 0;
}

static int sum_swaps(struct totals *t)
{
	char text[KFILE_SIZE];
	ssize_t n = kfile_read_at(AT_FDCWD, "/proc/swaps", text, sizeof(text));

	/* No such file: a kernel without swap. */
	if (n < 0)
		return n == -ENOENT ? 0 : (int)n;
	return swaps_each(text, add_swap, t);
}

int swap_active(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes)
{
	struct totals t = { 0 };
	int r = sum_swaps(&t);

	if (r)
		return r;
	*ret_total_bytes = t.total_bytes;
	*ret_free_bytes = t.free_bytes;
	return 0;
}

static int too_little(struct fail *f, const char *what, uint64_t wanted, uint64_t have)
{
	char a[32], b[32];

	return fail_say(f, ENOSPC, "%s: %s needed, %s there", what,
			format_size(wanted, a, sizeof(a)), format_size(have, b, sizeof(b)));
}

static int may_add(const struct swap_spec *spec, bool shared_ok, const struct swap_host *host,
		   struct fail *f)
{
	if (!host->may_swapon)
		return fail_say(f, EPERM, "needs CAP_SYS_ADMIN for swapon");
	if (shared_ok)
		return 0;
	if (host->foreign_total_bytes)
		return fail_say(f, EEXIST,
				"other swap is active, and a device of our own above it would take "
				"everybody's pages: use --swap existing, or allow it by "
				"--swap-shared-ok");
	if (host->own_delay_active || (host->own_kind_active && spec->kind == SWAP_DELAY))
		return fail_say(
			f, EEXIST,
			"another run of Squeeze has swap active, and one of the two is on a slow "
			"device that would slow the other: wait for its end, or allow it by "
			"--swap-shared-ok");
	return 0;
}

static int check_disk(uint64_t size, const struct swap_host *host, struct fail *f)
{
	if (!host->have_loop)
		return fail_say(f, EOPNOTSUPP, "no loop devices for a swap file");
	if (host->disk_is_memory)
		return fail_say(f, EOPNOTSUPP,
				"%s is in memory (tmpfs), so swap there would not free any",
				IMAGE_DIR);
	if (size + DISK_RESERVE_BYTES > host->disk_free_bytes)
		return too_little(f, "disk space for a swap file in " IMAGE_DIR,
				  size + DISK_RESERVE_BYTES, host->disk_free_bytes);
	return 0;
}

static int check_zram(uint64_t size, const struct swap_host *host, struct fail *f)
{
	if (!host->have_zram)
		return fail_say(f, EOPNOTSUPP, "no zram in this kernel");
	/* Pages that do not compress take what they are. */
	if (size > host->mem_available_bytes)
		return too_little(f, "memory for a zram device", size, host->mem_available_bytes);
	return 0;
}

static int check_device(const struct swap_spec *spec, const struct swap_host *host, struct fail *f)
{
	if (spec->kind == SWAP_ZRAM)
		return check_zram(spec->size_bytes, host, f);
	if (spec->kind == SWAP_FILE)
		return check_disk(spec->size_bytes, host, f);
	if (!host->have_delay)
		return fail_say(f, EOPNOTSUPP, "no device-mapper target \"delay\" in this kernel");
	/* Below the delay either will do. */
	if (!check_zram(spec->size_bytes, host, NULL))
		return 0;
	return check_disk(spec->size_bytes, host, f);
}

/* The sizes of a device of our own. */
struct sizes {
	uint64_t at_once; /* zram: a page is free when it is written */
	uint64_t slow;	  /* the others: until then it takes memory and a slot */
};

static int plan_sizes(const struct swap_need *need, struct sizes *ret)
{
	uint64_t least = need->least_bytes + need->least_bytes / 4;
	uint64_t most = need->most_bytes + need->most_bytes / 8;

	if (least < need->least_bytes || most < need->most_bytes)
		return -EOVERFLOW;
	if (least < SIZE_MIN_BYTES)
		least = SIZE_MIN_BYTES;
	if (most < least)
		most = least;
	/* mkswap and loop think in pages; 64 KiB is the largest there is. */
	ret->at_once = (least + 65535U) & ~(uint64_t)65535U;
	ret->slow = (most + 65535U) & ~(uint64_t)65535U;
	return 0;
}

/* What "auto" means here. */
static void choose(struct swap_spec *spec, const struct sizes *size, const struct swap_host *host)
{
	bool zram = !check_zram(size->at_once, host, NULL);
	bool file = !check_disk(size->slow, host, NULL);
	bool below = file || !check_zram(size->slow, host, NULL);

	if (host->foreign_free_bytes >= size->at_once) {
		spec->kind = SWAP_EXISTING;
	} else if (spec->slow && host->have_delay && !host->own_kind_active && below) {
		spec->kind = SWAP_DELAY;
		spec->delay_ms = DOCUMENT_DELAY_MS;
	} else {
		spec->kind = zram && !(spec->slow && file) ? SWAP_ZRAM : SWAP_FILE;
	}
}

int swap_decide(const struct swap_spec *spec, const struct swap_need *need, bool shared_ok,
		const struct swap_host *host, struct swap_spec *ret_resolved, struct fail *f)
{
	struct swap_spec out = *spec;
	struct sizes size;
	int r = plan_sizes(need, &size);

	if (r < 0)
		return fail_set(f, -r, "size of the swap");
	if (out.kind == SWAP_AUTO)
		choose(&out, &size, host);
	if (out.kind == SWAP_EXISTING) {
		if (!host->foreign_total_bytes)
			return fail_say(f, ENOENT, "no swap is active");
		if (host->foreign_free_bytes < need->least_bytes)
			return too_little(f, "free swap", need->least_bytes,
					  host->foreign_free_bytes);
	} else if (out.kind != SWAP_NONE) {
		if (!out.size_bytes)
			out.size_bytes = out.kind == SWAP_ZRAM ? size.at_once : size.slow;
		r = may_add(&out, shared_ok, host, f);
		if (!r)
			r = check_device(&out, host, f);
	}
	if (!r)
		*ret_resolved = out;
	return r;
}

static void look_at_disk(struct swap_host *host)
{
	struct statvfs vfs;
	struct statfs fs;

	if (!statvfs(IMAGE_DIR, &vfs))
		host->disk_free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	if (!statfs(IMAGE_DIR, &fs))
		host->disk_is_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

static int look_at_host(struct swap_host *ret, struct fail *f)
{
	struct swap_host host = { 0 };
	struct totals t = { .host = &host, .max_priority = -1 };
	char text[KFILE_SIZE];
	struct meminfo m;
	int r = sum_swaps(&t);

	if (r)
		return fail_set(f, -r, "/proc/swaps");
	host.foreign_total_bytes = t.total_bytes;
	host.foreign_free_bytes = t.free_bytes;
	host.may_swapon = caps_have(CAP_SYS_ADMIN);
	/* Asking for modules takes a process each: only where it matters. */
	if (host.may_swapon) {
		host.have_zram = !blockdev_probe(BLOCKDEV_ZRAM, NULL);
		host.have_loop = !blockdev_probe(BLOCKDEV_LOOP, NULL);
		host.have_delay = !blockdev_probe(BLOCKDEV_DELAY, NULL);
	}
	if (kfile_read_at(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) >= 0 &&
	    !meminfo_parse(text, &m) && m.available_bytes != KFILE_ABSENT)
		host.mem_available_bytes = m.available_bytes;
	look_at_disk(&host);
	*ret = host;
	return 0;
}

int swap_plan(const struct swap_spec *spec, const struct swap_need *need, bool shared_ok,
	      struct swap_spec *ret_resolved, struct fail *f)
{
	struct swap_host host = { 0 };
	int r = look_at_host(&host, f);

	return r ? r : swap_decide(spec, need, shared_ok, &host, ret_resolved, f);
}

static int make_file_device(struct arena *a, uint64_t bytes, char ret_dev[PATH_MAX], struct fail *f)
{
	char path[PATH_MAX];
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s-swap-%u.img", IMAGE_DIR, arena_name(a),
		       arena_mark(a));
	r = arena_make_file(a, path, bytes, f);
	return r ? r : arena_make_loop(a, path, ret_dev, f);
}

static int make_lower_device(struct arena *a, uint64_t bytes, char ret_dev[PATH_MAX],
			     struct fail *f)
{
	if (!blockdev_probe(BLOCKDEV_ZRAM, NULL) && !arena_make_zram(a, bytes, ret_dev, f))
		return 0;
	return make_file_device(a, bytes, ret_dev, f);
}

static int make_device(struct arena *a, const struct swap_spec *spec, char ret_dev[PATH_MAX],
		       struct fail *f)
{
	char lower[PATH_MAX];
	int r;

	if (spec->kind == SWAP_ZRAM)
		return arena_make_zram(a, spec->size_bytes, ret_dev, f);
	if (spec->kind == SWAP_FILE)
		return make_file_device(a, spec->size_bytes, ret_dev, f);
	r = make_lower_device(a, spec->size_bytes, lower, f);
	return r ? r : arena_make_delay(a, lower, "swap", spec->delay_ms, ret_dev, f);
}

static void describe(struct swap_state *s, uint64_t bytes)
{
	struct swap_info *info = &s->infos[0];

	(void)snprintf(info->kind, sizeof(info->kind), "%s", swap_kind_names[s->kind]);
	info->size_bytes = bytes;
	s->nr_infos = 1;
}

int swap_prepare(struct arena *a, const struct swap_spec *resolved, struct swap_state *ret,
		 struct fail *f)
{
	struct swap_state s = { .kind = resolved->kind };
	struct swap_host host = { 0 };
	struct totals t = { .host = &host, .max_priority = -1 };
	int r = sum_swaps(&t);

	if (r)
		return fail_set(f, -r, "/proc/swaps");
	if (s.kind == SWAP_EXISTING) {
		s.usable_bytes = t.free_bytes;
		describe(&s, t.total_bytes);
	} else if (s.kind != SWAP_NONE) {
		/* Above what is there (that the plan has allowed), else where the kernel puts it. */
		int priority = !t.total_bytes			      ? -1
			       : t.max_priority < SWAP_FLAG_PRIO_MASK ? t.max_priority + 1
								      : t.max_priority;

		s.priority = priority;
		r = make_device(a, resolved, s.device, f);
		if (!r && resolved->measure)
			r = device_latency(s.device, &s.latency_ns, f);
		if (!r)
			r = arena_swapon(a, s.device, priority, f);
		if (r)
			return r;
		/* The first page is the header. */
		s.usable_bytes = resolved->size_bytes - (uint64_t)sysconf(_SC_PAGESIZE);
		describe(&s, resolved->size_bytes);
	}
	*ret = s;
	return 0;
}
