/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "desc_codec.h"

static size_t encode(const struct dpumap_desc *d, uint8_t *buf, size_t room)
{
	size_t written;

	return dpumap_desc_encode(d, buf, room, &written) == DPUMAP_DESC_OK ? written : 0;
}

static bool decode(const uint8_t *buf, size_t len, struct dpumap_desc *d)
{
	return dpumap_desc_decode(buf, len, d) == DPUMAP_DESC_OK;
}

const struct desc_codec desc_codec_dpumap = {"dpumap", encode, decode};
