/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/etcd/answer.h"

#include <string.h>

#include "fleet/etcd/base64.h"
#include "fleet/record/names.h"

#define DEPTH_MAX 16

/* Status codes of gRPC, which the gateway passes on. */
enum {
	GRPC_UNKNOWN = 2,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNAVAILABLE = 14,
	GRPC_UNAUTHENTICATED = 16,
};

/* --- fields ----------------------------------------------------------------------------------- */

int64_t dpumap_answer_int64(struct json_object *json, const char *field)
{
	return json_object_get_int64(json_object_object_get(json, field));
}

uint64_t dpumap_answer_uint64(struct json_object *json, const char *field)
{
	return json_object_get_uint64(json_object_object_get(json, field));
}

bool dpumap_answer_bool(struct json_object *json, const char *field)
{
	return json_object_get_boolean(json_object_object_get(json, field));
}

const char *dpumap_answer_text(struct json_object *json, const char *field)
{
	struct json_object *value = json_object_object_get(json, field);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

bool dpumap_answer_bytes(struct json_object *json, const char *field, const char **bytes,
			 size_t *len)
{
	struct json_object *value = json_object_object_get(json, field);
	const char *text;

	*bytes = "";
	*len = 0;
	if (!value)
		return true;
	if (!json_object_is_type(value, json_type_string))
		return false;
	text = json_object_get_string(value);
	*bytes = text;
	return dpumap_base64_decode(text, (size_t)json_object_get_string_len(value), (char *)text,
				    len);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void set_error(struct dpumap_answer *answer, enum dpumap_answer_kind kind, doca_error_t code,
		      const char *message, const char *next)
{
	char shown[DPUMAP_FLEET_SHOWN_SIZE];

	answer->kind = kind;
	dpumap_error_set(&answer->error, code, "%s%s",
			 dpumap_fleet_shown(message, strlen(message), shown), next);
}

static void set_argument_error(struct dpumap_answer *answer, const char *message)
{
	if (strstr(message, "authentication failed"))
		set_error(answer, DPUMAP_ANSWER_ERROR, DOCA_ERROR_AUTHENTICATION, message,
			  "; check the user and the password file");
	else if (strstr(message, "user name is empty"))
		set_error(answer, DPUMAP_ANSWER_LOGIN, DOCA_ERROR_AUTHENTICATION, message,
			  ": etcd authenticates users; set a user and a password file");
	else if (strstr(message, "auth store is old"))
		set_error(answer, DPUMAP_ANSWER_LOGIN, DOCA_ERROR_AUTHENTICATION, message, "");
	else
		set_error(answer, DPUMAP_ANSWER_ERROR, DOCA_ERROR_INVALID_VALUE, message, "");
}

static void set_grpc_error(struct dpumap_answer *answer, int code, const char *message)
{
	switch (code) {
	case GRPC_INVALID_ARGUMENT:
		set_argument_error(answer, message);
		break;
	case GRPC_NOT_FOUND:
		set_error(answer, DPUMAP_ANSWER_ERROR, DOCA_ERROR_NOT_FOUND, message, "");
		break;
	case GRPC_PERMISSION_DENIED:
		set_error(answer, DPUMAP_ANSWER_ERROR, DOCA_ERROR_NOT_PERMITTED, message,
			  "; grant the user's role access to the keys of the fleet");
		break;
	case GRPC_RESOURCE_EXHAUSTED:
		set_error(answer, DPUMAP_ANSWER_ERROR, DOCA_ERROR_FULL, message, "");
		break;
	case GRPC_FAILED_PRECONDITION:
		set_error(answer,
			  strstr(message, "not enabled") ? DPUMAP_ANSWER_NO_AUTH
							 : DPUMAP_ANSWER_ERROR,
			  DOCA_ERROR_BAD_STATE, message, "");
		break;
	case GRPC_OUT_OF_RANGE:
		set_error(answer, DPUMAP_ANSWER_ERROR, DOCA_ERROR_AGAIN, message, "");
		break;
	case GRPC_UNAUTHENTICATED:
		set_error(answer, DPUMAP_ANSWER_LOGIN, DOCA_ERROR_AUTHENTICATION, message, "");
		break;
	case GRPC_DEADLINE_EXCEEDED:
	case GRPC_UNAVAILABLE:
	case GRPC_UNKNOWN:
	default:
		set_error(answer, DPUMAP_ANSWER_UNAVAILABLE, DOCA_ERROR_TIME_OUT, message, "");
		break;
	}
}

static void set_json_error(struct dpumap_answer *answer, struct json_object *error)
{
	const char *message = dpumap_answer_text(error, "message");

	if (!*message)
		message = dpumap_answer_text(error, "error");
	/* A stream writes "grpc_code", an answer "code". */
	set_grpc_error(answer,
		       (int)(dpumap_answer_int64(error, "grpc_code")
				     ? dpumap_answer_int64(error, "grpc_code")
				     : dpumap_answer_int64(error, "code")),
		       *message ? message : "an error without a text");
}

/* --- parsing ---------------------------------------------------------------------------------- */

static void not_etcd(struct dpumap_answer *answer, long status)
{
	answer->kind = DPUMAP_ANSWER_UNAVAILABLE;
	if (status >= 500) /* of a proxy, or of a gateway that has lost its own server */
		dpumap_error_set(&answer->error, DOCA_ERROR_NOT_CONNECTED,
				 "it answers with HTTP status %ld: it is overloaded or starting",
				 status);
	else if (status)
		dpumap_error_set(&answer->error, DOCA_ERROR_UNEXPECTED,
				 "its answer is not one of etcd (HTTP status %ld): check the "
				 "address; etcd must have its gateway enabled",
				 status);
	else
		dpumap_error_set(&answer->error, DOCA_ERROR_UNEXPECTED,
				 "its answer is not one of etcd");
}

/* The gateway would lend such a client the rights of the name, so etcd refuses it. */
static bool is_common_name_refused(const struct dpumap_http_answer *http)
{
	return http->status == 400 && memmem(http->body, http->len, "CommonName", 10) != NULL;
}

static struct json_object *parse(const char *text, size_t len)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *json;

	if (!tokener)
		return NULL;
	json = json_tokener_parse_ex(tokener, text, (int)len);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    !json_object_is_type(json, json_type_object)) {
		json_object_put(json);
		json = NULL;
	}
	json_tokener_free(tokener);
	return json;
}

