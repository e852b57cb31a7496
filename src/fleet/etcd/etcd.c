/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/etcd/etcd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

#include "base/clock.h"
#include "fleet/etcd/answer.h"
#include "fleet/etcd/files.h"
#include "fleet/etcd/http.h"
#include "fleet/etcd/log.h"
#include "fleet/record/names.h"
#include "secret/secret.h"

#define PATH_SIZE     64
#define TOKEN_SIZE    2048
#define BACKOFF_FIRST (250 * NSEC_PER_MSEC)
#define BACKOFF_LAST  (10 * NSEC_PER_SEC)
#define PROBE_EVERY   (60 * NSEC_PER_SEC)
#define LOG_EVERY     (60 * NSEC_PER_SEC) /* about an endpoint that fails now and then */
#define ANY_ENDPOINT  SIZE_MAX
/* A stream then ends when its member has lost the leader. */
#define NEED_LEADER "Grpc-Metadata-hasleader: true"
#define LOGIN_PATH  "/v3/auth/authenticate"
#define PROBE_PATH  "/v3/maintenance/status"

struct endpoint {
	char url[DPUMAP_FLEET_URL_MAX];
	uint64_t cluster;   /* 0: not known */
	bool failed;	    /* was logged as such */
	uint64_t logged;    /* time of that line; 0: never */
	bool other_cluster; /* was logged as such */
	struct dpumap_etcd_call *probe;
	struct dpumap_etcd *etcd;
};

struct dpumap_etcd_call {
	TAILQ_ENTRY(dpumap_etcd_call) link;
	struct dpumap_etcd *etcd;
	struct dpumap_http_call *http; /* NULL: waits for the login, or for its end */
	char path[PATH_SIZE];
	char *body;
	unsigned int timeout_ms; /* of each endpoint; 0: the configured one */
	size_t wanted;		 /* the endpoint, or ANY_ENDPOINT */
	size_t endpoint;
	size_t tries;
	bool logged_in_again;
	bool failed; /* error is to be reported */
	dpumap_etcd_reply_fn *message, *done;
	void *context;
	struct dpumap_error error;
};

TAILQ_HEAD(calls, dpumap_etcd_call);

struct dpumap_etcd {
	struct dpumap_http *http;
	struct dpumap_http_tls tls;
	struct dpumap_fleet_file ca, cert, key;
	struct endpoint endpoints[DPUMAP_ETCD_ENDPOINTS_MAX];
	size_t num_endpoints, current;
	uint64_t cluster;
	char *user, *password_file;
	char *token;  /* secret, of TOKEN_SIZE bytes; empty: none */
	bool no_auth; /* etcd does not authenticate users */
	struct dpumap_http_call *login;
	size_t login_endpoint;
	size_t login_tries;
	unsigned int timeout_ms;
	struct calls calls;
	uint64_t next_probe;
	uint64_t random;
	struct dpumap_etcd_counts counts;
	struct dpumap_fleet_log log;
};

static void start(struct dpumap_etcd_call *call);

/* --- random numbers --------------------------------------------------------------------------- */

uint64_t dpumap_etcd_random(struct dpumap_etcd *etcd, uint64_t limit)
{
	etcd->random ^= etcd->random << 13;
	etcd->random ^= etcd->random >> 7;
	etcd->random ^= etcd->random << 17;
	return etcd->random % limit;
}

uint64_t dpumap_etcd_backoff(struct dpumap_etcd *etcd, unsigned int *step)
{
	uint64_t wait = BACKOFF_FIRST << (*step < 6 ? *step : 6);

	if (wait > BACKOFF_LAST)
		wait = BACKOFF_LAST;
	++*step;
	return wait / 2 + dpumap_etcd_random(etcd, wait / 2);
}

/* --- endpoints -------------------------------------------------------------------------------- */

static bool may_log(struct endpoint *e)
{
	uint64_t now = monotonic_ns();

	if (e->logged && now - e->logged < LOG_EVERY)
		return false;
	e->logged = now;
	return true;
}

