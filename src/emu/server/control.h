/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections to the control socket: holders, status, faults, traces. */
#ifndef EMU_CONTROL_H
#define EMU_CONTROL_H

#include "server.h"

/* Takes `fd`, also on failure. One that holds keeps the server alive. */
int emu_admin_create(int fd, bool holds);
void emu_admin_serve(struct emu_watch *w);
void emu_admin_destroy(struct emu_watch *w);
/* A line for everybody who traces. */
void emu_control_publish(const char *text, size_t len);

/* status.c */
/* What there is, as lines or as JSON: malloc'ed, or NULL. */
char *emu_status_text(bool json);
/* An engine ends: what it did stays counted. */
void emu_status_retire(struct emu_engine *e);

#endif
