/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The server's own messages, on its standard error. */
#ifndef EMU_LOG_H
#define EMU_LOG_H

/* Write one line. */
void emu_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
