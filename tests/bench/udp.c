/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "udp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/wire/crc32.h"
#include "stats.h"

#define SEGMENT	 4116u /* BTH, RETH or not, 4096 bytes, ICRC */
#define SEGMENTS 15u   /* in a call: a datagram has at most 64 KiB */
#define CALLS	 8u    /* in a system call */
#define PING	 64u
#define MESSAGE	 65536u
#define PAYLOAD	 4096u
#define PACKETS	 (MESSAGE / PAYLOAD)
#define BTH	 12u
#define RETH	 16u
#define ICRC	 4u
#define FIRST	 2u /* packets of the first datagram: only its last may be shorter */
#define SPACE	 (8 << 20)

static bool failed(const char *what)
{
	perror(what);
	return false;
}

bool udp_open(struct udp *udp, const struct duo *duo)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int segment = SEGMENT, on = 1, space = SPACE;
	socklen_t len = sizeof(at);
	struct sockaddr_in peer;

	udp->duo = duo;
	udp->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (udp->fd < 0)
		return failed("bench: socket");
	if (!bind(udp->fd, (struct sockaddr *)&at, len) &&
	    !getsockname(udp->fd, (struct sockaddr *)&at, &len) &&
	    duo_swap(duo, &at, &peer, sizeof(at)) &&
	    !connect(udp->fd, (struct sockaddr *)&peer, sizeof(peer)) &&
	    !setsockopt(udp->fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)) &&
	    !setsockopt(udp->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) &&
	    !setsockopt(udp->fd, SOL_SOCKET, SO_RCVBUF, &space, sizeof(space)))
		return true;
	failed("bench: a UDP socket");
	close(udp->fd);
	return false;
}

void udp_close(struct udp *udp)
{
	close(udp->fd);
}

bool udp_stream(struct udp *udp, size_t bytes)
{
	static uint8_t data[SEGMENTS * SEGMENT];
	struct iovec part = {data, sizeof(data)};
	struct mmsghdr calls[CALLS];
	char end = 0;

	memset(calls, 0, sizeof(calls));
	for (size_t i = 0; i < CALLS; i++)
		calls[i].msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
	for (size_t sent = 0; sent < bytes; sent += CALLS * sizeof(data))
		if (sendmmsg(udp->fd, calls, CALLS, 0) < 0)
			return failed("bench: sendmmsg");
	return duo_send(udp->duo, &end, 1);
}

/* A packet's header: where its payload belongs. */
struct head {
	uint32_t slot, packet;
};

static size_t build(uint8_t *out, const uint8_t *memory, const struct head *h)
{
	size_t head = BTH + (h->packet ? 0 : RETH);
	uint32_t crc;

	memcpy(out, h, sizeof(*h));
	memcpy(out + head, memory + (size_t)h->slot * MESSAGE + h->packet * PAYLOAD, PAYLOAD);
	crc = wire_crc32(0, out, head + PAYLOAD);
	memcpy(out + head + PAYLOAD, &crc, sizeof(crc));
	return head + PAYLOAD + ICRC;
}

static void set_segment(struct msghdr *m, uint8_t *control, uint16_t segment)
{
	struct cmsghdr *c;

	m->msg_control = control;
	m->msg_controllen = CMSG_SPACE(sizeof(segment));
	c = CMSG_FIRSTHDR(m);
	c->cmsg_level = SOL_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(segment));
	memcpy(CMSG_DATA(c), &segment, sizeof(segment));
}

