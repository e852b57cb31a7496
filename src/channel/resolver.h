/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the addresses of a host without waiting: a thread waits for the resolver, which may take very long. */
#ifndef DPUMAP_CHANNEL_RESOLVER_H
#define DPUMAP_CHANNEL_RESOLVER_H

#include <netdb.h>

#include "channel/address.h"
#include "local/error.h"

struct dpumap_resolver;

/* An address over TLS. */
doca_error_t dpumap_resolver_create(const struct dpumap_address *address,
				    struct dpumap_resolver **resolver, struct dpumap_error *error);
/* Before its end, the thread goes on alone. NULL is allowed. */
void dpumap_resolver_destroy(struct dpumap_resolver *resolver);
/* Becomes readable at the end. */
int dpumap_resolver_fd(const struct dpumap_resolver *resolver);
/* AGAIN until the end; NOT_FOUND. The list is the resolver's. */
doca_error_t dpumap_resolver_result(struct dpumap_resolver *resolver, const struct addrinfo **list,
				    struct dpumap_error *error);

#endif
