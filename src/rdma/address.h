/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Addresses of peers, for connections by address. */
#ifndef DPUMAP_RDMA_ADDRESS_H
#define DPUMAP_RDMA_ADDRESS_H

#include <sys/socket.h>

#include <doca_rdma.h>

#define RDMA_ADDRESS_TEXT 129 /* with the NUL */

struct doca_rdma_addr {
	enum doca_rdma_addr_type type;
	uint16_t port;	    /* in host order */
	bool is_owned;	    /* by a connection, not by the program */
	uint32_t num_users; /* connections that are not established and have not failed */
	char text[RDMA_ADDRESS_TEXT];
};

/* An address that belongs to a connection. */
void dpumap_rdma_address_describe(struct doca_rdma_addr *addr, const struct sockaddr_storage *from,
				  uint16_t port);

#endif
