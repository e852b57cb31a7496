/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Channel messages: every message decodes to what was encoded, and nothing else decodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "channel/conn.h"
#include "channel/fields.h"
#include "channel/message.h"

#define LEN(a) ARRAY_SIZE(a)

struct bytes {
	const char *title;
	const char *data;
	size_t len;
	const char *why; /* what the error says */
};

#define BYTES(title, literal, why)                       \
	{                                                \
		title, literal, sizeof(literal) - 1, why \
	}

/* Every reason for which a message is refused. */
static const struct bytes hostile[] = {
	BYTES("nothing", "", "it is truncated"),
	BYTES("a number", "\x01", "a number in place of a map"),
	BYTES("an array", "\x80", "an array in place of a map"),
	BYTES("a map without its pair", "\xa1", "is truncated"),
	BYTES("an indefinite map", "\xbf\xff", "an unsupported type in place of a map"),
	BYTES("a reserved byte", "\xfc", "not CBOR"),
	BYTES("a tagged map", "\xc1\xa0", "an unsupported type"),
	BYTES("two maps", "\xa0\xa0", "bytes after the end"),
	BYTES("a map of 2^64-1", "\xbb\xff\xff\xff\xff\xff\xff\xff\xff", "more fields than exist"),
	BYTES("more fields than exist", "\xb8\x40", "more fields than exist"),
	BYTES("a number as key", "\xa1\x01\x01", "a number in place of a text string"),
	BYTES("bytes as key", "\xa1\x42id\x01", "a byte string in place of a text string"),
	BYTES("an unknown field",
	      "\xa1\x63"
	      "foo\x01",
	      "unknown field"),
	BYTES("a key with a NUL", "\xa1\x63id\0\x01", "unknown field"),
	BYTES("a field twice", "\xa2\x62id\x01\x62id\x02", "a duplicate field"),
	BYTES("a text as number", "\xa1\x62id\x61x", "a text string in place of a number"),
	BYTES("a negative number", "\xa1\x62id\x20", "an unsupported type in place of a number"),
	BYTES("a float", "\xa1\x62id\xf9\x3c\x00", "an unsupported type in place of a number"),
	BYTES("null", "\xa1\x62id\xf6", "an unsupported type in place of a number"),
	BYTES("a number cut off", "\xa1\x62id\x1b\x00\x00", "is truncated"),
	BYTES("a number as text", "\xa1\x62op\x01", "a number in place of a text string"),
	BYTES("bytes as text", "\xa1\x62op\x41x", "a byte string in place of a text string"),
	BYTES("an indefinite text", "\xa1\x62op\x7f\x61x\xff", "an unsupported type"),
	BYTES("a text of 2^64-1",
	      "\xa1\x62op\x7b\xff\xff\xff\xff\xff\xff\xff\xff"
	      "abc",
	      "is truncated"),
	BYTES("an escape in a text", "\xa1\x62op\x62\x1b[", "not printable"),
	BYTES("a NUL in a text", "\xa1\x62op\x62h\0", "not printable"),
	BYTES("a DEL in a text", "\xa1\x62op\x61\x7f", "not printable"),
	BYTES("UTF-8 in a text", "\xa1\x62op\x62\xc3\xa4", "not printable"),
	BYTES("a control character in a text", "\xa1\x62op\x61\x1f", "not printable"),
	BYTES("an operation too long",
	      "\xa1\x62op\x78\x21"
	      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	      "above its limit"),
	BYTES("a digest too long",
	      "\xa1\x66sha256\x58\x21"
	      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	      "above its limit"),
	BYTES("a text as bytes", "\xa1\x66sha256\x61x", "a text string in place of a byte string"),
	BYTES("a map as exports",
	      "\xa1\x67"
	      "exports\xa0",
	      "a map in place of an array"),
	BYTES("a nested array",
	      "\xa1\x67"
	      "exports\x81\x80",
	      "an array in place of a map"),
	BYTES("2^32 exports",
	      "\xa1\x67"
	      "exports\x9b\x00\x00\x00\x01\x00\x00\x00\x00",
	      "more exports"),
	BYTES("65 exports",
	      "\xa1\x67"
	      "exports\x98\x41",
	      "more exports"),
	BYTES("exports that do not come",
	      "\xa1\x67"
	      "exports\x82",
	      "is truncated"),
	BYTES("an empty export",
	      "\xa1\x67"
	      "exports\x81\xa0",
	      "exactly four fields"),
	BYTES("an export with a number as key",
	      "\xa1\x67"
	      "exports\x81\xa4\x01\x01",
	      "a number in place of a text string"),
	BYTES("an export with a foreign field",
	      "\xa1\x67"
	      "exports\x81\xa4\x64name\x61x\x64kind\x61x\x64size\x01\x62id\x01",
	      "unknown field"),
	BYTES("an export with a field twice",
	      "\xa1\x67"
	      "exports\x81\xa4\x64name\x61x\x64kind\x61x\x64size\x01\x64size\x01",
	      "a duplicate field"),
	BYTES("access beyond 32 bits",
	      "\xa1\x67"
	      "exports\x81\xa4\x64name\x61x\x64kind\x61x\x64size\x01\x66"
	      "access\x1b\x00\x00\x00\x01\x00\x00\x00\x00",
	      "a number above its limit"),
	BYTES("an export with a path as name",
	      "\xa1\x67"
	      "exports\x81\xa4\x64name\x64../x\x64kind\x61x\x64size\x01\x66"
	      "access\x01",
	      "an invalid export name"),
	BYTES("a kind too long",
	      "\xa1\x67"
	      "exports\x81\xa4\x64name\x61x\x64kind\x70"
	      "aaaaaaaaaaaaaaaa\x64size\x01\x66"
	      "access\x01",
	      "above its limit"),
};

