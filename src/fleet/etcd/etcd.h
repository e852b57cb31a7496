/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A client of etcd's JSON gateway: several endpoints with failover, login, and requests that do not
 * block. A request goes to the endpoint in use; when that fails, it goes to each of the others once.
 * An endpoint whose cluster is not that of the others is not used.
 */
#ifndef DPUMAP_FLEET_ETCD_H
#define DPUMAP_FLEET_ETCD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "local/error.h"

#define DPUMAP_ETCD_ENDPOINTS_MAX 16

struct dpumap_etcd;
struct dpumap_etcd_call;

/* Copied. */
struct dpumap_etcd_config {
	const char *const *endpoints;
	size_t num_endpoints;
	const char *ca, *cert, *key;
	const char *user, *password_file;
	unsigned int timeout_ms; /* of a request to one endpoint */
	void (*log)(void *context, const char *line);
	void *context;
};

struct dpumap_etcd_reply {
	/*
	 * SUCCESS, or the reason: NOT_CONNECTED, TIME_OUT (also: no quorum), AUTHENTICATION,
	 * NOT_PERMITTED, NOT_FOUND (of a lease), AGAIN (the revision was compacted), FULL,
	 * TOO_BIG (the answer), UNEXPECTED (not an answer of etcd), NO_MEMORY, INVALID_VALUE.
	 */
	struct dpumap_error error;
	struct json_object *json; /* NULL after a failure; borrowed */
	uint64_t cluster_id;	  /* of the header; 0: none */
	int64_t revision;	  /* of the header; 0: none */
	size_t endpoint;	  /* the index of the endpoint that answered */
};

/* For a stream: each message; and its end. May begin and cancel any call. */
typedef void dpumap_etcd_reply_fn(void *context, const struct dpumap_etcd_reply *reply);

/* INVALID_VALUE, BAD_CONFIG, NOT_FOUND, NOT_PERMITTED (of a file), NO_MEMORY. */
doca_error_t dpumap_etcd_create(const struct dpumap_etcd_config *config, struct dpumap_etcd **etcd,
				struct dpumap_error *error);
/* Cancels all calls. NULL is allowed. */
void dpumap_etcd_destroy(struct dpumap_etcd *etcd);

/* The body of a request; taken over, also on failure. done() is called later, once. */
doca_error_t dpumap_etcd_begin(struct dpumap_etcd *etcd, const char *path, struct json_object *body,
			       dpumap_etcd_reply_fn *done, void *context,
			       struct dpumap_etcd_call **call, struct dpumap_error *error);
/* With another time limit for each endpoint than the configured one. */
doca_error_t dpumap_etcd_begin_within(struct dpumap_etcd *etcd, unsigned int timeout_ms,
				      const char *path, struct json_object *body,
				      dpumap_etcd_reply_fn *done, void *context,
				      struct dpumap_etcd_call **call, struct dpumap_error *error);
/* To one endpoint, without failover. */
doca_error_t dpumap_etcd_begin_at(struct dpumap_etcd *etcd, size_t endpoint, const char *path,
				  struct json_object *body, dpumap_etcd_reply_fn *done,
				  void *context, struct dpumap_etcd_call **call,
				  struct dpumap_error *error);
/* A stream from the endpoint in use, until one side ends it. */
doca_error_t dpumap_etcd_begin_stream(struct dpumap_etcd *etcd, const char *path,
				      struct json_object *body, dpumap_etcd_reply_fn *message,
				      dpumap_etcd_reply_fn *done, void *context,
				      struct dpumap_etcd_call **call, struct dpumap_error *error);
/* No function is called any more. NULL is allowed. */
void dpumap_etcd_cancel(struct dpumap_etcd_call *call);

int dpumap_etcd_fd(const struct dpumap_etcd *etcd);
/* Monotonic time in nanoseconds at which to process; UINT64_MAX: none. */
uint64_t dpumap_etcd_next(const struct dpumap_etcd *etcd);
void dpumap_etcd_process(struct dpumap_etcd *etcd);

size_t dpumap_etcd_num_endpoints(const struct dpumap_etcd *etcd);
const char *dpumap_etcd_url(const struct dpumap_etcd *etcd, size_t endpoint);
/* The endpoint in use. */
size_t dpumap_etcd_current(const struct dpumap_etcd *etcd);
uint64_t dpumap_etcd_cluster(const struct dpumap_etcd *etcd);

struct dpumap_etcd_counts {
	uint64_t requests, failures, failovers;
};
struct dpumap_etcd_counts dpumap_etcd_counts(const struct dpumap_etcd *etcd);

/* A random number below the limit, which is not 0: spreads the requests of many machines. */
uint64_t dpumap_etcd_random(struct dpumap_etcd *etcd, uint64_t limit);
/*
 * The time in nanoseconds until the next attempt, random, longer after each step up to 10 seconds.
 * Counts the step.
 */
uint64_t dpumap_etcd_backoff(struct dpumap_etcd *etcd, unsigned int *step);

#endif
