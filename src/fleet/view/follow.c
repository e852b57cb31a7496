/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/view/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/etcd/answer.h"
#include "fleet/etcd/body.h"

#define PAGE_RECORDS 1000
#define FIRST_STRIDE 8
#define POLL_EVERY   (5 * NSEC_PER_SEC)
/* Whatever a member should have said and did not is known after this time, about. */
#define REREAD_EVERY (3600 * NSEC_PER_SEC)
#define KEY_MAX	     4096 /* of any key under ours */
#define LINES_MAX    64	  /* of the log about records, in LINES_TIME */
#define LINES_TIME   (10 * NSEC_PER_SEC)

enum part { PART_DPUS, PART_EXPORTS, NUM_PARTS };

struct dpumap_follow {
	struct dpumap_follow_config config;
	struct dpumap_follow_state state;
	uint64_t next;	       /* the next attempt, or the next poll */
	unsigned int failures; /* in a row */
	bool needs_sync, was_read;
	uint64_t reread;  /* everything, at this time */
	uint64_t cluster; /* of the view's revisions; 0: none */
	/* reading everything */
	struct dpumap_etcd_call *page;
	enum part part;
	char from[KEY_MAX + 1]; /* the first key of the next page */
	size_t from_len;
	int64_t at; /* the revision of all pages */
	int64_t limit;
	bool keys_only;
	/* where ranges of exports end: see find_split() */
	const struct dpumap_fleet_dpu **dpus;
	size_t num_dpus, split, stride, in_range;
	uint64_t orphans;
	/* watching */
	struct dpumap_etcd_call *watch, *poll;
	size_t watch_endpoint;
	bool watching;	       /* etcd has confirmed the watch */
	int64_t poll_revision; /* of the view when the poll was sent */
	/* lines of the log */
	unsigned int lines, lines_left_out;
	uint64_t lines_since;
};

static void begin_page(struct dpumap_follow *f);

/* --- the log ---------------------------------------------------------------------------------- */

/* A stranger decides how many records are wrong: a line for each, but not without limit. */
static void log_record(struct dpumap_follow *f, const void *key, size_t len, const char *why)
{
	char shown[DPUMAP_FLEET_SHOWN_SIZE], line[512];
	uint64_t now = monotonic_ns();

	f->state.skipped++;
	if (now - f->lines_since > LINES_TIME) {
		f->lines_since = now;
		f->lines = 0;
		if (f->lines_left_out) {
			snprintf(line, sizeof(line), "%u more records of fleet %s were skipped",
				 f->lines_left_out, f->config.fleet);
			f->config.log(f->config.context, line);
		}
		f->lines_left_out = 0;
	}
	if (f->lines++ >= LINES_MAX) {
		f->lines_left_out++;
		return;
	}
	snprintf(line, sizeof(line), "the record %s is skipped: %.300s",
		 dpumap_fleet_shown(key, len, shown), why);
	f->config.log(f->config.context, line);
}

static void log_orphans(struct dpumap_follow *f)
{
	char line[256];

	if (!f->orphans)
		return;
	snprintf(line, sizeof(line),
		 "%llu exports of fleet %s are ignored: they do not belong to a live DPU",
		 (unsigned long long)f->orphans, f->config.fleet);
	f->config.log(f->config.context, line);
	f->orphans = 0;
}

/* --- the state -------------------------------------------------------------------------------- */

static void confirm(struct dpumap_follow *f)
{
	f->state.confirmed_ns = monotonic_ns();
	f->state.has_failed = false;
	f->failures = 0;
	f->state.error = (struct dpumap_error){0};
	if (f->state.is_live)
		return;
	f->state.is_live = true;
	f->config.happened(f->config.context, DPUMAP_FLEET_LIVE);
}

static void forget_splits(struct dpumap_follow *f)
{
	free(f->dpus);
	f->dpus = NULL;
	f->num_dpus = 0;
}

static void stop(struct dpumap_follow *f)
{
	forget_splits(f);
	dpumap_etcd_cancel(f->page);
	dpumap_etcd_cancel(f->watch);
	dpumap_etcd_cancel(f->poll);
	f->page = f->watch = f->poll = NULL;
	f->watching = false;
}

