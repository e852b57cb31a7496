/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The frames of doca_comch: what is encoded is decoded again, and everything else is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "comch/link/wire.h"

static uint8_t bytes[COMCH_MAX_FRAME];
static struct comch_frame decoded;
static const char *why;

static doca_error_t decode(size_t len)
{
	size_t size = 0;
	doca_error_t result;

	why = NULL;
	memset(&decoded, 0xee, sizeof(decoded));
	result = dpumap_comch_decode(bytes, len, &decoded, &size, &why);
	if (result == DOCA_SUCCESS)
		assert_true(size <= len && size % 8 == 0);
	return result;
}

/* Returns the size. */
static size_t encode(const struct comch_frame *frame)
{
	memset(bytes, 0xff, sizeof(bytes));
	return dpumap_comch_encode(frame, bytes);
}

static void assert_round_trip(const struct comch_frame *frame)
{
	size_t size = encode(frame);

	for (size_t len = 0; len < size; len++)
		assert_int_equal(decode(len), DOCA_ERROR_AGAIN);
	assert_int_equal(decode(size), DOCA_SUCCESS);
	assert_int_equal(decoded.type, frame->type);
	assert_int_equal(decoded.credits, frame->credits);
}

static void assert_refused(size_t len)
{
	assert_int_equal(decode(len), DOCA_ERROR_INVALID_VALUE);
	assert_non_null(why);
}

static struct comch_frame hello(const char *name)
{
	struct comch_frame frame = {.type = COMCH_HELLO};

	frame.hello.place.card = 0x0123456789abcdef;
	frame.hello.place.function = 0xfedc;
	snprintf(frame.hello.place.name, sizeof(frame.hello.place.name), "%s", name);
	frame.hello.limits = (struct comch_limits){.max_message = 4080, .window = 1024};
	return frame;
}

static void hello_round_trip(void **state)
{
	struct comch_frame frame = hello("a server");

	assert_round_trip(&frame);
	assert_int_equal(decoded.hello.place.card, frame.hello.place.card);
	assert_int_equal(decoded.hello.place.function, frame.hello.place.function);
	assert_memory_equal(decoded.hello.place.name, frame.hello.place.name,
			    sizeof(frame.hello.place.name));
	assert_memory_equal(&decoded.hello.limits, &frame.hello.limits, sizeof(frame.hello.limits));
}

static void names_have_every_byte_value_and_length(void **state)
{
	char name[DPUMAP_COMCH_NAME_SIZE] = {0};
	struct comch_frame frame;

	for (int value = 1; value < 256; value++) {
		size_t len = 1 + (size_t)value % (sizeof(name) - 1);

		memset(name, 0, sizeof(name));
		memset(name, value, len);
		frame = hello(name);
		assert_round_trip(&frame);
		assert_string_equal(decoded.hello.place.name, name);
	}
}

static void largest_limits_round_trip(void **state)
{
	struct comch_frame frame = hello("x");

	frame.hello.limits.window = COMCH_MAX_WINDOW;
	assert_round_trip(&frame);
}

static void path_with_too_many_bytes_is_refused(void **state)
{
	struct comch_frame frame = {.type = COMCH_PATH_OPEN};
	size_t size;

	frame.path.producer_id = 1;
	frame.path.consumer_id = 2;
	frame.path.info_len = sizeof(frame.path.info);
	assert_round_trip(&frame);
	size = encode(&frame);
	bytes[0]++; /* the length */
	memset(bytes + size, 0, 8);
	assert_refused(dpumap_comch_frame_size(bytes[0]));
}

static void invalid_hellos_are_refused(void **state)
{
	struct comch_frame frame = hello("");
	size_t size;

	assert_refused(encode(&frame));
	frame = hello("ab");
	size = encode(&frame);
	bytes[size - 7] = 0; /* the second byte of the name */
	assert_refused(size);
	size = encode(&frame);
	bytes[8] ^= 1; /* magic */
	assert_refused(size);
	size = encode(&frame);
	bytes[12]++; /* version */
	assert_refused(size);
	frame.hello.limits.max_message = COMCH_MAX_MESSAGE + 1;
	assert_refused(encode(&frame));
	frame.hello.limits.max_message = 0;
	assert_refused(encode(&frame));
	frame.hello.limits = (struct comch_limits){.max_message = 1, .window = 0};
	assert_refused(encode(&frame));
	frame.hello.limits.window = COMCH_MAX_WINDOW + 1;
	assert_refused(encode(&frame));
}

