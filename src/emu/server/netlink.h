/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The RDMA netlink family of an emulated machine. netlink.c keeps the connections and the frames,
 * nldev.c knows the answers. Requests and answers are those of the kernel's own family
 * (<rdma/rdma_netlink.h>, drivers/infiniband/core/netlink.c and nldev.c); each packet of the socket
 * is one datagram of netlink.
 */
#ifndef EMU_NETLINK_H
#define EMU_NETLINK_H

#include <linux/netlink.h>

#include "server.h"

/* Room for answers of any size; a failed allocation sticks and fails the whole answer. */
struct emu_nl {
	uint8_t *buf;
	size_t len, room;
	bool failed;
	struct nlmsghdr req; /* what is answered */
	size_t msg;	     /* offset of the message in work */
};

void emu_nl_begin(struct emu_nl *nl, uint16_t type, uint16_t flags);
void emu_nl_end(struct emu_nl *nl);
void emu_nl_put(struct emu_nl *nl, uint16_t attr, const void *data, size_t len);
void emu_nl_u8(struct emu_nl *nl, uint16_t attr, uint8_t v);
void emu_nl_u32(struct emu_nl *nl, uint16_t attr, uint32_t v);
void emu_nl_u64(struct emu_nl *nl, uint16_t attr, uint64_t v);
void emu_nl_str(struct emu_nl *nl, uint16_t attr, const char *text);
/* A nested attribute: what to close it with. */
size_t emu_nl_nest(struct emu_nl *nl, uint16_t attr);
void emu_nl_nest_end(struct emu_nl *nl, size_t nest);
/* Bytes of the message in work. */
size_t emu_nl_used(const struct emu_nl *nl);

/* Answer one request about the functions of `role`; 0 or a negative errno. */
int emu_nldev(struct emu_nl *nl, const char *role, const uint8_t *payload, size_t len);

/* --- connections ---------------------------------------------------------------------------------
 */
void emu_netlink_accept(const char *role, int fd);
void emu_netlink_serve(struct emu_watch *w);
void emu_netlink_hangup(struct emu_watch *w);

#endif
