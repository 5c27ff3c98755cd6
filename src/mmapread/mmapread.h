/* SPDX-License-Identifier: GPL-2.0-only */
/* mmapread's own options and scenarios. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fsimage.h"
#include "scenario.h"

/* A ladder of more rungs than this is a job for a shell loop. */
#define MMAPREAD_RUNGS_MAX 16
/* 1,024 processes and their histograms take 0.4 GiB; a futex wakes no more at once sensibly. */
#define MMAPREAD_PROCS_MAX 2048

enum advice { ADVICE_NORMAL, ADVICE_RANDOM, ADVICE_SEQUENTIAL };

struct mmapread_options {
	unsigned int procs; /* of the rung under way; 0: the scenario's default */
	unsigned int ladder[MMAPREAD_RUNGS_MAX];
	size_t nr_rungs;
	bool random;
	enum advice advice;
	uint64_t file_bytes;	  /* 0: the files together are 3 x the memcg */
	uint64_t readahead_bytes; /* 0: the scenario's default */
	bool readahead_keep;	  /* as it is */
	const char *dir;	  /* NULL: /var/tmp */
	struct fsimage fs;
	uint64_t image_bytes; /* 0: fits the files */
	double compress;
	bool keep_files;
};

extern const char *const advice_names[]; /* by enum advice */
extern const struct scenario readahead_livelock;
