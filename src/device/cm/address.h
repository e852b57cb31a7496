/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Addresses of the connection manager: as text, and those of a device. */
#ifndef DPUMAP_DEVICE_CM_ADDRESS_H
#define DPUMAP_DEVICE_CM_ADDRESS_H

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include "device/gid.h"

#define DPUMAP_CM_ADDRESS_TEXT 80 /* with a scope and a port */

enum dpumap_cm_family {
	DPUMAP_CM_IPV4, /* 192.0.2.1 */
	DPUMAP_CM_IPV6, /* 2001:db8::1, fe80::1%eth0 */
	DPUMAP_CM_GID,	/* as IPV6: the GID of the peer's port */
};

/*
 * Parse the text of an address. port is in host byte order.
 * DOCA_ERROR_INVALID_VALUE, logged: the text is not an address of the family.
 */
doca_error_t dpumap_cm_address_parse(enum dpumap_cm_family family, const char *text, uint16_t port,
				     struct sockaddr_storage *address);
void dpumap_cm_address_set_port(struct sockaddr_storage *address, uint16_t port);

/* The IP address that a GID of a port on Ethernet stands for. */
void dpumap_cm_address_of_gid(const struct ibv_gid_entry *gid, uint16_t port,
			      struct sockaddr_storage *address);
/*
 * The addresses, without ports, of both ends of a connection on Ethernet; gid is NULL on InfiniBand. A
 * link-local address of the peer is on the network of gid. False: they are not of one family.
 */
bool dpumap_cm_addresses_of_ends(const struct ibv_gid_entry *gid,
				 const uint8_t peer_gid[DPUMAP_GID_SIZE],
				 struct sockaddr_storage *own, struct sockaddr_storage *peer);

/* The address and port as text, for messages. */
void dpumap_cm_address_print(const struct sockaddr_storage *address,
			     char text[static DPUMAP_CM_ADDRESS_TEXT]);

#endif
