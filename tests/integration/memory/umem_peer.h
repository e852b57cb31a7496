/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A peer with a device and a umem, on any function: it uses the parent's device context, or one of
 * its own.
 */
#ifndef DPUMAP_TESTS_UMEM_PEER_H
#define DPUMAP_TESTS_UMEM_PEER_H

#include "sharer.h"

#define UMEM_PEER_LEN 65536u /* bytes that the peer registers */

/* True in a process that umem_peer_start() started; umem_peer_serve() returns its exit code. */
bool umem_peer_is_this(void);
int umem_peer_serve(void);

/* Start the peer on that function; it has no device yet. */
bool umem_peer_start(struct process *peer, const char *side);
/* The same, with the libraries of that directory before all others. */
bool umem_peer_start_with(struct process *peer, const char *side, const char *libraries);

/* DOCA_ERROR_CONNECTION_RESET when the peer has ended. */
doca_error_t umem_peer_open(struct process *peer);
doca_error_t umem_peer_adopt(struct process *peer, const struct doca_dev *dev);
/* Take over the context of the peer's device. */
doca_error_t umem_peer_lend(struct process *peer, struct doca_dev **dev);

/* Register UMEM_PEER_LEN bytes of the peer's memory, filled from the seed. */
doca_error_t umem_peer_register(struct process *peer, uint32_t access, uint32_t seed);
doca_error_t umem_peer_export(struct process *peer, struct descriptor *desc);
doca_error_t umem_peer_import(struct process *peer, const struct descriptor *desc);
doca_error_t umem_peer_unimport(struct process *peer);
doca_error_t umem_peer_deregister(struct process *peer);

/* The peer's map over its umem. The descriptor is for PCI. */
doca_error_t umem_peer_map(struct process *peer, size_t offset, size_t len, uint32_t access);
doca_error_t umem_peer_export_map(struct process *peer, struct descriptor *desc);
doca_error_t umem_peer_unmap(struct process *peer);
/* Through the device: compare the whole map with fixture_fill(seed), or fill it so. */
doca_error_t umem_peer_check(struct process *peer, uint32_t seed);
doca_error_t umem_peer_fill(struct process *peer, uint32_t seed);

#endif
