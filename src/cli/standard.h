/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Descriptors 0 to 2 of a program that was started without some of them. */
#ifndef DPUMAP_CLI_STANDARD_H
#define DPUMAP_CLI_STANDARD_H

/*
 * Opens /dev/null in place of each one that is closed, so that no other file gets its number, and what
 * the program prints. Writing to such a standard output still fails. To be called first. Returns 0 or
 * an errno.
 */
int cli_open_standard_files(void);

#endif
