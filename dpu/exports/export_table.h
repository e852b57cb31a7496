/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* All exports of this process, by name, and the device that they are on. */
#ifndef DPUMAPD_EXPORT_TABLE_H
#define DPUMAPD_EXPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpu/exports/export.h"
#include "dpu/exports/failed_exports.h"
#include "dpu/spec/export_dir.h"
#include "dpu/spec/export_list.h"
#include "local/error.h"

struct export_table;

/*
 * device is an IB device name or a PCI address. NULL selects the first device that can export,
 * over PCI if there is one. The workers are borrowed.
 */
doca_error_t export_table_create(const char *device, struct workers *workers,
				 struct export_table **exports, struct dpumap_error *error);
/* Revokes every export, then frees the memory. The workers have ended. NULL is allowed. */
void export_table_destroy(struct export_table *exports);

/*
 * Called after every change has taken effect: what was revoked is revoked. was is NULL and its id 0
 * for a new export, is is NULL for a removed one.
 */
typedef void export_table_changed_fn(void *context, const struct export_spec *was, uint64_t was_id,
				     const struct export_spec *is);
/* Called when the registration has ended of an export that export_table_acquire() waits for. */
typedef void export_table_registered_fn(void *context, uint64_t id);
void export_table_on_change(struct export_table *exports, export_table_changed_fn *changed,
			    export_table_registered_fn *registered, void *context);

/*
 * Announces that all exports have ended, because the device failed. Nothing is freed, now or later:
 * each command to a failed device may wait for minutes. The kernel frees all when the process ends.
 */
void export_table_lose(struct export_table *exports);

/*
 * Are all exports of unchanged files here? No, if one was removed or lost its memory; only a change
 * for which all files were loaded can bring it back.
 */
bool export_table_is_complete(const struct export_table *exports);

/* Makes export_table_work() remove exports whose file another process has truncated, and log why. */
void export_table_check(struct export_table *exports);

/*
 * A client gets the descriptor, or releases it. AGAIN: the export is being registered; the client asks again (waited)
 * when that has ended, and gets the reason if it has failed.
 */
doca_error_t export_table_acquire(struct export_table *exports, struct named_export *export,
				  bool waited, struct dpumap_error *error);
/*
 * A descriptor of an export over PCI becomes invalid as soon as a client has released it and no
 * connected client holds it.
 */
void export_table_release(struct export_table *exports, struct named_export *export);
/*
 * A client disconnected that held the export with this id so many times; it may have ended. If its descriptor becomes
 * invalid by this, it does so in export_table_work().
 */
void export_table_abandon(struct export_table *exports, uint64_t id, size_t times);
/*
 * Is there such work, or are exports to be checked, or of a large change not yet registered? export_table_work() does
 * a little of it.
 */
bool export_table_has_work(const struct export_table *exports);
void export_table_work(struct export_table *exports);
/* Revokes the access of all clients, which may get a new descriptor. NOT_FOUND. */
doca_error_t export_table_rekey(struct export_table *exports, const char *name,
				struct dpumap_error *error);
/*
 * Revokes one client's access. Over PCI this invalidates the descriptor of all clients, which may
 * get a new one. Over RDMA the client lost its access with its connections.
 */
void export_table_revoke(struct export_table *exports, struct named_export *export);

/* Changes whenever something about an export changes that clients or registries see. */
uint64_t export_table_version(const struct export_table *exports);
size_t export_table_count(const struct export_table *exports);

/* Sums over all exports, kept up to date: none of those who ask walks through very many. */
struct export_table_totals {
	uint64_t count[EXPORT_KINDS];
	uint64_t bytes[EXPORT_KINDS];
	uint64_t outstanding; /* export_num_outstanding() */
};
const struct export_table_totals *export_table_totals(const struct export_table *exports);

/* Is there an export of this kind that the peer may import? Without memory, the answer can be yes for others too. */
bool export_table_has_importer(const struct export_table *exports, const char *peer,
			       enum export_via via);

/* In the order of names. */
struct named_export *export_table_at(const struct export_table *exports, size_t index);
/* The index of the first export whose name sorts after this one. */
size_t export_table_after(const struct export_table *exports, const char *name);
/* Exports of the configuration that cannot be made, or have ended by themselves. */
const struct failed_exports *export_table_failed(const struct export_table *exports);
/* NULL with the reason. */
struct named_export *export_table_find(const struct export_table *exports, const char *name,
				       struct dpumap_error *error);
/* NULL when the state with that id no longer exists. */
struct named_export *export_table_find_id(const struct export_table *exports, uint64_t id);

/* How many are being registered? */
size_t export_table_num_registering(const struct export_table *exports);
/* export_share(); IN_USE while the exports are being changed, which may take the right from the client. */
doca_error_t export_table_share(const struct export_table *exports,
				const struct named_export *export, int *fd,
				struct dpumap_error *error);
/* export_begin_sync(). */
doca_error_t export_table_begin_sync(const struct export_table *exports,
				     const struct named_export *export,
				     void (*ended)(void *context), void *context,
				     struct file_sync **sync, struct dpumap_error *error);

struct doca_dev *export_table_dev(const struct export_table *exports);
const char *export_table_device_name(const struct export_table *exports);

/*
 * The memory on the card, in bytes. How much other programs hold is unknown: only allocating all of it would tell, and
 * their allocations would fail meanwhile.
 */
struct export_table_dm_usage {
	uint64_t total; /* as the device announces it */
	uint64_t exported;
};

doca_error_t export_table_dm_usage(const struct export_table *exports,
				   struct export_table_dm_usage *usage, struct dpumap_error *error);

#endif
