/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/publisher/publisher_priv.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "fleet/etcd/answer.h"
#include "fleet/etcd/body.h"

void dpumap_publisher_lease_lost(struct dpumap_publisher *p)
{
	if (!p->lease)
		return;
	dpumap_etcd_cancel(p->call);
	dpumap_etcd_cancel(p->renewal);
	p->call = p->renewal = NULL;
	p->lease = 0;
	p->leases_lost++;
	p->next_step = monotonic_ns();
	dpumap_fleet_log_line(&p->log,
			      "fleet %s has lost the lease of DPU %s: it is published again",
			      p->fleet, p->dpu);
	dpumap_publisher_forget_claim(p);
	dpumap_publisher_enter(p, DPUMAP_PUBLISHER_CONNECTING);
}

static void schedule_renewal(struct dpumap_publisher *p)
{
	uint64_t every = dpumap_publisher_ttl_ns(p) / 3;

	p->lease_end = p->renew_sent + dpumap_publisher_ttl_ns(p);
	p->next_renewal = p->renew_sent + every - dpumap_etcd_random(p->etcd, every / 4);
}

void dpumap_publisher_granted(struct dpumap_publisher *p, struct json_object *json)
{
	struct dpumap_error error;

	p->lease = dpumap_answer_int64(json, "ID");
	if (!p->lease) {
		dpumap_error_set(&error, DOCA_ERROR_UNEXPECTED, "etcd has granted no lease");
		dpumap_publisher_failed(p, &error);
		return;
	}
	dpumap_publisher_forget_claim(p);
	dpumap_publisher_confirmed(p);
	schedule_renewal(p);
}

static void renewed(void *context, const struct dpumap_etcd_reply *reply)
{
	struct dpumap_publisher *p = context;
	struct json_object *result;

	p->renewal = NULL;
	if (reply->error.code == DOCA_ERROR_NOT_FOUND) {
		dpumap_publisher_lease_lost(p);
		return;
	}
	if (reply->error.code != DOCA_SUCCESS) {
		p->next_renewal = monotonic_ns() + dpumap_publisher_ttl_ns(p) / 10 +
				  dpumap_etcd_random(p->etcd, dpumap_publisher_ttl_ns(p) / 10);
		dpumap_publisher_failed(p, &reply->error);
		return;
	}
	result = json_object_object_get(reply->json, "result");
	if (dpumap_answer_int64(result, "TTL") <= 0) {
		dpumap_publisher_lease_lost(p);
		return;
	}
	dpumap_publisher_confirmed(p);
	schedule_renewal(p);
	/* After a failure: is all of it still there? */
	if (p->phase != DPUMAP_PUBLISHER_PUBLISHED)
		p->next_check = p->next_step = monotonic_ns();
}

void dpumap_publisher_begin_renewal(struct dpumap_publisher *p)
{
	struct json_object *body = json_object_new_object();
	struct dpumap_error error;

	dpumap_body_number(body, "ID", p->lease);
	p->renew_sent = monotonic_ns();
	if (dpumap_etcd_begin(p->etcd, "/v3/lease/keepalive", body, renewed, p, &p->renewal,
			      &error) == DOCA_SUCCESS)
		return;
	p->next_renewal = p->renew_sent + dpumap_publisher_ttl_ns(p) / 10;
	dpumap_publisher_failed(p, &error);
}

enum revocation {
	REVOCATION_WAITS,
	REVOCATION_DONE,
	REVOCATION_FAILED,
};

static void revoked(void *context, const struct dpumap_etcd_reply *reply)
{
	bool gone = reply->error.code == DOCA_SUCCESS || reply->error.code == DOCA_ERROR_NOT_FOUND;

	*(enum revocation *)context = gone ? REVOCATION_DONE : REVOCATION_FAILED;
}

void dpumap_publisher_revoke(struct dpumap_publisher *p, unsigned int wait_ms)
{
	uint64_t end = monotonic_ns() + wait_ms * NSEC_PER_MSEC, now;
	struct pollfd fd = {.fd = dpumap_etcd_fd(p->etcd), .events = POLLIN};
	struct json_object *body = json_object_new_object();
	struct dpumap_etcd_call *call;
	struct dpumap_error error;
	enum revocation state = REVOCATION_WAITS;
	uint64_t next;

	dpumap_body_number(body, "ID", p->lease);
	if (dpumap_etcd_begin(p->etcd, "/v3/lease/revoke", body, revoked, &state, &call, &error) !=
	    DOCA_SUCCESS)
		return;
	while (state == REVOCATION_WAITS && (now = monotonic_ns()) < end) {
		next = dpumap_publisher_earlier(dpumap_etcd_next(p->etcd), end);
		next = next > now ? (next - now) / NSEC_PER_MSEC + 1 : 0;
		if (poll(&fd, 1, (int)next) < 0 && errno != EINTR)
			break;
		dpumap_etcd_process(p->etcd);
	}
	if (state != REVOCATION_DONE)
		dpumap_fleet_log_line(&p->log,
				      "etcd does not answer: the records of DPU %s end within %u s",
				      p->dpu, p->ttl_s);
}
