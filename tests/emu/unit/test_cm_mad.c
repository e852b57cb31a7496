/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages of the connection manager, byte for byte: the places are those of IBA volume 1, 12.6 (the same
 * are in the kernel's include/rdma/ibta_vol1_c12.h), written here by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/cm/mad.h"

#define HEADER 24

/* Bytes at an offset after the header. */
struct part {
	unsigned int at, len;
	const char *bytes;
};

#define PART(at, text)                     \
	{                                  \
		at, sizeof(text) - 1, text \
	}

static void expect_header(const uint8_t *mad, uint8_t attr)
{
	const uint8_t want[HEADER] = {1,    7,	  2,	3,    0,    0,	  0,	0,
				      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
				      0,    attr, 0,	0,    0xca, 0xfe, 0xba, 0xbe};

	assert_memory_equal(mad, want, HEADER);
}

/* The message is these parts, its private data at `data_at`, and zeros elsewhere. */
static void expect_bytes(struct emu_cm_msg *m, const struct part *part, unsigned int data_at,
			 unsigned int data_size)
{
	uint8_t want[EMU_MAD_BYTES] = {0}, mad[EMU_MAD_BYTES];
	struct emu_cm_msg back;

	m->tid = 0x1122334455667788;
	m->attr_mod = 0xcafebabe;
	assert_int_equal(emu_cm_private_size(m->attr), data_size);
	for (unsigned int i = 0; i < data_size; i++)
		m->data[i] = want[HEADER + data_at + i] = (uint8_t)(i + 1);
	for (; part->len; part++)
		memcpy(want + HEADER + part->at, part->bytes, part->len);
	assert_int_equal(emu_cm_encode(m, mad), 0);
	expect_header(mad, (uint8_t)m->attr);
	assert_memory_equal(mad + HEADER, want + HEADER, EMU_MAD_BYTES - HEADER);
	assert_int_equal(emu_cm_decode(mad, &back), 0);
	assert_memory_equal(&back, m, sizeof(back));
}

static void set_gid(uint8_t gid[16], uint8_t first)
{
	for (int i = 0; i < 16; i++)
		gid[i] = (uint8_t)(first + i);
}

static void set_av(struct emu_cm_av *av, uint8_t first)
{
	av->local_lid = 0x0a0b;
	av->remote_lid = 0x0c0d;
	set_gid(av->local_gid, first);
	set_gid(av->remote_gid, first + 16);
	av->flow_label = 0x12345;
	av->rate = 0x2a;
	av->traffic_class = 0xe1;
	av->hop_limit = 0x40;
	av->sl = 0x9;
	av->subnet_local = 1;
	av->ack_timeout = 0x13;
}

static void req_matches_its_table(void **state)
{
	struct emu_cm_msg m;
	const struct part parts[] = {
		PART(0, "\xd0\xd1\xd2\xd3"),
		PART(5, "\x15\xb3\x01"),
		PART(8, "\x00\x00\x00\x00\x01\x06\x1c\xd8"),
		PART(16, "\x02\x00\x5e\xff\xfe\x00\x00\x01"),
		PART(28, "\x81\x82\x83\x84"),
		PART(32, "\x00\x0a\xbc\x04"),
		PART(36, "\x00\x0d\xef\x05"),
		PART(43, "\xa7"),	      /* 20, transport 3, flow control */
		PART(44, "\x12\x34\x56\xa6"), /* PSN; 20, retries 6 */
		PART(48, "\xff\xff\x5d"),     /* MTU 5, RDC, RNR retries 5 */
		PART(51, "\xf9"),	      /* 15 CM retries, SRQ, extended transport 1 */
		PART(52, "\x0a\x0b\x0c\x0d"),
		PART(56, "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"),
		PART(72, "\x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f"),
		PART(88, "\x12\x34\x50\x2a\xe1\x40\x98\x98"),
		PART(96, "\x0a\x0b\x0c\x0d"),
		PART(100, "\x50\x51\x52\x53\x54\x55\x56\x57\x58\x59\x5a\x5b\x5c\x5d\x5e\x5f"),
		PART(116, "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"),
		PART(132, "\x12\x34\x50\x2a\xe1\x40\x98\x98"),
		{0},
	};

	memset(&m, 0, sizeof(m));
	m.attr = EMU_CM_REQ;
	m.local_id = 0xd0d1d2d3;
	m.vendor_id = 0x15b301;
	m.service_id = 0x0000000001061cd8;
	m.ca_guid = 0x02005efffe000001;
	m.qkey = 0x81828384;
	m.qpn = 0x000abc;
	m.responder_resources = 4;
	m.eecn = 0x000def;
	m.initiator_depth = 5;
	m.remote_response_timeout = 20;
	m.transport = 3;
	m.flow_control = 1;
	m.psn = 0x123456;
	m.local_response_timeout = 20;
	m.retry_count = 6;
	m.pkey = 0xffff;
	m.mtu = 5;
	m.rdc = 1;
	m.rnr_retry_count = 5;
	m.max_cm_retries = 15;
	m.srq = 1;
	m.extended_transport = 1;
	set_av(&m.primary, 0x10);
	set_av(&m.alternate, 0x50);
	expect_bytes(&m, parts, 140, 92);
}

static void set_ids(struct emu_cm_msg *m, enum emu_cm_attr attr)
{
	memset(m, 0, sizeof(*m));
	m->attr = attr;
	m->local_id = 0xd0d1d2d3;
	m->remote_id = 0xe0e1e2e3;
}

#define IDS PART(0, "\xd0\xd1\xd2\xd3\xe0\xe1\xe2\xe3")

static void mra_matches_its_table(void **state)
{
	const struct part parts[] = {IDS, PART(8, "\x40\xc0"), {0}};
	struct emu_cm_msg m;

	set_ids(&m, EMU_CM_MRA);
	m.answered = EMU_CM_OF_REP;
	m.service_timeout = 24;
	expect_bytes(&m, parts, 10, 222);
}

static void rej_matches_its_table(void **state)
{
	const struct part parts[] = {
		IDS, PART(8, "\x80\x06\x00\x1c"), PART(12, "\xaa\xbb\xcc"), {0}};
	struct emu_cm_msg m;

	set_ids(&m, EMU_CM_REJ);
	m.answered = EMU_CM_OF_OTHER;
	m.info_len = 3;
	m.reason = EMU_CM_REJ_CONSUMER_DEFINED;
	memcpy(m.info, "\xaa\xbb\xcc", 3);
	expect_bytes(&m, parts, 84, 148);
}

static void rep_matches_its_table(void **state)
{
	const struct part parts[] = {
		IDS,
		PART(8, "\x81\x82\x83\x84\x00\x0a\xbc\x15\x00\x0d\xef\xb3\x65\x43\x21\x01"),
		PART(24, "\x04\x05\x87\xf0"), /* 16, failover 3, flow control; RNR 7, SRQ */
		PART(28, "\x02\x00\x5e\xff\xfe\x00\x00\x01"),
		{0},
	};
	struct emu_cm_msg m;

	set_ids(&m, EMU_CM_REP);
	m.qkey = 0x81828384;
	m.qpn = 0xabc;
	m.eecn = 0xdef;
	m.vendor_id = 0x15b301;
	m.psn = 0x654321;
	m.responder_resources = 4;
	m.initiator_depth = 5;
	m.target_ack_delay = 16;
	m.failover = 3;
	m.flow_control = 1;
	m.rnr_retry_count = 7;
	m.srq = 1;
	m.ca_guid = 0x02005efffe000001;
	expect_bytes(&m, parts, 36, 196);
}

static void rtu_and_drep_match_their_tables(void **state)
{
	const struct part parts[] = {IDS, {0}};
	struct emu_cm_msg m;

	set_ids(&m, EMU_CM_RTU);
	expect_bytes(&m, parts, 8, 224);
	set_ids(&m, EMU_CM_DREP);
	expect_bytes(&m, parts, 8, 224);
}

static void dreq_matches_its_table(void **state)
{
	const struct part parts[] = {IDS, PART(8, "\x00\x0a\xbc"), {0}};
	struct emu_cm_msg m;

	set_ids(&m, EMU_CM_DREQ);
	m.remote_qpn = 0xabc;
	expect_bytes(&m, parts, 12, 220);
}

static void lap_matches_its_table(void **state)
{
	const struct part parts[] = {
		IDS,
		PART(12, "\x00\x0a\xbc\xa0"),
		PART(20, "\x0a\x0b\x0c\x0d"),
		PART(24, "\x50\x51\x52\x53\x54\x55\x56\x57\x58\x59\x5a\x5b\x5c\x5d\x5e\x5f"),
		PART(40, "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"),
		PART(56, "\x12\x34\x50\xe1\x40\x2a\x98\x98"),
		{0},
	};
	struct emu_cm_msg m;

	set_ids(&m, EMU_CM_LAP);
	m.remote_qpn = 0xabc;
	m.remote_response_timeout = 20;
	set_av(&m.alternate, 0x50);
	expect_bytes(&m, parts, 64, 168);
}

static void apr_matches_its_table(void **state)
{
	const struct part parts[] = {IDS, PART(8, "\x02\x07"), PART(12, "\xaa\xbb"), {0}};
	struct emu_cm_msg m;

	set_ids(&m, EMU_CM_APR);
	m.info_len = 2;
	m.status = 7;
	memcpy(m.info, "\xaa\xbb", 2);
	expect_bytes(&m, parts, 84, 148);
}

static void sidr_req_matches_its_table(void **state)
{
	const struct part parts[] = {
		PART(0, "\xd0\xd1\xd2\xd3\x80\x01"),
		PART(8, "\x00\x00\x00\x00\x01\x11\x1c\xd8"),
		{0},
	};
	struct emu_cm_msg m;

	memset(&m, 0, sizeof(m));
	m.attr = EMU_CM_SIDR_REQ;
	m.local_id = 0xd0d1d2d3;
	m.pkey = 0x8001;
	m.service_id = 0x0000000001111cd8;
	expect_bytes(&m, parts, 16, 216);
}

static void sidr_rep_matches_its_table(void **state)
{
	const struct part parts[] = {
		PART(0, "\xd0\xd1\xd2\xd3\x03\x02\x15\xb3\x00\x0a\xbc\x01"),
		PART(12, "\x00\x00\x00\x00\x01\x11\x1c\xd8"),
		PART(20, "\x01\x23\x45\x67"),
		PART(24, "\xaa\xbb"),
		{0},
	};
	struct emu_cm_msg m;

	memset(&m, 0, sizeof(m));
	m.attr = EMU_CM_SIDR_REP;
	m.local_id = 0xd0d1d2d3;
	m.status = EMU_CM_SIDR_NO_QP;
	m.info_len = 2;
	memcpy(m.info, "\xaa\xbb", 2);
	m.vendor_id = 0x15b301;
	m.qpn = 0xabc;
	m.service_id = 0x0000000001111cd8;
	m.qkey = 0x01234567;
	expect_bytes(&m, parts, 96, 136);
}

static void other_headers_are_refused(void **state)
{
	const struct {
		unsigned int at;
		uint8_t value;
	} wrong[] = {{0, 2}, {1, 3}, {2, 1}, {3, 1}, {17, 0x0f}, {17, 0x1b}, {16, 1}};
	struct emu_cm_msg m = {.attr = EMU_CM_RTU}, back;
	uint8_t mad[EMU_MAD_BYTES];

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(emu_cm_encode(&m, mad), 0);
		assert_int_equal(emu_cm_decode(mad, &back), 0);
		mad[wrong[i].at] = wrong[i].value;
		assert_int_equal(emu_cm_decode(mad, &back), -EINVAL);
	}
	m.attr = 0x0f;
	assert_int_equal(emu_cm_encode(&m, mad), -EINVAL);
	assert_int_equal(emu_cm_private_size(0x1b), 0);
	assert_string_equal(emu_cm_attr_name(0x1b), "?");
	assert_string_equal(emu_cm_attr_name(EMU_CM_SIDR_REP), "SIDR_REP");
}

