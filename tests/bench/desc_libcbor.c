/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An array without names, which is the smallest encoding in CBOR. */
#include <cbor.h>
#include <string.h>

#include "desc_codec.h"

enum field {
	MAGIC,
	CHECKSUM,
	MAJOR,
	MINOR,
	KIND,
	SOURCE,
	VHCA_ID,
	ACCESS,
	MKEY,
	GUID,
	ADDR,
	LEN,
	KEY,
	NUM_FIELDS,
};

/* Encode an integer in as few bytes as possible. */
static cbor_item_t *build_number(uint64_t value)
{
	if (value <= UINT8_MAX)
		return cbor_build_uint8((uint8_t)value);
	if (value <= UINT16_MAX)
		return cbor_build_uint16((uint16_t)value);
	if (value <= UINT32_MAX)
		return cbor_build_uint32((uint32_t)value);
	return cbor_build_uint64(value);
}

/* Consumes the reference to item. */
static bool push(cbor_item_t *array, cbor_item_t *item)
{
	bool pushed = item && cbor_array_push(array, item);

	if (item)
		cbor_decref(&item);
	return pushed;
}

static bool push_fields(cbor_item_t *array, const struct dpumap_desc *d)
{
	const uint64_t numbers[KEY] = {
		[MAGIC] = BENCH_MAGIC,	 [CHECKSUM] = BENCH_CHECKSUM,
		[MAJOR] = BENCH_MAJOR,	 [KIND] = d->kind,
		[SOURCE] = d->source,	 [VHCA_ID] = d->vhca_id,
		[ACCESS] = d->access,	 [MKEY] = d->mkey,
		[GUID] = d->device_guid, [ADDR] = d->addr,
		[LEN] = d->len,
	};

	for (size_t i = 0; i < KEY; i++)
		if (!push(array, build_number(numbers[i])))
			return false;
	return push(array, cbor_build_bytestring(d->access_key, sizeof(d->access_key)));
}

static size_t encode(const struct dpumap_desc *d, uint8_t *buf, size_t room)
{
	cbor_item_t *array = cbor_new_definite_array(NUM_FIELDS);
	size_t written = 0;

	if (!array)
		return 0;
	if (push_fields(array, d))
		written = cbor_serialize(array, buf, room);
	cbor_decref(&array);
	return written;
}

static bool is_export(const cbor_item_t *array)
{
	cbor_item_t **items;

	if (!cbor_isa_array(array) || cbor_array_size(array) != NUM_FIELDS)
		return false;
	items = cbor_array_handle(array);
	for (size_t i = 0; i < KEY; i++)
		if (!cbor_isa_uint(items[i]))
			return false;
	return cbor_isa_bytestring(items[KEY]) &&
	       cbor_bytestring_length(items[KEY]) == DPUMAP_DESC_ACCESS_KEY_SIZE &&
	       cbor_get_int(items[MAGIC]) == BENCH_MAGIC &&
	       cbor_get_int(items[MAJOR]) == BENCH_MAJOR;
}

static void take_fields(const cbor_item_t *array, struct dpumap_desc *d)
{
	cbor_item_t **items = cbor_array_handle(array);

	*d = (struct dpumap_desc){
		.kind = (uint16_t)cbor_get_int(items[KIND]),
		.source = (uint16_t)cbor_get_int(items[SOURCE]),
		.access = (uint32_t)cbor_get_int(items[ACCESS]),
		.device_guid = cbor_get_int(items[GUID]),
		.vhca_id = (uint16_t)cbor_get_int(items[VHCA_ID]),
		.mkey = (uint32_t)cbor_get_int(items[MKEY]),
		.addr = cbor_get_int(items[ADDR]),
		.len = cbor_get_int(items[LEN]),
	};
	memcpy(d->access_key, cbor_bytestring_handle(items[KEY]), sizeof(d->access_key));
}

static bool decode(const uint8_t *buf, size_t len, struct dpumap_desc *d)
{
	struct cbor_load_result result;
	cbor_item_t *array = cbor_load(buf, len, &result);
	bool good = array && is_export(array);

	if (good)
		take_fields(array, d);
	if (array)
		cbor_decref(&array);
	return good;
}

const struct desc_codec desc_codec_libcbor = {"libcbor", encode, decode};
