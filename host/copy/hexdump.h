/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Prints bytes in the canonical form: lines of offset, 16 bytes in hexadecimal, ASCII; * for
 * repeats.
 */
#ifndef DPUMAP_HOST_HEXDUMP_H
#define DPUMAP_HOST_HEXDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HEXDUMP_LINE 16

struct hexdump {
	FILE *to;
	uint64_t at; /* of line[0] */
	uint8_t line[HEXDUMP_LINE];
	size_t len;
	uint8_t last[HEXDUMP_LINE];
	bool has_last;
	bool is_repeating;
};

void hexdump_begin(struct hexdump *dump, FILE *to, uint64_t at);
void hexdump_add(struct hexdump *dump, const uint8_t *bytes, size_t len);
/* Prints the remaining bytes and the end offset. */
void hexdump_end(struct hexdump *dump);

#endif
