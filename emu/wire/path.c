/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/path.h"

#include <string.h>

#include "emu/ipc/bytes.h"
#include "emu/ipc/gid.h"

#define PROTOCOL_UDP	 17u
#define SPORT_FIRST	 0xc000u /* the dynamic ports */
#define SPORT_MASK	 0x3fffu
#define FLOW_LABEL_MASK	 0xfffffu
#define FLOW_LABEL_UPPER 14u /* the bits above the mask of ports */

bool wire_path_is_ipv4(const struct wire_path *path)
{
	return emu_gid_is_ipv4(path->dst) && emu_gid_is_ipv4(path->src);
}

/* The Internet checksum (RFC 1071): a sum to continue, and its end. */
static uint32_t sum(uint32_t at, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		at += emu_get16(bytes + i);
	if (len % 2)
		at += (uint32_t)bytes[len - 1] << 8;
	return at;
}

static uint16_t checksum(uint32_t at)
{
	at = (at & 0xffffu) + (at >> 16);
	at = (at & 0xffffu) + (at >> 16);
	return (uint16_t)~at;
}

static size_t put_ipv4(const struct wire_path *path, size_t len, uint8_t *out)
{
	memset(out, 0, WIRE_IPV4);
	out[0] = 0x45;
	out[1] = path->tclass;
	emu_put16(out + 2, (uint16_t)(WIRE_IPV4 + WIRE_UDP + len));
	emu_put16(out + 4, path->id);
	emu_put16(out + 6, path->may_fragment ? 0 : WIRE_IPV4_NO_FRAGMENT);
	out[8] = path->hop_limit;
	out[9] = PROTOCOL_UDP;
	memcpy(out + 12, path->src + EMU_GID_IPV4, 4);
	memcpy(out + 16, path->dst + EMU_GID_IPV4, 4);
	emu_put16(out + 10, checksum(sum(0, out, WIRE_IPV4)));
	return WIRE_IPV4;
}

static size_t put_ipv6(const struct wire_path *path, size_t len, uint8_t *out)
{
	emu_put32(out,
		  6u << 28 | (uint32_t)path->tclass << 20 | (path->flow_label & FLOW_LABEL_MASK));
	emu_put16(out + 4, (uint16_t)(WIRE_UDP + len));
	out[6] = PROTOCOL_UDP;
	out[7] = path->hop_limit;
	memcpy(out + 8, path->src, 16);
	memcpy(out + 24, path->dst, 16);
	return WIRE_IPV6;
}

/* Over IPv6 a UDP datagram must have a checksum (RFC 8200, 8.1); 0 stands for none. */
static uint16_t udp_checksum(const struct wire_path *path, const uint8_t *udp, const uint8_t *bytes,
			     size_t len)
{
	uint32_t at = PROTOCOL_UDP + (uint32_t)(WIRE_UDP + len);
	uint16_t result;

	at = sum(at, path->src, 16);
	at = sum(at, path->dst, 16);
	at = sum(at, udp, WIRE_UDP);
	result = checksum(sum(at, bytes, len));
	return result ? result : 0xffff;
}

size_t wire_path_network(const struct wire_path *path, size_t len, uint8_t *out)
{
	return wire_path_is_ipv4(path) ? put_ipv4(path, len, out) : put_ipv6(path, len, out);
}

size_t wire_path_headers(const struct wire_path *path, const uint8_t *bytes, size_t len,
			 uint8_t *out)
{
	bool ipv4 = wire_path_is_ipv4(path);
	size_t head = wire_path_network(path, len, out);
	uint8_t *udp = out + head;

	emu_put16(udp, path->sport);
	emu_put16(udp + 2, path->dport);
	emu_put16(udp + 4, (uint16_t)(WIRE_UDP + len));
	emu_put16(udp + 6, 0);
	if (!ipv4)
		emu_put16(udp + 6, udp_checksum(path, udp, bytes, len));
	return head + WIRE_UDP;
}

/* Linux, rdma_flow_label_to_udp_sport() and rdma_calc_flow_label(). */
uint16_t wire_path_sport(uint32_t flow_label, uint32_t qpn, uint32_t dest_qpn)
{
	uint64_t mix = (uint64_t)qpn * dest_qpn;

	if (!flow_label) {
		mix ^= mix >> 20;
		mix ^= mix >> 40;
		flow_label = (uint32_t)(mix & FLOW_LABEL_MASK);
	}
	return (uint16_t)(SPORT_FIRST |
			  ((flow_label ^ flow_label >> FLOW_LABEL_UPPER) & SPORT_MASK));
}
