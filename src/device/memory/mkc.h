/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The mkey context (PRM: mkc), which KSM and MTT mkeys share. */
#ifndef DPUMAP_DEVICE_MEMORY_MKC_H
#define DPUMAP_DEVICE_MEMORY_MKC_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "device/prm.h"

struct mkc {
	unsigned int mode;	 /* PRM_ACCESS_MODE_... */
	unsigned int rights;	 /* IBV_ACCESS_... */
	unsigned int log_entity; /* log2 of the bytes for each entry of the translation */
	uint32_t pdn;
	uint64_t start;
	uint64_t len;
	uint64_t octwords; /* of the translation */
};

static inline void mkc_fill(uint8_t *mkc, const struct mkc *as)
{
	prm_set(mkc, PRM_MKC_ACCESS_MODE_1_0, as->mode);
	prm_set(mkc, PRM_MKC_LR, 1);
	prm_set(mkc, PRM_MKC_LW, !!(as->rights & IBV_ACCESS_LOCAL_WRITE));
	prm_set(mkc, PRM_MKC_RR, !!(as->rights & IBV_ACCESS_REMOTE_READ));
	prm_set(mkc, PRM_MKC_RW, !!(as->rights & IBV_ACCESS_REMOTE_WRITE));
	prm_set(mkc, PRM_MKC_A, !!(as->rights & IBV_ACCESS_REMOTE_ATOMIC));
	prm_set(mkc, PRM_MKC_QPN, PRM_QPN_ANY);
	prm_set(mkc, PRM_MKC_PD, as->pdn);
	prm_set(mkc, PRM_MKC_START_ADDR, as->start);
	prm_set(mkc, PRM_MKC_LEN, as->len);
	prm_set(mkc, PRM_MKC_TRANSLATION_OCTWORDS, as->octwords);
	prm_set(mkc, PRM_MKC_LOG_ENTITY_SIZE, as->log_entity);
}

#endif
