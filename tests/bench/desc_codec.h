/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Codecs that bench_desc compares. All of them carry the fields of a PCI export, including magic,
 * version and checksum; the others neither compute the checksum nor validate a value.
 */
#ifndef DPUMAP_BENCH_DESC_CODEC_H
#define DPUMAP_BENCH_DESC_CODEC_H

#include <dpumap/desc.h>
#include <stdbool.h>

#define BENCH_MAGIC    0x4d555044u
#define BENCH_CHECKSUM 0x9abcdef1u
#define BENCH_MAJOR    1u

struct desc_codec {
	const char *name;
	/* Return the number of bytes written, 0 on failure. */
	size_t (*encode)(const struct dpumap_desc *d, uint8_t *buf, size_t room);
	bool (*decode)(const uint8_t *buf, size_t len, struct dpumap_desc *d);
};

extern const struct desc_codec desc_codec_dpumap;
extern const struct desc_codec desc_codec_protobuf_c;
extern const struct desc_codec desc_codec_nanopb;
extern const struct desc_codec desc_codec_libcbor;

#endif
