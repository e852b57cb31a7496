/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A check, and groups of checks. */
#ifndef DPUMAP_DOCTOR_CHECK_H
#define DPUMAP_DOCTOR_CHECK_H

#include "doctor/finding.h"

struct check_context;

typedef void doctor_check_fn(struct check_context *context, struct finding *finding);

struct check {
	const char *id;
	const char *title;
	doctor_check_fn *run;
};

/* Checks that share opened objects and a process. The last one has no id. */
struct group {
	const char *title;
	const struct check *checks;
	/* Releases what is still open. */
	void (*end)(struct check_context *context);
};

#endif
