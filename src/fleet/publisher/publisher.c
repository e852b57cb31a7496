/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/publisher/publisher.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/publisher/publisher_priv.h"
#include "fleet/publisher/wanted.h"

#define REQUEST_MIN_MS 500u
#define REQUEST_MAX_MS 5000u
#define START_SPREAD   (500 * NSEC_PER_MSEC) /* machines that start together */

static const char *const phase_names[] = {
	[DPUMAP_PUBLISHER_CONNECTING] = "connecting", [DPUMAP_PUBLISHER_REFUSED] = "refused",
	[DPUMAP_PUBLISHER_NAME_TAKEN] = "name-taken", [DPUMAP_PUBLISHER_CHANGING] = "changing",
	[DPUMAP_PUBLISHER_PUBLISHED] = "published",
};

/* --- the state -------------------------------------------------------------------------------- */

void dpumap_publisher_enter(struct dpumap_publisher *p, enum dpumap_publisher_phase phase)
{
	enum dpumap_publisher_phase before = p->phase;

	p->phase = phase;
	if (phase == DPUMAP_PUBLISHER_PUBLISHED || phase == DPUMAP_PUBLISHER_CHANGING)
		p->problem = (struct dpumap_error){0};
	if (phase == DPUMAP_PUBLISHER_PUBLISHED && before != phase &&
	    before != DPUMAP_PUBLISHER_CHANGING)
		dpumap_fleet_log_line(&p->log, "DPU %s is published in fleet %s with %zu exports",
				      p->dpu, p->fleet, p->published.num - 1);
}

void dpumap_publisher_report_problem(struct dpumap_publisher *p, enum dpumap_publisher_phase phase,
				     const struct dpumap_error *error)
{
	bool is_new = p->phase != phase || p->problem.code != error->code;

	p->problem = *error;
	if (is_new)
		dpumap_fleet_log_line(&p->log, "DPU %s is not published in fleet %s: %s", p->dpu,
				      p->fleet, p->problem.text);
	dpumap_publisher_enter(p, phase);
	p->needs_check = p->claimed; /* what is in etcd when it answers again? */
	p->next_step = monotonic_ns() + dpumap_etcd_backoff(p->etcd, &p->failures);
}

void dpumap_publisher_failed(struct dpumap_publisher *p, const struct dpumap_error *error)
{
	switch (error->code) {
	case DOCA_ERROR_AUTHENTICATION:
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_BAD_CONFIG:
	case DOCA_ERROR_FULL:
	case DOCA_ERROR_TOO_BIG:
		dpumap_publisher_report_problem(p, DPUMAP_PUBLISHER_REFUSED, error);
		break;
	default:
		dpumap_publisher_report_problem(p, DPUMAP_PUBLISHER_CONNECTING, error);
		break;
	}
}

void dpumap_publisher_forget_claim(struct dpumap_publisher *p)
{
	p->claimed = false;
	dpumap_records_clear(&p->published);
}

void dpumap_publisher_confirmed(struct dpumap_publisher *p)
{
	p->confirmed = monotonic_ns();
	p->failures = 0;
}

/* --- progress --------------------------------------------------------------------------------- */

static void work(struct dpumap_publisher *p)
{
	uint64_t now = monotonic_ns();

	if (!p->dpu[0])
		return;
	if (p->lease && !p->renewal && now >= p->next_renewal)
		dpumap_publisher_begin_renewal(p);
	if (!p->call && now >= p->next_step)
		dpumap_publisher_begin_step(p);
}

void dpumap_publisher_process(struct dpumap_publisher *publisher)
{
	work(publisher);
	dpumap_etcd_process(publisher->etcd);
	work(publisher);
}

int dpumap_publisher_fd(const struct dpumap_publisher *publisher)
{
	return dpumap_etcd_fd(publisher->etcd);
}