/* A length that the field does not hold: a reader of `info` must not run past it. */
static void length_of_information_is_bounded(void **state)
{
	struct emu_cm_msg m = {.attr = EMU_CM_SIDR_REP, .info_len = 255}, back;
	uint8_t mad[EMU_MAD_BYTES];

	assert_int_equal(emu_cm_encode(&m, mad), 0);
	assert_int_equal(mad[HEADER + 5], 255);
	assert_int_equal(emu_cm_decode(mad, &back), 0);
	assert_int_equal(back.info_len, EMU_CM_MAX_INFO);
}

static void values_are_cut_to_their_fields(void **state)
{
	struct emu_cm_msg m = {.attr = EMU_CM_DREQ, .remote_qpn = 0xff123456}, back;
	uint8_t mad[EMU_MAD_BYTES];

	assert_int_equal(emu_cm_encode(&m, mad), 0);
	assert_int_equal(emu_cm_decode(mad, &back), 0);
	assert_int_equal(back.remote_qpn, 0x123456);
	assert_int_equal(back.local_id | back.remote_id, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(req_matches_its_table),
		cmocka_unit_test(mra_matches_its_table),
		cmocka_unit_test(rej_matches_its_table),
		cmocka_unit_test(rep_matches_its_table),
		cmocka_unit_test(rtu_and_drep_match_their_tables),
		cmocka_unit_test(dreq_matches_its_table),
		cmocka_unit_test(lap_matches_its_table),
		cmocka_unit_test(apr_matches_its_table),
		cmocka_unit_test(sidr_req_matches_its_table),
		cmocka_unit_test(sidr_rep_matches_its_table),
		cmocka_unit_test(other_headers_are_refused),
		cmocka_unit_test(length_of_information_is_bounded),
		cmocka_unit_test(values_are_cut_to_their_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
