/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd ctl: an administrator's side of admin.h. */
#ifndef DPUMAPD_CTL_H
#define DPUMAPD_CTL_H

/* The program's main() from "ctl" on; returns its exit code. */
int ctl_main(int argc, char **argv);

#endif
