/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd ctl top: what clients do each second. */
#ifndef DPUMAPD_TOP_H
#define DPUMAPD_TOP_H

struct options;

/* Returns the exit code. */
int top_main(const struct options *options);

#endif
