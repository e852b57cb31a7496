/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keys and values travel in base64 (RFC 4648, with padding). */
#ifndef DPUMAP_FLEET_BASE64_H
#define DPUMAP_FLEET_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* With the NUL. */
#define DPUMAP_BASE64_SIZE(len) (((len) + 2) / 3 * 4 + 1)

/* Writes DPUMAP_BASE64_SIZE(len) bytes. */
void dpumap_base64_encode(const void *bytes, size_t len, char *text);
/* Writes *len bytes, at most 3 for 4 characters. false: the text is not valid. May decode in place. */
bool dpumap_base64_decode(const char *text, size_t text_len, void *bytes, size_t *len);

#endif
