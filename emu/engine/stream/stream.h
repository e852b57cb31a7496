/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A stream, whole in memory, and its transformation piece by piece: an engine without queues, mkeys or anybody's
 * memory. It allocates nothing. The input may be hostile.
 */
#ifndef EMU_ENGINE_STREAM_STREAM_H
#define EMU_ENGINE_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum emu_stream_kind {
	EMU_STREAM_DEFLATE, /* compress; the next two decompress */
	EMU_STREAM_INFLATE,
	EMU_STREAM_LZ4,
	EMU_STREAM_SEAL, /* encrypt by AES-GCM; the next one decrypts */
	EMU_STREAM_OPEN,
};

enum emu_lz4_form {
	EMU_LZ4_DATA,	 /* of one block */
	EMU_LZ4_BLOCKS,	 /* each after its length, as in a frame */
	EMU_LZ4_CHECKED, /* and followed by its checksum */
};

/* The most bytes of a block: LZ4_Frame_format.md, "Block Maximum Size". */
#define EMU_LZ4_BLOCK_MAX  (4u << 20)

#define EMU_STREAM_KEY_MAX 32
#define EMU_STREAM_TAG_MAX 16

/* The source begins with the additional data; a source to open ends with the tag. */
struct emu_stream_gcm {
	const uint8_t *key; /* valid until the stream is open */
	uint8_t key_bytes;  /* 16 or EMU_STREAM_KEY_MAX */
	uint8_t tag_bytes;  /* 4 to EMU_STREAM_TAG_MAX */
	uint8_t iv[12];
	uint32_t aad_bytes;
};

struct emu_stream_format {
	enum emu_stream_kind kind;
	uint8_t log_window; /* DEFLATE: 10 to 15 */
	bool fixed;	    /* DEFLATE: the codes of RFC 1951, 3.2.6, alone */
	enum emu_lz4_form form;
	bool independent; /* LZ4: no block refers to another one */
	struct emu_stream_gcm gcm;
};

enum emu_stream_state {
	EMU_STREAM_MORE,
	EMU_STREAM_END,
	EMU_STREAM_BAD, /* the input is no such stream, ends too early, or has another tag */
};

struct emu_stream;
struct emu_sums;

/* How much memory a stream needs. */
size_t emu_stream_bytes(const struct emu_stream_format *format, size_t in_len);
/* Begin a stream in this memory. NULL: zlib needs more. */
struct emu_stream *emu_stream_open(void *memory, const struct emu_stream_format *format,
				   size_t in_len);

/* Where the input belongs, before the first piece is asked for. */
uint8_t *emu_stream_in(struct emu_stream *stream);
/* The next bytes of the output, which may be none; they are valid until the next call. Deflate takes 64 KiB a call. */
enum emu_stream_state emu_stream_next(struct emu_stream *stream, const uint8_t **bytes,
				      size_t *len);
/* End a stream, whole or not. */
void emu_stream_close(struct emu_stream *stream);
/* Of the uncompressed data so far; of streams that are compressed. */
const struct emu_sums *emu_stream_sums(const struct emu_stream *stream);

#endif
