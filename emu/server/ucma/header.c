/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/header.h"

#include <netinet/in.h>
#include <string.h>

#include "emu/server/ucma/address.h"

/* The layout: version, IP version << 4, the sender's port, its address, the receiver's address. */
#define AT_IP_VERSION 1
#define AT_PORT	      2
#define AT_SRC	      4
#define AT_DST	      20
#define AT_IP4	      12 /* of an IPv4 address in the 16 bytes of an address */

size_t emu_cma_header_size(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_IB ? 0 : EMU_CMA_HEADER;
}

void emu_cma_header_make(uint8_t header[static EMU_CMA_HEADER], const struct sockaddr_storage *src,
			 const struct sockaddr_storage *dst)
{
	bool v4 = src->ss_family == AF_INET;
	uint16_t port = htons(emu_addr_port(src));

	memset(header, 0, EMU_CMA_HEADER);
	header[AT_IP_VERSION] = v4 ? 4 << 4 : 6 << 4;
	memcpy(header + AT_PORT, &port, sizeof(port));
	if (v4) {
		memcpy(header + AT_SRC + AT_IP4, &((const struct sockaddr_in *)src)->sin_addr, 4);
		memcpy(header + AT_DST + AT_IP4, &((const struct sockaddr_in *)dst)->sin_addr, 4);
	} else {
		memcpy(header + AT_SRC, &((const struct sockaddr_in6 *)src)->sin6_addr, 16);
		memcpy(header + AT_DST, &((const struct sockaddr_in6 *)dst)->sin6_addr, 16);
	}
}

static void take(struct sockaddr_storage *to, bool v4, const uint8_t bytes[16])
{
	memset(to, 0, sizeof(*to));
	to->ss_family = v4 ? AF_INET : AF_INET6;
	if (v4)
		memcpy(&((struct sockaddr_in *)to)->sin_addr, bytes + AT_IP4, 4);
	else
		memcpy(&((struct sockaddr_in6 *)to)->sin6_addr, bytes, 16);
}

bool emu_cma_header_read(const uint8_t header[static EMU_CMA_HEADER], uint16_t service_port,
			 struct sockaddr_storage *src, struct sockaddr_storage *dst)
{
	uint8_t version = header[AT_IP_VERSION] >> 4;
	uint16_t port;

	if (header[0] || (version != 4 && version != 6))
		return false;
	memcpy(&port, header + AT_PORT, sizeof(port));
	take(src, version == 4, header + AT_DST);
	take(dst, version == 4, header + AT_SRC);
	emu_addr_set_port(src, service_port);
	emu_addr_set_port(dst, ntohs(port));
	return true;
}
