/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A reliable connection of plain verbs in a protection domain of the caller's, with a completion
 * channel and a region of its own. It is connected to itself, or to one in another process.
 */
#ifndef DPUMAP_TESTS_RC_H
#define DPUMAP_TESTS_RC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define RC_BYTES 8192
#define RC_ALL                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct rc_address {
	uint32_t qpn;
	uint16_t lid;
	uint8_t gid[16];
};

struct rc {
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* of bytes, with all rights */
	struct ibv_port_attr port;
	uint8_t gid_index;
	struct rc_address address; /* its own */
	struct rc_address remote;
	_Alignas(8) uint8_t bytes[RC_BYTES]; /* atomics need it */
};

/* Call rc_close() even if one of these fails. */
bool rc_open(struct rc *rc, struct ibv_pd *pd);
bool rc_connect(struct rc *rc, const struct rc_address *remote);
bool rc_open_loopback(struct rc *rc, struct ibv_pd *pd);
/* Two, connected to each other. */
bool rc_open_pair(struct rc *a, struct rc *b, struct ibv_pd *pd);
bool rc_close(struct rc *rc);
/* Leave the error state: connect once more to the same address. */
bool rc_reconnect(struct rc *rc);

bool rc_post(struct rc *rc, struct ibv_send_wr *wr);
/* Post the first bytes for a message. */
bool rc_receive(struct rc *rc, size_t len);
/* The next completion: an ibv_wc_status, or -1 if the test itself failed; so do all below. */
int rc_wait(struct rc *rc, unsigned int timeout_ms);

/* Between the first bytes and what a remote key refers to. */
int rc_read(struct rc *rc, uint32_t rkey, uint64_t addr, size_t len);
int rc_write(struct rc *rc, uint32_t rkey, uint64_t addr, size_t len);
/* From what a local key refers to, to the first bytes of a loopback. */
int rc_gather(struct rc *rc, uint32_t lkey, uint64_t addr, size_t len);

/* Invalidate a key by a work request. */
int rc_invalidate(struct rc *rc, uint32_t rkey);

/* One work request, and its completion. */
struct rc_request {
	enum ibv_wr_opcode opcode;
	uint32_t lkey;
	uint64_t addr;
	uint32_t len;
	uint32_t rkey;
	uint64_t remote_addr;
	uint64_t compare_add; /* of an atomic */
	uint64_t swap;
};
int rc_run(struct rc *rc, const struct rc_request *request);

/* A read or write of RC_ACCESS_LEN bytes, or an atomic that adds 1, on the first bytes. */
#define RC_ACCESS_LEN 64
int rc_access(struct rc *rc, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr);

#endif