static void endpoint_failed(struct dpumap_etcd *etcd, size_t index, const char *why)
{
	struct endpoint *e = &etcd->endpoints[index];

	etcd->counts.failures++;
	if (!e->failed && !e->other_cluster && may_log(e)) {
		dpumap_fleet_log_line(&etcd->log, "etcd at %s fails: %.300s", e->url, why);
		e->failed = true;
	}
	if (index != etcd->current || etcd->num_endpoints == 1)
		return;
	etcd->current = (index + 1) % etcd->num_endpoints;
	etcd->counts.failovers++;
}

/* The reason alone does not say which endpoint it is about. */
static void name_endpoint(const struct dpumap_etcd *etcd, size_t index, struct dpumap_error *error)
{
	struct dpumap_error why = *error;

	dpumap_error_set(error, why.code, "etcd at %.100s: %.200s", etcd->endpoints[index].url,
			 why.text);
}

static void endpoint_works(struct endpoint *e)
{
	if (e->failed)
		dpumap_fleet_log_line(&e->etcd->log, "etcd at %s answers again", e->url);
	e->failed = false;
}

static bool cluster_in_use(const struct dpumap_etcd *etcd)
{
	for (size_t i = 0; i < etcd->num_endpoints; i++)
		if (etcd->endpoints[i].cluster == etcd->cluster)
			return true;
	return false;
}

