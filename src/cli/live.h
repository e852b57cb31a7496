/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * "top": figures of a server that are read and shown every interval. On a terminal the view fills the
 * screen until q, Ctrl-C or a signal ends it, and follows the terminal's size. Elsewhere, each view follows
 * the one before it.
 */
#ifndef DPUMAP_CLI_LIVE_H
#define DPUMAP_CLI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CLI_LIVE_INTERVAL_DEFAULT_MS 1000u

struct cli_live {
	unsigned int interval_ms;
	/* One view, of the first interval. */
	bool once;
	/* Do not use the terminal: the output is for programs. */
	bool plain;
	/* Reads the figures; false: they cannot be read. The caller keeps the reason until the end. */
	bool (*sample)(void *arg);
	/* Writes the view of the interval between the last two samples, also if there is one alone. */
	void (*draw)(void *arg, FILE *out);
};

/* Returns 0, also if a sample failed, or the errno of what it cannot write or set up. */
int cli_live_run(const struct cli_live *live, void *arg);

/* Parses seconds from 0.1 to 3600 with an optional fraction; false: they are not. */
bool cli_live_interval(const char *text, unsigned int *interval_ms);

/* A counter per second; 0 if the counter began again. ns is not 0. */
double cli_live_rate(uint64_t before, uint64_t after, uint64_t ns);
/*
 * Writes a line of a table: its head in 24 columns and each number in eleven, from 10000 on in powers of
 * 1024 ("9999 ", "56.7K").
 */
void cli_live_row(FILE *out, const char *head, const double *numbers, size_t count);
/* The same for the names of the columns; NULL ends them. */
void cli_live_head(FILE *out, const char *head, const char *const *names);
/* Writes the time of day, as the views begin. */
void cli_live_time(FILE *out);

#endif
