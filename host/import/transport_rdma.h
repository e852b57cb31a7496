/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copies through a connection to the card of another machine. */
#ifndef DPUMAP_HOST_TRANSPORT_RDMA_H
#define DPUMAP_HOST_TRANSPORT_RDMA_H

#include "host/import/transport.h"

extern const struct transport transport_rdma;

#endif
