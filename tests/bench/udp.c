/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "udp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stats.h"

#define SEGMENT	 4116u /* BTH, RETH or not, 4096 bytes, ICRC */
#define SEGMENTS 15u   /* in a call: a datagram has at most 64 KiB */
#define CALLS	 8u    /* in a system call */
#define PING	 64u
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

double udp_sink(struct udp *udp)
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
		if (drain(udp, &bytes))
			last = bench_now();
		else if (fds[1].revents)
			break;
	}
	return duo_receive(udp->duo, &end, 1) && last > begin ? (double)bytes / (last - begin) : 0;
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
