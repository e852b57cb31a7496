/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The two processes of a benchmark, and bytes between them that are not measured. The first one
 * starts the second one by a command, which connects standard input and output to the first one.
 */
#ifndef DPUMAP_BENCH_DUO_H
#define DPUMAP_BENCH_DUO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct duo {
	pid_t pid; /* of the command, or 0 */
	int from, to;
};

/* Return false after printing an error. */
bool duo_start(struct duo *duo, char *const command[]);
/* In the process that was started. What it prints goes to standard error. */
bool duo_join(struct duo *duo);
/* Close the pipes and wait for the end of the command, if there is one. */
void duo_end(struct duo *duo);

/* All of it; false if the other process has ended. */
bool duo_send(const struct duo *duo, const void *bytes, size_t len);
bool duo_receive(const struct duo *duo, void *bytes, size_t len);
/* Both sides at once. */
bool duo_swap(const struct duo *duo, const void *ours, void *theirs, size_t len);
/* Wait until the other process is here too. */
bool duo_meet(const struct duo *duo);

#endif