static void name_without_room_for_nul_is_refused(void **state)
{
	struct comch_frame frame = hello("x");
	size_t size = encode(&frame);
	uint32_t len = bytes[0] - 1u + DPUMAP_COMCH_NAME_SIZE;

	memset(bytes + size - 8, 'x', DPUMAP_COMCH_NAME_SIZE + 8);
	memset(bytes + COMCH_HEADER_SIZE + len, 0, 8);
	bytes[0] = (uint8_t)len;
	assert_refused(dpumap_comch_frame_size(len));
	bytes[COMCH_HEADER_SIZE + len - 1] = 0;
	bytes[0]--;
	assert_int_equal(decode(dpumap_comch_frame_size(len - 1)), DOCA_SUCCESS);
	assert_int_equal(strlen(decoded.hello.place.name), DPUMAP_COMCH_NAME_SIZE - 1);
}

static void messages_of_every_length_round_trip(void **state)
{
	static uint8_t message[COMCH_MAX_MESSAGE];
	struct comch_frame frame = {.type = COMCH_MESSAGE, .credits = 0xabcd};

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 7);
	frame.message.bytes = message;
	for (uint32_t len = 0; len <= COMCH_MAX_MESSAGE; len += len < 40 ? 1 : 101) {
		size_t size;

		frame.message.len = len;
		size = encode(&frame);
		assert_int_equal(size, dpumap_comch_frame_size(len));
		assert_true(size == sizeof(bytes) || bytes[size] == 0xff);
		assert_int_equal(decode(size), DOCA_SUCCESS);
		assert_int_equal(decoded.credits, 0xabcd);
		assert_int_equal(decoded.message.len, len);
		assert_memory_equal(decoded.message.bytes, message, len);
	}
	frame.message.len = COMCH_MAX_MESSAGE;
	assert_int_equal(encode(&frame), COMCH_MAX_FRAME);
	assert_int_equal(decode(COMCH_MAX_FRAME), DOCA_SUCCESS);
}

static void consumers_round_trip(void **state)
{
	struct comch_frame frame = {.type = COMCH_CONSUMER_NEW};

	frame.consumer = (struct comch_consumer_info){
		.id = 0xfffe, .num_tasks = 1024, .imm_len = 32, .max_buf_size = 1ull << 40};
	assert_round_trip(&frame);
	assert_int_equal(decoded.consumer.id, frame.consumer.id);
	assert_int_equal(decoded.consumer.num_tasks, frame.consumer.num_tasks);
	assert_int_equal(decoded.consumer.imm_len, frame.consumer.imm_len);
	assert_int_equal(decoded.consumer.max_buf_size, frame.consumer.max_buf_size);
	frame.type = COMCH_CONSUMER_ACK;
	frame.answer = (struct comch_answer){.id = 1, .code = 7};
	assert_round_trip(&frame);
	assert_memory_equal(&decoded.answer, &frame.answer, sizeof(frame.answer));
	frame.type = COMCH_CONSUMER_GONE;
	assert_round_trip(&frame);
}

static void paths_round_trip(void **state)
{
	static const enum comch_frame_type types[] = {COMCH_PATH_OPEN, COMCH_PATH_UP,
						      COMCH_PATH_DOWN, COMCH_PATH_CLOSE};
	struct comch_frame frame = {0};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		frame.type = types[i];
		frame.path = (struct comch_path){
			.producer_id = 1, .consumer_id = 2, .code = 3, .info_len = 48};
		memset(frame.path.info, 0x5a, frame.path.info_len);
		assert_round_trip(&frame);
		assert_memory_equal(&decoded.path, &frame.path, sizeof(frame.path));
	}
	frame.path.info_len = COMCH_QP_INFO_MAX;
	assert_round_trip(&frame);
}

static void ids_out_of_range_are_refused(void **state)
{
	static const uint32_t ids[] = {0, 0xffff, 0x10000, UINT32_MAX};
	struct comch_frame frame = {0};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		frame = (struct comch_frame){.type = COMCH_CONSUMER_NEW};
		frame.consumer.id = ids[i];
		assert_refused(encode(&frame));
		frame = (struct comch_frame){.type = COMCH_CONSUMER_GONE};
		frame.answer.id = ids[i];
		assert_refused(encode(&frame));
		frame = (struct comch_frame){.type = COMCH_PATH_OPEN};
		frame.path.producer_id = ids[i];
		frame.path.consumer_id = 1;
		assert_refused(encode(&frame));
		frame.path.producer_id = 1;
		frame.path.consumer_id = ids[i];
		assert_refused(encode(&frame));
	}
}

static void frames_without_payload_round_trip(void **state)
{
	struct comch_frame frame = {.type = COMCH_CREDIT, .credits = 1};

	assert_round_trip(&frame);
	frame.type = COMCH_BYE;
	assert_round_trip(&frame);
	frame = (struct comch_frame){.type = COMCH_REFUSE, .code = 42};
	assert_round_trip(&frame);
	assert_int_equal(decoded.code, 42);
	frame = (struct comch_frame){.type = COMCH_WELCOME, .limits = {1, 1}};
	assert_round_trip(&frame);
}

