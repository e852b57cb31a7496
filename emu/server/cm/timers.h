/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Deadlines of connections: retries, timewait, and events that wait for the next turn. */
#ifndef EMU_CM_TIMERS_H
#define EMU_CM_TIMERS_H

struct emu_cm;
struct emu_cm_conn;

/* Handle all deadlines that passed. */
void emu_cm_expire(struct emu_cm *cm);

/* For the files of the connection manager. */
void emu_cm_set_deadline(struct emu_cm_conn *c, unsigned int ms);
void emu_cm_clear_deadline(struct emu_cm_conn *c);
void emu_cm_enter_timewait(struct emu_cm_conn *c);
void emu_cm_reset_to_idle(struct emu_cm_conn *c);
/* The request was answered: stop its retries. */
void emu_cm_answered(struct emu_cm_conn *c);

#endif