static void set_result(struct dpumap_answer *answer, struct json_object *json)
{
	struct json_object *header = json_object_object_get(json, "header");

	answer->kind = DPUMAP_ANSWER_OK;
	answer->json = json;
	if (!json_object_is_type(header, json_type_object))
		return;
	answer->cluster_id = dpumap_answer_uint64(header, "cluster_id");
	answer->revision = dpumap_answer_int64(header, "revision");
}

/* The error of an answer, in it or a part of it; NULL: none. */
static struct json_object *error_of(struct json_object *whole)
{
	struct json_object *part = json_object_object_get(whole, "error");

	if (json_object_object_get(whole, "code"))
		return whole;
	return json_object_is_type(part, json_type_object) ? part : NULL;
}

void dpumap_answer_parse(const struct dpumap_http_answer *http, struct dpumap_answer *answer)
{
	struct json_object *error;

	*answer = (struct dpumap_answer){0};
	if (http->error.code != DOCA_SUCCESS) {
		answer->error = http->error;
		answer->kind = http->error.code == DOCA_ERROR_TOO_BIG ||
					       http->error.code == DOCA_ERROR_NO_MEMORY
				       ? DPUMAP_ANSWER_ERROR
				       : DPUMAP_ANSWER_UNAVAILABLE;
		return;
	}
	if (is_common_name_refused(http)) {
		set_error(answer, DPUMAP_ANSWER_ERROR, DOCA_ERROR_AUTHENTICATION,
			  "with users, it answers no client whose certificate has a common name",
			  "; use a certificate without one, or none");
		return;
	}
	answer->whole = parse(http->body, http->len);
	error = error_of(answer->whole);
	if (answer->whole && http->status == 200)
		set_result(answer, answer->whole);
	else if (error)
		set_json_error(answer, error);
	else
		not_etcd(answer, http->status);
}

void dpumap_answer_parse_line(const char *line, size_t len, struct dpumap_answer *answer)
{
	struct json_object *part;

	*answer = (struct dpumap_answer){.whole = parse(line, len)};
	part = answer->whole ? json_object_object_get(answer->whole, "result") : NULL;
	if (json_object_is_type(part, json_type_object)) {
		set_result(answer, part);
		return;
	}
	part = answer->whole ? json_object_object_get(answer->whole, "error") : NULL;
	if (json_object_is_type(part, json_type_object))
		set_json_error(answer, part);
	else
		not_etcd(answer, 0);
}

void dpumap_answer_free(struct dpumap_answer *answer)
{
	json_object_put(answer->whole);
	answer->whole = answer->json = NULL;
}
