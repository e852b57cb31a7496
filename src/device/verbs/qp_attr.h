/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Attributes of queue pairs, and their translation from and to those of libibverbs. */
#ifndef DPUMAP_DEVICE_VERBS_QP_ATTR_H
#define DPUMAP_DEVICE_VERBS_QP_ATTR_H

#include <stdbool.h>

#include <infiniband/verbs.h>

#include <doca_verbs.h>

/* The address of a peer. */
struct dpumap_verbs_ah {
	struct doca_verbs_gid gid;
	enum doca_verbs_addr_type addr_type;
	uint32_t dlid;
	uint8_t sl, sgid_index, static_rate, hop_limit, traffic_class;
};

/* Named as the members that the interface names. */
struct dpumap_verbs_qp_attr {
	enum doca_verbs_qp_state next_state, current_state;
	enum doca_mtu_size path_mtu;
	uint32_t rq_psn, sq_psn, dest_qp_num;
	int allow_remote_write, allow_remote_read;
	enum doca_verbs_qp_atomic_mode atomic_mode;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint16_t pkey_index, port_num, ack_timeout, retry_cnt, rnr_retry, min_rnr_timer;
};

/* Masks: DOCA_VERBS_QP_ATTR_* and enum ibv_qp_attr_mask. Bits that the other side lacks are left out. */
int dpumap_verbs_mask_to_ibv(int mask);
int dpumap_verbs_mask_from_ibv(int ibv_mask);

enum ibv_qp_state dpumap_verbs_state_to_ibv(enum doca_verbs_qp_state state);

/* Access flags and the path are separate, as a queue pair keeps parts of them. */
void dpumap_verbs_attr_to_ibv(const struct dpumap_verbs_qp_attr *attr, struct ibv_qp_attr *ibv);
void dpumap_verbs_access_to_ibv(const struct dpumap_verbs_qp_attr *attr, struct ibv_qp_attr *ibv);
void dpumap_verbs_path_to_ibv(const struct dpumap_verbs_ah *ah, uint16_t port,
			      struct ibv_qp_attr *ibv);

/* Read the members in the mask of libibverbs, except the path; false: a state does not exist here. */
bool dpumap_verbs_attr_from_ibv(struct dpumap_verbs_qp_attr *attr, const struct ibv_qp_attr *ibv,
				int ibv_mask);
void dpumap_verbs_ah_from_ibv(struct dpumap_verbs_ah *ah, const struct ibv_qp_attr *ibv);

#endif
