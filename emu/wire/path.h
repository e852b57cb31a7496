/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a RoCEv2 packet has in front of its transport headers: IP and UDP (annex A17.3.1). */
#ifndef EMU_WIRE_PATH_H
#define EMU_WIRE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_IPV4	      20u
#define WIRE_IPV6	      40u
#define WIRE_UDP	      8u
#define WIRE_PATH_MAX	      (WIRE_IPV6 + WIRE_UDP)
#define WIRE_ECN_MASK	      3u /* of the traffic class (RFC 3168) */
#define WIRE_ECN_CAPABLE      2u
#define WIRE_ECN_CONGESTED    3u
#define WIRE_IPV4_NO_FRAGMENT 0x4000u

struct wire_path {
	uint8_t src[16], dst[16]; /* as GIDs: an IPv4 address is ::ffff:a.b.c.d (annex A17.4) */
	uint16_t sport, dport;	  /* of UDP */
	uint8_t tclass;		  /* IPv4: type of service */
	uint8_t hop_limit;
	uint32_t flow_label; /* IPv6 */
	/*
	 * The identification of an IPv4 packet. A receiver that cannot see it sets id_unknown, as a
	 * UDP socket does not show it. Our own packets have 0, which Linux gives to packets of an
	 * unconnected socket that must not be fragmented.
	 */
	uint16_t id;
	bool id_unknown;
	bool may_fragment; /* IPv4: the flag "don't fragment" is not set */
};

bool wire_path_is_ipv4(const struct wire_path *path);
/*
 * Write the IP header and the UDP header for the payload `bytes` of `len` bytes, with their checksums;
 * over IPv4, UDP has none. Returns their length, at most WIRE_PATH_MAX.
 */
size_t wire_path_headers(const struct wire_path *path, const uint8_t *bytes, size_t len,
			 uint8_t *out);
/* Write the IP header alone; returns its length. */
size_t wire_path_network(const struct wire_path *path, size_t len, uint8_t *out);
/*
 * The source port of a connection: networks choose one of several links by it (annex A17.3.1.2). It depends on the
 * flow label as the Linux kernel's does, and without one (0) on the two queue pairs.
 */
uint16_t wire_path_sport(uint32_t flow_label, uint32_t qpn, uint32_t dest_qpn);

#endif
