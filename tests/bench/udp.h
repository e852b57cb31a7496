/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Plain UDP between the two processes of a benchmark: what the kernel's network can do. */
#ifndef DPUMAP_BENCH_UDP_H
#define DPUMAP_BENCH_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "duo.h"

struct udp {
	const struct duo *duo;
	int fd;
};

/* Connect the sockets of both processes on loopback. Return false after printing an error. */
bool udp_open(struct udp *udp, const struct duo *duo);
void udp_close(struct udp *udp);

/* Send so many bytes as segments of the size of a RoCEv2 packet (sendmmsg, UDP_SEGMENT). */
bool udp_stream(struct udp *udp, size_t bytes);
/* Receive them (UDP_GRO). Return the bytes per second that arrived, or 0 after an error. */
double udp_sink(struct udp *udp);

/*
 * The same for RDMA writes of 64 KiB as any program must send them that is a card: each packet is copied to a buffer
 * behind a header and gets a CRC, and the first one of a message is longer, so that a message needs two datagrams.
 * The other side checks the CRCs and copies the payload to its place. Nothing is acknowledged or sent again, so what
 * is faster does less. `memory` has `slots` messages, which are sent one after the other.
 */
bool udp_stream_copied(struct udp *udp, const uint8_t *memory, size_t slots, size_t messages);
double udp_sink_copied(struct udp *udp, uint8_t *memory, size_t slots);

/* Send small datagrams back and forth. The first process gets the seconds of one round trip, or 0. */
double udp_ping(struct udp *udp, size_t count);
bool udp_pong(struct udp *udp, size_t count);

#endif
