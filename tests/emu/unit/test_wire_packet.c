/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The codec of RoCEv2 packets: every opcode, every field, every length, and the invariant CRC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "emu/ipc/bytes.h"
#include "emu/wire/aeth.h"
#include "emu/wire/datagram.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"
#include "emu/wire/psn.h"
#include "emu/wire/qp.h"
#include "wire_paths.h"

/* Every field has a value of its own, with its highest and lowest bit set. */
static struct wire_packet full(uint8_t opcode, uint32_t len)
{
	return (struct wire_packet){
		.opcode = opcode,
		.solicited = true,
		.migrated = true,
		.ack_req = true,
		.fecn = true,
		.pkey = 0x8001,
		.dest_qpn = 0x800003,
		.psn = 0x800005,
		.qkey = 0x80000007,
		.src_qpn = 0x800009,
		.srqn = 0x80000b,
		.va = 0x800000000000000d,
		.rkey = 0x8000000f,
		.dma_len = 0x80000011,
		.swap_add = 0x8000000000000013,
		.compare = 0x8000000000000015,
		.syndrome = 0x81,
		.msn = 0x800017,
		.original = 0x8000000000000019,
		.imm = 0x8000001b,
		.invalidate = 0x8000001d,
		.len = len,
	};
}

static size_t make(const struct wire_path *path, const struct wire_packet *p, uint8_t *out)
{
	size_t len = wire_build(p, out);

	assert_int_equal(len, wire_header_bytes(p->opcode));
	memset(out + len, 0xab, p->len);
	return wire_seal(path, out, len + p->len);
}

static void same_fields(const struct wire_packet *a, const struct wire_packet *b)
{
	uint8_t h = b->op.headers;

	assert_int_equal(a->opcode, b->opcode);
	assert_int_equal(a->solicited, b->solicited);
	assert_int_equal(a->migrated, b->migrated);
	assert_int_equal(a->ack_req, b->ack_req);
	assert_int_equal(a->fecn, b->fecn);
	assert_int_equal(a->becn, b->becn);
	assert_int_equal(a->pkey, b->pkey);
	assert_int_equal(a->dest_qpn, b->dest_qpn);
	assert_int_equal(a->psn, b->psn);
	assert_int_equal(a->len, b->len);
	assert_int_equal(h & WIRE_H_DETH ? a->qkey : 0, b->qkey);
	assert_int_equal(h & WIRE_H_DETH ? a->src_qpn : 0, b->src_qpn);
	assert_int_equal(h & WIRE_H_XRCETH ? a->srqn : 0, b->srqn);
	assert_true((h & (WIRE_H_RETH | WIRE_H_ATOMIC) ? a->va : 0) == b->va);
	assert_int_equal(h & (WIRE_H_RETH | WIRE_H_ATOMIC) ? a->rkey : 0, b->rkey);
	assert_int_equal(h & WIRE_H_RETH ? a->dma_len : 0, b->dma_len);
	assert_true((h & WIRE_H_ATOMIC ? a->swap_add : 0) == b->swap_add);
	assert_true((h & WIRE_H_ATOMIC ? a->compare : 0) == b->compare);
	assert_int_equal(h & WIRE_H_AETH ? a->syndrome : 0, b->syndrome);
	assert_int_equal(h & WIRE_H_AETH ? a->msn : 0, b->msn);
	assert_true((h & WIRE_H_ATOMIC_ACK ? a->original : 0) == b->original);
	assert_int_equal(h & WIRE_H_IMM ? a->imm : 0, b->imm);
	assert_int_equal(h & WIRE_H_IETH ? a->invalidate : 0, b->invalidate);
}

/* A payload that the opcode may have. */
static uint32_t payload_of(struct wire_opcode o, uint32_t wanted)
{
	if (o.kind == WIRE_KIND_CNP)
		return WIRE_CNP_BYTES;
	if (!o.payload)
		return 0;
	if (!o.last)
		return wanted & ~3u ? wanted & ~3u : 4;
	return wanted || o.first ? wanted : 1;
}

