/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/publisher.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/answer.h"
#include "fleet/body.h"
#include "fleet/etcd.h"
#include "fleet/log.h"
#include "fleet/names.h"
#include "fleet/record.h"
#include "fleet/records.h"
#include "fleet/wanted.h"
#include "local/clock.h"

#define REQUEST_MIN_MS 500u
#define REQUEST_MAX_MS 5000u
#define PATIENCE_MS    10000u /* etcd itself gives a transaction up after some 7 s */
#define START_SPREAD   (500 * DPUMAP_NSEC_PER_MSEC) /* machines that start together */
#define OWN_MAX	       100000			    /* keys of ours that a check may list */

enum step {
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
	void (*changed)(void *context);
	void *context;

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
	enum step step;		  /* of the call */
	uint64_t next_step;	  /* earliest */
	uint64_t next_renewal;	  /* of the lease */
	uint64_t next_check;	  /* are our records still there? */
	unsigned int failures;	  /* in a row */
	unsigned int request_ms;  /* for an answer */
	unsigned int patience_ms; /* for the answer of a step, while answers come late */
	uint64_t step_begun;

	enum dpumap_publisher_phase phase;
	struct dpumap_fault problem;
	uint64_t transactions, leases_lost;
	struct dpumap_etcd_counts earlier; /* of the etcd objects before a renewal */
};

static const char *const phase_names[] = {
	[DPUMAP_PUBLISHER_CONNECTING] = "connecting", [DPUMAP_PUBLISHER_REFUSED] = "refused",
	[DPUMAP_PUBLISHER_NAME_TAKEN] = "name-taken", [DPUMAP_PUBLISHER_CHANGING] = "changing",
	[DPUMAP_PUBLISHER_PUBLISHED] = "published",
};

/* -- the state -- */

static uint64_t ttl_ns(const struct dpumap_publisher *p)
{
	return p->ttl_s * DPUMAP_NSEC_PER_SEC;
}

static void enter(struct dpumap_publisher *p, enum dpumap_publisher_phase phase)
{
	enum dpumap_publisher_phase before = p->phase;

	p->phase = phase;
	if (phase == DPUMAP_PUBLISHER_PUBLISHED || phase == DPUMAP_PUBLISHER_CHANGING)
		p->problem = (struct dpumap_fault){0};
	if (phase == before)
		return;
	if (phase == DPUMAP_PUBLISHER_PUBLISHED && before != DPUMAP_PUBLISHER_CHANGING)
		dpumap_fleet_log_line(&p->log, "DPU %s is published in fleet %s with %zu exports",
				      p->dpu, p->fleet, p->published.num - 1);
	if (p->changed)
		p->changed(p->context);
}

/* One line when a problem begins or changes its kind. */
static void trouble(struct dpumap_publisher *p, enum dpumap_publisher_phase phase,
		    const struct dpumap_fault *fault)
{
	bool is_new = p->phase != phase || p->problem.code != fault->code;

	p->problem = *fault;
	if (is_new)
		dpumap_fleet_log_line(&p->log, "DPU %s is not published in fleet %s: %s", p->dpu,
				      p->fleet, p->problem.text);
	enter(p, phase);
	p->needs_check = p->claimed; /* what is in etcd when it answers again? */
	p->next_step = dpumap_clock_ns() + dpumap_etcd_backoff(p->etcd, &p->failures);
}

static void failed(struct dpumap_publisher *p, const struct dpumap_fault *fault)
{
	switch (fault->code) {
	case DOCA_ERROR_AUTHENTICATION:
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_BAD_CONFIG:
	case DOCA_ERROR_FULL:
	case DOCA_ERROR_TOO_BIG:
		trouble(p, DPUMAP_PUBLISHER_REFUSED, fault);
		break;
	default:
		trouble(p, DPUMAP_PUBLISHER_CONNECTING, fault);
		break;
	}
}

static void forget_claim(struct dpumap_publisher *p)
{
	p->claimed = false;
	dpumap_records_clear(&p->published);
}

/* The lease ended while this DPU lives: everything is published again, under a new one. */
static void lease_lost(struct dpumap_publisher *p)
{
	if (!p->lease)
		return;
	dpumap_etcd_cancel(p->call);
	dpumap_etcd_cancel(p->renewal);
	p->call = p->renewal = NULL;
	p->lease = 0;
	p->leases_lost++;
	p->next_step = dpumap_clock_ns();
	dpumap_fleet_log_line(&p->log,
			      "fleet %s has lost the lease of DPU %s: it is published again",
			      p->fleet, p->dpu);
	forget_claim(p);
	enter(p, DPUMAP_PUBLISHER_CONNECTING);
}

