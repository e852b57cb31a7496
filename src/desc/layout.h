/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers of the wire format (docs/wire-format.md) and what the codec's files share. */
#ifndef DPUMAP_DESC_LAYOUT_H
#define DPUMAP_DESC_LAYOUT_H

#include <dpumap/desc.h>

#define MAGIC	      0x4d555044u /* "DPUM" in memory */
#define VERSION_MAJOR 1u
#define VERSION_MINOR 0u

#define MAGIC_OFFSET  0u
#define MAJOR_OFFSET  (MAGIC_OFFSET + 4u)
#define MINOR_OFFSET  (MAJOR_OFFSET + 1u)
#define KIND_OFFSET   (MINOR_OFFSET + 1u)
#define TOTAL_OFFSET  (KIND_OFFSET + 2u)
#define CRC_OFFSET    (TOTAL_OFFSET + 4u)
#define HEADER_SIZE   (CRC_OFFSET + 4u)

/* Fields of every kind; the access key is in a PCI export only. */
#define RESERVED_SIZE	4u
#define SOURCE_OFFSET	HEADER_SIZE
#define VHCA_ID_OFFSET	(SOURCE_OFFSET + 2u)
#define ACCESS_OFFSET	(VHCA_ID_OFFSET + 2u)
#define GUID_OFFSET	(ACCESS_OFFSET + 4u)
#define MKEY_OFFSET	(GUID_OFFSET + 8u)
#define RESERVED_OFFSET (MKEY_OFFSET + 4u)
#define ADDR_OFFSET	(RESERVED_OFFSET + RESERVED_SIZE)
#define LEN_OFFSET	(ADDR_OFFSET + 8u)
#define KEY_OFFSET	(LEN_OFFSET + 8u)
#define KEY_END		(KEY_OFFSET + DPUMAP_DESC_ACCESS_KEY_SIZE)

/* A umem export has these in the place of the access key. */
#define START_OFFSET	 (LEN_OFFSET + 8u)
#define PD_HANDLE_OFFSET (START_OFFSET + 8u)
#define PDN_OFFSET	 (PD_HANDLE_OFFSET + 4u)
#define FORM_OFFSET	 (PDN_OFFSET + 4u)
#define TOKEN_LEN_OFFSET (FORM_OFFSET + 2u)
#define TOKEN_OFFSET	 (TOKEN_LEN_OFFSET + 2u)
#define TOKEN_END	 (TOKEN_OFFSET + DPUMAP_DESC_TOKEN_SIZE)

#define TLV_CRITICAL	 0x8000u
#define TLV_NUMBER_MASK	 0x7fffu

_Static_assert(HEADER_SIZE == 16, "header layout");
_Static_assert(GUID_OFFSET % 8 == 0 && ADDR_OFFSET % 8 == 0, "quads are aligned");
_Static_assert(KEY_END == DPUMAP_DESC_PCI_SIZE, "PCI export layout");
_Static_assert(KEY_OFFSET == DPUMAP_DESC_RDMA_SIZE, "RDMA export layout");
_Static_assert(TOKEN_END == DPUMAP_DESC_UMEM_SIZE, "umem export layout");
_Static_assert(KEY_END <= 128, "a PCI export stays small");

/* Header and fields of a kind, in bytes; 0 for an unknown one. */
size_t dpumap_desc_size(uint16_t kind);

/* Whether the values of d make sense together; the one judge for both directions. */
dpumap_desc_status_t dpumap_desc_check(const struct dpumap_desc *d);

/* CRC-32C of a whole descriptor, its CRC field taken as zero; len is at least HEADER_SIZE. */
uint32_t dpumap_desc_checksum(const uint8_t *buf, size_t len);

#endif