/* An exact allocation, so that a sanitizer detects a read beyond it. */
static doca_error_t decode_exact(const void *data, size_t len, struct dpumap_msg *msg,
				 struct dpumap_error *error)
{
	uint8_t *exact = malloc(len ? len : 1);
	doca_error_t result;

	assert_non_null(exact);
	memcpy(exact, data, len);
	result = dpumap_msg_decode(len ? exact : exact + 1, len, msg, error);
	free(exact);
	return result;
}

static void hostile_messages_are_refused_with_a_reason(void **state)
{
	struct dpumap_error error;
	struct dpumap_msg msg;

	for (size_t i = 0; i < LEN(hostile); i++) {
		const struct bytes *h = &hostile[i];

		error.text[0] = '\0';
		if (decode_exact(h->data, h->len, &msg, &error) != DOCA_ERROR_INVALID_VALUE)
			fail_msg("%s is accepted", h->title);
		if (!strstr(error.text, h->why))
			fail_msg("%s: \"%s\" does not say \"%s\"", h->title, error.text, h->why);
	}
}

static const char descriptor[] = "not a secret";

static void fill(struct dpumap_msg *msg, uint32_t exports)
{
	struct dpumap_export_info info = {.kind = "dram", .size = 16 << 20, .access = 33};

	dpumap_msg_init(msg);
	dpumap_msg_set_number(msg, DPUMAP_MSG_ID, UINT64_MAX);
	dpumap_msg_set_text(msg, DPUMAP_MSG_OP, "get");
	dpumap_msg_set_text(msg, DPUMAP_MSG_NAME, "fast");
	dpumap_msg_set_number(msg, DPUMAP_MSG_STATUS, 0);
	dpumap_msg_set_number(msg, DPUMAP_MSG_OFFSET, 65536);
	dpumap_msg_set_bytes(msg, DPUMAP_MSG_DESCRIPTOR, descriptor, sizeof(descriptor));
	for (uint32_t i = 0; i < exports; i++) {
		snprintf(info.name, sizeof(info.name), "export-%u", i);
		assert_true(dpumap_msg_add_export(msg, &info));
	}
}