/* etcd has answered about the lease or the records. */
static void confirmed(struct dpumap_publisher *p)
{
	p->confirmed = dpumap_clock_ns();
	p->failures = 0;
}

/* -- the lease -- */

static void schedule_renewal(struct dpumap_publisher *p)
{
	uint64_t every = ttl_ns(p) / 3;

	p->lease_end = p->renew_sent + ttl_ns(p);
	p->next_renewal = p->renew_sent + every - dpumap_etcd_random(p->etcd, every / 4);
}

static void granted(struct dpumap_publisher *p, struct json_object *json)
{
	struct dpumap_fault fault;

	p->lease = dpumap_answer_int64(json, "ID");
	if (!p->lease) {
		dpumap_fault_set(&fault, DOCA_ERROR_UNEXPECTED, "etcd has granted no lease");
		failed(p, &fault);
		return;
	}
	forget_claim(p);
	confirmed(p);
	schedule_renewal(p);
}

static void renewed(void *context, const struct dpumap_etcd_reply *reply)
{
	struct dpumap_publisher *p = context;
	struct json_object *result;

	p->renewal = NULL;
	if (reply->fault.code == DOCA_ERROR_NOT_FOUND) {
		lease_lost(p);
		return;
	}
	if (reply->fault.code != DOCA_SUCCESS) {
		p->next_renewal = dpumap_clock_ns() + ttl_ns(p) / 10 +
				  dpumap_etcd_random(p->etcd, ttl_ns(p) / 10);
		failed(p, &reply->fault);
		return;
	}
	result = json_object_object_get(reply->json, "result");
	if (dpumap_answer_int64(result, "TTL") <= 0) {
		lease_lost(p);
		return;
	}
	confirmed(p);
	schedule_renewal(p);
	/* After a failure: is all of it still there? */
	if (p->phase != DPUMAP_PUBLISHER_PUBLISHED)
		p->next_check = p->next_step = dpumap_clock_ns();
}

static void begin_renewal(struct dpumap_publisher *p)
{
	struct json_object *body = json_object_new_object();
	struct dpumap_fault fault;

	dpumap_body_number(body, "ID", p->lease);
	p->renew_sent = dpumap_clock_ns();
	if (dpumap_etcd_begin(p->etcd, "/v3/lease/keepalive", body, renewed, p, &p->renewal,
			      &fault) == DOCA_SUCCESS)
		return;
	p->next_renewal = p->renew_sent + ttl_ns(p) / 10;
	failed(p, &fault);
}

/* -- transactions -- */

/* The response of the transaction's operation with that index. */
static struct json_object *response(struct json_object *json, size_t index, const char *field)
{
	struct json_object *list = json_object_object_get(json, "responses");

	if (!json_object_is_type(list, json_type_array))
		return NULL;
	return json_object_object_get(json_object_array_get_idx(list, index), field);
}

static struct json_object *keys_of(struct json_object *range)
{
	struct json_object *kvs = json_object_object_get(range, "kvs");

	return json_object_is_type(kvs, json_type_array) ? kvs : NULL;
}

static void txn_done(void *context, const struct dpumap_etcd_reply *reply);

static void begin_call(struct dpumap_publisher *p, enum step step, const char *path,
		       struct json_object *body)
{
	struct dpumap_fault fault;

	p->step = step;
	p->step_begun = dpumap_clock_ns();
	if (dpumap_etcd_begin_within(p->etcd, p->patience_ms, path, body, txn_done, p, &p->call,
				     &fault) != DOCA_SUCCESS)
		failed(p, &fault);
}

/* -- the steps -- */

static void begin_grant(struct dpumap_publisher *p)
{
	struct json_object *body = json_object_new_object();

	dpumap_body_number(body, "TTL", p->ttl_s);
	p->renew_sent = dpumap_clock_ns();
	begin_call(p, STEP_GRANT, "/v3/lease/grant", body);
}

