/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/interpose.h"

/*
 * The shared runtime of AddressSanitizer refuses to start below a preloaded library unless this option
 * is off. It reads the defaults from this function, then the variable ASAN_OPTIONS. A program's own
 * function of this name takes precedence. The two libraries get along: this one calls the next
 * definition of each function that it interposes, and allocates with the program's allocator.
 */
EXPORT const char *__asan_default_options(void); /* NOLINT(bugprone-reserved-identifier) */

const char *__asan_default_options(void) /* NOLINT(bugprone-reserved-identifier) */
{
	return "verify_asan_link_order=0";
}
