/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The CRC-32 of Ethernet. */
#ifndef EMU_WIRE_CRC32_H
#define EMU_WIRE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continue `crc`, which begins as 0. */
uint32_t wire_crc32(uint32_t crc, const uint8_t *bytes, size_t len);

#endif
