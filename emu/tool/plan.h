/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A chaos plan: the text, and the sequence of faults that it means with a seed. */
#ifndef EMU_TOOL_PLAN_H
#define EMU_TOOL_PLAN_H

#include <stdint.h>
#include <stdio.h>

#include "emu/tool/tool.h"

struct plan;

/* An action of the sequence. All times are in milliseconds since the start. */
struct plan_action {
	uint32_t at;
	unsigned int line; /* of the plan */
	struct emu_fault_request fault;
};

/*
 * Read a plan and check it. Prints the first error with the name and the line, and returns NULL;
 * `usage` then says whether the plan is wrong.
 */
struct plan *plan_read(FILE *in, const char *name, bool *usage);
void plan_free(struct plan *p);
uint32_t plan_duration(const struct plan *p);
/*
 * The sequence for a seed, in the order of time. A plan and a seed always give the same one. The caller
 * frees it. Prints an error and returns NULL on failure.
 */
struct plan_action *plan_expand(const struct plan *p, uint64_t seed, size_t *count);

#endif