/* Tries again after a while. */
static void fail(struct dpumap_follow *f, const struct dpumap_error *error)
{
	struct dpumap_error why = *error;

	stop(f);
	f->state.has_failed = true;
	f->state.error = why;
	f->next = monotonic_ns();
	/* Another endpoint may go on at once. */
	if (!f->failures && f->state.is_live && dpumap_etcd_num_endpoints(f->config.etcd) > 1) {
		f->failures++;
		return;
	}
	f->next += dpumap_etcd_backoff(f->config.etcd, &f->failures);
	if (!f->state.is_live)
		return;
	f->state.is_live = false;
	f->config.happened(f->config.context, DPUMAP_FLEET_STALE);
}

/* --- records ---------------------------------------------------------------------------------- */

static bool begins_with(const char *bytes, size_t len, const char *prefix)
{
	size_t prefix_len = strlen(prefix);

	return len >= prefix_len && memcmp(bytes, prefix, prefix_len) == 0;
}

/* Is the key one that dpumap writes, so that a wrong one is worth a line? */
static bool is_ours(const struct dpumap_follow *f, const char *key, size_t len)
{
	char prefix[DPUMAP_FLEET_KEY_SIZE];

	dpumap_fleet_key_dpu(f->config.fleet, f->config.dpu, prefix);
	if (begins_with(key, len, prefix))
		return true;
	dpumap_fleet_key_export(f->config.fleet, f->config.dpu, f->config.dpu ? "" : NULL, prefix);
	return begins_with(key, len, prefix);
}

/* The watch also hears of the other DPUs. */
static bool is_followed(const struct dpumap_follow *f, const struct dpumap_fleet_key *key)
{
	return !f->config.dpu || strcmp(key->dpu, f->config.dpu) == 0;
}

static void put_record(struct dpumap_follow *f, const char *key, size_t key_len,
		       struct json_object *kv)
{
	struct dpumap_view_record record;
	struct dpumap_error error;
	const char *value;
	doca_error_t result;

	record.lease = dpumap_answer_int64(kv, "lease");
	record.revision = dpumap_answer_int64(kv, "mod_revision");
	if (!dpumap_fleet_key_parse(f->config.fleet, key, key_len, &record.key)) {
		if (is_ours(f, key, key_len))
			log_record(f, key, key_len, "the key has no valid name");
		return;
	}
	if (!is_followed(f, &record.key))
		return;
	if (!dpumap_answer_bytes(kv, "value", &value, &record.len)) {
		log_record(f, key, key_len, "the value is not base64");
		return;
	}
	record.value = value;
	result = dpumap_view_put(f->config.view, &record, &error);
	if (result == DOCA_ERROR_NOT_FOUND)
		f->orphans++;
	else if (result != DOCA_SUCCESS)
		log_record(f, key, key_len, error.text);
}

static void take_record(struct dpumap_follow *f, struct json_object *kv, bool deleted)
{
	struct dpumap_fleet_key parsed;
	const char *key;
	size_t len;

	if (!dpumap_answer_bytes(kv, "key", &key, &len)) {
		log_record(f, "?", 1, "the key is not base64");
		return;
	}
	if (!deleted)
		put_record(f, key, len, kv);
	else if (dpumap_fleet_key_parse(f->config.fleet, key, len, &parsed))
		dpumap_view_remove(f->config.view, &parsed);
}

/* --- watching --------------------------------------------------------------------------------- */

static void begin_sync(struct dpumap_follow *f)
{
	stop(f);
	dpumap_view_sync_begin(f->config.view);
	f->part = PART_DPUS;
	f->from_len = 0;
	f->at = 0;
	f->keys_only = false;
	f->orphans = 0;
	if (f->was_read)
		f->state.resyncs++;
	begin_page(f);
}