/* Every type but messages has a payload of a fixed length, or a shortest and a longest one. */
static void wrong_lengths_are_refused(void **state)
{
	for (int type = 1; type < COMCH_NUM_TYPES; type++) {
		if (type == COMCH_MESSAGE)
			continue;
		for (uint32_t len = 0; len < 400; len++) {
			bool is_refused;

			memset(bytes, 0, sizeof(bytes));
			bytes[0] = (uint8_t)len;
			bytes[1] = (uint8_t)(len >> 8);
			bytes[4] = (uint8_t)type;
			is_refused = decode(dpumap_comch_frame_size(len)) != DOCA_SUCCESS;
			/* Zeros are a valid payload of these alone. */
			if ((type == COMCH_CREDIT || type == COMCH_BYE) && !len)
				assert_false(is_refused);
			else if (type == COMCH_REFUSE && len == 4)
				assert_false(is_refused);
			else
				assert_true(is_refused);
		}
	}
}

static void reserved_bits_are_refused(void **state)
{
	struct comch_frame frame = {.type = COMCH_MESSAGE, .message = {(const uint8_t *)"abc", 3}};
	size_t size = encode(&frame);

	for (size_t at = COMCH_HEADER_SIZE + 3; at < size; at++) {
		encode(&frame);
		bytes[at] = 0x80;
		assert_refused(size);
	}
	encode(&frame);
	bytes[5] = 1;
	assert_refused(size);
	/* A header alone is enough to refuse it. */
	assert_refused(COMCH_HEADER_SIZE);
	frame = (struct comch_frame){.type = COMCH_CONSUMER_NEW, .consumer = {.id = 1}};
	size = encode(&frame);
	bytes[COMCH_HEADER_SIZE + 12] = 1;
	assert_refused(size);
}

/* Bytes behind those that have arrived say nothing. */
static void part_of_a_header_is_not_judged(void **state)
{
	memset(bytes, 0xff, sizeof(bytes));
	for (size_t len = 0; len < COMCH_HEADER_SIZE; len++)
		assert_int_equal(decode(len), DOCA_ERROR_AGAIN);
}

static void refusal_has_nothing_but_its_code(void **state)
{
	static const uint8_t message[8] = {1};
	struct comch_frame frame = {.type = COMCH_REFUSE, .message = {message, sizeof(message)}};

	frame.code =
		(uint32_t)(uintptr_t)message; /* keeps the pointer on a little-endian machine */
	assert_int_equal(encode(&frame), dpumap_comch_frame_size(4));
}

static void unknown_types_are_refused(void **state)
{
	for (int type = 0; type < 256; type++) {
		memset(bytes, 0, sizeof(bytes));
		bytes[4] = (uint8_t)type;
		if (type && type < COMCH_NUM_TYPES)
			continue;
		assert_refused(COMCH_HEADER_SIZE);
		bytes[0] = 8; /* a payload that has not arrived */
		assert_refused(COMCH_HEADER_SIZE);
	}
}

static void frame_that_is_too_long_is_refused_by_its_header(void **state)
{
	struct comch_frame frame = {.type = COMCH_BYE};

	encode(&frame);
	bytes[0] = (COMCH_MAX_MESSAGE + 1) & 0xff;
	bytes[1] = (COMCH_MAX_MESSAGE + 1) >> 8;
	assert_refused(COMCH_HEADER_SIZE);
	memset(bytes, 0xff, 4);
	assert_refused(COMCH_HEADER_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_round_trip),
		cmocka_unit_test(names_have_every_byte_value_and_length),
		cmocka_unit_test(largest_limits_round_trip),
		cmocka_unit_test(path_with_too_many_bytes_is_refused),
		cmocka_unit_test(invalid_hellos_are_refused),
		cmocka_unit_test(name_without_room_for_nul_is_refused),
		cmocka_unit_test(messages_of_every_length_round_trip),
		cmocka_unit_test(consumers_round_trip),
		cmocka_unit_test(paths_round_trip),
		cmocka_unit_test(ids_out_of_range_are_refused),
		cmocka_unit_test(frames_without_payload_round_trip),
		cmocka_unit_test(wrong_lengths_are_refused),
		cmocka_unit_test(reserved_bits_are_refused),
		cmocka_unit_test(part_of_a_header_is_not_judged),
		cmocka_unit_test(refusal_has_nothing_but_its_code),
		cmocka_unit_test(unknown_types_are_refused),
		cmocka_unit_test(frame_that_is_too_long_is_refused_by_its_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
