/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands in for probe_bpf.c in a build without BPF (cmake -DSQUEEZE_BPF=OFF, or tools missing). */
#include <errno.h>

#include "probe_impl.h"

static int open_none(const struct probe_target *target, void **ret_state, struct fail *f)
{
	(void)target;
	(void)ret_state;
	return fail_say(f, EOPNOTSUPP, "Squeeze was built without it");
}

const struct probe_ops probe_bpf_ops = {
	.kind = PROBE_BPF,
	.name = "bpf",
	.blind_to = "",
	.open = open_none,
};
