/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fleet object of dpumap/fleet.h. */
#ifndef DPUMAP_FLEET_FLEET_PRIV_H
#define DPUMAP_FLEET_FLEET_PRIV_H

#include <dpumap/fleet.h>

#include "fleet/etcd/etcd.h"
#include "fleet/record/names.h"
#include "fleet/view/fleet.h"
#include "fleet/view/follow.h"
#include "fleet/view/view.h"

struct dpumap_fleet {
	char name[DPUMAP_FLEET_NAME_SIZE];
	char *endpoints[DPUMAP_ETCD_ENDPOINTS_MAX];
	size_t num_endpoints;
	char *ca, *cert, *key, *user, *password_file, *cache;
	char *dpu; /* the only one that is followed; NULL: all are */
	uint32_t timeout_ms;
	int epoll; /* watches etcd's descriptor while there is one */
	bool is_started;
	bool in_start;		      /* no event is reported */
	dpumap_fleet_waits_fn *waits; /* NULL: said, or nobody wants to know */
	void *waits_context;
	struct dpumap_etcd *etcd;
	struct dpumap_view *view;
	struct dpumap_follow *follow;
	bool from_cache;
	bool changed;		/* since the cache was written */
	uint64_t cache_written; /* monotonic time */
	uint64_t cached_ms;	/* time since 1970 at which etcd confirmed the cached view */
	dpumap_fleet_watch_cb_t heard;
	union doca_data heard_data;
	dpumap_fleet_log_cb_t log;
	union doca_data log_data;
	struct dpumap_fleet_status status;
	struct dpumap_error error;
};

#endif
