/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "log/log.h"

static bool parse(int family, const char *text, struct sockaddr_storage *address)
{
	struct addrinfo hints = {.ai_family = family, .ai_flags = AI_NUMERICHOST}, *found;

	if (getaddrinfo(text, NULL, &hints, &found))
		return false;
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

/* The GID of an IPv4 address is that address, mapped. */
static void unmap(struct sockaddr_storage *address)
{
	const struct sockaddr_in6 from = *(const struct sockaddr_in6 *)address;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = from.sin6_port};

	if (!IN6_IS_ADDR_V4MAPPED(&from.sin6_addr))
		return;
	memcpy(&to.sin_addr, from.sin6_addr.s6_addr + 12, sizeof(to.sin_addr));
	memset(address, 0, sizeof(*address));
	memcpy(address, &to, sizeof(to));
}

doca_error_t dpumap_cm_address_parse(enum dpumap_cm_family family, const char *text, uint16_t port,
				     struct sockaddr_storage *address)
{
	static const char *const forms[] = {
		[DPUMAP_CM_IPV4] = "an IPv4 address, such as 192.0.2.1",
		[DPUMAP_CM_IPV6] = "an IPv6 address, such as 2001:db8::1",
		[DPUMAP_CM_GID] = "a GID, such as fe80::1 or ::ffff:192.0.2.1",
	};

	if (!parse(family == DPUMAP_CM_IPV4 ? AF_INET : AF_INET6, text, address))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "\"%.128s\" is not %s", text,
				   forms[family]);
	dpumap_cm_address_set_port(address, port);
	if (family == DPUMAP_CM_GID)
		unmap(address);
	return DOCA_SUCCESS;
}

void dpumap_cm_address_set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
}

static bool is_link_local(const uint8_t *gid)
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

void dpumap_cm_address_of_gid(const struct ibv_gid_entry *gid, uint16_t port,
			      struct sockaddr_storage *address)
{
	struct sockaddr_in6 full = {.sin6_family = AF_INET6};

	memcpy(&full.sin6_addr, gid->gid.raw, DPUMAP_GID_SIZE);
	if (is_link_local(gid->gid.raw))
		full.sin6_scope_id = gid->ndev_ifindex;
	memset(address, 0, sizeof(*address));
	memcpy(address, &full, sizeof(full));
	dpumap_cm_address_set_port(address, port);
	unmap(address);
}

bool dpumap_cm_addresses_of_ends(const struct ibv_gid_entry *gid,
				 const uint8_t peer_gid[DPUMAP_GID_SIZE],
				 struct sockaddr_storage *own, struct sockaddr_storage *peer)
{
	struct ibv_gid_entry entry;

	if (!gid)
		return false;
	entry = *gid;
	dpumap_cm_address_of_gid(&entry, 0, own);
	memcpy(entry.gid.raw, peer_gid, DPUMAP_GID_SIZE);
	dpumap_cm_address_of_gid(&entry, 0, peer);
	return own->ss_family == peer->ss_family;
}

void dpumap_cm_address_print(const struct sockaddr_storage *address,
			     char text[static DPUMAP_CM_ADDRESS_TEXT])
{
	const struct sockaddr *any = (const struct sockaddr *)address;
	const bool is_ipv6 = any->sa_family == AF_INET6;
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1], port[6];

	if (getnameinfo(any, is_ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
			host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, DPUMAP_CM_ADDRESS_TEXT, "an unknown address");
	else
		snprintf(text, DPUMAP_CM_ADDRESS_TEXT, is_ipv6 ? "[%s]:%s" : "%s:%s", host, port);
}
