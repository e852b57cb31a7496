/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_types.h>
#include <json-c/json.h>

#include "base/array.h"
#include "fleet/record/names.h"

#define FORMAT	  1
#define DEPTH_MAX 8
#define TEXT_MAX  63 /* of the version */

const char *const dpumap_record_kinds[] = {"dm", "dram", "file", "dmabuf", NULL};
const char *const dpumap_record_vias[] = {"pci", "rdma", NULL};

static const struct {
	const char *name;
	uint32_t flag;
} accesses[] = {
	{"local-read-write", DOCA_ACCESS_FLAG_LOCAL_READ_WRITE},
	{"rdma-read", DOCA_ACCESS_FLAG_RDMA_READ},
	{"rdma-write", DOCA_ACCESS_FLAG_RDMA_WRITE},
	{"rdma-atomic", DOCA_ACCESS_FLAG_RDMA_ATOMIC},
	{"pci-read-only", DOCA_ACCESS_FLAG_PCI_READ_ONLY},
	{"pci-read-write", DOCA_ACCESS_FLAG_PCI_READ_WRITE},
	{"pci-relaxed-ordering", DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING},
};
#define NUM_ACCESSES ARRAY_SIZE(accesses)

static doca_error_t invalid(struct dpumap_error *error, const char *what)
{
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "%s", what);
}

/* The entry of the list that equals the text; NULL if none does. */
static const char *known(const char *const list[], const char *text)
{
	while (*list && (!text || strcmp(*list, text) != 0))
		list++;
	return *list;
}

static bool printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* --- encoding --------------------------------------------------------------------------------- */

static doca_error_t finish(struct json_object *json, char **text, struct dpumap_error *error)
{
	const char *made = json_object_to_json_string_ext(
		json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	char *copy = NULL;

	if (made && strlen(made) > DPUMAP_RECORD_MAX) {
		json_object_put(json);
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"the record has more than %d bytes: use fewer addresses or "
					"shorter labels",
					DPUMAP_RECORD_MAX);
	}
	if (made)
		copy = strdup(made);
	json_object_put(json);
	if (!copy)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	*text = copy;
	return DOCA_SUCCESS;
}

/* Takes the value over. A missing value or field only makes finish() fail later. */
static void add(struct json_object *json, const char *field, struct json_object *value)
{
	if (!value || json_object_object_add(json, field, value) != 0)
		json_object_put(value);
}

static doca_error_t check_dpu(const struct dpumap_fleet_dpu *dpu, struct dpumap_error *error)
{
	doca_error_t result = dpumap_fleet_name_check("DPU name", dpu->name, error);

	if (result != DOCA_SUCCESS)
		return result;
	if (!dpu->num_addresses || dpu->num_addresses > DPUMAP_RECORD_ADDRESSES_MAX)
		return invalid(error, "a DPU has 1 to 8 addresses");
	for (size_t i = 0; i < dpu->num_addresses; i++)
		if (!dpumap_fleet_address_valid(dpu->addresses[i]))
			return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
						"address \"%.80s\" is not valid in a fleet: write "
						"tls:HOST:PORT",
						dpu->addresses[i]);
	if (strcmp(dpu->certificate_name, dpu->name) != 0)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"the certificate is for \"%.63s\", and the DPU is called "
					"\"%s\": both must be equal, because hosts authenticate a "
					"DPU by its name",
					dpu->certificate_name, dpu->name);
	if (strlen(dpu->version) > TEXT_MAX || !printable(dpu->version, strlen(dpu->version)))
		return invalid(error, "the version is not valid");
	return dpu->generation > INT64_MAX ? invalid(error, "the generation is too large")
					   : DOCA_SUCCESS;
}

doca_error_t dpumap_record_encode_dpu(const struct dpumap_fleet_dpu *dpu, char **text,
				      struct dpumap_error *error)
{
	doca_error_t result = check_dpu(dpu, error);
	struct json_object *json, *addresses;
	char card[24];

	if (result != DOCA_SUCCESS)
		return result;
	json = json_object_new_object();
	addresses = json_object_new_array();
	for (size_t i = 0; i < dpu->num_addresses; i++)
		json_object_array_add(addresses, json_object_new_string(dpu->addresses[i]));
	add(json, "format", json_object_new_int(FORMAT));
	add(json, "addresses", addresses);
	add(json, "certificate", json_object_new_string(dpu->certificate_name));
	if (dpu->card_guid) {
		snprintf(card, sizeof(card), "0x%016" PRIx64, dpu->card_guid);
		add(json, "card", json_object_new_string(card));
	}
	add(json, "software", json_object_new_string(dpu->version));
	add(json, "generation", json_object_new_int64((int64_t)dpu->generation));
	return finish(json, text, error);
}

