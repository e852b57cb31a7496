/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POLLRDHUP */
#endif
#include "ping.h"

#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S	 30 /* to wait for a peer that exists */
#define MAX_GIDS 256

static const uint8_t ipv4_prefix[12] = {[10] = 0xff, [11] = 0xff};

bool ping_find_source(struct ibv_context *context, struct ping_source *source)
{
	struct ibv_gid_entry entries[MAX_GIDS];
	ssize_t num = ibv_query_gid_table(context, entries, MAX_GIDS, 0);
	bool found = false;

	for (ssize_t i = 0; i < num && !(found && source->is_ipv4); i++) {
		bool is_ipv4 = !memcmp(entries[i].gid.raw, ipv4_prefix, sizeof(ipv4_prefix));

		if (entries[i].port_num != PING_HCA_PORT ||
		    entries[i].gid_type != IBV_GID_TYPE_ROCE_V2 || (found && !is_ipv4))
			continue;
		found = true;
		memcpy(source->gid, entries[i].gid.raw, PING_GID_LEN);
		source->gid_index = (uint8_t)entries[i].gid_index;
		source->is_ipv4 = is_ipv4;
	}
	if (!found)
		fprintf(stderr, "Port %d of the device has no GID of RoCE v2\n", PING_HCA_PORT);
	return found;
}

uint32_t ping_choose_psn(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint32_t)now.tv_nsec & 0xffffff;
}

/* --- the socket ------------------------------------------------------------------------------- */

static bool fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return false;
}

/* A socket that listens if there is no address, and one that is connected to it otherwise. */
static int open_socket(const struct addrinfo *where, bool is_server)
{
	const int yes = 1;
	int fd = socket(where->ai_family, where->ai_socktype | SOCK_CLOEXEC, where->ai_protocol);

	if (fd < 0)
		return -1;
	if (is_server) {
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (!bind(fd, where->ai_addr, where->ai_addrlen) && !listen(fd, 1))
			return fd;
	} else if (!connect(fd, where->ai_addr, where->ai_addrlen)) {
		return fd;
	}
	close(fd);
	return -1;
}

static int open_first_socket(const char *address, const char *port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *list;
	int err = getaddrinfo(address, port, &hints, &list), fd = -1;

	if (err) {
		fprintf(stderr, "%s port %s: %s\n", address ? address : "any address", port,
			gai_strerror(err));
		return -1;
	}
	for (const struct addrinfo *at = list; at && fd < 0; at = at->ai_next)
		fd = open_socket(at, !address);
	if (fd < 0)
		fprintf(stderr, "Cannot %s port %s%s%s: %s\n", address ? "connect to" : "listen at",
			port, address ? " of " : "", address ? address : "", strerror(errno));
	freeaddrinfo(list);
	return fd;
}

static int limit(int fd)
{
	const struct timeval limit = {.tv_sec = LIMIT_S};

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return fd;
}

static bool say_port(int listener)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	char port[NI_MAXSERV];

	if (getsockname(listener, (struct sockaddr *)&name, &len) ||
	    getnameinfo((struct sockaddr *)&name, len, NULL, 0, port, sizeof(port), NI_NUMERICSERV))
		return fail("The socket has no port");
	printf("Waiting for a client at port %s\n", port);
	return !fflush(stdout);
}

int ping_open(const char *address, const char *port)
{
	int fd = open_first_socket(*address ? address : NULL, port), client = -1;

	if (fd < 0 || *address)
		return fd < 0 ? -1 : limit(fd);
	if (say_port(fd)) {
		client = accept(fd, NULL, NULL);
		if (client < 0)
			fail("Cannot accept a client");
	}
	close(fd);
	return client < 0 ? -1 : limit(client);
}

static bool send_all(int fd, const void *bytes, size_t len)
{
	ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

	return sent == (ssize_t)len || fail("Cannot send to the peer");
}

static bool receive_all(int fd, void *bytes, size_t len)
{
	ssize_t received = recv(fd, bytes, len, MSG_WAITALL);

	if (received >= 0 && received < (ssize_t)len) {
		fprintf(stderr, "The peer has sent %zd bytes instead of %zu\n", received, len);
		return false;
	}
	return received == (ssize_t)len || fail("Cannot receive from the peer");
}

bool ping_send_details(int fd, const struct ping_details *details)
{
	struct ping_details wire = *details;

	wire.qpn = htobe32(wire.qpn);
	wire.psn = htobe32(wire.psn);
	return send_all(fd, &wire, sizeof(wire));
}

bool ping_receive_details(int fd, struct ping_details *details)
{
	if (!receive_all(fd, details, sizeof(*details)))
		return false;
	details->qpn = be32toh(details->qpn);
	details->psn = be32toh(details->psn);
	return true;
}

bool ping_finish(int fd)
{
	char byte = 0;

	return send_all(fd, &byte, sizeof(byte)) && receive_all(fd, &byte, sizeof(byte));
}

/* --- messages --------------------------------------------------------------------------------- */

void ping_fill(uint8_t *message, unsigned int round, bool by_client)
{
	uint32_t state = 2 * round + by_client;

	for (unsigned int i = 0; i < PING_LEN; i++) {
		state = state * 1664525 + 1013904223;
		message[i] = (uint8_t)(state >> 24);
	}
}

bool ping_check(const uint8_t *message, const struct ibv_wc *wc, unsigned int round, bool by_client)
{
	uint8_t wanted[PING_LEN];
	unsigned int at = 0;

	if (wc->byte_len != PING_LEN) {
		fprintf(stderr, "Message %u has %u bytes instead of %u\n", round, wc->byte_len,
			PING_LEN);
		return false;
	}
	ping_fill(wanted, round, by_client);
	while (at < PING_LEN && message[at] == wanted[at])
		at++;
	if (at < PING_LEN)
		fprintf(stderr, "Byte %u of message %u is %u instead of %u\n", at, round,
			message[at], wanted[at]);
	return at == PING_LEN;
}

/* --- completions ------------------------------------------------------------------------------ */

bool ping_wait(int channel, int fd)
{
	struct pollfd fds[] = {{.fd = channel, .events = POLLIN}, {.fd = fd, .events = POLLRDHUP}};

	if (poll(fds, 2, LIMIT_S * 1000) == 0)
		fprintf(stderr, "No completion arrived within %d seconds\n", LIMIT_S);
	else if (!fds[0].revents)
		fprintf(stderr, "The peer has ended\n");
	return fds[0].revents;
}

bool ping_is_good(const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return true;
	fprintf(stderr, "A work request failed: %s\n", ibv_wc_status_str(wc->status));
	return false;
}