/* Soon, but not at once: the same cause may follow again. */
static void sync_again(struct dpumap_follow *f, const char *why)
{
	char line[512];

	snprintf(line, sizeof(line), "the view of fleet %s is read again: %.300s", f->config.fleet,
		 why);
	f->config.log(f->config.context, line);
	stop(f);
	f->needs_sync = true;
	f->next = monotonic_ns() + dpumap_etcd_backoff(f->config.etcd, &f->failures);
}

static void take_events(struct dpumap_follow *f, const struct dpumap_etcd_reply *reply)
{
	struct json_object *events = json_object_object_get(reply->json, "events");
	struct json_object *event, *kv;
	int64_t last = 0;
	size_t num;

	num = json_object_is_type(events, json_type_array) ? json_object_array_length(events) : 0;
	for (size_t i = 0; i < num; i++) {
		event = json_object_array_get_idx(events, i);
		kv = json_object_object_get(event, "kv");
		if (!json_object_is_type(kv, json_type_object))
			continue;
		last = dpumap_answer_int64(kv, "mod_revision");
		/* The watch begins with the revision of the view (begin_watch()). */
		if (last <= f->state.revision)
			continue;
		take_record(f, kv, strcmp(dpumap_answer_text(event, "type"), "DELETE") == 0);
	}
	/*
	 * While etcd catches up, the header is ahead of the events. And of a message in fragments,
	 * more events of the last revision may follow.
	 */
	if (!num)
		last = reply->revision;
	else if (dpumap_answer_bool(reply->json, "fragment"))
		last--;
	if (last > f->state.revision)
		f->state.revision = last;
}

static void watch_canceled(struct dpumap_follow *f, struct json_object *json)
{
	const char *reason = dpumap_answer_text(json, "cancel_reason");
	char shown[DPUMAP_FLEET_SHOWN_SIZE];
	struct dpumap_error error;

	if (dpumap_answer_int64(json, "compact_revision") > 0) {
		sync_again(f, "etcd has compacted the changes in between");
		return;
	}
	dpumap_error_set(&error,
			 strstr(reason, "permission denied") ? DOCA_ERROR_NOT_PERMITTED
							     : DOCA_ERROR_NOT_CONNECTED,
			 "etcd has ended the watch: %s",
			 dpumap_fleet_shown(reason, strlen(reason), shown));
	fail(f, &error);
}

static void heard(void *context, const struct dpumap_etcd_reply *reply)
{
	struct dpumap_follow *f = context;

	if (reply->cluster_id && reply->cluster_id != f->cluster) {
		sync_again(f, "etcd is another cluster");
		return;
	}
	if (dpumap_answer_bool(reply->json, "canceled")) {
		watch_canceled(f, reply->json);
		return;
	}
	if (dpumap_answer_bool(reply->json, "created")) {
		f->watching = true;
		f->watch_endpoint = reply->endpoint;
		f->next = monotonic_ns(); /* the first poll confirms the view */
		return;
	}
	take_events(f, reply);
	f->state.confirmed_ns = monotonic_ns();
}

static void watch_ended(void *context, const struct dpumap_etcd_reply *reply)
{
	struct dpumap_follow *f = context;

	f->watch = NULL;
	if (reply->error.code == DOCA_ERROR_TOO_BIG)
		sync_again(f, "a change is too large");
	else
		fail(f, &reply->error);
}

static void begin_watch(struct dpumap_follow *f)
{
	struct json_object *body = json_object_new_object();
	struct json_object *create = json_object_new_object();
	char from[DPUMAP_FLEET_KEY_SIZE], end[DPUMAP_FLEET_KEY_SIZE];
	struct dpumap_error error;

	/* From the first key of the exports or of the DPUs to the last: "dpus/" is the smaller. */
	dpumap_fleet_key_dpu(f->config.fleet, NULL, from);
	from[strlen(from) - strlen("dpus/")] = '\0';
	dpumap_fleet_key_end(from, end);
	dpumap_body_text(create, "key", from);
	dpumap_body_text(create, "range_end", end);
	/*
	 * The events of this revision come once more, and are left out. A watch from the next
	 * one could be the revision of a compaction: etcd 3.4 accepts it, but has dropped the deletions.
	 */
	dpumap_body_number(create, "start_revision", f->state.revision);
	dpumap_body_flag(create, "progress_notify");
	dpumap_body_flag(create, "fragment");
	json_object_object_add(body, "create_request", create);
	if (dpumap_etcd_begin_stream(f->config.etcd, "/v3/watch", body, heard, watch_ended, f,
				     &f->watch, &error) != DOCA_SUCCESS)
		fail(f, &error);
	else
		f->next = monotonic_ns() + POLL_EVERY;
}