static doca_error_t check_export(const struct dpumap_fleet_export *e, struct dpumap_error *error)
{
	doca_error_t result = dpumap_fleet_name_check("export name", e->name, error);

	for (size_t i = 0; result == DOCA_SUCCESS && i < e->num_labels; i++)
		result = dpumap_fleet_label_check(e->labels[i], error);
	if (result != DOCA_SUCCESS)
		return result;
	if (e->num_labels > DPUMAP_RECORD_LABELS_MAX)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"export \"%s\" has more than %d labels", e->name,
					DPUMAP_RECORD_LABELS_MAX);
	if (!known(dpumap_record_kinds, e->kind) || !known(dpumap_record_vias, e->via) ||
	    e->size > INT64_MAX || e->generation > INT64_MAX)
		return dpumap_error_set(
			error, DOCA_ERROR_INVALID_VALUE,
			"kind, via, size or generation of export \"%s\" is not valid", e->name);
	return DOCA_SUCCESS;
}

static struct json_object *encode_labels(const struct dpumap_fleet_export *e)
{
	struct json_object *labels = json_object_new_object();
	char key[DPUMAP_FLEET_NAME_SIZE];
	const char *sign;

	for (size_t i = 0; i < e->num_labels; i++) {
		sign = strchr(e->labels[i], '=');
		snprintf(key, sizeof(key), "%.*s", (int)(sign - e->labels[i]), e->labels[i]);
		add(labels, key, json_object_new_string(sign + 1));
	}
	return labels;
}

doca_error_t dpumap_record_encode_export(const struct dpumap_fleet_export *export_info, char **text,
					 struct dpumap_error *error)
{
	const struct dpumap_fleet_export *e = export_info;
	doca_error_t result = check_export(e, error);
	struct json_object *json, *access;

	if (result != DOCA_SUCCESS)
		return result;
	json = json_object_new_object();
	access = json_object_new_array();
	for (size_t i = 0; i < NUM_ACCESSES; i++)
		if (e->access & accesses[i].flag)
			json_object_array_add(access, json_object_new_string(accesses[i].name));
	add(json, "format", json_object_new_int(FORMAT));
	add(json, "kind", json_object_new_string(e->kind));
	add(json, "size", json_object_new_int64((int64_t)e->size));
	add(json, "access", access);
	add(json, "via", json_object_new_string(e->via));
	add(json, "generation", json_object_new_int64((int64_t)e->generation));
	if (e->num_labels)
		add(json, "labels", encode_labels(e));
	return finish(json, text, error);
}

/* --- decoding --------------------------------------------------------------------------------- */

static struct json_object *parse(const void *bytes, size_t len, struct dpumap_error *error)
{
	struct json_object *json = NULL;
	struct json_tokener *tokener;

	if (len > DPUMAP_RECORD_MAX) {
		dpumap_error_set(error, DOCA_ERROR_TOO_BIG, "it has %zu bytes, more than %d", len,
				 DPUMAP_RECORD_MAX);
		return NULL;
	}
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (!tokener) {
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
		return NULL;
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	json = json_tokener_parse_ex(tokener, bytes, (int)len);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    json_tokener_get_parse_end(tokener) != len ||
	    !json_object_is_type(json, json_type_object)) {
		json_object_put(json);
		json = NULL;
		invalid(error, "it is not a JSON object");
	}
	json_tokener_free(tokener);
	return json;
}

/* NULL: the field is missing or not a string. */
static const char *text_of(struct json_object *json, const char *field)
{
	struct json_object *value = json_object_object_get(json, field);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* A string without NUL bytes or other control characters, of at most max bytes. */
static bool clean(struct json_object *value, size_t max)
{
	size_t len;

	if (!json_object_is_type(value, json_type_string))
		return false;
	len = (size_t)json_object_get_string_len(value);
	return len <= max && printable(json_object_get_string(value), len);
}

static bool number_of(struct json_object *json, const char *field, uint64_t *number)
{
	struct json_object *value = json_object_object_get(json, field);

	/* json-c cuts what is larger. */
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 ||
	    json_object_get_uint64(value) > INT64_MAX)
		return false;
	*number = json_object_get_uint64(value);
	return true;
}

