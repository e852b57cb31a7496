/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The requests to dpumapd, one function each. */
#ifndef DPUMAP_HOST_REMOTE_H
#define DPUMAP_HOST_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/client.h"
#include "common/digest.h"
#include "host/settings/options.h"

/* An export with its descriptor, which is a secret: call remote_export_wipe() after use. */
struct remote_export {
	struct dpumap_export_info info;
	uint8_t *desc; /* NULL, or of DPUMAP_DESCRIPTOR_MAX bytes that core dumps leave out */
	size_t desc_len;
};

/* Adds the next step to the error of a connection that was not established, a time-out included. */
doca_error_t remote_explain(doca_error_t result, struct dpumap_error *error);
doca_error_t remote_connect(const struct options *options, struct dpumap_client **client,
			    struct dpumap_error *error);

typedef void remote_list_fn(void *context, const struct dpumap_export_info *info);

doca_error_t remote_list(struct dpumap_client *client, remote_list_fn *each, void *context,
			 struct dpumap_error *error);
doca_error_t remote_get(struct dpumap_client *client, const char *name,
			struct remote_export *export, struct dpumap_error *error);

/* The DPU's device and its device memory, in bytes. */
struct remote_device {
	char name[DPUMAP_DEVICE_NAME_MAX];
	uint64_t dm_total;
	uint64_t dm_exported;
};

doca_error_t remote_device(struct dpumap_client *client, struct remote_device *device,
			   struct dpumap_error *error);
doca_error_t remote_export_alloc(struct remote_export *export, struct dpumap_error *error);
/* Wipes and frees the descriptor. */
void remote_export_wipe(struct remote_export *export);
/* Where dpumapd accepts one RDMA connection to an export. */
struct remote_address {
	char address[DPUMAP_IP_TEXT_MAX];
	uint16_t port;
	uint8_t ticket[DPUMAP_TICKET_LEN]; /* goes with the request */
};

/*
 * Asks for an address to connect to a held export. NOT_SUPPORTED: dpumapd has none, or does not know
 * the request: connect with remote_connect_rdma().
 */
doca_error_t remote_ask_address(struct dpumap_client *client, const char *name,
				struct remote_address *address, struct dpumap_error *error);
/*
 * Connects over RDMA to a held export: sends the details of the local queue pair and receives those
 * of the DPU's, at most *size bytes.
 */
doca_error_t remote_connect_rdma(struct dpumap_client *client, const char *name,
				 const void *details, size_t len, void *answer, size_t *size,
				 struct dpumap_error *error);
/* Is the export writable? Is it exported over RDMA? */
bool remote_is_writable(const struct dpumap_export_info *info);
bool remote_is_rdma(const struct dpumap_export_info *info);
doca_error_t remote_release(struct dpumap_client *client, const char *name,
			    struct dpumap_error *error);

/* Subscribes to events of exports. */
doca_error_t remote_watch(struct dpumap_client *client, struct dpumap_error *error);
/* Checks that dpumapd responds. */
doca_error_t remote_ping(struct dpumap_client *client, struct dpumap_error *error);

/*
 * A digest of the export's bytes as the DPU reads them, in the order of the updates. *hash becomes SHA-256 if dpumapd
 * knows no other one.
 */
doca_error_t remote_digest_start(struct dpumap_client *client, const char *name,
				 enum dpumap_hash *hash, uint64_t *handle,
				 struct dpumap_error *error);
/* Requests an update, without waiting for its end. */
doca_error_t remote_digest_send(struct dpumap_client *client, uint64_t handle, uint64_t offset,
				uint64_t length, struct dpumap_error *error);
/* The end of the oldest update. AGAIN: the DPU has not read its bytes yet. */
doca_error_t remote_digest_take(struct dpumap_client *client, struct dpumap_error *error);
/* digest->hash is that of the start. */
doca_error_t remote_digest_final(struct dpumap_client *client, uint64_t handle,
				 struct dpumap_digest *digest, struct dpumap_error *error);

#endif
