/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copies by the DMA engine of the card that host and DPU share. */
#ifndef DPUMAP_HOST_TRANSPORT_DMA_H
#define DPUMAP_HOST_TRANSPORT_DMA_H

#include "host/import/transport.h"

extern const struct transport transport_dma;

#endif
