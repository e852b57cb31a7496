/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The functions of users that set and get attributes. */
#include "verbs/attr.h"

#include <inttypes.h>

#include "verbs/verbs.h"

#define MAX_24_BITS 0xffffffu

void *dpumap_verbs_new(size_t size, const char *function)
{
	void *created = calloc(1, size);

	if (!created)
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_NO_MEMORY, "%s: no memory", function);
	return created;
}

doca_error_t dpumap_verbs_fail_range(const char *function, uint64_t value, uint64_t max)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "%s: %" PRIu64 " is not a valid value, must be 0 to %" PRIu64, function,
			   value, max);
}

/* --- of a new QP ------------------------------------------------------------------------------ */

VERBS_ATTR_CREATE(doca_verbs_qp_init_attr)
VERBS_ATTR_DESTROY(doca_verbs_qp_init_attr)

#define QP_INIT(type, name)	       VERBS_ATTR_IN(doca_verbs_qp_init_attr, , type, name)
#define QP_INIT_UP_TO(type, name, max) VERBS_ATTR_UP_TO(doca_verbs_qp_init_attr, , type, name, max)

QP_INIT(struct doca_verbs_pd *, pd)
QP_INIT(struct doca_verbs_cq *, send_cq)
QP_INIT(struct doca_verbs_cq *, receive_cq)
QP_INIT(struct doca_verbs_srq *, srq)
QP_INIT(int, sq_sig_all)
QP_INIT(uint32_t, sq_wr)
QP_INIT(uint32_t, rq_wr)
QP_INIT(uint32_t, send_max_sges)
QP_INIT(uint32_t, receive_max_sges)
QP_INIT(uint32_t, max_inline_data)
QP_INIT(uint32_t, user_index)
QP_INIT_UP_TO(uint32_t, qp_type, DOCA_VERBS_QP_TYPE_UC)
QP_INIT(uint32_t, uar_id)
QP_INIT(uint32_t, pdn)
QP_INIT(uint8_t, external_datapath_en)
QP_INIT(uint8_t, core_direct_master)
QP_INIT(void *, qp_context)
QP_INIT(struct doca_dpa *, dpa)
QP_INIT(struct doca_dpa_completion *, send_dpa_completion)
QP_INIT(struct doca_dpa_completion *, receive_dpa_completion)
QP_INIT_UP_TO(enum doca_verbs_qp_send_dbr_mode, send_dbr_mode,
	      DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_INT)
VERBS_ATTR_UMEM(doca_verbs_qp_init_attr, external_umem)
VERBS_ATTR_UMEM(doca_verbs_qp_init_attr, external_dbr_umem)

doca_error_t doca_verbs_qp_init_attr_set_cqe_inline(struct doca_verbs_qp_init_attr *attr,
						    enum doca_verbs_qp_scatter_to_cqe cqe_inline)
{
	if (!attr)
		return dpumap_fail_null(__func__);
	if ((unsigned int)cqe_inline > DOCA_VERBS_QP_SCATTER_TO_CQE_32B)
		return dpumap_verbs_fail_range(__func__, cqe_inline,
					       DOCA_VERBS_QP_SCATTER_TO_CQE_32B);
	attr->cqe_inline = cqe_inline;
	return DOCA_SUCCESS;
}

uint8_t doca_verbs_qp_init_attr_get_cqe_inline(const struct doca_verbs_qp_init_attr *attr)
{
	return attr ? (uint8_t)attr->cqe_inline : 0;
}

doca_error_t doca_verbs_qp_init_attr_set_external_uar(struct doca_verbs_qp_init_attr *attr,
						      struct doca_uar *external_uar)
{
	if (!attr)
		return dpumap_fail_null(__func__);
	attr->external_uar = external_uar;
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_qp_init_attr_get_external_uar(const struct doca_verbs_qp_init_attr *attr,
						      struct doca_uar **external_uar)
{
	if (!attr || !external_uar)
		return dpumap_fail_null(__func__);
	*external_uar = attr->external_uar;
	return DOCA_SUCCESS;
}

#define UMEM_NUMBER(name)                                                                     \
	doca_error_t doca_verbs_qp_init_attr_set_##name(struct doca_verbs_qp_init_attr *attr, \
							uint32_t umem_id, uint64_t offset)    \
	{                                                                                     \
		if (!attr)                                                                    \
			return dpumap_fail_null(__func__);                                    \
		attr->name = (struct dpumap_verbs_umem_number){umem_id, offset};              \
		return DOCA_SUCCESS;                                                          \
	}                                                                                     \
	uint32_t doca_verbs_qp_init_attr_get_##name##_id(                                     \
		const struct doca_verbs_qp_init_attr *attr)                                   \
	{                                                                                     \
		return attr ? attr->name.id : 0;                                              \
	}                                                                                     \
	uint64_t doca_verbs_qp_init_attr_get_##name##_offset(                                 \
		const struct doca_verbs_qp_init_attr *attr)                                   \
	{                                                                                     \
		return attr ? attr->name.offset : 0;                                          \
	}

UMEM_NUMBER(dbr_umem)
UMEM_NUMBER(wq_umem)

uint32_t doca_verbs_qp_init_attr_get_send_cqn(const struct doca_verbs_qp_init_attr *attr)
{
	return attr ? doca_verbs_cq_get_cqn(attr->send_cq) : 0;
}