/* --- polling: a read that needs a quorum confirms that the watch is worth something ----------- */

static void polled(void *context, const struct dpumap_etcd_reply *reply)
{
	struct dpumap_follow *f = context;

	f->poll = NULL;
	if (reply->error.code != DOCA_SUCCESS) {
		fail(f, &reply->error);
	} else if (reply->cluster_id != f->cluster) {
		sync_again(f, "etcd is another cluster");
	} else if (reply->revision < f->poll_revision) {
		f->state.revision = 0;
		dpumap_view_forget_revisions(f->config.view);
		sync_again(f, "etcd has an older state than before");
	} else if (f->watching && f->watch_endpoint == reply->endpoint) {
		confirm(f);
		if (monotonic_ns() >= f->reread)
			begin_sync(f);
	} else {
		/* Another endpoint answers: watch there, from where we are. */
		dpumap_etcd_cancel(f->watch);
		f->watch = NULL;
		f->watching = false;
		begin_watch(f);
	}
}

static void begin_poll(struct dpumap_follow *f)
{
	struct json_object *body = json_object_new_object();
	char key[DPUMAP_FLEET_KEY_SIZE];
	struct dpumap_error error;

	f->poll_revision = f->state.revision;
	dpumap_fleet_key_dpu(f->config.fleet, NULL, key);
	dpumap_body_text(body, "key", key);
	dpumap_body_flag(body, "count_only");
	f->next = monotonic_ns() + POLL_EVERY / 2 + dpumap_etcd_random(f->config.etcd, POLL_EVERY);
	if (dpumap_etcd_begin(f->config.etcd, "/v3/kv/range", body, polled, f, &f->poll, &error) !=
	    DOCA_SUCCESS)
		fail(f, &error);
}

/* --- reading everything ----------------------------------------------------------------------- */

static void end_sync(struct dpumap_follow *f)
{
	dpumap_view_sync_end(f->config.view);
	log_orphans(f);
	f->state.revision = f->at;
	if (f->was_read)
		f->config.happened(f->config.context, DPUMAP_FLEET_RESYNCED);
	f->was_read = true;
	f->needs_sync = false;
	f->reread = monotonic_ns() + REREAD_EVERY / 2 +
		    dpumap_etcd_random(f->config.etcd, REREAD_EVERY);
	f->state.confirmed_ns = monotonic_ns();
	begin_watch(f);
}

/* Without memory, the exports are one range. */
static void begin_splits(struct dpumap_follow *f)
{
	if (dpumap_view_sort_dpus(f->config.view, &f->dpus, &f->num_dpus) != DOCA_SUCCESS)
		forget_splits(f);
	f->split = 0;
	f->stride = FIRST_STRIDE;
	f->in_range = 0;
}

static void next_part(struct dpumap_follow *f)
{
	f->from_len = 0;
	forget_splits(f);
	if (++f->part == NUM_PARTS) {
		end_sync(f);
		return;
	}
	begin_splits(f);
	begin_page(f);
}

/* The first key behind all that begin with the first bytes of one that is too long to be a record's. */
static bool set_from_behind(struct dpumap_follow *f, const char *key)
{
	size_t len = KEY_MAX;

	memcpy(f->from, key, len);
	while (len && (unsigned char)f->from[len - 1] == UINT8_MAX)
		len--;
	if (!len)
		return false;
	f->from[len - 1] = (char)((unsigned char)f->from[len - 1] + 1);
	f->from_len = len;
	return true;
}

