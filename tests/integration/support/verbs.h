/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fixture for tests of queue pairs: verbs objects on one device, work requests, and expected
 * completions.
 */
#ifndef DPUMAP_TESTS_VERBS_H
#define DPUMAP_TESTS_VERBS_H

#include <infiniband/verbs.h>

#include "fixture.h"

#define VERBS_QKEY 0x11223344u
#define VERBS_PSN  0x123u
#define VERBS_GRH  40u
#define VERBS_MTU  4096u
#define VERBS_BUF  16384u

struct verbs {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	union ibv_gid gid;
	uint8_t *buf;
};

struct verbs_target {
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

struct verbs_pair {
	struct ibv_qp *a, *b;
	struct ibv_ah *ah;
	struct verbs_target to_b;
};

/*
 * Setup and teardown: the first device with memory, a PD and a CQ. A test that leaves objects
 * fails.
 */
int verbs_open(void **state);
int verbs_close(void **state);
/* What verbs_open() opens, without counting objects; for a peer. */
struct verbs *verbs_open_device(void);
/* In state RESET. */
struct ibv_qp *verbs_make_qp(struct verbs *n, enum ibv_qp_type type, struct ibv_srq *srq);
/* An errno. */
int verbs_modify(struct ibv_qp *qp, enum ibv_qp_state to, int mask);
void verbs_make_ready_to_receive(const struct verbs *n, struct ibv_qp *qp, uint32_t to);
void verbs_make_ready_to_send(struct ibv_qp *qp);
/* From RESET to RTS; for reliable connections. */
void verbs_connect_qp(const struct verbs *n, struct ibv_qp *qp, uint32_t to);
struct ibv_sge verbs_piece(const struct verbs *n, uint32_t off, uint32_t len);
void verbs_recv_into(const struct verbs *n, struct ibv_qp *qp, uint32_t off, uint32_t len);
void verbs_send_from(const struct verbs *n, struct ibv_qp *qp, uint32_t off, uint32_t len);
void verbs_send_ud(const struct verbs *n, struct ibv_qp *qp, struct verbs_target to, uint32_t len);
struct ibv_wc verbs_completion(struct ibv_cq *cq);
/* Wait for the next completion, which must have this status. */
struct ibv_wc verbs_expect(struct ibv_cq *cq, enum ibv_wc_status status);
void verbs_expect_nothing(struct ibv_cq *cq);
/* Wait for a send and a receive, in any order; returns the receive. */
struct ibv_wc verbs_expect_both(struct ibv_cq *cq);
struct ibv_async_event verbs_expect_event(const struct verbs *n, enum ibv_event_type type);
void verbs_expect_no_event(const struct verbs *n);
enum ibv_qp_state verbs_state_of(struct ibv_qp *qp);
/* Two queue pairs that send datagrams to each other. */
struct verbs_pair verbs_open_pair(struct verbs *n);
void verbs_close_pair(struct verbs_pair *p);

#endif
