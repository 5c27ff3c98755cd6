/* SPDX-License-Identifier: GPL-2.0-only */
/* The root task of the classic scenario (see classic.h). */
#pragma once

#include "classic.h"
#include "worker.h"

struct classic_wiring {
	int out_fd; /* where tasks write their lines */
	int end_fd; /* where the root writes struct classic_end; closed when the last process is gone */
};

/* The root's whole life; the tasks are its children. 0 when all have ended (however), or -errno
 * after progress_fail(); what still lives is killed by its end. */
int classic_root(const struct worker *w, const struct classic_options *o,
		 const struct classic_wiring *wiring);
