/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two ways of a packet, with addresses for documentation. */
#ifndef DPUMAP_TESTS_WIRE_PATHS_H
#define DPUMAP_TESTS_WIRE_PATHS_H

#include "emu/wire/datagram.h"

static const struct wire_path wire_ipv4 = {
	.src = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 1},
	.dst = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 2},
	.sport = 0xc123,
	.dport = WIRE_PORT,
	.tclass = 2,
	.hop_limit = 64,
};

static const struct wire_path wire_ipv6 = {
	.src = {0x20, 0x01, 0x0d, 0xb8, [15] = 1},
	.dst = {0x20, 0x01, 0x0d, 0xb8, [15] = 2},
	.sport = 0xc123,
	.dport = WIRE_PORT,
	.tclass = 2,
	.hop_limit = 64,
	.flow_label = 0x12345,
};

#endif
