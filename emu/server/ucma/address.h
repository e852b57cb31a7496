/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Socket addresses of the connection manager: IPv4, IPv6, and AF_IB, whose address is a GID. */
#ifndef EMU_UCMA_ADDRESS_H
#define EMU_UCMA_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifndef AF_IB
#define AF_IB 27
#endif

/* The kernel's struct sockaddr_ib (include/rdma/ib.h); all fields but the first big endian. */
struct emu_sockaddr_ib {
	uint16_t sib_family;
	uint16_t sib_pkey;
	uint32_t sib_flowinfo;
	uint8_t sib_addr[16];
	uint64_t sib_sid;
	uint64_t sib_sid_mask;
	uint64_t sib_scope_id;
};

/* The size of an address of its family; 0: another family, or longer than `room`. */
size_t emu_addr_size(const struct sockaddr_storage *a, size_t room);
/* An IP address or a GID that names no interface: zero. */
bool emu_addr_is_zero(const struct sockaddr_storage *a);
/* Zero, or a loopback address that no function of the fabric has: it means this machine. */
bool emu_addr_is_any(const struct sockaddr_storage *a);
bool emu_addr_is_group(const struct sockaddr_storage *a);
bool emu_addr_is_link_local(const struct sockaddr_storage *a);
/* Host order. */
uint16_t emu_addr_port(const struct sockaddr_storage *a);
void emu_addr_set_port(struct sockaddr_storage *a, uint16_t port);
/* Whether the addresses have the same family and, without their ports, are equal. */
bool emu_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
void emu_addr_set_loopback(struct sockaddr_storage *a);
/* The GID that an address means; of a family without one, zero. */
void emu_addr_gid(const struct sockaddr_storage *a, uint8_t gid[16]);
/* The function with the address: of one machine or, if `role` is NULL, of the fabric. */
const struct emu_func *emu_addr_func(const char *role, const struct sockaddr_storage *a);

#endif
