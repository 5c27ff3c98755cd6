/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities, so that "not root" becomes the one thing that is missing: "needs CAP_SYS_ADMIN for
 * swapon". libcap acts on the calling thread only: use before threads are made.
 */
#pragma once

#include <stdbool.h>
#include <sys/capability.h>

#include "fail.h"

/* Whether @cap is in the effective set. */
bool caps_have(cap_value_t cap);
/* 0, or -EPERM with "needs CAP_X for PURPOSE". */
int caps_need(cap_value_t cap, const char *purpose, struct fail *f);
/* Drops every capability of this process but @keep[0 … nr_keep), from all sets and the bounding set
 * where that is allowed; a worker needs none to touch memory. Never fails where it cannot drop. */
void caps_keep_only(const cap_value_t *keep, int nr_keep);
