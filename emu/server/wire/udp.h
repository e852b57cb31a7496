/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* UDP sockets of endpoints: not connected, non-blocking, and with the path MTU as the limit. */
#ifndef EMU_WIRE_UDP_H
#define EMU_WIRE_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "emu/wire/path.h"

#define EMU_UDP_FIRST_PORT 0xc000u /* of the ports from which packets are sent */

/*
 * The first receiving socket of an address and port 4791; each function returns a descriptor or a negative errno.
 * -EADDRINUSE: another socket has the address and port, be it of the same user.
 */
int emu_udp_first(const uint8_t addr[16]);
/* One more socket of the group: its index is the next one. */
int emu_udp_next(const uint8_t addr[16]);
/* May the kernel join the datagrams of one sender that this socket receives? */
void emu_udp_join(int fd, bool join);
/* A socket that sends from a free port, which is `*port` or the next free one, and receives nothing. */
int emu_udp_sender(const uint8_t addr[16], uint16_t *port);
/* Throw away what has arrived. */
void emu_udp_drain(int fd);

/* Send a datagram as `path` says; its source must be the socket's address. 0 or a negative errno. */
int emu_udp_send(int fd, const struct wire_path *path, const void *bytes, size_t len);
/*
 * Receive a datagram. Sets the source, the ports and the traffic class of `path`. Returns its length, which may
 * exceed `room`, or a negative errno.
 */
ssize_t emu_udp_receive(int fd, struct wire_path *path, void *bytes, size_t room);

#endif