/* Is it the cluster of the other endpoints? A cluster that was set up anew has a new id everywhere. */
static bool check_cluster(struct dpumap_etcd *etcd, size_t index, uint64_t cluster)
{
	struct endpoint *e = &etcd->endpoints[index];

	if (!cluster)
		return true;
	e->cluster = cluster;
	if (!etcd->cluster || !cluster_in_use(etcd)) {
		if (etcd->cluster)
			dpumap_fleet_log_line(&etcd->log,
					      "etcd is another cluster than before: %016" PRIx64,
					      cluster);
		etcd->cluster = cluster;
	}
	if (cluster == etcd->cluster) {
		e->other_cluster = false;
		return true;
	}
	if (!e->other_cluster)
		dpumap_fleet_log_line(
			&etcd->log,
			"etcd at %s belongs to cluster %016" PRIx64 ", the other endpoints to "
			"%016" PRIx64 ": it is not used; remove it from the configuration",
			e->url, cluster, etcd->cluster);
	e->other_cluster = true;
	return false;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void free_call(struct dpumap_etcd_call *call)
{
	TAILQ_REMOVE(&call->etcd->calls, call, link);
	dpumap_http_cancel(call->http);
	free(call->body);
	free(call);
}

void dpumap_etcd_cancel(struct dpumap_etcd_call *call)
{
	if (call)
		free_call(call);
}

/* Reports the end of the call and frees it. */
static void end_call(struct dpumap_etcd_call *call, const struct dpumap_etcd_reply *reply)
{
	dpumap_etcd_reply_fn *done = call->done;
	void *context = call->context;

	free_call(call);
	done(context, reply);
}

static void fail_call(struct dpumap_etcd_call *call, const struct dpumap_error *error)
{
	struct dpumap_etcd_reply reply = {.error = *error, .endpoint = call->endpoint};

	end_call(call, &reply);
}

/* The failure is reported by dpumap_etcd_process(): the caller does not expect it now. */
static void fail_later(struct dpumap_etcd_call *call, const struct dpumap_error *error)
{
	call->failed = true;
	call->error = *error;
}

/* --- login ------------------------------------------------------------------------------------ */

static void login_done(void *context, const struct dpumap_http_answer *answer);

static doca_error_t send_login(struct dpumap_etcd *etcd, const char *body,
			       struct dpumap_error *error)
{
	char url[DPUMAP_FLEET_URL_MAX + PATH_SIZE];
	struct dpumap_http_request request = {.url = url,
					      .body = body,
					      .timeout_ms = etcd->timeout_ms,
					      .is_secret = true,
					      .done = login_done,
					      .context = etcd};

	etcd->login_endpoint = etcd->current;
	snprintf(url, sizeof(url), "%s" LOGIN_PATH, etcd->endpoints[etcd->login_endpoint].url);
	etcd->counts.requests++;
	return dpumap_http_begin(etcd->http, &request, &etcd->login, error);
}

static doca_error_t begin_login(struct dpumap_etcd *etcd, struct dpumap_error *error)
{
	doca_error_t result;
	char *body;

	result = dpumap_login_body(etcd->user, etcd->password_file, &body, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = send_login(etcd, body, error);
	dpumap_secret_free(body, DPUMAP_LOGIN_SIZE);
	return result;
}

static bool waits_for_login(const struct dpumap_etcd_call *call)
{
	return !call->http && !call->failed;
}

/* Callbacks may cancel any call: start from the beginning after each. */
static struct dpumap_etcd_call *next_waiting(struct dpumap_etcd *etcd)
{
	struct dpumap_etcd_call *call;

	TAILQ_FOREACH(call, &etcd->calls, link)
	if (waits_for_login(call))
		return call;
	return NULL;
}

static void login_failed(struct dpumap_etcd *etcd, const struct dpumap_error *error)
{
	struct dpumap_etcd_call *call;

	TAILQ_FOREACH(call, &etcd->calls, link)
	if (waits_for_login(call))
		fail_later(call, error);
}

static void logged_in(struct dpumap_etcd *etcd)
{
	struct dpumap_etcd_call *call;

	while ((call = next_waiting(etcd)) != NULL)
		start(call);
}

static void take_token(struct dpumap_etcd *etcd, const struct dpumap_answer *answer)
{
	struct json_object *token = json_object_object_get(answer->json, "token");
	struct dpumap_error error;

	if (!json_object_is_type(token, json_type_string) ||
	    (size_t)json_object_get_string_len(token) >= TOKEN_SIZE ||
	    !json_object_get_string_len(token)) {
		dpumap_error_set(&error, DOCA_ERROR_UNEXPECTED, "etcd's login has no token");
		login_failed(etcd, &error);
		return;
	}
	dpumap_fleet_copy(etcd->token, TOKEN_SIZE, json_object_get_string(token));
	logged_in(etcd);
}

static void login_done(void *context, const struct dpumap_http_answer *answer)
{
	struct dpumap_etcd *etcd = context;
	struct dpumap_answer parsed;
	struct dpumap_error error;
	size_t asked = etcd->login_endpoint; /* another one may be in use now */

	etcd->login = NULL;
	dpumap_answer_parse(answer, &parsed);
	if (parsed.kind == DPUMAP_ANSWER_OK) {
		endpoint_works(&etcd->endpoints[asked]);
		take_token(etcd, &parsed);
	} else if (parsed.kind == DPUMAP_ANSWER_NO_AUTH) {
		dpumap_fleet_log_line(&etcd->log,
				      "etcd does not authenticate users: run etcdctl auth enable");
		etcd->no_auth = true;
		logged_in(etcd);
	} else if (parsed.kind == DPUMAP_ANSWER_UNAVAILABLE &&
		   ++etcd->login_tries < etcd->num_endpoints) {
		endpoint_failed(etcd, asked, parsed.error.text);
		if (begin_login(etcd, &error) != DOCA_SUCCESS)
			login_failed(etcd, &error);
	} else {
		if (parsed.kind == DPUMAP_ANSWER_UNAVAILABLE)
			endpoint_failed(etcd, asked, parsed.error.text);
		else
			etcd->counts.failures++;
		name_endpoint(etcd, asked, &parsed.error);
		login_failed(etcd, &parsed.error);
	}
	dpumap_answer_free(&parsed);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool needs_login(const struct dpumap_etcd *etcd)
{
	return etcd->user && !etcd->token[0] && !etcd->no_auth;
}

static void fill_reply(struct dpumap_etcd_call *call, const struct dpumap_answer *answer,
		       struct dpumap_etcd_reply *reply)
{
	*reply = (struct dpumap_etcd_reply){.error = answer->error,
					    .json = answer->json,
					    .cluster_id = answer->cluster_id,
					    .revision = answer->revision,
					    .endpoint = call->endpoint};
	if (answer->kind != DPUMAP_ANSWER_OK && call->wanted == ANY_ENDPOINT)
		name_endpoint(call->etcd, call->endpoint, &reply->error);
}

/* Sends the call again: to another endpoint, or with a new token. */
static void again(struct dpumap_etcd_call *call)
{
	call->http = NULL;
	start(call);
}

static bool try_another(struct dpumap_etcd_call *call, const char *why)
{
	struct dpumap_etcd *etcd = call->etcd;

	endpoint_failed(etcd, call->endpoint, why);
	if (call->wanted != ANY_ENDPOINT || call->message || ++call->tries >= etcd->num_endpoints)
		return false;
	again(call);
	return true;
}

static bool login_again(struct dpumap_etcd_call *call)
{
	struct dpumap_etcd *etcd = call->etcd;

	if (!etcd->user || call->logged_in_again)
		return false;
	call->logged_in_again = true;
	etcd->token[0] = '\0';
	etcd->no_auth = false;
	again(call);
	return true;
}

static void check_answer(struct dpumap_etcd_call *call, struct dpumap_answer *answer)
{
	if (answer->kind == DPUMAP_ANSWER_OK &&
	    !check_cluster(call->etcd, call->endpoint, answer->cluster_id)) {
		answer->kind = DPUMAP_ANSWER_UNAVAILABLE;
		dpumap_error_set(&answer->error, DOCA_ERROR_NOT_CONNECTED,
				 "it belongs to another cluster than the other endpoints");
	}
}

static void call_done(void *context, const struct dpumap_http_answer *http)
{
	struct dpumap_etcd_call *call = context;
	struct dpumap_etcd *etcd = call->etcd;
	struct dpumap_etcd_reply reply;
	struct dpumap_answer answer;

	call->http = NULL;
	dpumap_answer_parse(http, &answer);
	check_answer(call, &answer);
	if ((answer.kind == DPUMAP_ANSWER_UNAVAILABLE && try_another(call, answer.error.text)) ||
	    (answer.kind == DPUMAP_ANSWER_LOGIN && login_again(call))) {
		dpumap_answer_free(&answer);
		return;
	}
	if (answer.kind == DPUMAP_ANSWER_OK)
		endpoint_works(&etcd->endpoints[call->endpoint]);
	else if (answer.kind != DPUMAP_ANSWER_UNAVAILABLE)
		etcd->counts.failures++;
	fill_reply(call, &answer, &reply);
	if (answer.kind != DPUMAP_ANSWER_OK)
		reply.json = NULL;
	end_call(call, &reply);
	dpumap_answer_free(&answer);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* After an error of etcd in a stream. */
static void end_stream(struct dpumap_etcd_call *call, struct dpumap_answer *answer)
{
	struct dpumap_etcd_reply reply;

	if (answer->kind == DPUMAP_ANSWER_LOGIN && login_again(call))
		return;
	if (answer->kind == DPUMAP_ANSWER_UNAVAILABLE)
		endpoint_failed(call->etcd, call->endpoint, answer->error.text);
	fill_reply(call, answer, &reply);
	reply.json = NULL;
	end_call(call, &reply);
}

static void stream_line(void *context, const char *line, size_t len)
{
	struct dpumap_etcd_call *call = context;
	struct dpumap_etcd_reply reply;
	struct dpumap_answer answer;

	if (!len)
		return;
	dpumap_answer_parse_line(line, len, &answer);
	check_answer(call, &answer);
	if (answer.kind == DPUMAP_ANSWER_OK) {
		fill_reply(call, &answer, &reply);
		call->message(call->context, &reply);
	} else {
		dpumap_http_cancel(call->http);
		call->http = NULL;
		end_stream(call, &answer);
	}
	dpumap_answer_free(&answer);
}

static void stream_done(void *context, const struct dpumap_http_answer *http)
{
	struct dpumap_etcd_call *call = context;
	struct dpumap_answer answer;

	call->http = NULL;
	if (http->error.code == DOCA_SUCCESS && http->status == 200) {
		answer = (struct dpumap_answer){.kind = DPUMAP_ANSWER_UNAVAILABLE};
		dpumap_error_set(&answer.error, DOCA_ERROR_NOT_CONNECTED, "it ended the watch");
	} else {
		dpumap_answer_parse(http, &answer);
	}
	end_stream(call, &answer);
	dpumap_answer_free(&answer);
}

/* --- the beginning of a call ------------------------------------------------------------------ */

static doca_error_t send_call(struct dpumap_etcd_call *call, struct dpumap_error *error)
{
	struct dpumap_etcd *etcd = call->etcd;
	char url[DPUMAP_FLEET_URL_MAX + PATH_SIZE];
	struct dpumap_http_request request = {
		.url = url,
		.body = call->body,
		.authorization = etcd->user && etcd->token[0] ? etcd->token : NULL,
		.timeout_ms = call->timeout_ms,
		.header = call->message ? NEED_LEADER : NULL,
		.done = call->message ? stream_done : call_done,
		.line = call->message ? stream_line : NULL,
		.context = call};

	call->endpoint = call->wanted == ANY_ENDPOINT ? etcd->current : call->wanted;
	snprintf(url, sizeof(url), "%s%s", etcd->endpoints[call->endpoint].url, call->path);
	etcd->counts.requests++;
	return dpumap_http_begin(etcd->http, &request, &call->http, error);
}

static void start(struct dpumap_etcd_call *call)
{
	struct dpumap_etcd *etcd = call->etcd;
	struct dpumap_error error;

	if (needs_login(etcd) && call->wanted == ANY_ENDPOINT) {
		if (etcd->login)
			return;
		etcd->login_tries = 0;
		if (begin_login(etcd, &error) != DOCA_SUCCESS)
			fail_later(call, &error);
		return;
	}
	if (send_call(call, &error) != DOCA_SUCCESS)
		fail_later(call, &error);
}

static doca_error_t begin(struct dpumap_etcd *etcd, const struct dpumap_etcd_call *wanted,
			  struct json_object *body, struct dpumap_etcd_call **call,
			  struct dpumap_error *error)
{
	struct dpumap_etcd_call *c = malloc(sizeof(*c));
	const char *text = json_object_to_json_string_ext(
		body, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (c) {
		*c = *wanted;
		c->etcd = etcd;
		if (!c->timeout_ms)
			c->timeout_ms = etcd->timeout_ms;
		c->body = text ? strdup(text) : NULL;
	}
	json_object_put(body);
	if (!c || !c->body) {
		free(c);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for a request to etcd");
	}
	TAILQ_INSERT_TAIL(&etcd->calls, c, link);
	*call = c;
	start(c);
	return DOCA_SUCCESS;
}

static struct dpumap_etcd_call make_call(const char *path, size_t endpoint,
					 dpumap_etcd_reply_fn *message, dpumap_etcd_reply_fn *done,
					 void *context)
{
	struct dpumap_etcd_call call = {
		.wanted = endpoint, .message = message, .done = done, .context = context};

	snprintf(call.path, sizeof(call.path), "%s", path);
	return call;
}

doca_error_t dpumap_etcd_begin(struct dpumap_etcd *etcd, const char *path, struct json_object *body,
			       dpumap_etcd_reply_fn *done, void *context,
			       struct dpumap_etcd_call **call, struct dpumap_error *error)
{
	struct dpumap_etcd_call wanted = make_call(path, ANY_ENDPOINT, NULL, done, context);

	return begin(etcd, &wanted, body, call, error);
}

doca_error_t dpumap_etcd_begin_within(struct dpumap_etcd *etcd, unsigned int timeout_ms,
				      const char *path, struct json_object *body,
				      dpumap_etcd_reply_fn *done, void *context,
				      struct dpumap_etcd_call **call, struct dpumap_error *error)
{
	struct dpumap_etcd_call wanted = make_call(path, ANY_ENDPOINT, NULL, done, context);

	wanted.timeout_ms = timeout_ms;
	return begin(etcd, &wanted, body, call, error);
}

doca_error_t dpumap_etcd_begin_at(struct dpumap_etcd *etcd, size_t endpoint, const char *path,
				  struct json_object *body, dpumap_etcd_reply_fn *done,
				  void *context, struct dpumap_etcd_call **call,
				  struct dpumap_error *error)
{
	struct dpumap_etcd_call wanted = make_call(path, endpoint, NULL, done, context);

	return begin(etcd, &wanted, body, call, error);
}

doca_error_t dpumap_etcd_begin_stream(struct dpumap_etcd *etcd, const char *path,
				      struct json_object *body, dpumap_etcd_reply_fn *message,
				      dpumap_etcd_reply_fn *done, void *context,
				      struct dpumap_etcd_call **call, struct dpumap_error *error)
{
	struct dpumap_etcd_call wanted = make_call(path, ANY_ENDPOINT, message, done, context);

	return begin(etcd, &wanted, body, call, error);
}

/* --- progress --------------------------------------------------------------------------------- */

static void probe_done(void *context, const struct dpumap_etcd_reply *reply)
{
	(void)reply; /* the endpoint and its cluster were looked at when the answer came */
	((struct endpoint *)context)->probe = NULL;
}

/* Finds endpoints of another cluster before they are needed. */
static void probe(struct dpumap_etcd *etcd)
{
	struct dpumap_error error;

	etcd->next_probe = monotonic_ns() + PROBE_EVERY / 2 + dpumap_etcd_random(etcd, PROBE_EVERY);
	for (size_t i = 0; i < etcd->num_endpoints; i++)
		if (!etcd->endpoints[i].probe)
			dpumap_etcd_begin_at(etcd, i, PROBE_PATH, json_object_new_object(),
					     probe_done, &etcd->endpoints[i],
					     &etcd->endpoints[i].probe, &error);
}

static struct dpumap_etcd_call *next_failed(const struct dpumap_etcd *etcd)
{
	struct dpumap_etcd_call *call;

	TAILQ_FOREACH(call, &etcd->calls, link)
	if (call->failed)
		return call;
	return NULL;
}

void dpumap_etcd_process(struct dpumap_etcd *etcd)
{
	struct dpumap_etcd_call *call;
	size_t left = 0;

	if (etcd->num_endpoints > 1 && monotonic_ns() >= etcd->next_probe)
		probe(etcd);
	dpumap_http_process(etcd->http);
	/* A call that fails at once may lead to another one like it, for the next time. */
	TAILQ_FOREACH(call, &etcd->calls, link)
	left += call->failed;
	while (left-- && (call = next_failed(etcd)) != NULL)
		fail_call(call, &call->error);
}

int dpumap_etcd_fd(const struct dpumap_etcd *etcd)
{
	return dpumap_http_fd(etcd->http);
}

uint64_t dpumap_etcd_next(const struct dpumap_etcd *etcd)
{
	uint64_t next = dpumap_http_next(etcd->http);

	if (next_failed(etcd))
		return 0;
	return etcd->num_endpoints > 1 && etcd->next_probe < next ? etcd->next_probe : next;
}

size_t dpumap_etcd_num_endpoints(const struct dpumap_etcd *etcd)
{
	return etcd->num_endpoints;
}

const char *dpumap_etcd_url(const struct dpumap_etcd *etcd, size_t endpoint)
{
	return etcd->endpoints[endpoint].url;
}

size_t dpumap_etcd_current(const struct dpumap_etcd *etcd)
{
	return etcd->current;
}

uint64_t dpumap_etcd_cluster(const struct dpumap_etcd *etcd)
{
	return etcd->cluster;
}

struct dpumap_etcd_counts dpumap_etcd_counts(const struct dpumap_etcd *etcd)
{
	return etcd->counts;
}

/* --- life ------------------------------------------------------------------------------------- */

static doca_error_t add_endpoints(struct dpumap_etcd *etcd, const struct dpumap_etcd_config *config,
				  struct dpumap_error *error)
{
	doca_error_t result;

	if (!config->num_endpoints || config->num_endpoints > DPUMAP_ETCD_ENDPOINTS_MAX)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"name 1 to %d endpoints of etcd",
					DPUMAP_ETCD_ENDPOINTS_MAX);
	for (size_t i = 0; i < config->num_endpoints; i++) {
		result = dpumap_fleet_url_check(config->endpoints[i], error);
		if (result != DOCA_SUCCESS)
			return result;
		snprintf(etcd->endpoints[i].url, sizeof(etcd->endpoints[i].url), "%s",
			 config->endpoints[i]);
		etcd->endpoints[i].etcd = etcd;
	}
	etcd->num_endpoints = config->num_endpoints;
	etcd->current = (size_t)dpumap_etcd_random(etcd, etcd->num_endpoints);
	return DOCA_SUCCESS;
}

static doca_error_t read_files(struct dpumap_etcd *etcd, const struct dpumap_etcd_config *config,
			       struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	if (config->ca)
		result = dpumap_fleet_file_pem(config->ca, false, &etcd->ca, error);
	if (result == DOCA_SUCCESS && config->cert)
		result = dpumap_fleet_file_pem(config->cert, false, &etcd->cert, error);
	if (result == DOCA_SUCCESS && config->key)
		result = dpumap_fleet_file_pem(config->key, true, &etcd->key, error);
	etcd->tls = (struct dpumap_http_tls){.ca = etcd->ca.bytes,
					     .ca_len = etcd->ca.len,
					     .cert = etcd->cert.bytes,
					     .cert_len = etcd->cert.len,
					     .key = etcd->key.bytes,
					     .key_len = etcd->key.len};
	return result;
}

/* The password is read again at each login; a file that is wrong now is a mistake to report now. */
static doca_error_t set_user(struct dpumap_etcd *etcd, const struct dpumap_etcd_config *config,
			     struct dpumap_error *error)
{
	struct dpumap_fleet_file password = {0};
	doca_error_t result;

	if (!config->user)
		return DOCA_SUCCESS;
	result = dpumap_fleet_file_password(config->password_file, &password, error);
	dpumap_fleet_file_wipe(&password);
	if (result != DOCA_SUCCESS)
		return result;
	etcd->user = strdup(config->user);
	etcd->password_file = strdup(config->password_file);
	etcd->token = dpumap_secret_alloc(TOKEN_SIZE);
	if (!etcd->user || !etcd->password_file || !etcd->token)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a fleet");
	return DOCA_SUCCESS;
}

static void seed(struct dpumap_etcd *etcd)
{
	if (getrandom(&etcd->random, sizeof(etcd->random), GRND_NONBLOCK) !=
		    (ssize_t)sizeof(etcd->random) ||
	    !etcd->random)
		etcd->random = monotonic_ns() | 1;
}

doca_error_t dpumap_etcd_create(const struct dpumap_etcd_config *config, struct dpumap_etcd **etcd,
				struct dpumap_error *error)
{
	struct dpumap_etcd *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a fleet");
	TAILQ_INIT(&e->calls);
	seed(e);
	e->timeout_ms = config->timeout_ms;
	e->log = (struct dpumap_fleet_log){.line = config->log, .context = config->context};
	result = add_endpoints(e, config, error);
	if (result == DOCA_SUCCESS)
		result = read_files(e, config, error);
	if (result == DOCA_SUCCESS)
		result = set_user(e, config, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_http_create(&e->tls, &e->http, error);
	if (result != DOCA_SUCCESS) {
		dpumap_etcd_destroy(e);
		return result;
	}
	*etcd = e;
	return DOCA_SUCCESS;
}

void dpumap_etcd_destroy(struct dpumap_etcd *etcd)
{
	if (!etcd)
		return;
	while (!TAILQ_EMPTY(&etcd->calls))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): free_call() takes it off the list */
		free_call(TAILQ_FIRST(&etcd->calls));
	dpumap_http_destroy(etcd->http);
	dpumap_fleet_file_wipe(&etcd->ca);
	dpumap_fleet_file_wipe(&etcd->cert);
	dpumap_fleet_file_wipe(&etcd->key);
	free(etcd->user);
	free(etcd->password_file);
	dpumap_secret_free(etcd->token, TOKEN_SIZE);
	free(etcd);
}
