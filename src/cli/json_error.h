/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Errors of commands with --json. */
#ifndef DPUMAP_CLI_JSON_ERROR_H
#define DPUMAP_CLI_JSON_ERROR_H

#include <stdio.h>

/* Prints a string in quotes. */
void cli_json_text(FILE *out, const char *text);
/* Prints one line: an object with the keys "status", "error" and "exit". */
void cli_json_error(FILE *out, const char *status, const char *error, int exit);

#endif
