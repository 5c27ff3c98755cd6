/* SPDX-License-Identifier: GPL-2.0-only */
#include "likeness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* Parameters that say where the output goes, how often, or by which of several equal ways. lru is
 * judged by what was in force (host.lru), not by what was asked for. */
static const char *const immaterial[] = {
	"seed",	   "runs",     "format",	"json",		"hgrm",		  "quiet",
	"verbose", "dry_run",  "cgroup_parent", "explain",	"swap_shared_ok", "probe",
	"lru",	   "scenario", "time_scale",	"allow_global",
};

/* Facts about the host that change what reclaim does. MemTotal of one machine differs by kernel, as
 * each reserves another part of it: 10 % is above what any takes. */
static const struct host_rule {
	const char *name;
	const char *label;
	double tolerance;
} host_rules[] = {
	{ "memcg_version", "host memcg_version", 0 },
	{ "cpus", "host cpus", 0 },
	{ "nodes", "host nodes", 0 },
	{ "page_size", "host page_size", 0 },
	{ "arch", "host arch", 0 },
	{ "mem_total_bytes", "host mem_total_bytes", 0.1 },
	{ "lru", "host lru", 0 },
	{ "swappiness", "host swappiness", 0 },
	{ "thp", "host thp", 0 },
	{ "zswap", "host zswap", 0 },
	{ "swap", "host swap", 0 },
	{ "virtual", "host virtual", 0 },
};

/* Sizes that a scenario takes from what the machine has free at its start, unless told: ten boots of one
 * guest gave 919 to 926 MB (2026-12-01). */
static const struct param_rule {
	const char *scenario;
	const char *name;
	double tolerance;
} param_rules[] = {
	{ "over-scan", "memcg_bytes", 0.03 },
	{ "over-scan", "allocator_bytes", 0.03 },
};

bool likeness_same_scenario(const struct document *base, const struct document *new)
{
	return !strcmp(base->tool, new->tool) && !strcmp(base->scenario, new->scenario);
}

static bool matters(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(immaterial); i++) {
		if (document_same_name(immaterial[i], name))
			return false;
	}
	return true;
}

static bool within(const char *a, const char *b, double tolerance)
{
	double x, y;

	if (!strcmp(a, b))
		return true;
	if (tolerance <= 0)
		return false;
	x = strtod(a, NULL);
	y = strtod(b, NULL);
	return fabs(x - y) <= tolerance * fmax(x, y);
}

static double tolerance_of(const char *scenario, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(param_rules); i++) {
		if (!strcmp(param_rules[i].scenario, scenario) &&
		    document_same_name(param_rules[i].name, name))
			return param_rules[i].tolerance;
	}
	return 0;
}

struct list {
	struct difference *items;
	size_t nr;
};

static void note(struct list *list, const char *name, const char *base, const char *new)
{
	if (list->nr < DIFFERENCES_MAX)
		list->items[list->nr++] = (struct difference){ name, base, new };
}

static bool has_param(const struct document *doc, const char *name)
{
	for (size_t i = 0; i < doc->nr_params; i++) {
		if (document_same_name(doc->params[i].name, name))
			return true;
	}
	return false;
}

size_t likeness_differences(const struct document *base, const struct document *new,
			    struct difference ret[DIFFERENCES_MAX])
{
	struct list list = { .items = ret };

	for (size_t i = 0; i < base->nr_params; i++) {
		const struct doc_fact *p = &base->params[i];

		if (!matters(p->name))
			continue;
		if (!has_param(new, p->name))
			note(&list, p->name, p->text, "(not recorded)");
		else if (!within(p->text, document_param(new, p->name),
				 tolerance_of(base->scenario, p->name)))
			note(&list, p->name, p->text, document_param(new, p->name));
	}
	for (size_t i = 0; i < new->nr_params; i++) {
		const struct doc_fact *p = &new->params[i];

		if (matters(p->name) && !has_param(base, p->name))
			note(&list, p->name, "(not recorded)", p->text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(host_rules); i++) {
		const char *a = document_host(base, host_rules[i].name);
		const char *b = document_host(new, host_rules[i].name);

		if (!within(a, b, host_rules[i].tolerance))
			note(&list, host_rules[i].label, *a ? a : "(not recorded)",
			     *b ? b : "(not recorded)");
	}
	return list.nr;
}

bool likeness_allowed(const struct allowance *allow, const char *name)
{
	const char *bare = strncmp(name, "host ", 5) ? name : name + 5;

	if (allow->all)
		return true;
	for (size_t i = 0; i < allow->nr; i++) {
		if (document_same_name(allow->names[i], name) ||
		    document_same_name(allow->names[i], bare))
			return true;
	}
	return false;
}
