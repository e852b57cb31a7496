/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A context with a PD, a CQ and two connected QPs of one device, and memory for both. */
#ifndef DPUMAP_TESTS_VERBS_PAIR_H
#define DPUMAP_TESTS_VERBS_PAIR_H

#include <infiniband/verbs.h>

#include <doca_verbs_bridge.h>

#include "fixture.h"

#define PAIR_DEPTH 16u
#define PAIR_LEN   4096u /* of the memory of each QP */

extern struct pair {
	struct doca_verbs_context *context;
	struct doca_verbs_pd *pd;
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *a, *b;
	struct ibv_mr *mr; /* PAIR_LEN bytes of a, then as many of b */
	uint8_t *bytes;
} pair;

/* Setup and teardown of a test; setup of a context with a PD and a CQ without QPs. */
int pair_setup(void **state);
int pair_setup_unconnected(void **state);
int pair_teardown(void **state);
#define pair_test(function) cmocka_unit_test_setup_teardown(function, pair_setup, pair_teardown)
#define object_test(function) \
	cmocka_unit_test_setup_teardown(function, pair_setup_unconnected, pair_teardown)

/* NULL on errors. The device of a context is the first one. */
struct doca_verbs_context *pair_open_context(void);
struct doca_verbs_cq *pair_create_cq(uint32_t size);
/* Attributes of a QP of the pair that sends and receives; the caller destroys them. */
struct doca_verbs_qp_init_attr *pair_init_attr(void);
/* A QP with these attributes, which are destroyed. */
struct doca_verbs_qp *pair_create_qp(struct doca_verbs_qp_init_attr *attr);

/* The attributes of a transition, and its mask without the numbers of reads. */
struct doca_verbs_qp_attr *pair_qp_attr(enum doca_verbs_qp_state to,
					const struct doca_verbs_qp *peer,
					struct doca_verbs_ah_attr *ah);
int pair_mask(enum doca_verbs_qp_state to);
/* The own address. */
struct doca_verbs_ah_attr *pair_create_ah(void);
doca_error_t pair_move(struct doca_verbs_qp *qp, enum doca_verbs_qp_state to,
		       const struct doca_verbs_qp *peer);
bool pair_connect(struct doca_verbs_qp *qp, const struct doca_verbs_qp *peer);

/* A work request for the memory of a (0) or b (1), from its start. */
struct pair_request {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};
struct pair_request *pair_request(struct pair_request *request, enum ibv_wr_opcode opcode,
				  uint64_t id, uint32_t len);
int pair_post(struct doca_verbs_qp *qp, struct pair_request *request);
int pair_post_recv(struct doca_verbs_qp *qp, uint64_t id);
/* Poll one completion of a CQ within the time limit; its status is IBV_WC_GENERAL_ERR if there is none. */
struct ibv_wc pair_poll(struct doca_verbs_cq *cq);
bool pair_is_empty(struct doca_verbs_cq *cq);

#endif