/* 0: malformed; 1: ours; -1: newer. */
static int format_of(struct json_object *json)
{
	uint64_t format;

	if (!number_of(json, "format", &format) || !format)
		return 0;
	return format == FORMAT ? 1 : -1;
}

/* A block: a structure, an array of strings, and the bytes of all strings. */
struct block {
	char *next;
};

static const char *keep(struct block *block, const char *text)
{
	char *kept = block->next;
	size_t size = strlen(text) + 1;

	memcpy(kept, text, size);
	block->next += size;
	return kept;
}

static struct dpumap_fleet_dpu *new_dpu(const char *name, size_t addresses, size_t bytes,
					struct block *block)
{
	size_t array = sizeof(struct dpumap_fleet_dpu) + addresses * sizeof(char *);
	struct dpumap_fleet_dpu *dpu = calloc(1, array + strlen(name) + 1 + bytes + 1);

	if (!dpu)
		return NULL;
	block->next = (char *)dpu + array;
	dpu->name = keep(block, name);
	dpu->certificate_name = dpu->version = keep(block, "");
	dpu->addresses = (const char *const *)(dpu + 1);
	return dpu;
}

static doca_error_t check_dpu_json(const char *name, struct json_object *json,
				   struct dpumap_error *error)
{
	struct json_object *addresses = json_object_object_get(json, "addresses");
	const char *certificate = text_of(json, "certificate");
	struct json_object *address;
	size_t num;

	if (!json_object_is_type(addresses, json_type_array))
		return invalid(error, "it has no addresses");
	num = json_object_array_length(addresses);
	if (!num || num > DPUMAP_RECORD_ADDRESSES_MAX)
		return invalid(error, "it does not have 1 to 8 addresses");
	for (size_t i = 0; i < num; i++) {
		address = json_object_array_get_idx(addresses, i);
		if (!clean(address, DPUMAP_FLEET_URL_MAX) ||
		    !dpumap_fleet_address_valid(json_object_get_string(address)))
			return invalid(error, "an address is not tls:HOST:PORT");
	}
	if (!certificate || strcmp(certificate, name) != 0)
		return invalid(error, "the name of the certificate is not that of the DPU");
	if (!clean(json_object_object_get(json, "software"), TEXT_MAX))
		return invalid(error, "the version of the software is not valid");
	return DOCA_SUCCESS;
}

static bool card_of(struct json_object *json, uint64_t *card)
{
	const char *text = text_of(json, "card");

	*card = 0;
	if (!json_object_object_get(json, "card"))
		return true;
	if (!text || strlen(text) != 18 || strncmp(text, "0x", 2) != 0 ||
	    strspn(text + 2, "0123456789abcdef") != 16)
		return false;
	*card = strtoull(text + 2, NULL, 16);
	return true;
}

static doca_error_t decode_dpu(const char *name, struct json_object *json, size_t len,
			       struct dpumap_fleet_dpu **dpu, struct dpumap_error *error)
{
	doca_error_t result = check_dpu_json(name, json, error);
	struct json_object *addresses = json_object_object_get(json, "addresses");
	uint64_t generation, card;
	struct dpumap_fleet_dpu *d;
	struct block block;
	const char **text;

	if (result != DOCA_SUCCESS)
		return result;
	if (!number_of(json, "generation", &generation) || !card_of(json, &card))
		return invalid(error, "the generation or the card is not valid");
	d = new_dpu(name, json_object_array_length(addresses), len, &block);
	if (!d)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	text = (const char **)(d + 1);
	d->num_addresses = json_object_array_length(addresses);
	for (size_t i = 0; i < d->num_addresses; i++)
		text[i] = keep(&block,
			       json_object_get_string(json_object_array_get_idx(addresses, i)));
	d->certificate_name = keep(&block, text_of(json, "certificate"));
	d->version = keep(&block, text_of(json, "software"));
	d->card_guid = card;
	d->generation = generation;
	*dpu = d;
	return DOCA_SUCCESS;
}

static doca_error_t newer_dpu(const char *name, struct dpumap_fleet_dpu **dpu,
			      struct dpumap_error *error)
{
	struct block block;

	*dpu = new_dpu(name, 0, 0, &block);
	if (!*dpu)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	(*dpu)->needs_newer = true;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_record_decode_dpu(const char *name, const void *bytes, size_t len,
				      struct dpumap_fleet_dpu **dpu, struct dpumap_error *error)
{
	struct json_object *json = parse(bytes, len, error);
	doca_error_t result;
	int format;

