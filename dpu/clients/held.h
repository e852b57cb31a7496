/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which exports a client holds, and how often. One that holds very many costs others no time. */
#ifndef DPUMAPD_HELD_H
#define DPUMAPD_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/error.h"

struct held_export {
	uint64_t id;
	size_t times; /* gets that were not released */
};

/* All zero: none. */
struct held {
	struct held_export *list; /* by id */
	size_t num, room;
	size_t total; /* of all times */
};

/* FULL, NO_MEMORY. */
doca_error_t held_add(struct held *held, uint64_t id, struct dpumap_error *error);
bool held_has(const struct held *held, uint64_t id);
/* Undoes one held_add(). */
void held_remove(struct held *held, uint64_t id);
/* Undoes all for this export. Returns how many they were. */
size_t held_forget(struct held *held, uint64_t id);
void held_free(struct held *held);

#endif
