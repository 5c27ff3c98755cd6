/* SPDX-License-Identifier: GPL-2.0-only */
/* The judge's half of over_scan.c, apart because it is pure, and what it judges by. */
#pragma once

#include "ccstorm.h"
#include "hist.h"

/* The most that a pass freed, in goals, and the part of the passes over 4 goals, from the probe's
 * histogram in percent of the goal. */
double over_scan_worst(const struct hist *overshoot);
double over_scan_share(const struct hist *overshoot);
void over_scan_judge(const struct measurement *m, struct run_result *res);
