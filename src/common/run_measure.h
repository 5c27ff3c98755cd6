/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine's own half: fills run->m.metrics and the histograms of run->res once the workers are gone. */
#pragma once

#include "run.h"

void run_measure(struct run *run);
