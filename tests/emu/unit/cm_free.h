/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The end of an endpoint of the connection manager. The server has no use for it. */
#ifndef TESTS_EMU_UNIT_CM_FREE_H
#define TESTS_EMU_UNIT_CM_FREE_H

#include <stdlib.h>

#include "emu/server/cm/cm_priv.h"

/* Free it with its connections, without messages and events. NULL is permitted. */
static inline void cm_free(struct emu_cm *cm)
{
	struct emu_cm_conn *next;

	for (struct emu_cm_conn *c = cm ? LIST_FIRST(&cm->conns) : NULL; c; c = next) {
		next = LIST_NEXT(c, link);
		emu_cm_discard(c);
	}
	free(cm);
}

#endif
