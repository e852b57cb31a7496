/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files of events. A client has the reading end of a pipe, and the mode of the pipe says how long its records
 * are, so that the shim recognises it however it arrived (dup, fork, SCM_RIGHTS).
 */
#ifndef EMU_EVENT_FILE_H
#define EMU_EVENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define EMU_EVENT_WORD	 8u   /* lengths are multiples */
#define EMU_EVENT_WORDS	 077u /* in the mode; nobody can open a pipe by these permissions */
#define EMU_EVENT_VARIES 0u   /* records differ in length: each is a packet of the pipe */

/* No other pipe is sticky. */
static inline mode_t emu_event_file_mode(size_t record)
{
	return (mode_t)(S_ISVTX | S_IRUSR | S_IWUSR | record / EMU_EVENT_WORD);
}

static inline bool emu_event_file_is(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) && st->st_mode & S_ISVTX;
}

static inline size_t emu_event_file_record(const struct stat *st)
{
	return (st->st_mode & EMU_EVENT_WORDS) * EMU_EVENT_WORD;
}

#endif