/* Puts records of wanted that published lacks or has otherwise, up to the limit. */
static doca_error_t put_differences(struct dpumap_publisher *p, struct json_object *list)
{
	const struct dpumap_record_text *record, *old;
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	for (i = 0; i < p->wanted.num && p->sent.num + p->gone.num < DPUMAP_PUBLISHER_TXN_MAX;
	     i++) {
		record = &p->wanted.list[i];
		old = dpumap_records_find(&p->published, record->key);
		if (old && strcmp(old->text, record->text) == 0)
			continue;
		dpumap_body_put(list, record->key, record->text, p->lease);
		result = dpumap_records_set(&p->sent, record->key, record->text);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

static doca_error_t delete_differences(struct dpumap_publisher *p, struct json_object *list)
{
	const struct dpumap_record_text *record;
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	for (i = 0; i < p->published.num && p->gone.num < DPUMAP_PUBLISHER_TXN_MAX; i++) {
		record = &p->published.list[i];
		if (dpumap_records_find(&p->wanted, record->key))
			continue;
		dpumap_body_delete(list, record->key);
		result = dpumap_records_set(&p->gone, record->key, "");
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

static void no_memory(struct dpumap_publisher *p)
{
	struct dpumap_fault fault;

	dpumap_fault_set(&fault, DOCA_ERROR_NO_MEMORY, "no memory for a transaction");
	failed(p, &fault);
}

/* The key of the DPU is ours, else the answer says whose it is. */
static bool new_txn(struct dpumap_publisher *p, struct dpumap_body_txn *txn)
{
	if (!dpumap_body_txn(txn)) {
		no_memory(p);
		return false;
	}
	dpumap_body_read(txn->failure, p->own);
	dpumap_records_clear(&p->sent);
	dpumap_records_clear(&p->gone);
	return true;
}

static void begin_claim(struct dpumap_publisher *p)
{
	struct dpumap_body_txn txn;

	if (!new_txn(p, &txn))
		return;
	/* Nobody holds the name, or a key without a lease has it, which no live DPU wrote. */
	if (p->abandoned)
		dpumap_body_compare(&txn, p->own, "MOD", "mod_revision", p->abandoned);
	else
		dpumap_body_compare(&txn, p->own, "CREATE", "create_revision", 0);
	dpumap_records_clear(&p->published);
	if (put_differences(p, txn.success) == DOCA_SUCCESS) {
		begin_call(p, STEP_CLAIM, "/v3/kv/txn", txn.body);
		return;
	}
	json_object_put(txn.body);
	no_memory(p);
}

static void begin_check(struct dpumap_publisher *p)
{
	char exports[DPUMAP_FLEET_KEY_SIZE];
	struct dpumap_body_txn txn;

	if (!new_txn(p, &txn))
		return;
	dpumap_fleet_key_export(p->fleet, p->dpu, NULL, exports);
	dpumap_body_compare(&txn, p->own, "LEASE", "lease", p->lease);
	dpumap_body_read_keys(txn.success, exports, OWN_MAX);
	begin_call(p, STEP_CHECK, "/v3/kv/txn", txn.body);
}

static void begin_change(struct dpumap_publisher *p)
{
	struct dpumap_body_txn txn;

	if (!new_txn(p, &txn))
		return;
	dpumap_body_compare(&txn, p->own, "LEASE", "lease", p->lease);
	if (delete_differences(p, txn.success) == DOCA_SUCCESS &&
	    put_differences(p, txn.success) == DOCA_SUCCESS) {
		enter(p, DPUMAP_PUBLISHER_CHANGING);
		begin_call(p, STEP_CHANGE, "/v3/kv/txn", txn.body);
		return;
	}
	json_object_put(txn.body);
	no_memory(p);
}

/* -- their ends -- */

static void take_sent(struct dpumap_publisher *p)
{
	struct dpumap_fault fault;
	size_t i;

	for (i = 0; i < p->gone.num; i++)
		dpumap_records_remove(&p->published, p->gone.list[i].key);
	for (i = 0; i < p->sent.num; i++) {
		if (dpumap_records_set(&p->published, p->sent.list[i].key, p->sent.list[i].text) ==
		    DOCA_SUCCESS)
			continue;
		/* It is put once more. */
		dpumap_fault_set(&fault, DOCA_ERROR_NO_MEMORY, "no memory for a record");
		failed(p, &fault);
		return;
	}
}

static void txn_succeeded(struct dpumap_publisher *p, int64_t revision)
{
	p->transactions++;
	p->revision = revision;
	confirmed(p);
	take_sent(p);
}

static void name_taken(struct dpumap_publisher *p, struct json_object *kv)
{
	struct dpumap_fleet_dpu *holder = NULL;
	struct dpumap_fault fault, ignored;
	const char *value, *address = "an unknown address";
	size_t len;

	if (dpumap_answer_bytes(kv, "value", &value, &len) &&
	    dpumap_record_decode_dpu(p->dpu, value, len, &holder, &ignored) == DOCA_SUCCESS &&
	    holder->num_addresses)
		address = holder->addresses[0];
	dpumap_fault_set(&fault, DOCA_ERROR_ALREADY_EXIST,
			 "a live DPU at %.160s holds the name \"%s\": choose another name; after a "
			 "crash of this DPU, its old record ends within %u s",
			 address, p->dpu, p->ttl_s);
	free(holder);
	forget_claim(p);
	trouble(p, DPUMAP_PUBLISHER_NAME_TAKEN, &fault);
}

/* The comparison of a transaction failed: who has the name? */
static void look_at_holder(struct dpumap_publisher *p, struct json_object *json)
{
	struct json_object *kvs = keys_of(response(json, 0, "response_range"));
	struct json_object *kv = kvs ? json_object_array_get_idx(kvs, 0) : NULL;

	p->abandoned = kv && !dpumap_answer_int64(kv, "lease")
			       ? dpumap_answer_int64(kv, "mod_revision")
			       : 0;
	if (!kv || p->abandoned) {
		forget_claim(p); /* somebody deleted or overwrote our record: claim it again */
		return;
	}
	if (dpumap_answer_int64(kv, "lease") != p->lease) {
		name_taken(p, kv);
		return;
	}
	/* We do: the answer to our claim was lost. */
	p->claimed = true;
	dpumap_records_clear(&p->published);
	p->needs_check = true;
}

static void checked(struct dpumap_publisher *p, struct json_object *json)
{
	struct json_object *keys = keys_of(response(json, 0, "response_range"));
	struct dpumap_fault fault;

	p->needs_check = false;
	p->next_check = dpumap_clock_ns() + ttl_ns(p) - dpumap_etcd_random(p->etcd, ttl_ns(p) / 4);
	confirmed(p);
	if (dpumap_wanted_correct(&p->published, p->own, keys, p->lease, p->revision) ==
	    DOCA_SUCCESS)
		return;
	dpumap_fault_set(&fault, DOCA_ERROR_NO_MEMORY, "no memory for a list of records");
	failed(p, &fault);
}

static void txn_answered(struct dpumap_publisher *p, const struct dpumap_etcd_reply *reply)
{
	if (!dpumap_answer_bool(reply->json, "succeeded")) {
		look_at_holder(p, reply->json);
	} else if (p->step == STEP_CHECK) {
		checked(p, reply->json);
	} else {
		txn_succeeded(p, reply->revision);
		if (p->step == STEP_CLAIM) {
			p->claimed = true;
			/* An earlier run may have left exports behind. */
			p->needs_check = true;
		}
	}
}

/* An overloaded etcd does the work, but too late: a repetition within the same time would only add to it. */
static void adapt_patience(struct dpumap_publisher *p, doca_error_t code)
{
	uint64_t took_ms = (dpumap_clock_ns() - p->step_begun) / DPUMAP_NSEC_PER_MSEC;

	if (2 * took_ms >= PATIENCE_MS)
		p->patience_ms = PATIENCE_MS;
	else if (2 * took_ms > p->request_ms)
		p->patience_ms = (unsigned int)(2 * took_ms);
	else if (code != DOCA_ERROR_TIME_OUT)
		p->patience_ms = p->request_ms;
}

static void txn_done(void *context, const struct dpumap_etcd_reply *reply)
{
	struct dpumap_publisher *p = context;

	p->call = NULL;
	adapt_patience(p, reply->fault.code);
	p->next_step = dpumap_clock_ns();
	if (reply->fault.code == DOCA_ERROR_NOT_FOUND)
		lease_lost(p);
	else if (reply->fault.code != DOCA_SUCCESS)
		failed(p, &reply->fault);
	else if (p->step == STEP_GRANT)
		granted(p, reply->json);
	else
		txn_answered(p, reply);
}

/* -- progress -- */

static enum step due_step(const struct dpumap_publisher *p)
{
	if (!p->lease)
		return STEP_GRANT;
	if (!p->claimed)
		return STEP_CLAIM;
	if (p->needs_check || dpumap_clock_ns() >= p->next_check)
		return STEP_CHECK;
	return dpumap_records_equal(&p->wanted, &p->published) ? STEP_NONE : STEP_CHANGE;
}

static void begin_step(struct dpumap_publisher *p)
{
	switch (due_step(p)) {
	case STEP_GRANT:
		begin_grant(p);
		break;
	case STEP_CLAIM:
		begin_claim(p);
		break;
	case STEP_CHECK:
		begin_check(p);
		break;
	case STEP_CHANGE:
		begin_change(p);
		break;
	case STEP_NONE:
		enter(p, DPUMAP_PUBLISHER_PUBLISHED);
		break;
	}
}

static void work(struct dpumap_publisher *p)
{
	uint64_t now = dpumap_clock_ns();

	if (!p->dpu[0])
		return;
	if (p->lease && !p->renewal && now >= p->next_renewal)
		begin_renewal(p);
	if (!p->call && now >= p->next_step)
		begin_step(p);
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

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int dpumap_publisher_next_ms(const struct dpumap_publisher *publisher)
{
	const struct dpumap_publisher *p = publisher;
	uint64_t now = dpumap_clock_ns(), next = dpumap_etcd_next(p->etcd), step = p->next_step;

	if (p->dpu[0] && p->lease && !p->renewal)
		next = earlier(next, p->next_renewal);
	if (p->dpu[0] && !p->call) {
		if (p->phase == DPUMAP_PUBLISHER_PUBLISHED && due_step(p) == STEP_NONE)
			step = p->next_check;
		next = earlier(next, step);
	}
	if (next == UINT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	next = (next - now + DPUMAP_NSEC_PER_MSEC - 1) / DPUMAP_NSEC_PER_MSEC;
	return next < INT_MAX ? (int)next : INT_MAX;
}

/* -- what should be published -- */

doca_error_t dpumap_publisher_set(struct dpumap_publisher *publisher,
				  const struct dpumap_fleet_dpu *self,
				  const struct dpumap_fleet_export *exports, size_t num_exports,
				  struct dpumap_fault *fault)
{
	struct dpumap_publisher *p = publisher;
	struct dpumap_records records;
	doca_error_t result;

	result = dpumap_fleet_name_check("DPU name", self->name, fault);
	if (result != DOCA_SUCCESS)
		return result;
	if (p->dpu[0] && strcmp(p->dpu, self->name) != 0)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"the DPU is published as \"%s\", which cannot change to "
					"\"%s\"",
					p->dpu, self->name);
	result = dpumap_wanted_make(p->fleet, self, exports, num_exports, &records, fault);
	if (result != DOCA_SUCCESS)
		return result;
	if (!p->dpu[0])
		p->next_step = dpumap_clock_ns() + dpumap_etcd_random(p->etcd, START_SPREAD);
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
	p->next_step = p->next_renewal = dpumap_clock_ns();
}

/* -- queries -- */

void dpumap_publisher_get_state(const struct dpumap_publisher *publisher,
				struct dpumap_publisher_state *state)
{
	const struct dpumap_publisher *p = publisher;
	struct dpumap_etcd_counts counts = dpumap_etcd_counts(p->etcd);
	uint64_t now = dpumap_clock_ns();

	*state = (struct dpumap_publisher_state){
		.phase = p->phase,
		.phase_name = phase_names[p->phase],
		.problem = p->problem.text,
		.endpoint = dpumap_etcd_url(p->etcd, dpumap_etcd_current(p->etcd)),
		.cluster_id = dpumap_etcd_cluster(p->etcd),
		.lease = p->lease,
		.lease_remaining_ms =
			p->lease && p->lease_end > now
				? (int64_t)((p->lease_end - now) / DPUMAP_NSEC_PER_MSEC)
				: 0,
		.num_wanted = p->wanted.num,
		.num_published = p->published.num,
		.revision = p->revision,
		.published_age_ms =
			p->confirmed ? (now - p->confirmed) / DPUMAP_NSEC_PER_MSEC : UINT64_MAX,
		.num_requests = p->earlier.requests + counts.requests,
		.num_failures = p->earlier.failures + counts.failures,
		.num_transactions = p->transactions,
		.num_leases_lost = p->leases_lost,
		.num_failovers = p->earlier.failovers + counts.failovers};
}

doca_error_t dpumap_publisher_check_name(const char *what, const char *name,
					 struct dpumap_fault *fault)
{
	return dpumap_fleet_name_check(what, name, fault);
}

doca_error_t dpumap_publisher_check_label(const char *label, struct dpumap_fault *fault)
{
	return dpumap_fleet_label_check(label, fault);
}

doca_error_t dpumap_publisher_check_endpoint(const char *url, struct dpumap_fault *fault)
{
	return dpumap_fleet_url_check(url, fault);
}

/* -- life -- */

static doca_error_t check_config(const struct dpumap_publisher_config *config,
				 struct dpumap_fault *fault)
{
	if (!config->cert != !config->key)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"a certificate for etcd needs its key, and a key its "
					"certificate");
	if (!config->user != !config->password_file)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"a user of etcd needs a password file, and a password "
					"file its user");
	if (config->ttl_s && (config->ttl_s < DPUMAP_PUBLISHER_TTL_MIN_S ||
			      config->ttl_s > DPUMAP_PUBLISHER_TTL_MAX_S))
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"the time to live must be %d to %d seconds",
					DPUMAP_PUBLISHER_TTL_MIN_S, DPUMAP_PUBLISHER_TTL_MAX_S);
	return dpumap_fleet_name_check("fleet name", config->fleet, fault);
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
				     struct dpumap_fault *fault)
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

	result = check_config(config, fault);
	if (result != DOCA_SUCCESS)
		return result;
	p = calloc(1, sizeof(*p));
	if (!p)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for a publisher");
	dpumap_fleet_copy(p->fleet, sizeof(p->fleet), config->fleet);
	p->ttl_s = config->ttl_s ? config->ttl_s : DPUMAP_PUBLISHER_TTL_S;
	p->log = (struct dpumap_fleet_log){.line = config->log, .context = config->context};
	p->changed = config->changed;
	p->context = config->context;
	p->request_ms = p->patience_ms = request_ms(p->ttl_s);
	etcd.timeout_ms = p->request_ms;
	result = dpumap_etcd_create(&etcd, &p->etcd, fault);
	if (result != DOCA_SUCCESS) {
		free(p);
		return result;
	}
	*publisher = p;
	return DOCA_SUCCESS;
}

enum revocation {
	REVOCATION_WAITS,
	REVOCATION_DONE,
	REVOCATION_FAILED,
};

static void revoked(void *context, const struct dpumap_etcd_reply *reply)
{
	bool gone = reply->fault.code == DOCA_SUCCESS || reply->fault.code == DOCA_ERROR_NOT_FOUND;

	*(enum revocation *)context = gone ? REVOCATION_DONE : REVOCATION_FAILED;
}

/* Waits for the answer: the next DPU may take the name at once. */
static void revoke(struct dpumap_publisher *p, unsigned int wait_ms)
{
	uint64_t end = dpumap_clock_ns() + wait_ms * DPUMAP_NSEC_PER_MSEC, now;
	struct pollfd fd = {.fd = dpumap_etcd_fd(p->etcd), .events = POLLIN};
	struct json_object *body = json_object_new_object();
	struct dpumap_etcd_call *call;
	struct dpumap_fault fault;
	enum revocation state = REVOCATION_WAITS;
	uint64_t next;

	dpumap_body_number(body, "ID", p->lease);
	if (dpumap_etcd_begin(p->etcd, "/v3/lease/revoke", body, revoked, &state, &call, &fault) !=
	    DOCA_SUCCESS)
		return;
	while (state == REVOCATION_WAITS && (now = dpumap_clock_ns()) < end) {
		next = earlier(dpumap_etcd_next(p->etcd), end);
		next = next > now ? (next - now) / DPUMAP_NSEC_PER_MSEC + 1 : 0;
		if (poll(&fd, 1, (int)next) < 0 && errno != EINTR)
			break;
		dpumap_etcd_process(p->etcd);
	}
	if (state != REVOCATION_DONE)
		dpumap_fleet_log_line(&p->log,
				      "etcd does not answer: the records of DPU %s end within %u s",
				      p->dpu, p->ttl_s);
}

void dpumap_publisher_close(struct dpumap_publisher *publisher, unsigned int wait_ms)
{
	struct dpumap_publisher *p = publisher;

	if (!p)
		return;
	dpumap_etcd_cancel(p->call);
	dpumap_etcd_cancel(p->renewal);
	if (p->lease && wait_ms)
		revoke(p, wait_ms);
	dpumap_etcd_destroy(p->etcd);
	dpumap_records_clear(&p->wanted);
	dpumap_records_clear(&p->published);
	dpumap_records_clear(&p->sent);
	dpumap_records_clear(&p->gone);
	free(p);
}
