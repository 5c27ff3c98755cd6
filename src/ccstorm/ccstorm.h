/* SPDX-License-Identifier: GPL-2.0-only */
/* ccstorm's own options and scenarios. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "compile.h"
#include "scenario.h"

/* soft-limit: the document's three tests, and the siblings of design.md, section 5. */
enum soft_case { CASE_BUILD_BUILD, CASE_STREAM_EATER, CASE_BUILD_EATER, CASE_SIBLINGS, CASE_NR };
extern const char *const soft_case_names[CASE_NR];

/* over-scan: what the pressure comes from, and what is there to be scanned. */
enum pressure { PRESSURE_GLOBAL, PRESSURE_MEMCG };
enum scan_load { SCAN_PODS, SCAN_CACHE };

/* More groups than this at once are no longer a machine that somebody has. */
#define CCSTORM_PODS_MAX 4096
#define CCSTORM_JOBS_MAX 1024

struct ccstorm_options {
	unsigned int jobs;	  /* 0: the scenario's default */
	unsigned int pods;	  /* 0: the scenario's default */
	unsigned int objects;	  /* of a round; 0: the default */
	unsigned int job_percent; /* memory of a job: 100 as cc1's */
	bool level_given;
	enum compile_level level;
	const char *dir;      /* headers and objects; NULL: /var/tmp */
	char **command;	      /* argv of the load instead of compile jobs, NULL: none */
	const char *count;    /* glob of the objects it leaves, … */
	const char *count_in; /* … below this folder */
	bool case_given;
	enum soft_case soft_case;
	enum pressure pressure;
	enum scan_load load;
	unsigned int allocators;     /* 0: the default */
	unsigned int demand_percent; /* of the machine; 0: the default */
	uint64_t pod_bytes;	     /* page cache of a pod; 0: the default */
	uint64_t pod_rest_ns;	     /* between two reads of new pages; 0: the default */
};

extern const struct scenario build_pod;
extern const struct scenario soft_limit;
extern const struct scenario over_scan;
