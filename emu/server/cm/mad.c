/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/mad.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define HEADER	     24
#define BASE_VERSION 1
#define METHOD_SEND  3

/* A field: where it is in the message's structure, and in the bytes after the header. */
struct field {
	uint16_t offset; /* in struct emu_cm_msg */
	uint8_t size;	 /* of that member */
	uint8_t byte, bit, width;
	uint8_t shift; /* of the value: a field in several pieces */
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member has none */
#define MEMBER(member) offsetof(struct emu_cm_msg, member), sizeof(((struct emu_cm_msg *)0)->member)
#define PIECE(member, byte, width, to)             \
	{                                          \
		MEMBER(member), byte, 0, width, to \
	}
#define BITS(member, byte, bit, width)              \
	{                                           \
		MEMBER(member), byte, bit, width, 0 \
	}
#define NUMBER(member, byte)                                                             \
	{                                                                                \
		MEMBER(member), byte, 0, 8 * sizeof(((struct emu_cm_msg *)0)->member), 0 \
	}

/* Tables 106 to 120 of IBA volume 1, 12.6; vendor IDs (ECE) where the kernel puts them. */
#define IDS NUMBER(local_id, 0), NUMBER(remote_id, 4)

#define AV(av, at)                                                                     \
	NUMBER(av.local_lid, at), NUMBER(av.remote_lid, (at) + 2),                     \
		BITS(av.flow_label, (at) + 36, 0, 20), BITS(av.rate, (at) + 39, 2, 6), \
		NUMBER(av.traffic_class, (at) + 40), NUMBER(av.hop_limit, (at) + 41),  \
		BITS(av.sl, (at) + 42, 0, 4), BITS(av.subnet_local, (at) + 42, 4, 1),  \
		BITS(av.ack_timeout, (at) + 43, 0, 5)

/* NOLINTEND(bugprone-macro-parentheses) */
static const struct field req[] = {
	NUMBER(local_id, 0),
	BITS(vendor_id, 5, 0, 24),
	NUMBER(service_id, 8),
	NUMBER(ca_guid, 16),
	NUMBER(qkey, 28),
	BITS(qpn, 32, 0, 24),
	NUMBER(responder_resources, 35),
	BITS(eecn, 36, 0, 24),
	NUMBER(initiator_depth, 39),
	BITS(remote_response_timeout, 43, 0, 5),
	BITS(transport, 43, 5, 2),
	BITS(flow_control, 43, 7, 1),
	BITS(psn, 44, 0, 24),
	BITS(local_response_timeout, 47, 0, 5),
	BITS(retry_count, 47, 5, 3),
	NUMBER(pkey, 48),
	BITS(mtu, 50, 0, 4),
	BITS(rdc, 50, 4, 1),
	BITS(rnr_retry_count, 50, 5, 3),
	BITS(max_cm_retries, 51, 0, 4),
	BITS(srq, 51, 4, 1),
	BITS(extended_transport, 51, 5, 3),
	AV(primary, 52),
	AV(alternate, 96),
	{0},
};
static const struct field mra[] = {
	IDS,
	BITS(answered, 8, 0, 2),
	BITS(service_timeout, 9, 0, 5),
	{0},
};
static const struct field rej[] = {
	IDS, BITS(answered, 8, 0, 2), BITS(info_len, 9, 0, 7), NUMBER(reason, 10), {0},
};
static const struct field rep[] = {
	IDS,
	NUMBER(qkey, 8),
	BITS(qpn, 12, 0, 24),
	PIECE(vendor_id, 15, 8, 16),
	BITS(eecn, 16, 0, 24),
	PIECE(vendor_id, 19, 8, 8),
	BITS(psn, 20, 0, 24),
	PIECE(vendor_id, 23, 8, 0),
	NUMBER(responder_resources, 24),
	NUMBER(initiator_depth, 25),
	BITS(target_ack_delay, 26, 0, 5),
	BITS(failover, 26, 5, 2),
	BITS(flow_control, 26, 7, 1),
	BITS(rnr_retry_count, 27, 0, 3),
	BITS(srq, 27, 3, 1),
	NUMBER(ca_guid, 28),
	{0},
};
static const struct field only_ids[] = {IDS, {0}};
static const struct field dreq[] = {IDS, BITS(remote_qpn, 8, 0, 24), {0}};
static const struct field lap[] = {
	IDS,
	BITS(remote_qpn, 12, 0, 24),
	BITS(remote_response_timeout, 15, 0, 5),
	NUMBER(alternate.local_lid, 20),
	NUMBER(alternate.remote_lid, 22),
	BITS(alternate.flow_label, 56, 0, 20),
	NUMBER(alternate.traffic_class, 59),
	NUMBER(alternate.hop_limit, 60),
	BITS(alternate.rate, 61, 2, 6),
	BITS(alternate.sl, 62, 0, 4),
	BITS(alternate.subnet_local, 62, 4, 1),
	BITS(alternate.ack_timeout, 63, 0, 5),
	{0},
};
static const struct field apr[] = {IDS, NUMBER(info_len, 8), NUMBER(status, 9), {0}};
static const struct field sidr_req[] = {
	NUMBER(local_id, 0),
	NUMBER(pkey, 4),
	NUMBER(service_id, 8),
	{0},
};
static const struct field sidr_rep[] = {
	NUMBER(local_id, 0),	    NUMBER(status, 4),	 NUMBER(info_len, 5),
	PIECE(vendor_id, 6, 16, 8), BITS(qpn, 8, 0, 24), PIECE(vendor_id, 11, 8, 0),
	NUMBER(service_id, 12),	    NUMBER(qkey, 20),	 {0},
};

/* Bytes as they are. */
struct bytes {
	uint16_t offset;
	uint8_t byte, size;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member has none */
#define GIDS(av, at)                                                      \
	{offsetof(struct emu_cm_msg, av.local_gid), at, 16},              \
	{                                                                 \
		offsetof(struct emu_cm_msg, av.remote_gid), (at) + 16, 16 \
	}
#define INFO(at)                                                       \
	{                                                              \
		offsetof(struct emu_cm_msg, info), at, EMU_CM_MAX_INFO \
	}

/* NOLINTEND(bugprone-macro-parentheses) */
struct layout {
	const char *name;
	const struct field *fields;
	struct bytes bytes[4];
	uint8_t private_at, private_size;
};

static const struct layout layouts[EMU_CM_ATTRS] = {
	[0] = {"REQ", req, {GIDS(primary, 56), GIDS(alternate, 100)}, 140, 92},
	[EMU_CM_MRA - EMU_CM_REQ] = {"MRA", mra, {{0}}, 10, 222},
	[EMU_CM_REJ - EMU_CM_REQ] = {"REJ", rej, {INFO(12)}, 84, 148},
	[EMU_CM_REP - EMU_CM_REQ] = {"REP", rep, {{0}}, 36, 196},
	[EMU_CM_RTU - EMU_CM_REQ] = {"RTU", only_ids, {{0}}, 8, 224},
	[EMU_CM_DREQ - EMU_CM_REQ] = {"DREQ", dreq, {{0}}, 12, 220},
	[EMU_CM_DREP - EMU_CM_REQ] = {"DREP", only_ids, {{0}}, 8, 224},
	[EMU_CM_SIDR_REQ - EMU_CM_REQ] = {"SIDR_REQ", sidr_req, {{0}}, 16, 216},
	[EMU_CM_SIDR_REP - EMU_CM_REQ] = {"SIDR_REP", sidr_rep, {INFO(24)}, 96, 136},
	[EMU_CM_LAP - EMU_CM_REQ] = {"LAP", lap, {GIDS(alternate, 24)}, 64, 168},
	[EMU_CM_APR - EMU_CM_REQ] = {"APR", apr, {INFO(12)}, 84, 148},
};

static const struct layout *layout_of(unsigned int attr)
{
	return attr >= EMU_CM_REQ && attr <= EMU_CM_APR ? &layouts[attr - EMU_CM_REQ] : NULL;
}

size_t emu_cm_private_size(enum emu_cm_attr attr)
{
	const struct layout *l = layout_of(attr);

	return l ? l->private_size : 0;
}

const char *emu_cm_attr_name(enum emu_cm_attr attr)
{
	const struct layout *l = layout_of(attr);

	return l ? l->name : "?";
}

/* Big-endian bits: bit 0 of a byte is its most significant. */
static void put_bits(uint8_t *to, unsigned int bit, unsigned int width, uint64_t value)
{
	while (width--) {
		if (value >> width & 1)
			to[bit / 8] |= 0x80 >> bit % 8;
		bit++;
	}
}

static uint64_t get_bits(const uint8_t *from, unsigned int bit, unsigned int width)
{
	uint64_t value = 0;

	for (; width--; bit++)
		value = value << 1 | (from[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static uint64_t load(const void *p, unsigned int size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	case 4:
		return *(const uint32_t *)p;
	default:
		return *(const uint64_t *)p;
	}
}

static void store(void *p, unsigned int size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)p = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)p = (uint32_t)value;
		break;
	default:
		*(uint64_t *)p = value;
	}
}

int emu_cm_encode(const struct emu_cm_msg *m, uint8_t mad[static EMU_MAD_BYTES])
{
	const struct layout *l = layout_of(m->attr);
	const uint8_t *from = (const uint8_t *)m;

	if (!l)
		return -EINVAL;
	memset(mad, 0, EMU_MAD_BYTES);
	mad[0] = BASE_VERSION;
	mad[1] = EMU_CM_CLASS;
	mad[2] = EMU_CM_CLASS_VERSION;
	mad[3] = METHOD_SEND;
	put_bits(mad, 8 * 8, 64, m->tid);
	put_bits(mad, 16 * 8, 16, m->attr);
	put_bits(mad, 20 * 8, 32, m->attr_mod);
	for (const struct field *f = l->fields; f->width; f++)
		put_bits(mad + HEADER, f->byte * 8u + f->bit, f->width,
			 load(from + f->offset, f->size) >> f->shift);
	for (const struct bytes *b = l->bytes; b->size; b++)
		memcpy(mad + HEADER + b->byte, from + b->offset, b->size);
	memcpy(mad + HEADER + l->private_at, m->data, l->private_size);
	return 0;
}

int emu_cm_decode(const uint8_t mad[static EMU_MAD_BYTES], struct emu_cm_msg *m)
{
	unsigned int attr = (unsigned int)get_bits(mad, 16 * 8, 16);
	const struct layout *l = layout_of(attr);
	uint8_t *to = (uint8_t *)m;

	if (!l || mad[0] != BASE_VERSION || mad[1] != EMU_CM_CLASS ||
	    mad[2] != EMU_CM_CLASS_VERSION || mad[3] != METHOD_SEND)
		return -EINVAL;
	memset(m, 0, sizeof(*m));
	m->attr = attr;
	m->tid = get_bits(mad, 8 * 8, 64);
	m->attr_mod = (uint32_t)get_bits(mad, 20 * 8, 32);
	for (const struct field *f = l->fields; f->width; f++)
		store(to + f->offset, f->size,
		      load(to + f->offset, f->size) |
			      get_bits(mad + HEADER, f->byte * 8u + f->bit, f->width) << f->shift);
	for (const struct bytes *b = l->bytes; b->size; b++)
		memcpy(to + b->offset, mad + HEADER + b->byte, b->size);
	memcpy(m->data, mad + HEADER + l->private_at, l->private_size);
	if (m->info_len > EMU_CM_MAX_INFO)
		m->info_len = EMU_CM_MAX_INFO;
	return 0;
}
