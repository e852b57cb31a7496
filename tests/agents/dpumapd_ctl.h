/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumapd ctl` for a CMocka test. */
#ifndef DPUMAP_TESTS_DPUMAPD_CTL_H
#define DPUMAP_TESTS_DPUMAPD_CTL_H

/* Run a command with one argument on the administration socket; the test fails if the command does. */
void dpumapd_ctl(const char *admin, const char *command, const char *argument);

#endif
