/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keeps the records of one DPU in etcd under one lease: claims the name, publishes the exports,
 * renews the lease, and publishes everything again when the lease was lost. Nothing blocks, except
 * dpumap_publisher_close(). dpumapd reaches these functions by the table in table.h.
 *
 * The caller states what should be published, whenever it changes; the publisher finds the
 * differences and writes them as one transaction (several, above DPUMAP_PUBLISHER_TXN_MAX records).
 */
#ifndef DPUMAP_FLEET_PUBLISHER_H
#define DPUMAP_FLEET_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dpumap/fleet.h>

#include "local/error.h"

#define DPUMAP_PUBLISHER_TTL_S	   10 /* without a setting */
#define DPUMAP_PUBLISHER_TTL_MIN_S 2
#define DPUMAP_PUBLISHER_TTL_MAX_S 3600
#define DPUMAP_PUBLISHER_TXN_MAX   100 /* records; etcd's default limit is 128 operations */

struct dpumap_publisher;

/* Strings are copied; files are read by dpumap_publisher_create() and at each login. */
struct dpumap_publisher_config {
	const char *const *endpoints; /* "http://HOST:PORT" or "https://HOST:PORT" */
	size_t num_endpoints;
	const char *fleet;
	const char *ca, *cert, *key;	  /* NULL: none */
	const char *user, *password_file; /* NULL: none */
	unsigned int ttl_s;		  /* 0: the default */
	/* One line each: what failed, why, what to do next; and when it works again. */
	void (*log)(void *context, const char *line);
	void *context;
};

enum dpumap_publisher_phase {
	DPUMAP_PUBLISHER_CONNECTING, /* no member of etcd answers, or no quorum */
	DPUMAP_PUBLISHER_REFUSED,    /* etcd refuses login, permission or TLS; retried */
	DPUMAP_PUBLISHER_NAME_TAKEN, /* another live DPU holds the name; retried */
	DPUMAP_PUBLISHER_CHANGING,   /* the name is ours; a change is on its way */
	DPUMAP_PUBLISHER_PUBLISHED,  /* all is published and the lease is alive */
};

struct dpumap_publisher_state {
	enum dpumap_publisher_phase phase;
	const char *phase_name; /* "connecting", "refused", "name-taken", "changing", "published" */
	const char *problem;  /* why it is not published; "" if it is; valid until the next call */
	const char *endpoint; /* in use; "": none */
	uint64_t cluster_id;  /* 0: not known yet */
	int64_t lease;	      /* 0: none */
	int64_t lease_remaining_ms; /* by our clock; 0: none */
	size_t num_wanted;	    /* records that should be published, that of the DPU included */
	size_t num_published;	    /* records in etcd */
	int64_t revision;	    /* etcd's revision of our last change */
	uint64_t
		published_age_ms; /* since etcd last confirmed a change or the lease; UINT64_MAX: never */
	uint64_t num_requests, num_failures;
	uint64_t num_transactions;
	uint64_t num_leases_lost;
	uint64_t num_failovers; /* to another endpoint */
};

/*
 * INVALID_VALUE, BAD_CONFIG, NOT_FOUND, NOT_PERMITTED (of a file) or NO_MEMORY with the reason. No
 * request is sent before dpumap_publisher_process(), and none before a record was set.
 */
doca_error_t dpumap_publisher_create(const struct dpumap_publisher_config *config,
				     struct dpumap_publisher **publisher,
				     struct dpumap_error *error);
/* INVALID_VALUE with the reason if s is not valid as the name of a fleet, DPU or export. */
doca_error_t dpumap_publisher_check_name(const char *what, const char *name,
					 struct dpumap_error *error);
/* INVALID_VALUE with the reason if the text is not a valid label, KEY=VALUE. */
doca_error_t dpumap_publisher_check_label(const char *label, struct dpumap_error *error);
/* INVALID_VALUE with the reason if the text is not a valid endpoint. */
doca_error_t dpumap_publisher_check_endpoint(const char *url, struct dpumap_error *error);

/*
 * States what should be published: this DPU and all of its exports. lease, num_exports, dpu of the
 * exports and needs_newer are ignored; everything is copied. The certificate's name must be the
 * DPU's name. The name of the DPU must not change. INVALID_VALUE with the reason, and nothing
 * changes then; NO_MEMORY.
 */
doca_error_t dpumap_publisher_set(struct dpumap_publisher *publisher,
				  const struct dpumap_fleet_dpu *self,
				  const struct dpumap_fleet_export *exports, size_t num_exports,
				  struct dpumap_error *error);

/*
 * Reaches etcd from now on as fresh does, which was created for the same fleet and was never
 * processed. Frees fresh. Lease and records stay, unless the endpoints are of another cluster: then
 * all is published there, and the old records end with their lease.
 */
void dpumap_publisher_renew(struct dpumap_publisher *publisher, struct dpumap_publisher *fresh);

/* An epoll descriptor, constant until dpumap_publisher_renew(): readable while there is something to do. */
int dpumap_publisher_fd(const struct dpumap_publisher *publisher);
/* As a time-out for poll(): process after this time even if the descriptor is not readable. */
int dpumap_publisher_next_ms(const struct dpumap_publisher *publisher);
void dpumap_publisher_process(struct dpumap_publisher *publisher);

void dpumap_publisher_get_state(const struct dpumap_publisher *publisher,
				struct dpumap_publisher_state *state);

/*
 * Revokes the lease at once, waits at most wait_ms for etcd's answer, and frees the publisher. NULL
 * is allowed. With wait_ms 0 the lease is left to expire.
 */
void dpumap_publisher_close(struct dpumap_publisher *publisher, unsigned int wait_ms);

#endif
