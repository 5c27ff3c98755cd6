/* SPDX-License-Identifier: GPL-2.0-only */
#include "caps.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

bool caps_have(cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (!caps)
		return false;
	if (cap_get_flag(caps, cap, CAP_EFFECTIVE, &value))
		value = CAP_CLEAR;
	(void)cap_free(caps);
	return value == CAP_SET;
}

/* "CAP_SYS_ADMIN": libcap says "cap_sys_admin", or a number for one that it does not know. */
static void upper_name(cap_value_t cap, char *buf, size_t size)
{
	char *name = cap_to_name(cap);

	(void)snprintf(buf, size, "%s", name ? name : "an unknown capability");
	if (name)
		(void)cap_free(name);
	for (char *p = buf; *p; p++)
		*p = (char)toupper((unsigned char)*p);
}

int caps_need(cap_value_t cap, const char *purpose, struct fail *f)
{
	char name[64];

	if (caps_have(cap))
		return 0;
	upper_name(cap, name, sizeof(name));
	return fail_say(f, EPERM, "needs %s for %s", name, purpose);
}

static bool is_kept(cap_value_t cap, const cap_value_t *keep, int nr_keep)
{
	for (int i = 0; i < nr_keep; i++) {
		if (keep[i] == cap)
			return true;
	}
	return false;
}

/* A capability that is not permitted cannot be kept; cap_set_proc() would refuse the whole set. */
static void raise_if_permitted(cap_t from, cap_t to, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	if (cap_get_flag(from, cap, CAP_PERMITTED, &value) || value != CAP_SET)
		return;
	(void)cap_set_flag(to, CAP_PERMITTED, 1, &cap, CAP_SET);
	(void)cap_set_flag(to, CAP_EFFECTIVE, 1, &cap, CAP_SET);
}

void caps_keep_only(const cap_value_t *keep, int nr_keep)
{
	cap_t now = cap_get_proc();
	cap_t wanted = cap_init();

	/* The bounding set first: dropping from it needs CAP_SETPCAP, which goes with the rest. */
	for (cap_value_t cap = 0; cap < cap_max_bits(); cap++) {
		if (!is_kept(cap, keep, nr_keep))
			(void)cap_drop_bound(cap);
	}
	(void)cap_reset_ambient();
	if (now && wanted) {
		for (int i = 0; i < nr_keep; i++)
			raise_if_permitted(now, wanted, keep[i]);
		(void)cap_set_proc(wanted);
	}
	if (now)
		(void)cap_free(now);
	if (wanted)
		(void)cap_free(wanted);
}
