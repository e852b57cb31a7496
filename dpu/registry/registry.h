/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Publishes this DPU and its exports in etcd, if the configuration has a registry: a thread of its own talks to etcd
 * (publishing.h). Nothing blocks except registry_destroy(); while etcd does not answer, the daemon serves as usual.
 */
#ifndef DPUMAPD_REGISTRY_H
#define DPUMAPD_REGISTRY_H

#include <stdbool.h>
#include <stdio.h>

#include "dpu/exports/export_table.h"
#include "dpu/registry/registry_settings.h"
#include "fleet/publisher/publisher.h"

struct registry;
struct registry_renewal;

/* Refuses what registry_create() refuses, as far as that needs no device. Sends nothing. */
doca_error_t registry_check(const struct registry_settings *settings, struct dpumap_error *error);

/*
 * Borrows exports and settings until registry_destroy(). Reads the files of the settings, and loads the
 * library that talks to etcd. BAD_CONFIG, NOT_FOUND, NOT_PERMITTED or NOT_SUPPORTED with the reason.
 */
doca_error_t registry_create(const struct export_table *exports,
			     const struct registry_settings *settings, struct registry **registry,
			     struct dpumap_error *error);
/* Withdraws all that is published, and waits for etcd for a moment. NULL is allowed. */
void registry_destroy(struct registry *registry);

/*
 * A reload: reads the files of the new settings, without any effect. The caller passes the renewal to
 * registry_renew(), which cannot fail, or to registry_renewal_cancel(). NULL is allowed for each.
 */
doca_error_t registry_renewal_prepare(const struct registry *registry,
				      const struct registry_settings *settings,
				      struct registry_renewal **renewal,
				      struct dpumap_error *error);
void registry_renew(struct registry *registry, struct registry_renewal *renewal);
void registry_renewal_cancel(struct registry_renewal *renewal);

/* Is there work that no descriptor announces? registry_work() does a little of it. NULL is allowed. */
bool registry_has_work(const struct registry *registry);
/*
 * To be called in each turn of the loop. is_changing: a change of the exports is under way, and
 * is published when it has ended. NULL is allowed.
 */
void registry_work(struct registry *registry, bool is_changing);

/* Writes whether the DPU is published, or why not. */
void registry_describe(const struct registry *registry, FILE *out);
/* False without a registry, which may be NULL. The texts are valid until the next call. */
bool registry_get_state(const struct registry *registry, struct dpumap_publisher_state *state);

#endif
