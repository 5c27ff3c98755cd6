/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz.h"

#include <errno.h>

#include "cleanup.h"
#include "proctext.h"

#define TERMINATED(array) (memchr(array, '\0', sizeof(array)) != NULL)

static int check_mount(const struct mount_entry *m, void *data)
{
	unsigned int *nr = data;

	MUST(TERMINATED(m->root) && TERMINATED(m->point) && TERMINATED(m->fs_type));
	MUST(TERMINATED(m->options) && TERMINATED(m->super_options));
	MUST(*m->root && *m->point);
	MUST(!strchr(m->options, ' ') && !strchr(m->super_options, ' '));
	/* Each listed option is found again. */
	if (*m->options) {
		char first[sizeof(m->options)];

		memcpy(first, m->options, sizeof(first));
		first[strcspn(first, ",")] = '\0';
		MUST(!*first || mount_option_has(m->options, first));
	}
	return ++*nr == 100 ? 1 : 0;
}

static int check_swap(const struct swap_entry *s, void *data)
{
	(void)data;
	MUST(TERMINATED(s->path) && *s->path);
	MUST(s->size_bytes % 1024 == 0 && s->used_bytes % 1024 == 0);
	return 0;
}

static void check_cgroup(const char *text, const char *controller)
{
	char path[64];
	int r;

	memset(path, 'x', sizeof(path));
	r = proc_cgroup_path(text, controller, path, sizeof(path));
	MUST(r == 0 || r == -ENOENT || r == -ENAMETOOLONG);
	MUST(r == 0 ? TERMINATED(path) && !strchr(path, '\n') : path[0] == 'x');
}

static void check_task(const char *text)
{
	struct proc_stat s, untouched;
	int r;

	memset(&s, 0x5e, sizeof(s));
	memset(&untouched, 0x5e, sizeof(untouched));
	r = proc_stat_parse(text, &s);
	MUST(r == 0 || r == -EINVAL);
	if (r) {
		MUST(memcmp(&s, &untouched, sizeof(s)) == 0);
		return;
	}
	MUST(TERMINATED(s.comm) && s.state >= 'A' && s.state <= 'z');
	MUST(strstr(text, s.comm));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	unsigned int nr = 0;
	int r = mountinfo_each(text, check_mount, &nr);

	MUST(r == (nr == 100));
	MUST(swaps_each(text, check_swap, NULL) == 0);
	check_cgroup(text, "memory");
	check_cgroup(text, "");
	check_task(text);
	return 0;
}