/* Returns the number of defined opcodes, each of which went there and back. */
static unsigned int all_opcodes(const struct wire_path *path, uint32_t len)
{
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_packet out;
	unsigned int count = 0;
	size_t total;

	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		struct wire_opcode o = wire_opcode((uint8_t)opcode);
		struct wire_packet in = full((uint8_t)opcode, payload_of(o, len));

		if (o.kind == WIRE_KIND_NONE)
			continue;
		count++;
		total = make(path, &in, bytes);
		assert_int_equal(total % 4, 0);
		assert_true(wire_icrc_is_right(path, bytes, total));
		assert_int_equal(wire_parse(bytes, total, &out), WIRE_ACCEPTED);
		same_fields(&in, &out);
		assert_ptr_equal(out.payload, bytes + wire_header_bytes((uint8_t)opcode));
	}
	return count;
}

static void every_opcode_is_parsed_as_it_was_built(void **state)
{
	static const uint32_t lens[] = {0, 1, 2, 3, 4, 255, 1024, 4093, 4096};

	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		/* RC and XRC 23 each, UC 12, UD 2, and CNP */
		assert_int_equal(all_opcodes(&wire_ipv4, lens[i]), 61);
		assert_int_equal(all_opcodes(&wire_ipv6, lens[i]), 61);
	}
}

static void undefined_opcodes_are_dropped(void **state)
{
	uint8_t bytes[WIRE_MAX_PACKET] = {0};
	struct wire_packet p;
	unsigned int dropped = 0;

	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		if (wire_opcode((uint8_t)opcode).kind != WIRE_KIND_NONE)
			continue;
		bytes[0] = (uint8_t)opcode;
		assert_int_equal(wire_parse(bytes, 64, &p), WIRE_DROP_OPCODE);
		dropped++;
	}
	assert_int_equal(dropped, 256 - 61);
}

static void every_shorter_packet_is_dropped(void **state)
{
	struct wire_packet in = full(WIRE_WRITE_ONLY_IMM, 0);
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_packet p;
	size_t total = make(&wire_ipv4, &in, bytes);

	for (size_t len = 0; len < total; len++) {
		assert_int_equal(wire_parse(bytes, len, &p), WIRE_DROP_SHORT);
		assert_false(wire_icrc_is_right(&wire_ipv4, bytes, len));
	}
	assert_int_equal(wire_parse(bytes, total, &p), WIRE_ACCEPTED);
}

/* Build a packet, put `value` into byte `at`, and say why it is dropped. */
static enum wire_drop spoilt(uint8_t opcode, uint32_t len, size_t at, uint8_t value)
{
	struct wire_packet in = full(opcode, len);
	uint8_t bytes[WIRE_MAX_PACKET + 64];
	struct wire_packet p;
	size_t total = make(&wire_ipv4, &in, bytes);

	bytes[at] = value;
	return wire_parse(bytes, total, &p);
}

static void headers_that_contradict_the_length_are_dropped(void **state)
{
	uint8_t bytes[WIRE_MAX_PACKET + 4] = {WIRE_SEND_ONLY};
	struct wire_packet p;

	assert_int_equal(spoilt(WIRE_SEND_ONLY, 4, 1, 0x01), WIRE_DROP_VERSION);
	assert_int_equal(spoilt(WIRE_SEND_ONLY, 0, 1, 0x10), WIRE_DROP_PAD);
	assert_int_equal(spoilt(WIRE_SEND_FIRST, 1024, 1, 0x10), WIRE_DROP_PAD);
	assert_int_equal(spoilt(WIRE_SEND_LAST, 0, 1, 0), WIRE_DROP_PAYLOAD);
	assert_int_equal(spoilt(WIRE_SEND_MIDDLE, 0, 1, 0), WIRE_DROP_PAYLOAD);
	assert_int_equal(spoilt(WIRE_READ_REQUEST, 4, 1, 0), WIRE_DROP_PAYLOAD);
	assert_int_equal(spoilt(WIRE_ACK, 4, 1, 0), WIRE_DROP_PAYLOAD);
	assert_int_equal(spoilt(WIRE_CNP, 12, 1, 0), WIRE_DROP_PAYLOAD);
	assert_int_equal(wire_parse(bytes, 12 + 5 + 4, &p), WIRE_DROP_PAD);
	assert_int_equal(wire_parse(bytes, WIRE_MAX_PACKET + 4, &p), WIRE_DROP_LONG);
	assert_int_equal(wire_parse(bytes, 12 + 4100 + 4, &p), WIRE_DROP_LONG);
}

