/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <pb_decode.h>
#include <pb_encode.h>
#include <string.h>

#include "desc.pb.h"
#include "desc_codec.h"

static size_t encode(const struct dpumap_desc *d, uint8_t *buf, size_t room)
{
	pb_ostream_t stream = pb_ostream_from_buffer(buf, room);
	bench_Export m = {
		.magic = BENCH_MAGIC,
		.checksum = BENCH_CHECKSUM,
		.major = BENCH_MAJOR,
		.kind = d->kind,
		.source = d->source,
		.vhca_id = d->vhca_id,
		.access = d->access,
		.mkey = d->mkey,
		.device_guid = d->device_guid,
		.addr = d->addr,
		.len = d->len,
	};

	memcpy(m.access_key, d->access_key, sizeof(m.access_key));
	return pb_encode(&stream, bench_Export_fields, &m) ? stream.bytes_written : 0;
}

static bool decode(const uint8_t *buf, size_t len, struct dpumap_desc *d)
{
	pb_istream_t stream = pb_istream_from_buffer(buf, len);
	bench_Export m;

	if (!pb_decode(&stream, bench_Export_fields, &m) || m.magic != BENCH_MAGIC ||
	    m.major != BENCH_MAJOR)
		return false;
	*d = (struct dpumap_desc){
		.kind = (uint16_t)m.kind,
		.source = (uint16_t)m.source,
		.access = m.access,
		.device_guid = m.device_guid,
		.vhca_id = (uint16_t)m.vhca_id,
		.mkey = m.mkey,
		.addr = m.addr,
		.len = m.len,
	};
	memcpy(d->access_key, m.access_key, sizeof(d->access_key));
	return true;
}

const struct desc_codec desc_codec_nanopb = {"nanopb", encode, decode};
