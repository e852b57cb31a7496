/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/publisher/publisher_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/etcd/answer.h"
#include "fleet/etcd/body.h"
#include "fleet/publisher/wanted.h"
#include "fleet/record/record.h"

#define MAX_TIMEOUT_MS 10000u /* etcd itself gives a transaction up after some 7 s */
#define OWN_MAX	       100000 /* keys of ours that a check may list */

/* --- transactions ----------------------------------------------------------------------------- */

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

static void begin_call(struct dpumap_publisher *p, enum publisher_step step, const char *path,
		       struct json_object *body)
{
	struct dpumap_error error;

	p->step = step;
	p->step_begun = monotonic_ns();
	if (dpumap_etcd_begin_within(p->etcd, p->timeout_ms, path, body, txn_done, p, &p->call,
				     &error) != DOCA_SUCCESS)
		dpumap_publisher_failed(p, &error);
}

/* --- the steps -------------------------------------------------------------------------------- */

static void begin_grant(struct dpumap_publisher *p)
{
	struct json_object *body = json_object_new_object();

	dpumap_body_number(body, "TTL", p->ttl_s);
	p->renew_sent = monotonic_ns();
	begin_call(p, STEP_GRANT, "/v3/lease/grant", body);
}

/* Puts records of wanted that published lacks or has otherwise, up to the limit. */
static doca_error_t put_differences(struct dpumap_publisher *p, struct json_object *list)
{
	const struct dpumap_record_text *record, *old;
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0;
	     i < p->wanted.num && p->sent.num + p->gone.num < DPUMAP_PUBLISHER_TXN_MAX; i++) {
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

	for (size_t i = 0; i < p->published.num && p->gone.num < DPUMAP_PUBLISHER_TXN_MAX; i++) {
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
	struct dpumap_error error;

	dpumap_error_set(&error, DOCA_ERROR_NO_MEMORY, "no memory for a transaction");
	dpumap_publisher_failed(p, &error);
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
		dpumap_publisher_enter(p, DPUMAP_PUBLISHER_CHANGING);
		begin_call(p, STEP_CHANGE, "/v3/kv/txn", txn.body);
		return;
	}
	json_object_put(txn.body);
	no_memory(p);
}

/* --- their ends ------------------------------------------------------------------------------- */

static void take_sent(struct dpumap_publisher *p)
{
	struct dpumap_error error;

	for (size_t i = 0; i < p->gone.num; i++)
		dpumap_records_remove(&p->published, p->gone.list[i].key);
	for (size_t i = 0; i < p->sent.num; i++) {
		if (dpumap_records_set(&p->published, p->sent.list[i].key, p->sent.list[i].text) ==
		    DOCA_SUCCESS)
			continue;
		/* It is put once more. */
		dpumap_error_set(&error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
		dpumap_publisher_failed(p, &error);
		return;
	}
}

static void txn_succeeded(struct dpumap_publisher *p, int64_t revision)
{
	p->transactions++;
	p->revision = revision;
	dpumap_publisher_confirmed(p);
	take_sent(p);
}

static void name_taken(struct dpumap_publisher *p, struct json_object *kv)
{
	struct dpumap_fleet_dpu *holder = NULL;
	struct dpumap_error error, ignored;
	const char *value, *address = "an unknown address";
	size_t len;

	if (dpumap_answer_bytes(kv, "value", &value, &len) &&
	    dpumap_record_decode_dpu(p->dpu, value, len, &holder, &ignored) == DOCA_SUCCESS &&
	    holder->num_addresses)
		address = holder->addresses[0];
	dpumap_error_set(&error, DOCA_ERROR_ALREADY_EXIST,
			 "a live DPU at %.160s holds the name \"%s\": choose another name; after a "
			 "crash of this DPU, its old record ends within %u s",
			 address, p->dpu, p->ttl_s);
	free(holder);
	dpumap_publisher_forget_claim(p);
	dpumap_publisher_report_problem(p, DPUMAP_PUBLISHER_NAME_TAKEN, &error);
}

/* The comparison of a transaction failed: who has the name? */
static void check_holder(struct dpumap_publisher *p, struct json_object *json)
{
	struct json_object *kvs = keys_of(response(json, 0, "response_range"));
	struct json_object *kv = kvs ? json_object_array_get_idx(kvs, 0) : NULL;

	p->abandoned = kv && !dpumap_answer_int64(kv, "lease")
			       ? dpumap_answer_int64(kv, "mod_revision")
			       : 0;
	if (!kv || p->abandoned) {
		dpumap_publisher_forget_claim(
			p); /* somebody deleted or overwrote our record: claim it again */
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
	struct dpumap_error error;

	p->needs_check = false;
	p->next_check = monotonic_ns() + dpumap_publisher_ttl_ns(p) -
			dpumap_etcd_random(p->etcd, dpumap_publisher_ttl_ns(p) / 4);
	dpumap_publisher_confirmed(p);
	if (dpumap_wanted_correct(&p->published, p->own, keys, p->lease, p->revision) ==
	    DOCA_SUCCESS)
		return;
	dpumap_error_set(&error, DOCA_ERROR_NO_MEMORY, "no memory for a list of records");
	dpumap_publisher_failed(p, &error);
}

static void txn_answered(struct dpumap_publisher *p, const struct dpumap_etcd_reply *reply)
{
	if (!dpumap_answer_bool(reply->json, "succeeded")) {
		check_holder(p, reply->json);
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
static void adapt_timeout(struct dpumap_publisher *p, doca_error_t code)
{
	uint64_t took_ms = (monotonic_ns() - p->step_begun) / NSEC_PER_MSEC;

	if (2 * took_ms >= MAX_TIMEOUT_MS)
		p->timeout_ms = MAX_TIMEOUT_MS;
	else if (2 * took_ms > p->request_ms)
		p->timeout_ms = (unsigned int)(2 * took_ms);
	else if (code != DOCA_ERROR_TIME_OUT)
		p->timeout_ms = p->request_ms;
}

static void txn_done(void *context, const struct dpumap_etcd_reply *reply)
{
	struct dpumap_publisher *p = context;

	p->call = NULL;
	adapt_timeout(p, reply->error.code);
	p->next_step = monotonic_ns();
	if (reply->error.code == DOCA_ERROR_NOT_FOUND)
		dpumap_publisher_lease_lost(p);
	else if (reply->error.code != DOCA_SUCCESS)
		dpumap_publisher_failed(p, &reply->error);
	else if (p->step == STEP_GRANT)
		dpumap_publisher_granted(p, reply->json);
	else
		txn_answered(p, reply);
}

enum publisher_step dpumap_publisher_due_step(const struct dpumap_publisher *p)
{
	if (!p->lease)
		return STEP_GRANT;
	if (!p->claimed)
		return STEP_CLAIM;
	if (p->needs_check || monotonic_ns() >= p->next_check)
		return STEP_CHECK;
	return dpumap_records_equal(&p->wanted, &p->published) ? STEP_NONE : STEP_CHANGE;
}

void dpumap_publisher_begin_step(struct dpumap_publisher *p)
{
	switch (dpumap_publisher_due_step(p)) {
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
		dpumap_publisher_enter(p, DPUMAP_PUBLISHER_PUBLISHED);
		break;
	}
}
