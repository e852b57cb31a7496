/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A thread that publishes: comparing, encoding and decoding the records of very many exports takes long, and no client
 * waits for it.
 */
#ifndef DPUMAPD_PUBLISHING_H
#define DPUMAPD_PUBLISHING_H

#include "dpu/registry/snapshot.h"

struct publishing;

/* Takes the publisher over, also on failure. The thread starts later. */
doca_error_t publishing_create(const struct dpumap_fleet_table *fleet,
			       struct dpumap_publisher *publisher, struct publishing **publishing,
			       struct dpumap_error *error);
/* Withdraws all that is published, and waits for etcd for a moment. NULL is allowed. */
void publishing_destroy(struct publishing *publishing);

/* Takes the snapshot over unless it fails: the thread cannot start. Replaces an earlier one. */
doca_error_t publishing_pass(struct publishing *publishing, struct snapshot *snapshot,
			     struct dpumap_error *error);
/* dpumap_publisher_renew(), by and by. Takes fresh over. */
void publishing_renew(struct publishing *publishing, struct dpumap_publisher *fresh);

/* The texts are valid until the next call. */
void publishing_get_state(struct publishing *publishing, struct dpumap_publisher_state *state);

#endif