/* Does the list go on? An endless list is not one of etcd. */
static bool is_behind(const struct dpumap_follow *f, const char *key, size_t len)
{
	int order = memcmp(key, f->from, len < f->from_len ? len : f->from_len);

	return order > 0 || (order == 0 && len >= f->from_len);
}

/*
 * For each page, etcd looks at all keys of the range up to its end. So the exports are read in ranges of some
 * DPUs each, about a page: the time does not grow with the square of their number. The ranges have no gaps: the
 * DPUs only say where one ends and the next one begins. Returns the index of the DPU whose exports begin the
 * next range; num_dpus: none does.
 */
static size_t find_split(const struct dpumap_follow *f, char key[DPUMAP_FLEET_KEY_SIZE])
{
	for (size_t at = f->split + f->stride; at < f->num_dpus; at++) {
		dpumap_fleet_key_export(f->config.fleet, f->dpus[at]->name, "", key);
		/* The order of keys is not quite that of names. */
		if (!f->from_len || is_behind(f, key, strlen(key)))
			return at;
	}
	return f->num_dpus;
}

/* False: this range was the last one. */
static bool next_range(struct dpumap_follow *f)
{
	char key[DPUMAP_FLEET_KEY_SIZE];
	size_t at = find_split(f, key);

	if (at == f->num_dpus)
		return false;
	f->split = at;
	f->from_len = strlen(key);
	memcpy(f->from, key, f->from_len);
	if (f->in_range < PAGE_RECORDS / 2)
		f->stride *= 2;
	else if (f->in_range > (size_t)PAGE_RECORDS * 2 && f->stride > 1)
		f->stride /= 2;
	f->in_range = 0;
	return true;
}

/* The next page begins behind the last key. */
static bool set_from(struct dpumap_follow *f, struct json_object *kv)
{
	const char *key;
	size_t len;

	if (!dpumap_answer_bytes(kv, "key", &key, &len) || !len || !is_behind(f, key, len))
		return false;
	if (len > KEY_MAX)
		return set_from_behind(f, key);
	memcpy(f->from, key, len);
	f->from[len] = '\0';
	f->from_len = len + 1;
	return true;
}

/* A page that is too long is read in smaller ones; a record that is too long, by its key alone. */
static void smaller_pages(struct dpumap_follow *f)
{
	f->keys_only = f->limit == 1;
	f->limit = f->limit > 1 ? f->limit / 8 + 1 : 1;
}

static void larger_pages(struct dpumap_follow *f)
{
	f->keys_only = false;
	f->limit = f->limit * 2 < PAGE_RECORDS ? f->limit * 2 : PAGE_RECORDS;
}

static bool take_page(struct dpumap_follow *f, struct json_object *kvs, size_t num)
{
	struct json_object *kv;
	const char *key;
	size_t len;

	/* take_record() decodes the keys in place, so the last one first. */
	struct json_object *last = json_object_array_get_idx(kvs, num - 1);
	struct json_object *copy = NULL;
	bool good = json_object_is_type(last, json_type_object) &&
		    json_object_deep_copy(last, &copy, NULL) == 0 && set_from(f, copy);

	json_object_put(copy);
	for (size_t i = 0; good && i < num; i++) {
		kv = json_object_array_get_idx(kvs, i);
		if (!json_object_is_type(kv, json_type_object))
			continue;
		if (!f->keys_only)
			take_record(f, kv, false);
		else if (dpumap_answer_bytes(kv, "key", &key, &len))
			log_record(f, key, len, "it is too large");
	}
	return good;
}

