/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Multicast groups are addressed by GIDs. */
#ifndef EMU_IPC_GROUP_H
#define EMU_IPC_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "emu/ipc/gid.h"
#include "emu/ipc/limits.h"

/* The destination queue pair of every multicast datagram (IBA 10.5.2). */
#define EMU_GROUP_QPN 0xffffffu

/* An IPv6 multicast address, or an IPv4 one as mapped address (rdma_is_multicast_addr). */
static inline bool emu_gid_is_group(const uint8_t gid[16])
{
	return gid[0] == 0xff || (emu_gid_is_ipv4(gid) && gid[EMU_GID_IPV4] >> 4 == 0xe);
}

/* Groups differ in their last bytes most. */
static inline uint32_t emu_group_bucket(const uint8_t gid[16])
{
	uint32_t low = (uint32_t)gid[14] << 8 | gid[15];
	uint32_t high = (uint32_t)gid[12] << 8 | gid[13];

	return (low ^ high * 31u) % EMU_MEMBER_BUCKETS;
}

#endif
