/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/wire/udp.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emu/ipc/gid.h"
#include "emu/server/base/log.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/gid.h"
#include "emu/wire/packet.h"

#define ATTEMPTS     1000 /* one each 5 ms */
#define PATIENCE     200  /* of them, before it says what it waits for */
#define LAST_PORT    0xffffu
#define BUFFER_BYTES (32 << 20) /* more than any usual limit */
#define NO_BUFFER    1		/* the kernel takes its least */

/* --- creating --------------------------------------------------------------------------------- */

static socklen_t address(const uint8_t gid[16], uint16_t port, struct sockaddr_storage *a)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)a;
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)a;

	emu_gid_to_ip(gid, a);
	if (a->ss_family == AF_INET) {
		v4->sin_port = htons(port);
		return sizeof(*v4);
	}
	v6->sin6_port = htons(port);
	return sizeof(*v6);
}

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

/* Packets are never fragmented, so that IPv4 packets have the identification 0. */
static int set_common(int fd, bool ipv4)
{
	return ipv4 ? set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
		    : set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
}

/* A larger buffer than the limit of the machine needs a capability. */
static void enlarge(int fd, int name, int force)
{
	if (set(fd, SOL_SOCKET, force, BUFFER_BYTES))
		set(fd, SOL_SOCKET, name, BUFFER_BYTES);
}

static int make(const uint8_t addr[16])
{
	bool ipv4 = emu_gid_is_ipv4(addr);
	int fd, err;

	fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = set_common(fd, ipv4);
	enlarge(fd, SO_SNDBUF, SO_SNDBUFFORCE);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int bind_to(int fd, const uint8_t addr[16], uint16_t port)
{
	struct sockaddr_storage a;
	socklen_t len = address(addr, port, &a);

	return bind(fd, (struct sockaddr *)&a, len) ? -errno : 0;
}

/* The traffic class is needed for congestion notification. */
static int set_receiver(int fd, bool ipv4)
{
	enlarge(fd, SO_RCVBUF, SO_RCVBUFFORCE);
	return ipv4 ? set(fd, IPPROTO_IP, IP_RECVTOS, 1)
		    : set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
}

/* The first socket shares its port only after it was bound: so nobody else had it. */
static int make_receiver(const uint8_t addr[16], bool first)
{
	int fd = make(addr), err;

	if (fd < 0)
		return fd;
	err = set_receiver(fd, emu_gid_is_ipv4(addr));
	if (!err && !first)
		err = set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!err)
		err = bind_to(fd, addr, WIRE_PORT);
	if (!err && first)
		err = set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/*
 * Another emulator may be about to end, as after `dpumap-emu run`, and clients of one that was killed close its sockets
 * as soon as they notice: on a busy machine that takes seconds.
 */
int emu_udp_first(const uint8_t addr[16])
{
	static const struct timespec pause = {.tv_nsec = 5000000};
	int fd = make_receiver(addr, true), i;
	char text[INET6_ADDRSTRLEN];

	for (i = 0; i < ATTEMPTS && fd == -EADDRINUSE; i++) {
		if (i == PATIENCE)
			emu_log("UDP port %u of %s is in use: waiting until it is free", WIRE_PORT,
				emu_gid_text(addr, text));
		nanosleep(&pause, NULL);
		fd = make_receiver(addr, true);
	}
	return fd;
}

int emu_udp_next(const uint8_t addr[16])
{
	return make_receiver(addr, false);
}

/* Kernels before 5.0 have no UDP_GRO; then each datagram arrives on its own. */
void emu_udp_join(int fd, bool join)
{
	set(fd, IPPROTO_UDP, UDP_GRO, join);
}

static int refuse_all(int fd)
{
	struct sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
	const struct sock_fprog program = {1, &nothing};

	set(fd, SOL_SOCKET, SO_RCVBUF, NO_BUFFER);
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

int emu_udp_sender(const uint8_t addr[16], uint16_t *port)
{
	int fd = make(addr), err;

	if (fd < 0)
		return fd;
	err = refuse_all(fd);
	for (uint32_t at = *port; !err; at++) {
		err = at > LAST_PORT ? -EADDRINUSE : bind_to(fd, addr, (uint16_t)at);
		if (!err) {
			*port = (uint16_t)at;
			return fd;
		}
		if (err == -EADDRINUSE && at <= LAST_PORT)
			err = 0;
	}
	close(fd);
	return err;
}

void emu_udp_drain(int fd)
{
	char byte;

	while (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT | MSG_TRUNC) >= 0)
		;
}

/* --- datagrams -------------------------------------------------------------------------------- */

union control {
	struct cmsghdr align;
	char space[2 * CMSG_SPACE(sizeof(int))];
};

static struct cmsghdr *put_int(struct msghdr *m, struct cmsghdr *c, int level, int type, int value)
{
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(sizeof(value));
	memcpy(CMSG_DATA(c), &value, sizeof(value));
	return CMSG_NXTHDR(m, c);
}

int emu_udp_send(int fd, const struct wire_path *path, const void *bytes, size_t len)
{
	bool ipv4 = emu_gid_is_ipv4(path->dst);
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
	union control control = {0};
	struct sockaddr_storage to;
	struct msghdr m = {
		.msg_name = &to,
		.msg_namelen = address(path->dst, path->dport, &to),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c = put_int(&m, c, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TOS : IPV6_TCLASS,
		    path->tclass);
	put_int(&m, c, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TTL : IPV6_HOPLIMIT,
		path->hop_limit);
	return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* IPv4 brings a byte, IPv6 an int. */
static uint8_t traffic_class(struct msghdr *m)
{
	int value;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			return *CMSG_DATA(c);
		if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_TCLASS)
			continue;
		memcpy(&value, CMSG_DATA(c), sizeof(value));
		return (uint8_t)value;
	}
	return 0;
}

static uint16_t port_of(const struct sockaddr_storage *a)
{
	return ntohs(a->ss_family == AF_INET
			     ? ((const struct sockaddr_in *)(const void *)a)->sin_port
			     : ((const struct sockaddr_in6 *)(const void *)a)->sin6_port);
}

ssize_t emu_udp_receive(int fd, struct wire_path *path, void *bytes, size_t room)
{
	struct iovec iov = {.iov_base = bytes, .iov_len = room};
	struct sockaddr_storage from = {0};
	union control control;
	struct msghdr m = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return -errno;
	emu_gid_of_ip((struct sockaddr *)&from, path->src);
	path->sport = port_of(&from);
	path->dport = WIRE_PORT;
	path->tclass = traffic_class(&m);
	return n;
}
