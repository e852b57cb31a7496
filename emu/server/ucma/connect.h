/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Listening, connections, and what the endpoint of a machine asks and reports (cm/cm.h). */
#ifndef EMU_UCMA_CONNECT_H
#define EMU_UCMA_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/server/cm/cm.h"

/* Does an id of the machine `ctx` listen to this service ID at the path's port? */
bool emu_cma_listens(void *ctx, const struct emu_cm_path *path, uint64_t service_id);
/* Turn an event of a connection into an event of its id; not 0: destroy the connection. */
int emu_cma_event(void *ctx, struct emu_cm_conn *conn, const struct emu_cm_event *e);
/* A function's device is gone: its ids get DEVICE_REMOVAL, and nothing else from then on. */
void emu_cma_device_gone(const struct emu_func *f);

#endif
