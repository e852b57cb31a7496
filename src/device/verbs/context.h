/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Driver contexts and protection domains of doca_verbs, and asynchronous events. */
#ifndef DPUMAP_DEVICE_VERBS_CONTEXT_H
#define DPUMAP_DEVICE_VERBS_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <infiniband/verbs.h>

#include <doca_verbs.h>

#include "device/device.h"

struct dpumap_verbs_cq;
struct dpumap_verbs_qp;

struct dpumap_verbs_context {
	struct ibv_context *context;
	bool is_own;
	pthread_mutex_t lock; /* of all that follows, and of requests that are held back */
	struct dpumap_verbs_cq *cqs;
	struct dpumap_verbs_qp *qps;
	bool may_wait;				 /* requests were made to wait */
	struct dpumap_verbs_qp *_Atomic holders; /* queue pairs that hold requests back */
};

struct dpumap_verbs_pd {
	struct ibv_pd *pd;
	enum { VERBS_PD_OWN, VERBS_PD_IMPORTED, VERBS_PD_BORROWED } kind;
};

/* Initialize *context. */
doca_error_t dpumap_verbs_open(struct dpumap_verbs_context *context, const struct dpumap_hca *hca);
doca_error_t dpumap_verbs_open_ibv(struct dpumap_verbs_context *context,
				   const struct ibv_device *ibdev);
/* fd stays the caller's. */
doca_error_t dpumap_verbs_import(struct dpumap_verbs_context *context, int fd);
void dpumap_verbs_borrow(struct dpumap_verbs_context *context, struct ibv_context *borrowed);
void dpumap_verbs_close(struct dpumap_verbs_context *context);

int dpumap_verbs_fd(const struct dpumap_verbs_context *context);
int dpumap_verbs_async_fd(const struct dpumap_verbs_context *context);
const char *dpumap_verbs_name(const struct dpumap_verbs_context *context);

/* EINVAL, logged: the bridge neither posts to nor polls a queue that the program drives. */
int dpumap_verbs_fail_external(const struct dpumap_verbs_context *context);

/* *event names the objects of this layer. */
doca_error_t dpumap_verbs_next_event(struct dpumap_verbs_context *context,
				     struct doca_verbs_async_event *event);
void dpumap_verbs_ack_event(const struct doca_verbs_async_event *event);

struct dpumap_verbs_limits {
	struct ibv_device_attr attr;
	uint32_t clock_khz; /* 0: unknown */
};

doca_error_t dpumap_verbs_query(struct ibv_context *context, struct dpumap_verbs_limits *limits);

/* Initialize *pd. */
doca_error_t dpumap_verbs_alloc_pd(const struct dpumap_verbs_context *context,
				   struct dpumap_verbs_pd *pd);
doca_error_t dpumap_verbs_import_pd(const struct dpumap_verbs_context *context, int handle,
				    struct dpumap_verbs_pd *pd);
/* BAD_STATE, with nothing changed: the program has objects on it. */
doca_error_t dpumap_verbs_release_pd(const struct dpumap_verbs_pd *pd);
/* The number by which another process imports it. */
int dpumap_verbs_pd_handle(const struct dpumap_verbs_pd *pd);
bool dpumap_verbs_has_pd(const struct dpumap_verbs_context *context,
			 const struct dpumap_verbs_pd *pd);

#endif