int dpumap_publisher_next_ms(const struct dpumap_publisher *publisher)
{
	const struct dpumap_publisher *p = publisher;
	uint64_t now = monotonic_ns(), next = dpumap_etcd_next(p->etcd), step = p->next_step;

	if (p->dpu[0] && p->lease && !p->renewal)
		next = dpumap_publisher_earlier(next, p->next_renewal);
	if (p->dpu[0] && !p->call) {
		if (p->phase == DPUMAP_PUBLISHER_PUBLISHED &&
		    dpumap_publisher_due_step(p) == STEP_NONE)
			step = p->next_check;
		next = dpumap_publisher_earlier(next, step);
	}
	if (next == UINT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	next = (next - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return next < INT_MAX ? (int)next : INT_MAX;
}

/* --- what should be published ----------------------------------------------------------------- */

doca_error_t dpumap_publisher_set(struct dpumap_publisher *publisher,
				  const struct dpumap_fleet_dpu *self,
				  const struct dpumap_fleet_export *exports, size_t num_exports,
				  struct dpumap_error *error)
{
	struct dpumap_publisher *p = publisher;
	struct dpumap_records records;
	doca_error_t result;

	result = dpumap_fleet_name_check("DPU name", self->name, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (p->dpu[0] && strcmp(p->dpu, self->name) != 0)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"the DPU is published as \"%s\", which cannot change to "
					"\"%s\"",
					p->dpu, self->name);
	result = dpumap_wanted_make(p->fleet, self, exports, num_exports, &records, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (!p->dpu[0])
		p->next_step = monotonic_ns() + dpumap_etcd_random(p->etcd, START_SPREAD);
	dpumap_fleet_copy(p->dpu, sizeof(p->dpu), self->name);
	dpumap_fleet_key_dpu(p->fleet, self->name, p->own);
	dpumap_records_clear(&p->wanted);
	p->wanted = records;
	return DOCA_SUCCESS;
}

void dpumap_publisher_renew(struct dpumap_publisher *publisher, struct dpumap_publisher *fresh)
{
	struct dpumap_publisher *p = publisher;
	struct dpumap_etcd *before = p->etcd;
	struct dpumap_etcd_counts counts = dpumap_etcd_counts(before);

	dpumap_etcd_cancel(p->call);
	dpumap_etcd_cancel(p->renewal);
	p->call = p->renewal = NULL;
	p->etcd = fresh->etcd;
	fresh->etcd = before;
	dpumap_publisher_close(fresh, 0);
	p->earlier.requests += counts.requests;
	p->earlier.failures += counts.failures;
	p->earlier.failovers += counts.failovers;
	p->failures = 0;
	/* Have the cancelled calls had an effect, and does etcd know the lease? */
	p->needs_check = p->claimed;
	p->next_step = p->next_renewal = monotonic_ns();
}

/* --- queries ---------------------------------------------------------------------------------- */

void dpumap_publisher_get_state(const struct dpumap_publisher *publisher,
				struct dpumap_publisher_state *state)
{
	const struct dpumap_publisher *p = publisher;
	struct dpumap_etcd_counts counts = dpumap_etcd_counts(p->etcd);
	uint64_t now = monotonic_ns();

	*state = (struct dpumap_publisher_state){
		.phase = p->phase,
		.phase_name = phase_names[p->phase],
		.problem = p->problem.text,
		.endpoint = dpumap_etcd_url(p->etcd, dpumap_etcd_current(p->etcd)),
		.cluster_id = dpumap_etcd_cluster(p->etcd),
		.lease = p->lease,
		.lease_remaining_ms = p->lease && p->lease_end > now
					      ? (int64_t)((p->lease_end - now) / NSEC_PER_MSEC)
					      : 0,
		.num_wanted = p->wanted.num,
		.num_published = p->published.num,
		.revision = p->revision,
		.published_age_ms =
			p->confirmed ? (now - p->confirmed) / NSEC_PER_MSEC : UINT64_MAX,
		.num_requests = p->earlier.requests + counts.requests,
		.num_failures = p->earlier.failures + counts.failures,
		.num_transactions = p->transactions,
		.num_leases_lost = p->leases_lost,
		.num_failovers = p->earlier.failovers + counts.failovers};
}

doca_error_t dpumap_publisher_check_name(const char *what, const char *name,
					 struct dpumap_error *error)
{
	return dpumap_fleet_name_check(what, name, error);
}

doca_error_t dpumap_publisher_check_label(const char *label, struct dpumap_error *error)
{
	return dpumap_fleet_label_check(label, error);
}

doca_error_t dpumap_publisher_check_endpoint(const char *url, struct dpumap_error *error)
{
	return dpumap_fleet_url_check(url, error);
}

/* --- life ------------------------------------------------------------------------------------- */

static doca_error_t check_config(const struct dpumap_publisher_config *config,
				 struct dpumap_error *error)
{
	if (!config->cert != !config->key)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"a certificate for etcd needs its key, and a key its "
					"certificate");
	if (!config->user != !config->password_file)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"a user of etcd needs a password file, and a password "
					"file its user");
	if (config->ttl_s && (config->ttl_s < DPUMAP_PUBLISHER_TTL_MIN_S ||
			      config->ttl_s > DPUMAP_PUBLISHER_TTL_MAX_S))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"the time to live must be %d to %d seconds",
					DPUMAP_PUBLISHER_TTL_MIN_S, DPUMAP_PUBLISHER_TTL_MAX_S);
	return dpumap_fleet_name_check("fleet name", config->fleet, error);
}

