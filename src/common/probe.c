/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "kfile.h"
#include "probe_impl.h"

struct probe {
	const struct probe_ops *ops;
	void *state;
};

static const char *const kind_names[] = {
	[PROBE_AUTO] = "auto",
	[PROBE_BPF] = "bpf",
	[PROBE_PERF] = "perf",
	[PROBE_FILES] = "files",
};

static const struct probe_ops *const back_ends[] = {
	&probe_bpf_ops,
	&probe_perf_ops,
	&probe_files_ops,
	NULL,
};

int probe_kind_parse(const char *s, enum probe_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_names); i++) {
		if (!strcmp(s, kind_names[i])) {
			*ret = (enum probe_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

void probe_counts_init(struct probe_counts *c)
{
	/* KFILE_ABSENT is all ones, and every field is a uint64_t. */
	_Static_assert(KFILE_ABSENT == UINT64_MAX, "memset below");
	memset(c, 0xff, sizeof(*c));
}

static void add_reason(char *why, const struct probe_ops *ops, const struct fail *f)
{
	size_t used = strlen(why);

	(void)snprintf(why + used, TEXT_SIZE - used, "%sno %s probe: %s", used ? "; " : "",
		       ops->name, f->what);
}

int probe_open_from(const struct probe_ops *const *list, enum probe_kind kind,
		    const struct probe_target *target, struct probe **ret, char ret_why[TEXT_SIZE],
		    struct fail *f)
{
	_cleanup_free_ struct probe *p = calloc(1, sizeof(*p));
	struct fail last = { .err = EOPNOTSUPP };
	char why[TEXT_SIZE] = "";

	if (!p)
		return fail_set(f, ENOMEM, "open the probe");
	(void)snprintf(last.what, sizeof(last.what), "this build has no %s probe",
		       kind_names[kind]);
	for (; *list; list++) {
		if (kind != PROBE_AUTO && (*list)->kind != kind)
			continue;
		if ((*list)->open(target, &p->state, &last) == 0) {
			p->ops = *list;
			memcpy(ret_why, why, sizeof(why));
			*ret = p;
			p = NULL;
			return 0;
		}
		add_reason(why, *list, &last);
	}
	return fail_say(f, last.err, "%s", last.what);
}

int probe_open(const struct probe_options *options, const struct cgroup_host *host,
	       const struct cgroup *groups, size_t nr_groups, struct probe **ret,
	       char ret_why[TEXT_SIZE], struct fail *f)
{
	const struct probe_target target = {
		.host = host,
		.groups = groups,
		.nr_groups = nr_groups,
		.verbose = options->verbose,
	};

	return probe_open_from(back_ends, options->kind, &target, ret, ret_why, f);
}

int probe_add_worker(struct probe *p, pid_t pid, struct fail *f)
{
	return p->ops->add_worker ? p->ops->add_worker(p->state, pid, f) : 0;
}

int probe_start(struct probe *p, struct fail *f)
{
	return p->ops->start ? p->ops->start(p->state, f) : 0;
}

int probe_read(struct probe *p, struct probe_counts *ret)
{
	return p->ops->read(p->state, ret);
}

int probe_collect(struct probe *p, struct run_result *run)
{
	return p->ops->collect ? p->ops->collect(p->state, run) : 0;
}

void probe_close(struct probe *p)
{
	if (!p)
		return;
	p->ops->close(p->state);
	free(p);
}

const char *probe_name(const struct probe *p)
{
	return p->ops->name;
}

const char *probe_blind_to(const struct probe *p)
{
	return p->ops->blind_to;
}
