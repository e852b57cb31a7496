/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/icrc.h"

#include <string.h>

#include "emu/ipc/bytes.h"
#include "emu/wire/crc32.h"
#include "emu/wire/packet.h"

#define LRH	   8u /* a local route header, which RoCE does not have */
#define POLYNOMIAL 0xedb88320u
#define ONE	   0x80000000u /* the polynomial 1: bit 31 is the coefficient of x^0 */
#define ID_AT	   4u	       /* identification and fragment offset, in an IPv4 header */
#define ID_BYTES   4u

/* The headers as they count, up to and with the BTH. */
static size_t mask_headers(const struct wire_path *path, const uint8_t *bytes, size_t len,
			   uint8_t *out)
{
	bool ipv4 = wire_path_is_ipv4(path);
	uint8_t *ip = out + LRH;
	uint8_t *udp = ip + (ipv4 ? WIRE_IPV4 : WIRE_IPV6);
	struct wire_path plain = *path;

	memset(out, 0xff, LRH);
	plain.tclass = 0xff;
	plain.hop_limit = 0xff;
	plain.flow_label = 0xffffffff;
	/* The checksum of UDP is not computed: it is masked, and IPv4 has none. */
	wire_path_headers(&plain, bytes, 0, ip);
	emu_put16(ipv4 ? ip + 2 : ip + 4,
		  (uint16_t)((ipv4 ? WIRE_IPV4 + WIRE_UDP : WIRE_UDP) + len));
	if (ipv4)
		memset(ip + 10, 0xff, 2);
	emu_put16(udp + 4, (uint16_t)(WIRE_UDP + len));
	memset(udp + 6, 0xff, 2);
	memcpy(udp + WIRE_UDP, bytes, WIRE_BTH);
	udp[WIRE_UDP + 4] = 0xff;
	return (size_t)(udp + WIRE_UDP + WIRE_BTH - out);
}

/* `len`: of the UDP payload, with the CRC. */
static uint32_t icrc(const struct wire_path *path, const uint8_t *bytes, size_t len)
{
	uint8_t head[LRH + WIRE_PATH_MAX + WIRE_BTH];
	size_t n = mask_headers(path, bytes, len, head);
	uint32_t crc = wire_crc32(0, head, n);

	return wire_crc32(crc, bytes + WIRE_BTH, len - WIRE_ICRC - WIRE_BTH);
}

/* The CRC is sent with its lowest byte first (IBA 7.8.1). */
static uint32_t get_crc(const uint8_t *b)
{
	return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

size_t wire_seal(const struct wire_path *path, uint8_t *bytes, size_t len)
{
	uint32_t crc;

	while (len % 4)
		bytes[len++] = 0;
	len += WIRE_ICRC;
	crc = icrc(path, bytes, len);
	bytes[len - 4] = (uint8_t)crc;
	bytes[len - 3] = (uint8_t)(crc >> 8);
	bytes[len - 2] = (uint8_t)(crc >> 16);
	bytes[len - 1] = (uint8_t)(crc >> 24);
	return len;
}

/* Multiplication and division by x, and multiplication, modulo the polynomial. */
static uint32_t times_x(uint32_t a)
{
	return a & 1 ? a >> 1 ^ POLYNOMIAL : a >> 1;
}

static uint32_t over_x(uint32_t a)
{
	return a & ONE ? (a ^ POLYNOMIAL) << 1 | 1 : a << 1;
}

static uint32_t times(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		if (a & ONE)
			product ^= b;
		b = times_x(b);
	}
	return product;
}

/* x^(-8 n) */
static uint32_t over_bytes(size_t n)
{
	uint32_t result = ONE;
	uint32_t power = ONE;

	for (unsigned int i = 0; i < 8; i++)
		power = over_x(power);
	for (; n; n >>= 1) {
		if (n & 1)
			result = times(result, power);
		power = times(power, power);
	}
	return result;
}

/*
 * A CRC is linear. If four bytes of a message change, the CRC changes by these bytes times x^(8 n), where n is the
 * number of bytes from the first of them to the end. So the change of the CRC says which change of
 * the four bytes explains it: one that may be an identification and fragment flags, or nonsense.
 */
static uint32_t change_of_id(uint32_t change, size_t len)
{
	size_t behind = WIRE_IPV4 - ID_AT + WIRE_UDP + len - WIRE_ICRC;

	return __builtin_bswap32(times(change, over_bytes(behind)));
}

static bool is_explained_by_id(uint32_t change, size_t len)
{
	uint32_t fragment = change_of_id(change, len) & 0xffffu;

	return !fragment || fragment == WIRE_IPV4_NO_FRAGMENT;
}

static uint32_t difference(const struct wire_path *path, const uint8_t *bytes, size_t len)
{
	return icrc(path, bytes, len) ^ get_crc(bytes + len - WIRE_ICRC);
}

bool wire_icrc_is_right(const struct wire_path *path, const uint8_t *bytes, size_t len)
{
	uint32_t change;

	if (len < WIRE_BTH + WIRE_ICRC || len > WIRE_MAX_PACKET)
		return false;
	change = difference(path, bytes, len);
	if (!change)
		return true;
	return path->id_unknown && wire_path_is_ipv4(path) && is_explained_by_id(change, len);
}

void wire_icrc_reveal(struct wire_path *path, const uint8_t *bytes, size_t len)
{
	uint32_t change;

	if (!path->id_unknown || !wire_path_is_ipv4(path) || !wire_icrc_is_right(path, bytes, len))
		return;
	change = change_of_id(difference(path, bytes, len), len);
	path->id ^= (uint16_t)(change >> 16);
	path->may_fragment ^= (change & WIRE_IPV4_NO_FRAGMENT) != 0;
	path->id_unknown = false;
}
