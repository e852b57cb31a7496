/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/etcd/body.h"

#include <string.h>

#include "fleet/etcd/base64.h"
#include "fleet/record/names.h"
#include "fleet/record/record.h"

void dpumap_body_bytes(struct json_object *body, const char *field, const char *bytes, size_t len)
{
	char text[DPUMAP_BASE64_SIZE(DPUMAP_RECORD_MAX + 1)];

	dpumap_base64_encode(bytes, len, text);
	json_object_object_add(body, field, json_object_new_string(text));
}

void dpumap_body_text(struct json_object *body, const char *field, const char *text)
{
	dpumap_body_bytes(body, field, text, strlen(text));
}

void dpumap_body_number(struct json_object *body, const char *field, int64_t number)
{
	json_object_object_add(body, field, json_object_new_int64(number));
}

void dpumap_body_flag(struct json_object *body, const char *field)
{
	json_object_object_add(body, field, json_object_new_boolean(true));
}

/* Takes the value over; NULL if it cannot be added. */
static struct json_object *add(struct json_object *parent, const char *field,
			       struct json_object *value)
{
	if (value && json_object_object_add(parent, field, value) == 0)
		return value;
	json_object_put(value);
	return NULL;
}

bool dpumap_body_txn(struct dpumap_body_txn *txn)
{
	txn->body = json_object_new_object();
	if (!txn->body)
		return false;
	txn->compare = add(txn->body, "compare", json_object_new_array());
	txn->success = add(txn->body, "success", json_object_new_array());
	txn->failure = add(txn->body, "failure", json_object_new_array());
	if (txn->compare && txn->success && txn->failure)
		return true;
	json_object_put(txn->body);
	return false;
}

static struct json_object *append(struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	if (object && json_object_array_add(array, object) == 0)
		return object;
	json_object_put(object);
	return NULL;
}

void dpumap_body_compare(struct dpumap_body_txn *txn, const char *key, const char *target,
			 const char *field, int64_t value)
{
	struct json_object *one = append(txn->compare);

	dpumap_body_text(one, "key", key);
	json_object_object_add(one, "target", json_object_new_string(target));
	json_object_object_add(one, "result", json_object_new_string("EQUAL"));
	dpumap_body_number(one, field, value);
}

static struct json_object *operation(struct json_object *operations, const char *kind,
				     const char *key)
{
	struct json_object *one = append(operations);
	struct json_object *request = add(one, kind, json_object_new_object());

	dpumap_body_text(request, "key", key);
	return request;
}

void dpumap_body_put(struct json_object *operations, const char *key, const char *text,
		     int64_t lease)
{
	struct json_object *request = operation(operations, "request_put", key);

	dpumap_body_text(request, "value", text);
	dpumap_body_number(request, "lease", lease);
}

void dpumap_body_delete(struct json_object *operations, const char *key)
{
	operation(operations, "request_delete_range", key);
}

void dpumap_body_read(struct json_object *operations, const char *key)
{
	operation(operations, "request_range", key);
}

void dpumap_body_read_keys(struct json_object *operations, const char *key, int64_t limit)
{
	struct json_object *request = operation(operations, "request_range", key);
	char end[DPUMAP_FLEET_KEY_SIZE];

	dpumap_fleet_key_end(key, end);
	dpumap_body_text(request, "range_end", end);
	dpumap_body_flag(request, "keys_only");
	dpumap_body_number(request, "limit", limit);
}