/* Bytes that routers change do not count; every other bit does. */
static void every_bit_but_the_masked_ones_counts(void **state)
{
	struct wire_packet in = full(WIRE_WRITE_ONLY, 61);
	uint8_t bytes[WIRE_MAX_PACKET];
	size_t total = make(&wire_ipv6, &in, bytes);
	struct wire_path other = wire_ipv6;

	for (size_t bit = 0; bit < total * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(wire_icrc_is_right(&wire_ipv6, bytes, total), bit / 8 == 4);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	other.tclass ^= 3;
	other.hop_limit--;
	other.flow_label++;
	assert_true(wire_icrc_is_right(&other, bytes, total));
	other.sport++;
	assert_false(wire_icrc_is_right(&other, bytes, total));
}

/* A million packets with random changes: none is accepted. */
static void random_changes_are_found(void **state)
{
	struct wire_packet in = full(WIRE_SEND_ONLY, 40);
	uint8_t bytes[WIRE_MAX_PACKET];
	uint8_t right[WIRE_MAX_PACKET];
	size_t total = make(&wire_ipv4, &in, right);
	uint32_t random = 1;

	for (uint32_t i = 0; i < 1000000; i++) {
		memcpy(bytes, right, total);
		random = random * 1664525 + 1013904223;
		for (uint32_t changes = random >> 28; changes < 17; changes++) {
			random = random * 1664525 + 1013904223;
			bytes[(random >> 16) % total] ^= (uint8_t)(random >> 8);
		}
		bytes[4] = right[4];
		if (memcmp(bytes, right, total) != 0)
			assert_false(wire_icrc_is_right(&wire_ipv4, bytes, total));
	}
}

static void addresses_and_identification_count(void **state)
{
	struct wire_packet in = full(WIRE_SEND_ONLY, 16);
	uint8_t bytes[WIRE_MAX_PACKET];
	size_t total = make(&wire_ipv4, &in, bytes);
	struct wire_path other = wire_ipv4;

	other.src[15] ^= 1;
	assert_false(wire_icrc_is_right(&other, bytes, total));
	other = wire_ipv4;
	other.tclass = 0xff;
	other.hop_limit = 1;
	assert_true(wire_icrc_is_right(&other, bytes, total));
	other.id = 1;
	assert_false(wire_icrc_is_right(&other, bytes, total));
}

/* The identification that a UDP socket does not show is found, whatever it is and however long the packet. */
static void unknown_identification_is_found(void **state)
{
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_path there = wire_ipv4;
	struct wire_path here = wire_ipv4;
	size_t total;

	here.id_unknown = true;
	for (uint32_t id = 1; id < 0x10000; id += 977) {
		struct wire_packet in = full(WIRE_SEND_ONLY, id % 4097);

		there.id = (uint16_t)id;
		total = make(&there, &in, bytes);
		assert_true(wire_icrc_is_right(&here, bytes, total));
		assert_false(wire_icrc_is_right(&wire_ipv4, bytes, total));
		bytes[WIRE_BTH - 1] ^= 1;
		assert_false(wire_icrc_is_right(&here, bytes, total));
	}
}

static void identification_and_flag_are_revealed(void **state)
{
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_path there = wire_ipv4;
	size_t total;

	for (uint32_t id = 1; id < 0x10000; id += 977) {
		struct wire_packet in = full(WIRE_SEND_ONLY, id % 4097);
		struct wire_path here = wire_ipv4;

		here.id_unknown = true;
		there.id = (uint16_t)id;
		there.may_fragment = id & 1;
		total = make(&there, &in, bytes);
		wire_icrc_reveal(&here, bytes, total);
		assert_false(here.id_unknown);
		assert_int_equal(here.id, id);
		assert_int_equal(here.may_fragment, there.may_fragment);
		assert_true(wire_icrc_is_right(&here, bytes, total));
	}
}

static void identification_of_a_falsified_packet_is_not_revealed(void **state)
{
	struct wire_packet in = full(WIRE_SEND_ONLY, 64);
	struct wire_path here = wire_ipv4;
	uint8_t bytes[WIRE_MAX_PACKET];
	size_t total = make(&wire_ipv4, &in, bytes);

	here.id_unknown = true;
	bytes[WIRE_BTH] ^= 1;
	wire_icrc_reveal(&here, bytes, total);
	assert_true(here.id_unknown);
	assert_int_equal(here.id, wire_ipv4.id);
}

static void check_found(const struct wire_qp *qp, uint32_t psn, uint64_t cookie)
{
	const struct wire_wr *wr = wire_requester_find(qp, psn & WIRE_PSN_MASK);

	assert_non_null(wr);
	assert_int_equal(wr->cookie, cookie);
}

static void requests_are_found_by_psn(void **state)
{
	const struct wire_attr attr = {
		.service = WIRE_RC, .mtu = 1024, .sq_psn = 0xfffffe, .window = 16};
	const struct wire_wr send = {.cookie = 1, .work = WIRE_WORK_SEND, .len = 2049};
	const struct wire_wr read = {.cookie = 2, .work = WIRE_WORK_READ, .len = 5000};
	const struct wire_wr add = {.cookie = 3, .work = WIRE_WORK_FETCH_ADD, .len = 8};
	const struct wire_ops none = {0};
	static struct wire_qp qp;

	wire_qp_open(&qp, &attr, &none, NULL);
	assert_null(wire_requester_find(&qp, attr.sq_psn));
	assert_true(wire_qp_post(&qp, &send) && wire_qp_post(&qp, &read) &&
		    wire_qp_post(&qp, &add));
	for (uint32_t i = 0; i < 9; i++)
		check_found(&qp, attr.sq_psn + i, i < 3 ? 1 : i < 8 ? 2 : 3);
	assert_null(wire_requester_find(&qp, attr.sq_psn - 1));
	assert_null(wire_requester_find(&qp, (attr.sq_psn + 9) & WIRE_PSN_MASK));
}

/* About one in 2^15 random CRCs has such an identification. */
static void unknown_identification_hides_few_errors(void **state)
{
	struct wire_packet in = full(WIRE_SEND_ONLY, 64);
	struct wire_path here = wire_ipv4;
	uint8_t bytes[WIRE_MAX_PACKET];
	unsigned int accepted = 0;
	size_t total = make(&wire_ipv4, &in, bytes);

	here.id_unknown = true;
	for (uint32_t i = 1; i <= 1u << 18; i++) {
		emu_put32(bytes + total - 4, i * 2654435761u);
		accepted += wire_icrc_is_right(&here, bytes, total);
	}
	assert_in_range(accepted, 1, 32); /* 8 are expected */
}

static void psns_are_compared_modulo_their_range(void **state)
{
	assert_int_equal(wire_psn_add(0xffffff, 1), 0);
	assert_int_equal(wire_psn_add(0, WIRE_PSN_MASK), 0xffffff);
	assert_int_equal(wire_psn_after(1, 0xfffffe), 3);
	assert_true(wire_psn_before(0xffffff, 0));
	assert_false(wire_psn_before(0, 0xffffff));
	assert_false(wire_psn_before(5, 5));
}

static void credits_are_rounded_down(void **state)
{
	uint8_t code;

	for (unsigned int i = 0; i < WIRE_ACK_UNLIMITED; i++)
		assert_int_equal(wire_credit_code(wire_credits((uint8_t)i)), i);
	for (uint32_t count = 0; count < 40000; count++) {
		code = wire_credit_code(count);
		assert_true(wire_credits(code) <= count);
		assert_true(code == 30 || wire_credits(code + 1) > count);
	}
	assert_int_equal(wire_credits(5), 6);
	assert_int_equal(wire_credits(30), 32768);
}

static void rnr_times_are_those_of_the_standard(void **state)
{
	assert_true(wire_rnr_ns(0) == 655360000);
	assert_true(wire_rnr_ns(1) == 10000);
	assert_true(wire_rnr_ns(12) == 640000);
	assert_true(wire_rnr_ns(31) == 491520000);
}

static void source_port_is_dynamic_and_stable(void **state)
{
	unsigned int ports[4] = {0};

	for (uint32_t qpn = 2; qpn < 1000; qpn++) {
		uint16_t port = wire_path_sport(0, qpn, 77);

		assert_true(port >= 0xc000);
		assert_int_equal(port, wire_path_sport(0, qpn, 77));
		ports[port % 4]++;
	}
	assert_true(ports[0] && ports[1] && ports[2] && ports[3]);
	assert_int_equal(wire_path_sport(0x12345, 1, 2),
			 0xc000 | ((0x12345 ^ 0x12345 >> 14) & 0x3fff));
}

static void management_datagram_goes_there_and_back(void **state)
{
	uint8_t mad[WIRE_MAD_BYTES];
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_packet p;
	const uint8_t *got;
	size_t len;

	for (unsigned int i = 0; i < sizeof(mad); i++)
		mad[i] = (uint8_t)i;
	len = wire_seal(&wire_ipv4, bytes, wire_mad_build(mad, 0xffff, 9, bytes));
	assert_int_equal(len, 12 + 8 + 256 + 4);
	assert_int_equal(wire_parse(bytes, len, &p), WIRE_ACCEPTED);
	assert_int_equal(wire_datagram_check(&p, 1, WIRE_MAD_QKEY, 0xffff), WIRE_ACCEPTED);
	assert_int_equal(p.src_qpn, 1);
	got = wire_mad(&p);
	assert_non_null(got);
	assert_memory_equal(got, mad, sizeof(mad));
	p.qkey = 1;
	assert_null(wire_mad(&p));
	p.qkey = WIRE_MAD_QKEY;
	p.len = 255;
	assert_null(wire_mad(&p));
}

static void datagrams_for_another_queue_key_or_partition_are_dropped(void **state)
{
	struct wire_packet p = full(WIRE_UD | WIRE_SEND_ONLY, 4);

	p.dest_qpn = 0x50;
	p.pkey = 0xffff;
	p.qkey = 7;
	assert_int_equal(wire_datagram_check(&p, 0x50, 7, 0xffff), WIRE_ACCEPTED);
	assert_int_equal(wire_datagram_check(&p, 0x51, 7, 0xffff), WIRE_DROP_QPN);
	assert_int_equal(wire_datagram_check(&p, 0x50, 8, 0xffff), WIRE_DROP_QKEY);
	assert_int_equal(wire_datagram_check(&p, 0x50, 7, 0x8001), WIRE_DROP_PKEY);
	p.dest_qpn = WIRE_MULTICAST;
	assert_int_equal(wire_datagram_check(&p, 0x50, 7, 0xffff), WIRE_ACCEPTED);
	p.opcode = WIRE_SEND_ONLY;
	assert_int_equal(wire_datagram_check(&p, 0x50, 7, 0xffff), WIRE_DROP_SERVICE);
}

static void drops_have_words(void **state)
{
	for (unsigned int i = 0; i < WIRE_DROP_COUNT; i++)
		assert_true(strlen(wire_drop_words((enum wire_drop)i)) > 5);
	assert_string_equal(wire_drop_words(WIRE_DROP_ICRC), "the invariant CRC is wrong");
	assert_string_equal(wire_drop_words(WIRE_DROP_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode_is_parsed_as_it_was_built),
		cmocka_unit_test(undefined_opcodes_are_dropped),
		cmocka_unit_test(every_shorter_packet_is_dropped),
		cmocka_unit_test(headers_that_contradict_the_length_are_dropped),
		cmocka_unit_test(every_bit_but_the_masked_ones_counts),
		cmocka_unit_test(random_changes_are_found),
		cmocka_unit_test(addresses_and_identification_count),
		cmocka_unit_test(unknown_identification_is_found),
		cmocka_unit_test(unknown_identification_hides_few_errors),
		cmocka_unit_test(identification_and_flag_are_revealed),
		cmocka_unit_test(identification_of_a_falsified_packet_is_not_revealed),
		cmocka_unit_test(requests_are_found_by_psn),
		cmocka_unit_test(psns_are_compared_modulo_their_range),
		cmocka_unit_test(credits_are_rounded_down),
		cmocka_unit_test(rnr_times_are_those_of_the_standard),
		cmocka_unit_test(source_port_is_dynamic_and_stable),
		cmocka_unit_test(management_datagram_goes_there_and_back),
		cmocka_unit_test(datagrams_for_another_queue_key_or_partition_are_dropped),
		cmocka_unit_test(drops_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
