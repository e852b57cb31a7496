/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes as lines of 16 in the canonical form: offset, hexadecimal, ASCII; repeated lines are one *.
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
/* What is left, and the offset behind it. */
void hexdump_end(struct hexdump *dump);

#endif
