/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up result documents, one for each kind of ending, with figures like those that real runs
 * gave (design.md, section 7). The report tests and tests/data/results are made from them, so that
 * the same document can be looked at in every rendering.
 */
#pragma once

#include "result.h"

struct sample_document {
	const char *name;
	const char *help;
	void (*fill)(struct result_doc *doc); /* aborts when there is no memory */
};
extern const struct sample_document sample_documents[];
extern const size_t sample_documents_nr;
/* NULL when there is none of that name. */
const struct sample_document *sample_document_find(const char *name);
