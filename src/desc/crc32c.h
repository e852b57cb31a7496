/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The checksum of descriptors. */
#ifndef DPUMAP_DESC_CRC32C_H
#define DPUMAP_DESC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli, RFC 3720 B.4). Start and chain with the previous result, first 0. */
uint32_t dpumap_desc_crc32c(uint32_t crc, const void *buf, size_t len);

#endif
