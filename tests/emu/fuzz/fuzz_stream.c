/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The streams of compression. The first byte of the input chooses the format, and the rest is what a hostile
 * program gives the card to compress or decompress. What was compressed must be the same again, and the checksum of
 * what was decompressed must be its own.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "emu/engine/stream/stream.h"
#include "emu/engine/stream/sums.h"

#define ROOM   (8u << 20) /* of a destination; programs' bombs are larger */
#define MEMORY (6u << 20) /* of a stream */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* As the card does it: stop at the end of the destination. Returns whether all of the output is there. */
static bool run(const struct emu_stream_format *format, const uint8_t *in, size_t in_len,
		uint8_t *out, size_t *out_len)
{
	static max_align_t memory[MEMORY / sizeof(max_align_t)];
	enum emu_stream_state state = EMU_STREAM_MORE;
	const uint8_t *piece = NULL;
	struct emu_stream *s;
	size_t len = 0;

	must(emu_stream_bytes(format, in_len) <= sizeof(memory));
	s = emu_stream_open(memory, format, in_len);
	must(s);
	memcpy(emu_stream_in(s), in, in_len);
	for (*out_len = 0; state == EMU_STREAM_MORE; *out_len += len) {
		state = emu_stream_next(s, &piece, &len);
		if (state == EMU_STREAM_BAD || len > ROOM - *out_len)
			break;
		if (len)
			memcpy(out + *out_len, piece, len);
	}
	if (state == EMU_STREAM_END && format->kind != EMU_STREAM_DEFLATE)
		must(emu_stream_sums(s)->crc32 == crc32(0, out, (uInt)*out_len));
	emu_stream_close(s);
	return state == EMU_STREAM_END;
}

static void go_back(const uint8_t *packed, size_t packed_len, const uint8_t *in, size_t in_len)
{
	static uint8_t out[ROOM];
	const struct emu_stream_format inflate_it = {.kind = EMU_STREAM_INFLATE};
	size_t len;

	must(run(&inflate_it, packed, packed_len, out, &len));
	must(len == in_len && !memcmp(out, in, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t out[ROOM];
	struct emu_stream_format format = {0};
	size_t len;

	if (size < 2)
		return 0;
	format.kind = (enum emu_stream_kind)(data[0] % 3);
	format.log_window = (uint8_t)(10 + (data[0] >> 2) % 6);
	format.fixed = data[0] & 0x80;
	format.form = (enum emu_lz4_form)((data[0] >> 2) % 3);
	format.independent = data[0] & 0x40;
	if (run(&format, data + 1, size - 1, out, &len) && format.kind == EMU_STREAM_DEFLATE)
		go_back(out, len, data + 1, size - 1);
	return 0;
}
