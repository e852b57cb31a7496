/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A reliable connection of plain verbs, in the protection domain of a device: what a program does
 * with the keys of a map. The two ends may be on different nodes.
 */
#ifndef DPUMAP_TESTS_LINK_H
#define DPUMAP_TESTS_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include <doca_dev.h>

#define LINK_BYTES 64

/* What one end has to know of the other. */
struct link_end {
	uint32_t qpn;
	uint16_t lid;
	uint8_t gid[16];
};

struct link {
	struct ibv_pd *pd; /* the device's */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* of bytes */
	uint32_t key;	   /* of it, for both ends */
	struct ibv_port_attr port;
	uint8_t gid_index;
	struct link_end end;
	uint8_t bytes[LINK_BYTES];
};

/* Whether or not it worked, link_close() is due. */
bool link_open(struct link *link, const struct doca_dev *dev);
bool link_connect(struct link *link, const struct link_end *peer);
bool link_close(struct link *link);

/* One work request: an ibv_wc_status, or -1 if the test itself failed. */
struct link_request {
	enum ibv_wr_opcode opcode;
	uint32_t lkey;
	uint64_t addr;
	uint32_t len;
	uint32_t rkey;
	uint64_t remote_addr;
	uint64_t compare_add; /* of an atomic */
	uint64_t swap;
};
int link_run(struct link *link, const struct link_request *request);

/* The same with the link's own bytes here; an atomic adds 1. */
int link_access(struct link *link, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr);

#endif
