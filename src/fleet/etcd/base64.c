/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/etcd/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void dpumap_base64_encode(const void *bytes, size_t len, char *text)
{
	const uint8_t *from = bytes;
	uint32_t group;

	for (size_t i = 0; i < len; i += 3) {
		group = (uint32_t)from[i] << 16;
		group |= i + 1 < len ? (uint32_t)from[i + 1] << 8 : 0;
		group |= i + 2 < len ? from[i + 2] : 0;
		*text++ = alphabet[group >> 18];
		*text++ = alphabet[group >> 12 & 63];
		*text++ = (char)(i + 1 < len ? alphabet[group >> 6 & 63] : '=');
		*text++ = (char)(i + 2 < len ? alphabet[group & 63] : '=');
	}
	*text = '\0';
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

bool dpumap_base64_decode(const char *text, size_t text_len, void *bytes, size_t *len)
{
	size_t padding = 0, used = 0, i;
	uint8_t *to = bytes;
	uint32_t group = 0;
	int value;

	if (text_len % 4)
		return false;
	while (padding < 2 && padding < text_len && text[text_len - 1 - padding] == '=')
		padding++;
	for (i = 0; i < text_len; i++) {
		value = i < text_len - padding ? value_of(text[i]) : 0;
		if (value < 0)
			return false;
		group = group << 6 | (uint32_t)value;
		if (i % 4 != 3)
			continue;
		to[used++] = (uint8_t)(group >> 16);
		to[used++] = (uint8_t)(group >> 8);
		to[used++] = (uint8_t)group;
	}
	*len = used - padding;
	return true;
}
