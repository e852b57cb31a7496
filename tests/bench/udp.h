/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Plain UDP between the two processes of a benchmark: what the kernel's network can do. */
#ifndef DPUMAP_BENCH_UDP_H
#define DPUMAP_BENCH_UDP_H

#include <stdbool.h>
#include <stddef.h>

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

/* Send small datagrams back and forth. The first process gets the seconds of one round trip, or 0. */
double udp_ping(struct udp *udp, size_t count);
bool udp_pong(struct udp *udp, size_t count);

#endif
