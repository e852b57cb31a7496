/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

/* An IPv6 address may name its interface (fe80::1%eth0), which inet_pton() refuses. */
static bool is_ipv6(const char *text)
{
	struct addrinfo hints = {.ai_family = AF_INET6, .ai_flags = AI_NUMERICHOST};
	struct addrinfo *found;

	if (getaddrinfo(text, NULL, &hints, &found))
		return false;
	freeaddrinfo(found);
	return true;
}

static bool is_valid(enum doca_rdma_addr_type type, const char *text)
{
	uint8_t bytes[sizeof(struct in6_addr)];

	switch (type) {
	case DOCA_RDMA_ADDR_TYPE_IPv4:
		return inet_pton(AF_INET, text, bytes) == 1;
	case DOCA_RDMA_ADDR_TYPE_IPv6:
		return is_ipv6(text);
	case DOCA_RDMA_ADDR_TYPE_GID:
		return inet_pton(AF_INET6, text, bytes) == 1;
	}
	return false;
}

static const char *name_of(enum doca_rdma_addr_type type)
{
	static const char *const names[] = {"an IPv4 address", "an IPv6 address", "a GID"};

	return names[type];
}

static doca_error_t check(enum doca_rdma_addr_type type, const char *text, uint16_t port)
{
	if ((int)type < DOCA_RDMA_ADDR_TYPE_IPv4 || type > DOCA_RDMA_ADDR_TYPE_GID)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "invalid address type %d", (int)type);
	if (strnlen(text, RDMA_ADDRESS_TEXT) == RDMA_ADDRESS_TEXT || !is_valid(type, text))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "'%.*s' is not %s",
				   RDMA_ADDRESS_TEXT - 1, text, name_of(type));
	if (!port)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "address '%s': the port must not be 0",
				   text);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address,
				   uint16_t port, struct doca_rdma_addr **addr)
{
	struct doca_rdma_addr *created;
	doca_error_t result;

	if (!address || !addr)
		return dpumap_fail_null(__func__);
	result = check(addr_type, address, port);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an address");
	created->type = addr_type;
	created->port = port;
	memcpy(created->text, address, strlen(address));
	*addr = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr)
{
	if (!addr)
		return dpumap_fail_null(__func__);
	if (addr->is_owned)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "address '%s' belongs to a connection, which destroys it",
				   addr->text);
	if (addr->num_users)
		return dpumap_fail(
			DOCA_ERROR_BAD_STATE,
			"address '%s' is in use: %u connections to it are not established",
			addr->text, addr->num_users);
	free(addr);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr,
				       enum doca_rdma_addr_type *addr_type, const char **address,
				       uint16_t *port)
{
	if (!addr || !addr_type || !address || !port)
		return dpumap_fail_null(__func__);
	*addr_type = addr->type;
	*address = addr->text;
	*port = addr->port;
	return DOCA_SUCCESS;
}

void dpumap_rdma_address_describe(struct doca_rdma_addr *addr, const struct sockaddr_storage *from,
				  uint16_t port)
{
	bool is_ipv4 = from->ss_family == AF_INET;

	addr->type = is_ipv4 ? DOCA_RDMA_ADDR_TYPE_IPv4 : DOCA_RDMA_ADDR_TYPE_IPv6;
	addr->port = port;
	addr->is_owned = true;
	if (getnameinfo((const struct sockaddr *)from,
			is_ipv4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6),
			addr->text, sizeof(addr->text), NULL, 0, NI_NUMERICHOST))
		addr->text[0] = '\0';
}
