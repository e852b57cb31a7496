/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd ctl: the client of admin.h. */
#ifndef DPUMAPD_CTL_H
#define DPUMAPD_CTL_H

struct options;

/* Returns the exit code. */
int ctl_main(const struct options *options);

#endif
