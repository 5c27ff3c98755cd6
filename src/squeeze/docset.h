/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result documents named on a command line: files, and folders of which every *.json is read.
 * A folder that holds none itself stands for the folders in it, as lab/matrix makes them.
 *
 * One unreadable document does not hide the others: each leaves one sentence, and the caller
 * decides what it means. JSON in a folder that is no result document is counted, not complained
 * about.
 */
#pragma once

#include <stddef.h>

#include "document.h"

struct docset {
	struct document **docs;
	size_t nr;
	char **complaints;
	size_t nr_complaints;
	size_t nr_foreign;
};
#define DOCSET_EMPTY ((struct docset){ .docs = NULL })

/* Adds a file or a folder. 0, or -ENOMEM; everything else is a complaint in the set. */
int docset_add(struct docset *set, const char *path);
void docset_free(struct docset *set);
