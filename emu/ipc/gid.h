/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A GID is an IPv6 address, or an IPv4 address that is mapped into one (RFC 4291, 2.5.5.2). */
#ifndef EMU_IPC_GID_H
#define EMU_IPC_GID_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EMU_GID_IPV4 12u /* the byte where an IPv4 address begins */

static inline bool emu_gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t mapped[EMU_GID_IPV4] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(gid, mapped, sizeof(mapped));
}

static inline void emu_gid_from_ipv4(uint8_t gid[16], const struct in_addr *address)
{
	memset(gid, 0, EMU_GID_IPV4 - 2);
	memset(gid + EMU_GID_IPV4 - 2, 0xff, 2);
	memcpy(gid + EMU_GID_IPV4, address, sizeof(*address));
}

static inline bool emu_gid_parse(const char *text, uint8_t gid[16])
{
	struct in_addr ipv4;

	if (inet_pton(AF_INET6, text, gid) == 1)
		return true;
	if (inet_pton(AF_INET, text, &ipv4) != 1)
		return false;
	emu_gid_from_ipv4(gid, &ipv4);
	return true;
}

/* Returns `text`. */
static inline const char *emu_gid_text(const uint8_t gid[16], char text[static INET6_ADDRSTRLEN])
{
	bool ipv4 = emu_gid_is_ipv4(gid);

	return inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? gid + EMU_GID_IPV4 : gid, text,
			 INET6_ADDRSTRLEN);
}

#endif
