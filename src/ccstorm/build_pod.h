/* SPDX-License-Identifier: GPL-2.0-only */
/* The judge's half of build_pod.c, apart because it is pure. */
#pragma once

#include "ccstorm.h"

void build_pod_judge(const struct measurement *m, struct run_result *res);
