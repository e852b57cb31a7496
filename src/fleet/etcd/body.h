/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bodies of requests to etcd. Without memory a field is missing and etcd refuses the request.
 * Keys and values are texts here and base64 in the body.
 */
#ifndef DPUMAP_FLEET_BODY_H
#define DPUMAP_FLEET_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/* len is at most 4097. */
void dpumap_body_bytes(struct json_object *body, const char *field, const char *bytes, size_t len);
void dpumap_body_text(struct json_object *body, const char *field, const char *text);
void dpumap_body_number(struct json_object *body, const char *field, int64_t number);
void dpumap_body_flag(struct json_object *body, const char *field);

/* A transaction: if all comparisons hold, the operations of "success", else those of "failure". */
struct dpumap_body_txn {
	struct json_object *body, *compare, *success, *failure;
};

/* false: no memory. The body is the caller's. */
bool dpumap_body_txn(struct dpumap_body_txn *txn);
/* For example "CREATE", "create_revision": equal to the value. */
void dpumap_body_compare(struct dpumap_body_txn *txn, const char *key, const char *target,
			 const char *field, int64_t value);
void dpumap_body_put(struct json_object *operations, const char *key, const char *text,
		     int64_t lease);
void dpumap_body_delete(struct json_object *operations, const char *key);
void dpumap_body_read(struct json_object *operations, const char *key);
/* The keys that begin with key, which ends in '/', without their values. */
void dpumap_body_read_keys(struct json_object *operations, const char *key, int64_t limit);

#endif
