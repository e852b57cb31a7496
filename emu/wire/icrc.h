/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The invariant CRC of RoCEv2 (IBA 7.8.1, annex A17.3.2): the CRC-32 of Ethernet over 8 bytes of ones in
 * place of a local route header, IP header, UDP header and everything up to the CRC. Fields that routers
 * change count as ones: traffic class, flow label, hop limit, checksums, and byte 4 of the BTH.
 */
#ifndef EMU_WIRE_ICRC_H
#define EMU_WIRE_ICRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/path.h"

/*
 * Complete a packet: `bytes` has headers and payload, `len` bytes in all; pad (zeros) and the invariant
 * CRC are appended. Returns the length of the UDP payload.
 */
size_t wire_seal(const struct wire_path *path, uint8_t *bytes, size_t len);
/*
 * Is the invariant CRC of a UDP payload right? If the receiver does not see the identification of an
 * IPv4 packet, it is right if there is an identification, with or without the flag "don't fragment", for
 * which it is: a random error is then found with a probability of 1 - 2^-15 instead of 1 - 2^-32.
 */
bool wire_icrc_is_right(const struct wire_path *path, const uint8_t *bytes, size_t len);
/* Set the identification and the flag with which the invariant CRC is right, if there are such. */
void wire_icrc_reveal(struct wire_path *path, const uint8_t *bytes, size_t len);

#endif
