/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Errors in the command line. */
#ifndef DPUMAP_COMMON_USAGE_H
#define DPUMAP_COMMON_USAGE_H

struct argp_state;

/* Prints the error in the command line and exits with DPUMAP_EXIT_USAGE. */
_Noreturn void dpumap_usage_error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
