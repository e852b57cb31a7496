/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a publisher shares with its lease and its steps. */
#ifndef DPUMAP_FLEET_PUBLISHER_PRIV_H
#define DPUMAP_FLEET_PUBLISHER_PRIV_H

#include "base/clock.h"
#include "fleet/etcd/etcd.h"
#include "fleet/etcd/log.h"
#include "fleet/publisher/publisher.h"
#include "fleet/record/names.h"
#include "fleet/record/records.h"

enum publisher_step {
	STEP_GRANT,
	STEP_CLAIM,
	STEP_CHECK,
	STEP_CHANGE,
	STEP_NONE,
};

struct dpumap_publisher {
	struct dpumap_etcd *etcd;
	char fleet[DPUMAP_FLEET_NAME_SIZE];
	char dpu[DPUMAP_FLEET_NAME_SIZE]; /* empty: no record was set */
	char own[DPUMAP_FLEET_KEY_SIZE];  /* the key of the DPU */
	unsigned int ttl_s;
	struct dpumap_fleet_log log;

	struct dpumap_records wanted, published;
	struct dpumap_records sent; /* what the running transaction puts */
	struct dpumap_records gone; /* and deletes: their texts are empty */
	int64_t lease;
	bool claimed, needs_check;
	int64_t abandoned;   /* the revision of a key without a lease that has our name; 0: none */
	uint64_t lease_end;  /* by our clock */
	uint64_t renew_sent; /* time of the running renewal */
	uint64_t confirmed;  /* 0: never */
	int64_t revision;

	struct dpumap_etcd_call *call, *renewal;
	enum publisher_step step; /* of the call */
	uint64_t next_step;	  /* earliest */
	uint64_t next_renewal;	  /* of the lease */
	uint64_t next_check;	  /* are our records still there? */
	unsigned int failures;	  /* in a row */
	unsigned int request_ms;  /* for an answer */
	unsigned int timeout_ms;  /* for the answer of a step, while answers come late */
	uint64_t step_begun;

	enum dpumap_publisher_phase phase;
	struct dpumap_error problem;
	uint64_t transactions, leases_lost;
	struct dpumap_etcd_counts earlier; /* of the etcd objects before a renewal */
};

static inline uint64_t dpumap_publisher_ttl_ns(const struct dpumap_publisher *p)
{
	return p->ttl_s * NSEC_PER_SEC;
}

static inline uint64_t dpumap_publisher_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void dpumap_publisher_enter(struct dpumap_publisher *p, enum dpumap_publisher_phase phase);
/* One line when a problem begins or changes its kind; the next step comes later. */
void dpumap_publisher_report_problem(struct dpumap_publisher *p, enum dpumap_publisher_phase phase,
				     const struct dpumap_error *error);
/* The same, in the phase that the error means. */
void dpumap_publisher_failed(struct dpumap_publisher *p, const struct dpumap_error *error);
/* etcd has answered about the lease or the records. */
void dpumap_publisher_confirmed(struct dpumap_publisher *p);
void dpumap_publisher_forget_claim(struct dpumap_publisher *p);

/* The lease of a publisher: granted, renewed, lost and revoked. */
struct json_object;

/* The answer to the request for a lease. */
void dpumap_publisher_granted(struct dpumap_publisher *p, struct json_object *json);
void dpumap_publisher_begin_renewal(struct dpumap_publisher *p);
/* The lease ended while this DPU lives: everything is published again, under a new one. */
void dpumap_publisher_lease_lost(struct dpumap_publisher *p);
/* Waits for the answer: the next DPU may take the name at once. */
void dpumap_publisher_revoke(struct dpumap_publisher *p, unsigned int wait_ms);

/* The steps of a publisher, one request after the other: a lease, the claim of the name, checks, changes. */
enum publisher_step dpumap_publisher_due_step(const struct dpumap_publisher *p);
void dpumap_publisher_begin_step(struct dpumap_publisher *p);

#endif
