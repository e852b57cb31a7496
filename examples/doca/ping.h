/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What verbs_ping and ibverbs_ping share, without DOCA: the socket over which the two programs exchange the numbers
 * and addresses of their queue pairs, the bytes of the messages, and waiting. Each function that fails prints one line.
 */
#ifndef EXAMPLES_DOCA_PING_H
#define EXAMPLES_DOCA_PING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define PING_ROUNDS   1000u
#define PING_LEN      4096u
#define PING_PORT     "18515" /* of TCP */
#define PING_HCA_PORT 1	      /* of the device */
#define PING_GID_LEN  16u

/* Of the connection, as libibverbs encodes them. */
#define PING_HOP_LIMIT	 64
#define PING_RNR_TIMER	 12 /* 0.64 ms */
#define PING_ACK_TIMEOUT 14 /* 67 ms */
#define PING_RETRIES	 7  /* without end if the peer has no receive */

/* What a program tells its peer about its queue pair. */
struct ping_details {
	uint32_t qpn;
	uint32_t psn; /* the first packet sequence number that it sends */
	uint8_t gid[PING_GID_LEN];
};

/* Where the queue pairs of the device send from: a GID of RoCE v2, that of an IPv4 address if there is one. */
struct ping_source {
	uint8_t gid[PING_GID_LEN];
	uint8_t gid_index;
	bool is_ipv4;
};
bool ping_find_source(struct ibv_context *context, struct ping_source *source);

/* A number of 24 bits that differs from one run to the next. */
uint32_t ping_choose_psn(void);

/*
 * Connect to a port of TCP, or wait there for a client if the address is empty. The kernel chooses the port "0".
 * Returns a socket, or -1.
 */
int ping_open(const char *address, const char *port);

bool ping_send_details(int fd, const struct ping_details *details);
bool ping_receive_details(int fd, struct ping_details *details);
/* Wait until the peer has its last completion, too. Only then may a queue pair be destroyed. */
bool ping_finish(int fd);

/* The messages of a round, from the client and from the server, differ from all others. */
void ping_fill(uint8_t *message, unsigned int round, bool by_client);
bool ping_check(const uint8_t *message, const struct ibv_wc *wc, unsigned int round,
		bool by_client);

/* Wait until a completion channel is readable, unless the peer closes its socket first. */
bool ping_wait(int channel, int fd);
/* A completion has no error. */
bool ping_is_good(const struct ibv_wc *wc);

#endif
