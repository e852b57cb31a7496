/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAPD_SAY_H
#define DPUMAPD_SAY_H

/* One line to the log, which is stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
