/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The RDMA netlink family of an emulated machine: connections and frames; nldev.c has the answers.
 * Requests and answers are those of the kernel's family (<rdma/rdma_netlink.h>,
 * drivers/infiniband/core/netlink.c and nldev.c). Each packet of the socket is one netlink
 * datagram.
 */
#ifndef EMU_NETLINK_H
#define EMU_NETLINK_H

#include <linux/netlink.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing buffer for answers; after a failed allocation the whole answer fails. */
struct emu_nl {
	uint8_t *buf;
	size_t len, room;
	bool failed;
	struct nlmsghdr req; /* the request */
	size_t msg;	     /* offset of the current message */
};

void emu_nl_begin(struct emu_nl *nl, uint16_t type, uint16_t flags);
void emu_nl_end(struct emu_nl *nl);
void emu_nl_u8(struct emu_nl *nl, uint16_t attr, uint8_t v);
void emu_nl_u32(struct emu_nl *nl, uint16_t attr, uint32_t v);
void emu_nl_u64(struct emu_nl *nl, uint16_t attr, uint64_t v);
void emu_nl_str(struct emu_nl *nl, uint16_t attr, const char *text);
/* Begin a nested attribute; the result closes it. */
size_t emu_nl_nest(struct emu_nl *nl, uint16_t attr);
void emu_nl_nest_end(struct emu_nl *nl, size_t nest);
/* The length of the current message. */
size_t emu_nl_used(const struct emu_nl *nl);

/* --- connections ------------------------------------------------------------------------------ */
void emu_netlink_accept(const char *role, int fd);

#endif