/* A member that does not answer must not cost the lease. */
static unsigned int request_ms(unsigned int ttl_s)
{
	unsigned int ms = ttl_s * 1000 / 4;

	if (ms < REQUEST_MIN_MS)
		return REQUEST_MIN_MS;
	return ms < REQUEST_MAX_MS ? ms : REQUEST_MAX_MS;
}

doca_error_t dpumap_publisher_create(const struct dpumap_publisher_config *config,
				     struct dpumap_publisher **publisher,
				     struct dpumap_error *error)
{
	struct dpumap_etcd_config etcd = {.endpoints = config->endpoints,
					  .num_endpoints = config->num_endpoints,
					  .ca = config->ca,
					  .cert = config->cert,
					  .key = config->key,
					  .user = config->user,
					  .password_file = config->password_file,
					  .log = config->log,
					  .context = config->context};
	struct dpumap_publisher *p;
	doca_error_t result;

	result = check_config(config, error);
	if (result != DOCA_SUCCESS)
		return result;
	p = calloc(1, sizeof(*p));
	if (!p)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a publisher");
	dpumap_fleet_copy(p->fleet, sizeof(p->fleet), config->fleet);
	p->ttl_s = config->ttl_s ? config->ttl_s : DPUMAP_PUBLISHER_TTL_S;
	p->log = (struct dpumap_fleet_log){.line = config->log, .context = config->context};
	p->request_ms = p->timeout_ms = request_ms(p->ttl_s);
	etcd.timeout_ms = p->request_ms;
	result = dpumap_etcd_create(&etcd, &p->etcd, error);
	if (result != DOCA_SUCCESS) {
		free(p);
		return result;
	}
	*publisher = p;
	return DOCA_SUCCESS;
}

void dpumap_publisher_close(struct dpumap_publisher *publisher, unsigned int wait_ms)
{
	struct dpumap_publisher *p = publisher;

	if (!p)
		return;
	dpumap_etcd_cancel(p->call);
	dpumap_etcd_cancel(p->renewal);
	if (p->lease && wait_ms)
		dpumap_publisher_revoke(p, wait_ms);
	dpumap_etcd_destroy(p->etcd);
	dpumap_records_clear(&p->wanted);
	dpumap_records_clear(&p->published);
	dpumap_records_clear(&p->sent);
	dpumap_records_clear(&p->gone);
	free(p);
}