uint32_t doca_verbs_qp_init_attr_get_receive_cqn(const struct doca_verbs_qp_init_attr *attr)
{
	return attr ? doca_verbs_cq_get_cqn(attr->receive_cq) : 0;
}

/* --- of a QP to change ------------------------------------------------------------------------ */

VERBS_ATTR_CREATE(doca_verbs_qp_attr)
VERBS_ATTR_DESTROY(doca_verbs_qp_attr)

#define QP(type, name)		  VERBS_ATTR_IN(doca_verbs_qp_attr, verbs., type, name)
#define QP_UP_TO(type, name, max) VERBS_ATTR_UP_TO(doca_verbs_qp_attr, verbs., type, name, max)

QP_UP_TO(enum doca_verbs_qp_state, next_state, DOCA_VERBS_QP_STATE_ERR)
QP_UP_TO(enum doca_verbs_qp_state, current_state, DOCA_VERBS_QP_STATE_ERR)
QP_UP_TO(enum doca_mtu_size, path_mtu, DOCA_MTU_SIZE_4K_BYTES)
QP_UP_TO(uint32_t, rq_psn, MAX_24_BITS)
QP_UP_TO(uint32_t, sq_psn, MAX_24_BITS)
QP_UP_TO(uint32_t, dest_qp_num, MAX_24_BITS)
QP(int, allow_remote_write)
QP(int, allow_remote_read)
QP_UP_TO(enum doca_verbs_qp_atomic_mode, atomic_mode, DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_256BYTES)
QP(uint8_t, max_rd_atomic)
QP(uint8_t, max_dest_rd_atomic)
QP(uint16_t, pkey_index)
QP_UP_TO(uint16_t, port_num, UINT8_MAX)
QP_UP_TO(uint16_t, ack_timeout, 31)
QP_UP_TO(uint16_t, retry_cnt, 7)
QP_UP_TO(uint16_t, rnr_retry, 7)
QP_UP_TO(uint16_t, min_rnr_timer, 31)
VERBS_ATTR_IN(doca_verbs_qp_attr, , struct doca_verbs_ah_attr *, ah_attr)
VERBS_ATTR_IN(doca_verbs_qp_attr, , struct doca_verbs_cc_group *, cc_group)

/* --- of an address ---------------------------------------------------------------------------- */

doca_error_t doca_verbs_ah_attr_create(struct doca_verbs_context *context,
				       struct doca_verbs_ah_attr **ah)
{
	struct doca_verbs_ah_attr *created;

	if (!context || !ah)
		return dpumap_fail_null(__func__);
	created = dpumap_verbs_new(sizeof(*created), __func__);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*ah = created;
	return DOCA_SUCCESS;
}

VERBS_ATTR_DESTROY(doca_verbs_ah_attr)

#define AH(type, name)		  VERBS_ATTR_IN(doca_verbs_ah_attr, verbs., type, name)
#define AH_UP_TO(type, name, max) VERBS_ATTR_UP_TO(doca_verbs_ah_attr, verbs., type, name, max)

AH(struct doca_verbs_gid, gid)
AH_UP_TO(enum doca_verbs_addr_type, addr_type, DOCA_VERBS_ADDR_TYPE_IB_NO_GRH)
AH_UP_TO(uint32_t, dlid, UINT16_MAX)
AH_UP_TO(uint8_t, sl, 15)
AH(uint8_t, sgid_index)
AH(uint8_t, static_rate)
AH(uint8_t, hop_limit)
AH(uint8_t, traffic_class)

/* --- of a new CQ and SRQ ---------------------------------------------------------------------- */

VERBS_ATTR_CREATE(doca_verbs_cq_attr)
VERBS_ATTR_DESTROY(doca_verbs_cq_attr)

#define CQ(type, name) VERBS_ATTR_IN(doca_verbs_cq_attr, , type, name)

CQ(uint32_t, cq_size)
CQ(uint32_t, dpa_thread_id)
VERBS_ATTR_UP_TO(doca_verbs_cq_attr, , enum doca_verbs_cq_entry_size, entry_size,
		 DOCA_VERBS_CQ_ENTRY_SIZE_128)
CQ(uint8_t, cq_overrun)
CQ(uint8_t, external_datapath_en)
CQ(struct doca_verbs_comp_channel *, comp_channel)
CQ(void *, cq_context)
CQ(struct doca_uar *, external_uar)
VERBS_ATTR_UMEM(doca_verbs_cq_attr, external_umem)

VERBS_ATTR_CREATE(doca_verbs_srq_init_attr)
VERBS_ATTR_DESTROY(doca_verbs_srq_init_attr)

#define SRQ(type, name) VERBS_ATTR_IN(doca_verbs_srq_init_attr, , type, name)

SRQ(uint32_t, srq_wr)
SRQ(uint32_t, receive_max_sges)
VERBS_ATTR_UP_TO(doca_verbs_srq_init_attr, , enum doca_verbs_srq_type, type,
		 DOCA_VERBS_SRQ_TYPE_CONTIGUOUS)
SRQ(struct doca_verbs_pd *, pd)
SRQ(uint8_t, external_datapath_en)
SRQ(struct doca_dpa *, dpa)
VERBS_ATTR_UMEM(doca_verbs_srq_init_attr, external_umem)
VERBS_ATTR_UMEM(doca_verbs_srq_init_attr, external_dbr_umem)
