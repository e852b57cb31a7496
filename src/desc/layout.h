/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The numbers of the wire format (docs/wire-format.md). */
#ifndef DPUMAP_DESC_LAYOUT_H
#define DPUMAP_DESC_LAYOUT_H

#include "crc32c.h"

#include <dpumap/desc.h>

#define MAGIC	      0x4d555044u /* "DPUM" in memory */
#define VERSION_MAJOR 1u
#define VERSION_MINOR 0u

#define MAGIC_OFFSET  0u
#define CRC_OFFSET    (MAGIC_OFFSET + 4u)
#define CRC_END	      (CRC_OFFSET + 4u)
#define MAJOR_OFFSET  CRC_END
#define MINOR_OFFSET  (MAJOR_OFFSET + 1u)
#define KIND_OFFSET   (MINOR_OFFSET + 1u)
#define TOTAL_OFFSET  (KIND_OFFSET + 2u)
#define HEADER_SIZE   (TOTAL_OFFSET + 2u)

/* Fields of every kind; the access key is in a PCI export only. */
#define SOURCE_OFFSET  HEADER_SIZE
#define VHCA_ID_OFFSET (SOURCE_OFFSET + 2u)
#define ACCESS_OFFSET  (VHCA_ID_OFFSET + 2u)
#define MKEY_OFFSET    (ACCESS_OFFSET + 2u)
#define GUID_OFFSET    (MKEY_OFFSET + 4u)
#define ADDR_OFFSET    (GUID_OFFSET + 8u)
#define LEN_OFFSET     (ADDR_OFFSET + 8u)
#define COMMON_END     (LEN_OFFSET + 8u)
#define COMMON_SIZE    (COMMON_END - HEADER_SIZE)
#define KEY_OFFSET     COMMON_END
#define KEY_END	       (KEY_OFFSET + DPUMAP_DESC_ACCESS_KEY_SIZE)

/* Fields of an RDMA export, in place of the access key. */
#define LINK_OFFSET COMMON_END
#define LID_OFFSET  (LINK_OFFSET + 2u)
#define GID_OFFSET  (LID_OFFSET + 2u)
#define GID_END	    (GID_OFFSET + DPUMAP_DESC_GID_SIZE)

/* Fields of a umem export. */
#define START_OFFSET	 COMMON_END
#define PD_HANDLE_OFFSET (START_OFFSET + 8u)
#define PDN_OFFSET	 (PD_HANDLE_OFFSET + 4u)
#define FORM_OFFSET	 (PDN_OFFSET + 4u)
#define TOKEN_LEN_OFFSET (FORM_OFFSET + 2u)
#define TOKEN_OFFSET	 (TOKEN_LEN_OFFSET + 2u)
#define TOKEN_END	 (TOKEN_OFFSET + DPUMAP_DESC_TOKEN_SIZE)

#define TLV_CRITICAL	 0x8000u
#define TLV_NUMBER_MASK	 0x7fffu

_Static_assert(HEADER_SIZE == 14, "header layout");
_Static_assert(GUID_OFFSET % 8 == 0 && ADDR_OFFSET % 8 == 0, "quads are aligned");
_Static_assert(KEY_END == DPUMAP_DESC_PCI_SIZE, "PCI export layout");
_Static_assert(GID_END == DPUMAP_DESC_RDMA_SIZE, "RDMA export layout");
_Static_assert(TOKEN_END == DPUMAP_DESC_UMEM_SIZE, "umem export layout");
_Static_assert(KEY_END <= 128, "a PCI export stays small");

/* Header and fields of a kind, in bytes; 0 for an unknown one. */
static inline size_t dpumap_desc_size(uint16_t kind)
{
	switch (kind) {
	case DPUMAP_DESC_KIND_PCI:
		return DPUMAP_DESC_PCI_SIZE;
	case DPUMAP_DESC_KIND_RDMA:
		return DPUMAP_DESC_RDMA_SIZE;
	case DPUMAP_DESC_KIND_UMEM:
		return DPUMAP_DESC_UMEM_SIZE;
	default:
		return 0;
	}
}

/* CRC-32C of all bytes after the checksum; len is at least CRC_END. */
static inline uint32_t dpumap_desc_checksum(const uint8_t *buf, size_t len)
{
	return dpumap_desc_crc32c(0, buf + CRC_END, len - CRC_END);
}

#endif
