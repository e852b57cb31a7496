/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Answers of etcd's JSON gateway, and what to do about its errors. */
#ifndef DPUMAP_FLEET_ANSWER_H
#define DPUMAP_FLEET_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "fleet/etcd/http.h"

enum dpumap_answer_kind {
	DPUMAP_ANSWER_OK,
	DPUMAP_ANSWER_UNAVAILABLE, /* another member may answer */
	DPUMAP_ANSWER_LOGIN,	   /* the token is no longer valid */
	DPUMAP_ANSWER_NO_AUTH,	   /* etcd does not authenticate users */
	DPUMAP_ANSWER_ERROR,	   /* any other error: its text says which */
};

struct dpumap_answer {
	enum dpumap_answer_kind kind;
	struct dpumap_error error; /* codes as in struct dpumap_etcd_reply */
	struct json_object *json;  /* the result; NULL unless OK */
	uint64_t cluster_id;	   /* of the header; 0: none */
	int64_t revision;	   /* of the header; 0: none */
	struct json_object *whole; /* what json is a part of */
};

void dpumap_answer_parse(const struct dpumap_http_answer *http, struct dpumap_answer *answer);
/* A line of a stream: {"result": ...} or {"error": ...}. */
void dpumap_answer_parse_line(const char *line, size_t len, struct dpumap_answer *answer);
void dpumap_answer_free(struct dpumap_answer *answer);

/* --- fields: etcd writes numbers of 64 bits as strings, and omits what is 0 ------------------- */

int64_t dpumap_answer_int64(struct json_object *json, const char *field);
uint64_t dpumap_answer_uint64(struct json_object *json, const char *field);
bool dpumap_answer_bool(struct json_object *json, const char *field);
/* "" if it is missing. */
const char *dpumap_answer_text(struct json_object *json, const char *field);
/*
 * Decodes a base64 field in place; the bytes belong to the object. "" with length 0 if it is missing;
 * false if it is not valid.
 */
bool dpumap_answer_bytes(struct json_object *json, const char *field, const char **bytes,
			 size_t *len);

#endif
