/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One RDMA connection by address, and blocking functions for its tasks: each of them submits a task and
 * makes progress until the task has completed. All functions log errors.
 */
#ifndef EXAMPLES_DOCA_RDMA_PEER_H
#define EXAMPLES_DOCA_RDMA_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf_inventory.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "common.h"

#define PORT		13579
#define MAX_MESSAGE_LEN 8192

struct peer {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_rdma_connection *connection; /* NULL: none yet */
	struct doca_rdma_addr *addr;		 /* of the server; NULL on the server */
	bool is_connected, has_ended;
	struct memory memory; /* the message that arrives, the one that is sent, and a number */
	bool is_busy;	      /* a task other than the receive is submitted */
	doca_error_t result;  /* of that task */
	bool has_message;
	doca_error_t message_result;
	struct doca_buf *message; /* the buf of the receive */
};

/* Return DOCA_SUCCESS if the device supports what the functions below need. */
doca_error_t can_talk(const struct doca_devinfo *devinfo);

/* Open everything, so that a client can connect or connect_to() be called. */
doca_error_t open_peer(struct doca_dev *dev, struct peer *peer);
/* Close what was opened, also in part. */
doca_error_t close_peer(struct peer *peer);

/* Listen at PORT, and wait for one client. */
doca_error_t accept_peer(struct peer *peer);
doca_error_t connect_to(const char *address, struct peer *peer);

/* Make progress once. DOCA_ERROR_CONNECTION_RESET: the peer has ended the connection. */
doca_error_t progress_peer(struct peer *peer);

/* Messages have at most MAX_MESSAGE_LEN bytes. */
doca_error_t send_bytes(struct peer *peer, const void *bytes, size_t len);
/* The bytes are valid until the next call. */
doca_error_t receive_bytes(struct peer *peer, const void **bytes, size_t *len);

/* Copy to or from memory that the peer exported with doca_mmap_export_rdma(). */
doca_error_t write_to(struct peer *peer, struct place remote, struct place local, size_t len);
doca_error_t read_from(struct peer *peer, struct place local, struct place remote, size_t len);

/* Add to the peer's sync event. */
doca_error_t add_to(struct peer *peer, struct doca_sync_event_remote_net *event, uint64_t number,
		    uint64_t *before);

#endif
