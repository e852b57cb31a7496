/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd ctl: the client of admin.h. */
#ifndef DPUMAPD_CTL_H
#define DPUMAPD_CTL_H

/* Runs the command line from "ctl" on; returns the exit code. */
int ctl_main(int argc, char **argv);

#endif
