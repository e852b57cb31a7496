/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads of event files (ipc/event_file.h). The kernel gives one event a read, and refuses a buffer that is too
 * short for it: the event stays.
 */
#ifndef EMU_SHIM_EVENT_FILE_H
#define EMU_SHIM_EVENT_FILE_H

/* This process has got an event file. Before the first one, a read costs nothing more. */
void emu_event_file_came(int fd);

#endif
