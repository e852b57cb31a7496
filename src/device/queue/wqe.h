/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Work requests (WQEs) as the device reads them, in its byte order. They consist of segments and take whole blocks. */
#ifndef DPUMAP_DEVICE_QUEUE_WQE_H
#define DPUMAP_DEVICE_QUEUE_WQE_H

#include <stdint.h>

#define DPUMAP_WQE_BLOCK      64u
#define DPUMAP_WQE_SEG	      16u

#define DPUMAP_WQE_MMO	      0x0100002fu /* opmod and opcode of a copy by the DMA engine */
#define DPUMAP_WQE_COMPRESS   0x0200002fu /* the same of the compression engine */
#define DPUMAP_WQE_DECOMPRESS 0x0300002fu
#define DPUMAP_WQE_CRYPTO     0x0600002fu /* the same of the encryption engine */
#define DPUMAP_WQE_CQ_UPDATE  0x8u	  /* flag: signaled */

/* The first segment. */
struct dpumap_wqe_ctrl {
	uint32_t opcode, qpn_ds, flags, imm;
};

/* A piece of memory. */
struct dpumap_wqe_data {
	uint32_t len, key;
	uint64_t addr;
};

_Static_assert(sizeof(struct dpumap_wqe_ctrl) == DPUMAP_WQE_SEG, "one segment");
_Static_assert(sizeof(struct dpumap_wqe_data) == DPUMAP_WQE_SEG, "one segment");

static inline uint32_t dpumap_wqe_blocks(uint32_t segments)
{
	return (segments * DPUMAP_WQE_SEG + DPUMAP_WQE_BLOCK - 1) / DPUMAP_WQE_BLOCK;
}

#endif
