/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_COMMON_USAGE_H
#define DPUMAP_COMMON_USAGE_H

struct argp_state;

/* Says what is wrong with the command line and ends the process with DPUMAP_EXIT_USAGE. */
_Noreturn void dpumap_usage_error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
