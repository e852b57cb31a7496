/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sizes and numbers as text. */
#ifndef DPUMAP_COMMON_SIZE_H
#define DPUMAP_COMMON_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPUMAP_SIZE_TEXT_MAX 24

/* Decimal bytes with an optional K, M, G or T (powers of 1024). False for anything else. */
bool dpumap_size_parse(const char *text, uint64_t *bytes);
/* A plain decimal number in [0, max]. */
bool dpumap_number_parse(const char *text, uint64_t max, uint64_t *value);
/* The shortest exact form: 65536 is 64K, 65537 is 65537. */
void dpumap_size_format(uint64_t bytes, char text[static DPUMAP_SIZE_TEXT_MAX]);

#endif
