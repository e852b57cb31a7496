/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/publisher/wanted.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/etcd/answer.h"
#include "fleet/record/names.h"
#include "fleet/record/record.h"

/* Takes the text over. */
static doca_error_t keep(struct dpumap_records *records, const char *key, char *text,
			 struct dpumap_error *error)
{
	doca_error_t result = dpumap_records_set(records, key, text);

	free(text);
	if (result != DOCA_SUCCESS)
		dpumap_error_set(error, result, "no memory for a record");
	return result;
}

static doca_error_t add_dpu(const char *fleet, const struct dpumap_fleet_dpu *self,
			    struct dpumap_records *records, struct dpumap_error *error)
{
	char key[DPUMAP_FLEET_KEY_SIZE];
	doca_error_t result;
	char *text;

	result = dpumap_record_encode_dpu(self, &text, error);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_fleet_key_dpu(fleet, self->name, key);
	return keep(records, key, text, error);
}

static doca_error_t add_export(const char *fleet, const char *dpu,
			       const struct dpumap_fleet_export *e, struct dpumap_records *records,
			       struct dpumap_error *error)
{
	char key[DPUMAP_FLEET_KEY_SIZE];
	doca_error_t result;
	char *text;

	result = dpumap_record_encode_export(e, &text, error);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_fleet_key_export(fleet, dpu, e->name, key);
	return keep(records, key, text, error);
}

doca_error_t dpumap_wanted_make(const char *fleet, const struct dpumap_fleet_dpu *self,
				const struct dpumap_fleet_export *exports, size_t num_exports,
				struct dpumap_records *records, struct dpumap_error *error)
{
	struct dpumap_records made = {0};
	doca_error_t result;

	result = add_dpu(fleet, self, &made, error);
	for (size_t i = 0; result == DOCA_SUCCESS && i < num_exports; i++)
		result = add_export(fleet, self->name, &exports[i], &made, error);
	if (result == DOCA_SUCCESS)
		*records = made;
	else
		dpumap_records_clear(&made);
	return result;
}

static doca_error_t correct_key(const struct dpumap_records *published, struct json_object *kv,
				int64_t lease, int64_t revision, struct dpumap_records *found)
{
	const struct dpumap_record_text *mine;
	char text[DPUMAP_FLEET_KEY_SIZE];
	const char *key;
	size_t len;
	bool is_ours;

	/* A longer key is none that a reader accepts. */
	if (!dpumap_answer_bytes(kv, "key", &key, &len) || len >= sizeof(text))
		return DOCA_SUCCESS;
	memcpy(text, key, len);
	text[len] = '\0';
	mine = dpumap_records_find(published, text);
	is_ours = mine && dpumap_answer_int64(kv, "lease") == lease &&
		  dpumap_answer_int64(kv, "mod_revision") <= revision;
	return dpumap_records_set(found, text, is_ours ? mine->text : "");
}

doca_error_t dpumap_wanted_correct(struct dpumap_records *published, const char *own,
				   struct json_object *keys, int64_t lease, int64_t revision)
{
	const struct dpumap_record_text *mine = dpumap_records_find(published, own);
	struct dpumap_records found = {0};
	doca_error_t result = DOCA_SUCCESS;
	size_t i, num = keys ? json_object_array_length(keys) : 0;

	if (mine)
		result = dpumap_records_set(&found, own, mine->text);
	for (i = 0; result == DOCA_SUCCESS && i < num; i++)
		result = correct_key(published, json_object_array_get_idx(keys, i), lease, revision,
				     &found);
	if (result != DOCA_SUCCESS) {
		dpumap_records_clear(&found);
		return result;
	}
	dpumap_records_clear(published);
	*published = found;
	return DOCA_SUCCESS;
}
