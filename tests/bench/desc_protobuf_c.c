/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <string.h>

#include "desc.pb-c.h"
#include "desc_codec.h"

static size_t encode(const struct dpumap_desc *d, uint8_t *buf, size_t room)
{
	Bench__Export m = BENCH__EXPORT__INIT;
	uint8_t key[DPUMAP_DESC_ACCESS_KEY_SIZE];

	memcpy(key, d->access_key, sizeof(key));
	m.magic = BENCH_MAGIC;
	m.checksum = BENCH_CHECKSUM;
	m.major = BENCH_MAJOR;
	m.kind = d->kind;
	m.source = d->source;
	m.vhca_id = d->vhca_id;
	m.access = d->access;
	m.mkey = d->mkey;
	m.device_guid = d->device_guid;
	m.addr = d->addr;
	m.len = d->len;
	m.access_key = (ProtobufCBinaryData){.len = sizeof(key), .data = key};
	if (bench__export__get_packed_size(&m) > room)
		return 0;
	return bench__export__pack(&m, buf);
}

static void take_fields(const Bench__Export *m, struct dpumap_desc *d)
{
	*d = (struct dpumap_desc){
		.kind = (uint16_t)m->kind,
		.source = (uint16_t)m->source,
		.access = m->access,
		.device_guid = m->device_guid,
		.vhca_id = (uint16_t)m->vhca_id,
		.mkey = m->mkey,
		.addr = m->addr,
		.len = m->len,
	};
	memcpy(d->access_key, m->access_key.data, sizeof(d->access_key));
}

static bool decode(const uint8_t *buf, size_t len, struct dpumap_desc *d)
{
	Bench__Export *m = bench__export__unpack(NULL, len, buf);
	bool good = m && m->magic == BENCH_MAGIC && m->major == BENCH_MAJOR &&
		    m->access_key.len == sizeof(d->access_key);

	if (good)
		take_fields(m, d);
	if (m)
		bench__export__free_unpacked(m, NULL);
	return good;
}

const struct desc_codec desc_codec_protobuf_c = {"protobuf-c", encode, decode};