static void paged(void *context, const struct dpumap_etcd_reply *reply)
{
	struct json_object *kvs = json_object_object_get(reply->json, "kvs");
	struct dpumap_follow *f = context;
	struct dpumap_error error;
	size_t num;

	f->page = NULL;
	if (reply->error.code == DOCA_ERROR_TOO_BIG && !f->keys_only) {
		smaller_pages(f);
		begin_page(f);
		return;
	}
	if (reply->error.code == DOCA_ERROR_AGAIN) {
		sync_again(f, "etcd has compacted the revision that was being read");
		return;
	}
	if (reply->error.code != DOCA_SUCCESS) {
		if (reply->error.code == DOCA_ERROR_TIME_OUT)
			smaller_pages(f); /* a member under load may answer these in time */
		fail(f, &reply->error);
		return;
	}
	if (f->cluster != reply->cluster_id && f->cluster) {
		dpumap_view_forget_revisions(f->config.view);
		f->cluster = 0;
		if (f->at) {
			sync_again(f, "etcd is another cluster");
			return;
		}
	}
	f->cluster = reply->cluster_id;
	if (!f->at)
		f->at = reply->revision;
	num = json_object_is_type(kvs, json_type_array) ? json_object_array_length(kvs) : 0;
	if (num && !take_page(f, kvs, num)) {
		dpumap_error_set(&error, DOCA_ERROR_UNEXPECTED,
				 "etcd's list of records is invalid");
		fail(f, &error);
		return;
	}
	larger_pages(f);
	f->in_range += num;
	if ((num && dpumap_answer_bool(reply->json, "more")) || next_range(f))
		begin_page(f);
	else
		next_part(f);
}

/* The keys of the part; end is "" for a single key. */
static void find_range(const struct dpumap_follow *f, char from[DPUMAP_FLEET_KEY_SIZE],
		       char end[DPUMAP_FLEET_KEY_SIZE])
{
	const char *dpu = f->config.dpu;

	if (f->part == PART_DPUS)
		dpumap_fleet_key_dpu(f->config.fleet, dpu, from);
	else
		dpumap_fleet_key_export(f->config.fleet, dpu, dpu ? "" : NULL, from);
	if (f->part == PART_DPUS && dpu)
		end[0] = '\0';
	else if (find_split(f, end) == f->num_dpus)
		dpumap_fleet_key_end(from, end);
}

static void begin_page(struct dpumap_follow *f)
{
	char from[DPUMAP_FLEET_KEY_SIZE], end[DPUMAP_FLEET_KEY_SIZE];
	struct json_object *body = json_object_new_object();
	struct dpumap_error error;

	find_range(f, from, end);
	if (f->from_len)
		dpumap_body_bytes(body, "key", f->from, f->from_len);
	else
		dpumap_body_text(body, "key", from);
	if (end[0])
		dpumap_body_text(body, "range_end", end);
	dpumap_body_number(body, "limit", f->limit);
	if (f->at)
		dpumap_body_number(body, "revision", f->at);
	if (f->keys_only)
		dpumap_body_flag(body, "keys_only");
	if (dpumap_etcd_begin(f->config.etcd, "/v3/kv/range", body, paged, f, &f->page, &error) !=
	    DOCA_SUCCESS)
		fail(f, &error);
}

/* --- progress --------------------------------------------------------------------------------- */

static bool is_due(const struct dpumap_follow *f)
{
	return monotonic_ns() >= f->next && !f->page && !f->poll;
}

void dpumap_follow_process(struct dpumap_follow *follow)
{
	struct dpumap_follow *f = follow;

	if (!is_due(f))
		return;
	if (f->watch) {
		begin_poll(f);
	} else if (f->needs_sync) {
		begin_sync(f);
	} else {
		begin_watch(f); /* after a failure, from where we are */
	}
}

void dpumap_follow_resume(struct dpumap_follow *follow, uint64_t cluster_id)
{
	follow->was_read = true;
	follow->cluster = cluster_id;
}

uint64_t dpumap_follow_next(const struct dpumap_follow *follow)
{
	return follow->page || follow->poll ? UINT64_MAX : follow->next;
}

const struct dpumap_follow_state *dpumap_follow_state(const struct dpumap_follow *follow)
{
	return &follow->state;
}

struct dpumap_follow *dpumap_follow_create(const struct dpumap_follow_config *config)
{
	struct dpumap_follow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->config = *config;
	f->needs_sync = true;
	f->limit = PAGE_RECORDS;
	return f;
}

void dpumap_follow_destroy(struct dpumap_follow *follow)
{
	if (!follow)
		return;
	stop(follow);
	free(follow);
}