static void decoding_returns_what_was_encoded(void **state)
{
	static const enum dpumap_msg_key numbers[] = {DPUMAP_MSG_ID, DPUMAP_MSG_STATUS,
						      DPUMAP_MSG_OFFSET};
	uint8_t buf[DPUMAP_FRAME_MAX];
	struct dpumap_msg in, out;
	struct dpumap_error error;
	char name[16];
	size_t len;

	fill(&in, 3);
	memset(&out, 'x', sizeof(out));
	assert_int_equal(dpumap_msg_encode(&in, buf, sizeof(buf), &len, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_msg_decode(buf, len, &out, &error), DOCA_SUCCESS);
	assert_int_equal(in.present, out.present);
	for (size_t i = 0; i < LEN(numbers); i++)
		assert_true(in.value[numbers[i]].number == out.value[numbers[i]].number);
	dpumap_msg_get_text(&out, DPUMAP_MSG_NAME, name, sizeof(name));
	assert_string_equal(name, "fast");
	assert_int_equal(out.value[DPUMAP_MSG_DESCRIPTOR].len, sizeof(descriptor));
	assert_memory_equal(out.value[DPUMAP_MSG_DESCRIPTOR].data, descriptor, sizeof(descriptor));
	assert_int_equal(out.num_exports, 3);
	assert_string_equal(out.exports[2].name, "export-2");
	assert_string_equal(out.exports[2].kind, "dram");
	assert_true(out.exports[2].size == 16 << 20);
	assert_int_equal(out.exports[2].access, 33);
}

/* Each field as long as it may be, and numbers of each length that CBOR has. */
static void fields_of_every_length_are_decoded(void **state)
{
	static const uint64_t numbers[] = {
		0,	 23,	     24,	 UINT8_MAX,	 256,	     UINT16_MAX,
		1 << 16, UINT32_MAX, 1ull << 32, UINT64_MAX - 1, UINT64_MAX, 1};
	static char text[DPUMAP_FRAME_MAX];
	uint8_t buf[DPUMAP_FRAME_MAX];
	struct dpumap_msg in, out;
	struct dpumap_error error;
	size_t len;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(' ' + i % ('~' - ' ' + 1));
	dpumap_msg_init(&in);
	for (enum dpumap_msg_key key = 0; key < DPUMAP_MSG_KEYS; key++) {
		const struct dpumap_field *field = dpumap_field_get(key);

		if (field->type == DPUMAP_FIELD_NUMBER)
			dpumap_msg_set_number(&in, key, numbers[key % LEN(numbers)]);
		else if (field->type != DPUMAP_FIELD_EXPORTS)
			dpumap_msg_set_bytes(&in, key, text, field->max);
	}
	in.present |= 1u << DPUMAP_MSG_EXPORTS;
	memset(&out, 'x', sizeof(out));
	assert_int_equal(dpumap_msg_encode(&in, buf, sizeof(buf), &len, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_msg_encode(&in, buf, len, &len, &error), DOCA_SUCCESS);
	buf[len] = 0; /* no byte of the message */
	assert_int_equal(dpumap_msg_decode(buf, len, &out, &error), DOCA_SUCCESS);
	assert_int_equal(out.present, (1u << DPUMAP_MSG_KEYS) - 1);
	assert_int_equal(out.num_exports, 0);
	for (enum dpumap_msg_key key = 0; key < DPUMAP_MSG_KEYS; key++) {
		const struct dpumap_field *field = dpumap_field_get(key);

		if (field->type == DPUMAP_FIELD_NUMBER) {
			assert_true(out.value[key].number == numbers[key % LEN(numbers)]);
		} else if (field->type != DPUMAP_FIELD_EXPORTS) {
			assert_int_equal(out.value[key].len, field->max);
			assert_memory_equal(out.value[key].data, text, field->max);
		}
	}
}

static void text_ends_before_the_next_byte(void **state)
{
	static const uint8_t bytes[] = "\xa1\x62op\x61x\x01";
	struct dpumap_error error;
	uint8_t again[16] = {0};
	struct dpumap_msg msg;
	char text[3];
	size_t len;

	assert_int_equal(dpumap_msg_decode(bytes, 6, &msg, &error), DOCA_SUCCESS);
	dpumap_msg_get_text(&msg, DPUMAP_MSG_OP, text, sizeof(text));
	assert_string_equal(text, "x");
	dpumap_msg_set_text(&msg, DPUMAP_MSG_OP, "x");
	assert_int_equal(dpumap_msg_encode(&msg, again, sizeof(again), &len, &error), DOCA_SUCCESS);
	assert_int_equal(len, 6);
	assert_memory_equal(again, bytes, len);
}

static void get_text_fits_the_buffer(void **state)
{
	struct dpumap_msg msg = {0};
	char text[6] = "?????";

	dpumap_msg_get_text(&msg, DPUMAP_MSG_OP, text, sizeof(text));
	assert_string_equal(text, "");
	for (size_t size = 1; size < sizeof(text); size++) {
		memset(text, '?', sizeof(text));
		dpumap_msg_set_text(&msg, DPUMAP_MSG_OP, "abc");
		dpumap_msg_get_text(&msg, DPUMAP_MSG_OP, text, size);
		assert_int_equal(strlen(text), size > 4 ? 3 : size - 1);
		assert_memory_equal(text, "abc", strlen(text));
		assert_int_equal(text[size], '?');
	}
}

static void every_truncation_is_refused(void **state)
{
	uint8_t buf[DPUMAP_FRAME_MAX];
	struct dpumap_error error;
	struct dpumap_msg msg;
	size_t len;

	fill(&msg, 2);
	assert_int_equal(dpumap_msg_encode(&msg, buf, sizeof(buf), &len, &error), DOCA_SUCCESS);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(decode_exact(buf, cut, &msg, &error), DOCA_ERROR_INVALID_VALUE);
}

/*
 * Some of them are other valid messages; those must decode, the rest must be refused with a reason.
 */
static void every_changed_byte_is_refused_or_valid(void **state)
{
	uint8_t buf[DPUMAP_FRAME_MAX], again[DPUMAP_FRAME_MAX];
	struct dpumap_msg msg, changed;
	struct dpumap_error error;
	size_t len, again_len;
	unsigned int accepted = 0, refused = 0;

	fill(&msg, 1);
	assert_int_equal(dpumap_msg_encode(&msg, buf, sizeof(buf), &len, &error), DOCA_SUCCESS);
	for (size_t at = 0; at < len; at++) {
		uint8_t original = buf[at];

		for (unsigned int v = 0; v < 256; v++) {
			buf[at] = (uint8_t)v;
			if (dpumap_msg_decode(buf, len, &changed, &error) != DOCA_SUCCESS) {
				assert_int_equal(error.code, DOCA_ERROR_INVALID_VALUE);
				refused++;
				continue;
			}
			accepted++;
			assert_int_equal(dpumap_msg_encode(&changed, again, sizeof(again),
							   &again_len, &error),
					 DOCA_SUCCESS);
		}
		buf[at] = original;
	}
	assert_true(accepted >= len);
	assert_true(refused > len);
}

static void encoding_without_room_is_refused(void **state)
{
	uint8_t buf[DPUMAP_FRAME_MAX];
	struct dpumap_error error;
	struct dpumap_msg msg;
	size_t len, unused = 77;

	fill(&msg, 2);
	assert_int_equal(dpumap_msg_encode(&msg, buf, sizeof(buf), &len, &error), DOCA_SUCCESS);
	for (size_t size = 0; size < len; size++) {
		buf[size] = 0x5a;
		assert_int_equal(dpumap_msg_encode(&msg, buf, size, &unused, &error),
				 DOCA_ERROR_TOO_BIG);
		assert_int_equal(buf[size], 0x5a);
	}
	assert_int_equal(unused, 77);
}

static void encoding_a_field_above_its_limit_is_refused(void **state)
{
	static const uint8_t long_bytes[DPUMAP_DESCRIPTOR_MAX + 1];
	uint8_t buf[DPUMAP_FRAME_MAX];
	struct dpumap_error error;
	struct dpumap_msg msg;
	size_t len;

	dpumap_msg_init(&msg);
	dpumap_msg_set_bytes(&msg, DPUMAP_MSG_DESCRIPTOR, long_bytes, sizeof(long_bytes));
	assert_int_equal(dpumap_msg_encode(&msg, buf, sizeof(buf), &len, &error),
			 DOCA_ERROR_INVALID_VALUE);
	assert_non_null(strstr(error.text, "descriptor"));
}

static void full_list_fits_a_frame(void **state)
{
	struct dpumap_export_info info = {.size = UINT64_MAX, .access = UINT32_MAX};
	uint8_t buf[DPUMAP_FRAME_MAX];
	struct dpumap_error error;
	struct dpumap_msg msg;
	size_t len;

	memset(info.name, 'n', sizeof(info.name) - 1);
	memset(info.kind, 'k', sizeof(info.kind) - 1);
	dpumap_msg_init(&msg);
	for (unsigned int i = 0; i < DPUMAP_EXPORTS_PER_MSG; i++)
		assert_true(dpumap_msg_add_export(&msg, &info));
	assert_false(dpumap_msg_add_export(&msg, &info));
	assert_int_equal(dpumap_msg_encode(&msg, buf, sizeof(buf), &len, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_msg_decode(buf, len, &msg, &error), DOCA_SUCCESS);
	assert_int_equal(msg.num_exports, DPUMAP_EXPORTS_PER_MSG);
}

static void export_names_begin_with_a_letter_or_digit(void **state)
{
	static const char *const good[] = {"a", "fast", "A-b_c.9", "0"};
	static const char *const bad[] = {"", ".", "-x", "_x", "a b", "a/b", "a\n", "\xc3\xa4"};
	char name[DPUMAP_EXPORT_NAME_MAX + 1];

	for (size_t i = 0; i < LEN(good); i++)
		assert_true(dpumap_export_name_valid(good[i]));
	for (size_t i = 0; i < LEN(bad); i++)
		assert_false(dpumap_export_name_valid(bad[i]));
	memset(name, 'x', sizeof(name));
	name[DPUMAP_EXPORT_NAME_MAX] = '\0';
	assert_false(dpumap_export_name_valid(name));
	assert_true(dpumap_export_name_valid(name + 1));
}

static void operations_are_found_by_name(void **state)
{
	enum dpumap_op op = DPUMAP_OPS;
	struct dpumap_msg msg;

	for (enum dpumap_op o = 0; o < DPUMAP_OPS; o++) {
		dpumap_msg_init(&msg);
		dpumap_msg_set_text(&msg, DPUMAP_MSG_OP, dpumap_op_name(o));
		assert_true(dpumap_op_find(&msg, &op));
		assert_int_equal(op, o);
	}
	dpumap_msg_set_text(&msg, DPUMAP_MSG_OP, "gets");
	assert_false(dpumap_op_find(&msg, &op));
	dpumap_msg_init(&msg);
	assert_false(dpumap_op_find(&msg, &op));
}

static void events_are_found_by_name(void **state)
{
	enum dpumap_event event = DPUMAP_EVENTS;
	struct dpumap_msg msg;

	for (enum dpumap_event e = 0; e < DPUMAP_EVENTS; e++) {
		dpumap_msg_init(&msg);
		dpumap_msg_set_text(&msg, DPUMAP_MSG_EVENT, dpumap_event_name(e));
		assert_true(dpumap_event_find(&msg, &event));
		assert_int_equal(event, e);
	}
	dpumap_msg_set_text(&msg, DPUMAP_MSG_EVENT, "remove");
	assert_false(dpumap_event_find(&msg, &event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_messages_are_refused_with_a_reason),
		cmocka_unit_test(decoding_returns_what_was_encoded),
		cmocka_unit_test(fields_of_every_length_are_decoded),
		cmocka_unit_test(text_ends_before_the_next_byte),
		cmocka_unit_test(get_text_fits_the_buffer),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_changed_byte_is_refused_or_valid),
		cmocka_unit_test(encoding_without_room_is_refused),
		cmocka_unit_test(encoding_a_field_above_its_limit_is_refused),
		cmocka_unit_test(full_list_fits_a_frame),
		cmocka_unit_test(export_names_begin_with_a_letter_or_digit),
		cmocka_unit_test(operations_are_found_by_name),
		cmocka_unit_test(events_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