bool udp_stream_copied(struct udp *udp, const uint8_t *memory, size_t slots, size_t messages)
{
	static uint8_t data[2 * MESSAGE];
	static union {
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr align;
	} control[2];
	struct iovec parts[2];
	struct mmsghdr calls[2];
	char end = 0;

	memset(calls, 0, sizeof(calls));
	for (size_t i = 0; i < 2; i++)
		calls[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
	set_segment(&calls[0].msg_hdr, control[0].bytes, BTH + RETH + PAYLOAD + ICRC);
	set_segment(&calls[1].msg_hdr, control[1].bytes, BTH + PAYLOAD + ICRC);
	for (size_t i = 0; i < messages; i++) {
		size_t used = 0;

		for (uint32_t k = 0; k < PACKETS; k++) {
			struct head h = {(uint32_t)(i % slots), k};

			if (k == FIRST)
				parts[0] = (struct iovec){data, used};
			used += build(data + used, memory, &h);
		}
		parts[1] = (struct iovec){data + parts[0].iov_len, used - parts[0].iov_len};
		if (sendmmsg(udp->fd, calls, 2, 0) < 0)
			return failed("bench: sendmmsg");
	}
	return duo_send(udp->duo, &end, 1);
}

/* Returns the bytes of payload. */
static size_t place(const uint8_t *packet, size_t len, uint8_t *memory, size_t slots)
{
	struct head h;
	size_t head;
	uint32_t crc;

	if (len < BTH + PAYLOAD + ICRC)
		return 0;
	memcpy(&h, packet, sizeof(h));
	head = BTH + (h.packet ? 0 : RETH);
	memcpy(&crc, packet + len - ICRC, sizeof(crc));
	if (len != head + PAYLOAD + ICRC || h.slot >= slots || h.packet >= PACKETS ||
	    crc != wire_crc32(0, packet, len - ICRC))
		return 0;
	memcpy(memory + (size_t)h.slot * MESSAGE + h.packet * PAYLOAD, packet + head, PAYLOAD);
	return PAYLOAD;
}

/* One datagram, or several that the kernel has joined; false if nothing is there. */
static bool drain_copied(struct udp *udp, uint8_t *memory, size_t slots, size_t *bytes)
{
	static uint8_t data[MESSAGE];
	union {
		uint8_t bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = {data, sizeof(data)};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	ssize_t got = recvmsg(udp->fd, &m, MSG_DONTWAIT);
	struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	int segment = (int)got;

	if (c && c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
		memcpy(&segment, CMSG_DATA(c), sizeof(segment));
	for (ssize_t at = 0; segment > 0 && at < got; at += segment)
		*bytes += place(data + at, (size_t)(got - at < segment ? got - at : segment),
				memory, slots);
	return got > 0;
}

/* Receive what is there; false if nothing is. */
static bool drain(struct udp *udp, size_t *bytes)
{
	static uint8_t data[CALLS][1 << 16];
	struct iovec parts[CALLS];
	struct mmsghdr calls[CALLS];
	int got;

	memset(calls, 0, sizeof(calls));
	for (size_t i = 0; i < CALLS; i++) {
		parts[i] = (struct iovec){data[i], sizeof(data[i])};
		calls[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
	}
	got = recvmmsg(udp->fd, calls, CALLS, MSG_DONTWAIT, NULL);
	for (int i = 0; i < got; i++)
		*bytes += calls[i].msg_len;
	return got > 0;
}

/* Into `memory` if it is not NULL. */
static double sink(struct udp *udp, uint8_t *memory, size_t slots)
{
	struct pollfd fds[] = {{.fd = udp->fd, .events = POLLIN},
			       {.fd = udp->duo->from, .events = POLLIN}};
	double begin = 0, last = 0;
	size_t bytes = 0;
	char end;

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			return failed("bench: poll");
		if (!begin)
			begin = bench_now();
		if (memory ? drain_copied(udp, memory, slots, &bytes) : drain(udp, &bytes))
			last = bench_now();
		else if (fds[1].revents)
			break;
	}
	return duo_receive(udp->duo, &end, 1) && last > begin ? (double)bytes / (last - begin) : 0;
}

double udp_sink(struct udp *udp)
{
	return sink(udp, NULL, 0);
}

double udp_sink_copied(struct udp *udp, uint8_t *memory, size_t slots)
{
	return sink(udp, memory, slots);
}

double udp_ping(struct udp *udp, size_t count)
{
	double begin = bench_now();
	char data[PING] = {0};

	for (size_t i = 0; i < count; i++)
		if (send(udp->fd, data, PING, 0) < 0 || recv(udp->fd, data, PING, 0) < 0)
			return failed("bench: a datagram");
	return (bench_now() - begin) / (double)count;
}

bool udp_pong(struct udp *udp, size_t count)
{
	char data[PING];

	for (size_t i = 0; i < count; i++)
		if (recv(udp->fd, data, PING, 0) < 0 || send(udp->fd, data, PING, 0) < 0)
			return failed("bench: a datagram");
	return true;
}
