/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The known word that a mistyped one probably means. */
#ifndef DPUMAP_CLI_NEAREST_H
#define DPUMAP_CLI_NEAREST_H

/* A search: start with {.word = WORD}, offer each known word, then read found. */
struct cli_nearest {
	const char *word;
	char found[64]; /* "": no known word is near */
	unsigned int distance;
};

/* If name is nearer than the names before, found becomes a copy of meant. */
void cli_nearest_offer(struct cli_nearest *nearest, const char *name, const char *meant);

#endif
