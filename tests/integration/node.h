/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queue pairs of verbs on one device, and what their tests say and expect. */
#ifndef DPUMAP_TESTS_NODE_H
#define DPUMAP_TESTS_NODE_H

#include <infiniband/verbs.h>

#include "fixture.h"

#define NODE_QKEY 0x11223344u
#define NODE_PSN  0x123u
#define NODE_GRH  40u
#define NODE_MTU  4096u
#define NODE_BUF  16384u

struct node {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	union ibv_gid gid;
	uint8_t *buf;
};

struct node_target {
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

struct node_pair {
	struct ibv_qp *a, *b;
	struct ibv_ah *ah;
	struct node_target to_b;
};

/* The first device with memory, a PD and a CQ; what is left at the end fails the test. */
int node_open(void **state);
int node_close(void **state);
/* In state RESET. */
struct ibv_qp *node_make_qp(struct node *n, enum ibv_qp_type type, struct ibv_srq *srq);
/* An errno. */
int node_modify(struct ibv_qp *qp, enum ibv_qp_state to, int mask);
void node_make_ready_to_receive(const struct node *n, struct ibv_qp *qp, uint32_t to);
void node_make_ready_to_send(struct ibv_qp *qp);
/* RESET to RTS, of reliable connections. */
void node_connect_qp(const struct node *n, struct ibv_qp *qp, uint32_t to);
struct ibv_sge node_piece(const struct node *n, uint32_t off, uint32_t len);
void node_recv_into(const struct node *n, struct ibv_qp *qp, uint32_t off, uint32_t len);
void node_send_from(const struct node *n, struct ibv_qp *qp, uint32_t off, uint32_t len);
void node_send_ud(const struct node *n, struct ibv_qp *qp, struct node_target to, uint32_t len);
struct ibv_wc node_completion(struct ibv_cq *cq);
/* The next completion, which must be so. */
struct ibv_wc node_expect(struct ibv_cq *cq, enum ibv_wc_status status);
void node_expect_nothing(struct ibv_cq *cq);
/* A send and a receive, in any order; returns the receive. */
struct ibv_wc node_expect_both(struct ibv_cq *cq);
struct ibv_async_event node_expect_event(const struct node *n, enum ibv_event_type type);
void node_expect_no_event(const struct node *n);
enum ibv_qp_state node_state_of(struct ibv_qp *qp);
/* Two that send datagrams to each other. */
struct node_pair node_open_pair(struct node *n);
void node_close_pair(struct node_pair *p);

#endif