	if (!json)
		return error->code;
	format = format_of(json);
	if (format < 0)
		result = newer_dpu(name, dpu, error);
	else if (!format)
		result = invalid(error, "it has no format");
	else
		result = decode_dpu(name, json, len, dpu, error);
	json_object_put(json);
	return result;
}

static bool access_of(struct json_object *json, uint32_t *access)
{
	struct json_object *list = json_object_object_get(json, "access");
	const char *text;
	size_t k;

	*access = 0;
	if (!json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		text = json_object_get_string(json_object_array_get_idx(list, i));
		for (k = 0; k < NUM_ACCESSES && (!text || strcmp(accesses[k].name, text) != 0); k++)
			;
		if (k == NUM_ACCESSES)
			return false;
		*access |= accesses[k].flag;
	}
	return true;
}

static bool labels_valid(struct json_object *labels)
{
	struct json_object_iterator at, end;

	if (!labels)
		return true;
	if (!json_object_is_type(labels, json_type_object) ||
	    json_object_object_length(labels) > DPUMAP_RECORD_LABELS_MAX)
		return false;
	at = json_object_iter_begin(labels);
	end = json_object_iter_end(labels);
	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		if (!dpumap_fleet_name_valid(json_object_iter_peek_name(&at)) ||
		    !clean(json_object_iter_peek_value(&at), DPUMAP_FLEET_NAME_MAX))
			return false;
	return true;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t keep_labels(struct block *block, struct json_object *labels, const char **text)
{
	struct json_object_iterator at = json_object_iter_begin(labels);
	struct json_object_iterator end = json_object_iter_end(labels);
	size_t num = 0;

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		text[num++] = keep(block, json_object_iter_peek_name(&at));
		block->next[-1] = '=';
		keep(block, json_object_get_string(json_object_iter_peek_value(&at)));
	}
	qsort(text, num, sizeof(*text), compare_texts);
	return num;
}

static struct dpumap_fleet_export *new_export(const char *dpu, const char *name, size_t labels,
					      size_t bytes, struct block *block)
{
	size_t array = sizeof(struct dpumap_fleet_export) + labels * sizeof(char *);
	struct dpumap_fleet_export *e;

	e = calloc(1, array + strlen(dpu) + 1 + strlen(name) + 1 + bytes);
	if (!e)
		return NULL;
	block->next = (char *)e + array;
	e->dpu = keep(block, dpu);
	e->name = keep(block, name);
	e->kind = e->via = "";
	e->labels = (const char *const *)(e + 1);
	return e;
}

static doca_error_t decode_export(const char *dpu, const char *name, struct json_object *json,
				  size_t len, struct dpumap_fleet_export **export_info,
				  struct dpumap_error *error)
{
	struct json_object *labels = json_object_object_get(json, "labels");
	const char *kind = known(dpumap_record_kinds, text_of(json, "kind"));
	const char *via = known(dpumap_record_vias, text_of(json, "via"));
	struct dpumap_fleet_export *e;
	uint64_t size, generation;
	struct block block;
	uint32_t access;

	if (!kind || !via || !access_of(json, &access))
		return invalid(error, "kind, via or access is not valid");
	if (!number_of(json, "size", &size) || !number_of(json, "generation", &generation))
		return invalid(error, "size or generation is not valid");
	if (!labels_valid(labels))
		return invalid(error, "the labels are not valid");
	e = new_export(dpu, name, labels ? (size_t)json_object_object_length(labels) : 0,
		       labels ? len : 0, &block);
	if (!e)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	e->kind = kind;
	e->via = via;
	e->size = size;
	e->access = access;
	e->generation = generation;
	if (labels)
		e->num_labels = keep_labels(&block, labels, (const char **)(e + 1));
	*export_info = e;
	return DOCA_SUCCESS;
}

static doca_error_t newer_export(const char *dpu, const char *name,
				 struct dpumap_fleet_export **export_info,
				 struct dpumap_error *error)
{
	struct block block;

	*export_info = new_export(dpu, name, 0, 0, &block);
	if (!*export_info)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	(*export_info)->needs_newer = true;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_record_decode_export(const char *dpu, const char *name, const void *bytes,
					 size_t len, struct dpumap_fleet_export **export_info,
					 struct dpumap_error *error)
{
	struct json_object *json = parse(bytes, len, error);
	doca_error_t result;
	int format;

	if (!json)
		return error->code;
	format = format_of(json);
	if (format < 0)
		result = newer_export(dpu, name, export_info, error);
	else if (!format)
		result = invalid(error, "it has no format");
	else
		result = decode_export(dpu, name, json, len, export_info, error);
	json_object_put(json);
	return result;
}
