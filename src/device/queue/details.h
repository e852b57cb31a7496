/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a peer needs to connect to a queue pair, on the wire. Numbers are little-endian:
 *
 *	offset	width
 *	0	4	magic, 44 50 52 43 ("DPRC")
 *	4	1	major version, 1
 *	5	1	minor version, 0; a reader accepts any
 *	6	2	network: 1 InfiniBand, 2 Ethernet
 *	8	4	length of all, 48
 *	12	4	CRC-32C of all, with these bytes as zero
 *	16	4	number of the queue pair, 1 to 2^24 - 1
 *	20	4	number of its first packet, 0 to 2^24 - 1
 *	24	2	LID on InfiniBand, not 0; on Ethernet 0
 *	26	1	base 2 logarithm of the MTU in bytes, 8 to 12
 *	27	1	reads that it accepts at a time, not 0
 *	28	16	GID on Ethernet, not 0; on InfiniBand 0
 *	44	4	0
 */
#ifndef DPUMAP_DEVICE_QUEUE_DETAILS_H
#define DPUMAP_DEVICE_QUEUE_DETAILS_H

#include "device/queue/rc_end.h"

#define RDMA_DETAILS_SIZE 48u

void dpumap_rdma_details_encode(const struct dpumap_qp_info *info,
				uint8_t details[static RDMA_DETAILS_SIZE]);

/* Decode untrusted bytes: DOCA_ERROR_INVALID_VALUE, logged, unless they are well-formed. */
doca_error_t dpumap_rdma_details_decode(const void *details, size_t size,
					struct dpumap_qp_info *info);

#endif
