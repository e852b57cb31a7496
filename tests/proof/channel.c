/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages of the control channel of any content, for Frama-C's Eva. libcbor is replaced by what its
 * documentation says: one token from the bytes that it gets, by one call back, or an error. Strings lie in
 * the bytes.
 */
#include <__fc_builtin.h>

#include "channel/decode.c"

#define LONGEST 4096u

static uint8_t bytes[LONGEST];
static struct dpumap_msg message;
static struct dpumap_error error;

const struct cbor_callbacks cbor_empty_callbacks;

doca_error_t dpumap_error_set(struct dpumap_error *f, doca_error_t code, const char *format, ...)
{
	(void)format;
	f->code = code;
	return code;
}

static void tell(const struct cbor_callbacks *callbacks, void *context, const uint8_t *at,
		 size_t len)
{
	const uint64_t number = Frama_C_unsigned_long_long_interval(0, UINT64_MAX);

	switch (Frama_C_interval(0, 8)) {
	case 0:
		callbacks->uint8(context, (uint8_t)number);
		break;
	case 1:
		callbacks->uint16(context, (uint16_t)number);
		break;
	case 2:
		callbacks->uint32(context, (uint32_t)number);
		break;
	case 3:
		callbacks->uint64(context, number);
		break;
	case 4:
		callbacks->array_start(context, number);
		break;
	case 5:
		callbacks->map_start(context, number);
		break;
	case 6:
		callbacks->byte_string(context, at, len);
		break;
	case 7:
		callbacks->string(context, at, len);
		break;
	default: /* a token without a call back of ours */
		break;
	}
}

struct cbor_decoder_result cbor_stream_decode(cbor_data source, size_t len,
					      const struct cbor_callbacks *callbacks, void *context)
{
	struct cbor_decoder_result result = {.status = CBOR_DECODER_FINISHED};
	const size_t head = Frama_C_size_t_interval(1, 9);
	const size_t run = Frama_C_size_t_interval(0, LONGEST);

	if (Frama_C_nondet(0, 1)) {
		result.status = Frama_C_nondet(CBOR_DECODER_NEDATA, CBOR_DECODER_ERROR);
		return result;
	}
	if (head > len || run > len - head) {
		result.status = CBOR_DECODER_NEDATA;
		return result;
	}
	tell(callbacks, context, source + head, run);
	result.read = head + run;
	return result;
}

/* Texts into places of their own: in a message, Eva would permit to write beyond one field into the next. */
static void copy_any(char *to, size_t size)
{
	struct reader r = {.buf = bytes, .len = LONGEST, .error = &error};

	r.at = Frama_C_size_t_interval(0, LONGEST);
	(void)copy_text(&r, to, size);
}

void main_text(void)
{
	static char name[sizeof(message.exports[0].name)];
	static char kind[sizeof(message.exports[0].kind)];

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	copy_any(name, sizeof(name));
	copy_any(kind, sizeof(kind));
}

void main_message(void)
{
	const size_t len = Frama_C_size_t_interval(0, LONGEST);

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	(void)dpumap_msg_decode(bytes, len, &message, &error);
}
