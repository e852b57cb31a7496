/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/address.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "emu/server/card/gid.h"
#include "emu/server/card/topology.h"

static const struct sockaddr_in *as4(const struct sockaddr_storage *a)
{
	return (const struct sockaddr_in *)a;
}

static const struct sockaddr_in6 *as6(const struct sockaddr_storage *a)
{
	return (const struct sockaddr_in6 *)a;
}

static const struct emu_sockaddr_ib *as_ib(const struct sockaddr_storage *a)
{
	return (const struct emu_sockaddr_ib *)a;
}

size_t emu_addr_size(const struct sockaddr_storage *a, size_t room)
{
	size_t n = 0;

	if (a->ss_family == AF_INET)
		n = sizeof(struct sockaddr_in);
	else if (a->ss_family == AF_INET6)
		n = sizeof(struct sockaddr_in6);
	else if (a->ss_family == AF_IB)
		n = sizeof(struct emu_sockaddr_ib);
	return n <= room ? n : 0;
}

/* The bytes of the address; NULL: not a family of ours. */
static const uint8_t *bytes(const struct sockaddr_storage *a, size_t *len)
{
	*len = a->ss_family == AF_INET ? 4 : 16;
	if (a->ss_family == AF_INET)
		return (const uint8_t *)&as4(a)->sin_addr;
	if (a->ss_family == AF_INET6)
		return as6(a)->sin6_addr.s6_addr;
	return a->ss_family == AF_IB ? as_ib(a)->sib_addr : NULL;
}

/* 0.0.0.0/8, as the kernel's ipv4_is_zeronet(). */
bool emu_addr_is_zero(const struct sockaddr_storage *a)
{
	static const uint8_t none[16];
	size_t len;
	const uint8_t *b = bytes(a, &len);

	return b && (len == 4 ? !b[0] : !memcmp(b, none, len));
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	static const uint8_t one[16] = {[15] = 1};
	size_t len;
	const uint8_t *b = bytes(a, &len);

	return b && (len == 4 ? b[0] == 127 : !memcmp(b, one, len));
}

bool emu_addr_is_any(const struct sockaddr_storage *a)
{
	return emu_addr_is_zero(a) || (is_loopback(a) && !emu_addr_func(NULL, a));
}

bool emu_addr_is_group(const struct sockaddr_storage *a)
{
	size_t len;
	const uint8_t *b = bytes(a, &len);

	return b && (len == 4 ? b[0] >> 4 == 0xe : b[0] == 0xff);
}

bool emu_addr_is_link_local(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as6(a)->sin6_addr);
}

/* Of AF_IB: the part of the service ID that its mask selects. */
uint16_t emu_addr_port(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		return ntohs(as4(a)->sin_port);
	if (a->ss_family == AF_INET6)
		return ntohs(as6(a)->sin6_port);
	if (a->ss_family == AF_IB)
		return (uint16_t)be64toh(as_ib(a)->sib_sid & as_ib(a)->sib_sid_mask);
	return 0;
}

void emu_addr_set_port(struct sockaddr_storage *a, uint16_t port)
{
	struct emu_sockaddr_ib *ib = (struct emu_sockaddr_ib *)a;

	if (a->ss_family == AF_INET) {
		((struct sockaddr_in *)a)->sin_port = htons(port);
	} else if (a->ss_family == AF_INET6) {
		((struct sockaddr_in6 *)a)->sin6_port = htons(port);
	} else {
		ib->sib_sid = (ib->sib_sid & ib->sib_sid_mask) | htobe64(port);
		ib->sib_sid_mask = UINT64_MAX;
	}
}

bool emu_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	size_t len, other;
	const uint8_t *x = bytes(a, &len), *y = bytes(b, &other);

	if (!x || a->ss_family != b->ss_family || memcmp(x, y, len) != 0)
		return false;
	return !emu_addr_is_link_local(a) || as6(a)->sin6_scope_id == as6(b)->sin6_scope_id;
}

void emu_addr_set_loopback(struct sockaddr_storage *a)
{
	struct emu_sockaddr_ib *ib = (struct emu_sockaddr_ib *)a;

	if (a->ss_family == AF_INET) {
		((struct sockaddr_in *)a)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else if (a->ss_family == AF_INET6) {
		((struct sockaddr_in6 *)a)->sin6_addr = in6addr_loopback;
	} else {
		memset(ib->sib_addr, 0, sizeof(ib->sib_addr));
		ib->sib_addr[15] = 1;
	}
}

void emu_addr_gid(const struct sockaddr_storage *a, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (a->ss_family == AF_IB)
		memcpy(gid, as_ib(a)->sib_addr, 16);
	else
		emu_gid_of_ip((const struct sockaddr *)a, gid);
}

const struct emu_func *emu_addr_func(const char *role, const struct sockaddr_storage *a)
{
	const struct emu_func *f;

	if (a->ss_family != AF_IB)
		return emu_func_by_ip(role, (const struct sockaddr *)a);
	f = emu_func_by_gid(as_ib(a)->sib_addr);
	return f && (!role || !strcmp(f->role, role)) ? f : NULL;
}
