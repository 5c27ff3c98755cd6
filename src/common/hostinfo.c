/* SPDX-License-Identifier: GPL-2.0-only */
#include "hostinfo.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cleanup.h"
#include "kfile.h"
#include "meminfo.h"
#include "parse.h"
#include "psi.h"
#include "vmstat.h"

#define LRU_GEN_ENABLED "/sys/kernel/mm/lru_gen/enabled"
#define LRU_GEN_CORE 0x1 /* Documentation/admin-guide/mm/multigen_lru.rst */

static const char *const mode_names[] = { "v1", "v2", "hybrid" };

static bool read_text(const char *path, char *buf, size_t size)
{
	ssize_t n = kfile_read_at(AT_FDCWD, path, buf, size);

	if (n <= 0)
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

bool hostinfo_mglru_present(void)
{
	return access(LRU_GEN_ENABLED, F_OK) == 0;
}

bool hostinfo_mglru_enabled(void)
{
	char text[32];

	return read_text(LRU_GEN_ENABLED, text, sizeof(text)) &&
	       (strtoul(text, NULL, 16) & LRU_GEN_CORE);
}

static unsigned int count_list(const char *path)
{
	struct number_set set;
	char text[1024];

	if (!read_text(path, text, sizeof(text)) || parse_list(text, &set) < 0)
		return 1;
	return number_set_count(&set);
}

/* The word in brackets of "always [madvise] never". */
static void bracketed(const char *text, char *ret, size_t size)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	ret[0] = '\0';
	if (close)
		(void)snprintf(ret, size, "%.*s", (int)(close - open - 1), open + 1);
}

/* The first CPU's flags line; the file is too long for one read where there are many CPUs. */
static bool hypervisor_bit(void)
{
	_cleanup_fclose_ FILE *in = fopen("/proc/cpuinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0)
		if (strncmp(line, "flags", 5) == 0)
			return strstr(line, " hypervisor") != NULL;
	return false;
}

static void fill_virtual(struct host_info *h)
{
	char vendor[64];

	if (!read_text("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor)))
		vendor[0] = '\0';
	for (char *c = vendor; *c; c++)
		*c = isprint((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '?';
	if (strstr(vendor, "qemu"))
		(void)snprintf(h->virtual_machine, sizeof(h->virtual_machine), "qemu");
	else if (hypervisor_bit())
		(void)snprintf(h->virtual_machine, sizeof(h->virtual_machine), "%.31s",
			       vendor[0] ? vendor : "unknown");
	else
		(void)snprintf(h->virtual_machine, sizeof(h->virtual_machine), "none");
}

bool hostinfo_is_virtual(const struct host_info *info)
{
	return strcmp(info->virtual_machine, "none") != 0;
}

static void fill_memory(struct host_info *h)
{
	char text[KFILE_SIZE];
	struct meminfo mem;
	struct vmstat vm;
	struct psi psi;
	uint64_t swappiness;

	if (kfile_read_at(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) > 0 &&
	    meminfo_parse(text, &mem) == 0 && mem.total_bytes != KFILE_ABSENT)
		h->mem_total_bytes = mem.total_bytes;
	if (kfile_read_at(AT_FDCWD, "/proc/vmstat", text, sizeof(text)) > 0 &&
	    vmstat_parse(text, &vm) == 0 && vm.nr_inactive_anon != KFILE_ABSENT)
		h->node_inactive_anon_pages = value_u64(vm.nr_inactive_anon);
	if (kfile_read_u64_at(AT_FDCWD, "/proc/sys/vm/swappiness", &swappiness) == 0)
		h->swappiness = value_u64(swappiness);
	if (read_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text)))
		bracketed(text, h->thp, sizeof(h->thp));
	h->zswap = read_text("/sys/module/zswap/parameters/enabled", text, sizeof(text)) &&
		   text[0] == 'Y';
	/* The file is there even where PSI is off; only reading it tells. */
	h->psi = kfile_read_at(AT_FDCWD, "/proc/pressure/memory", text, sizeof(text)) > 0 &&
		 psi_parse(text, &psi) == 0;
}

void hostinfo_fill(const struct cgroup_host *host, struct host_info *ret)
{
	struct utsname un;

	*ret = (struct host_info){ 0 };
	if (uname(&un) == 0) {
		(void)snprintf(ret->kernel, sizeof(ret->kernel), "%s", un.release);
		(void)snprintf(ret->arch, sizeof(ret->arch), "%.31s", un.machine);
	}
	ret->cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	ret->nodes = count_list("/sys/devices/system/node/online");
	ret->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	(void)snprintf(ret->cgroup, sizeof(ret->cgroup), "%s", mode_names[host->mode]);
	ret->memcg_version = host->memcg_version;
	(void)snprintf(ret->lru, sizeof(ret->lru), "%s",
		       hostinfo_mglru_enabled() ? "mglru" : "classic");
	fill_memory(ret);
	fill_virtual(ret);
}
