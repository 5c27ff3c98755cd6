/* SPDX-License-Identifier: GPL-2.0-only */
/* The facts about this host that decide an outcome and so belong into every result document. */
#pragma once

#include "cgroup.h"
#include "result.h"

/* Fills everything but probe and swap; what cannot be found is left empty or absent. */
void hostinfo_fill(const struct cgroup_host *host, struct host_info *ret);
/* Whether the kernel has MGLRU, and whether it is switched on (lru_gen/enabled bit 0). */
bool hostinfo_mglru_present(void);
bool hostinfo_mglru_enabled(void);
/* Whether this is a virtual machine (CPUID hypervisor bit as /proc/cpuinfo shows it, or DMI). */
bool hostinfo_is_virtual(const struct host_info *info);
