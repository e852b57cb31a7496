/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Ethernet queues and groups of congestion control of doca_verbs. */
#include <doca_verbs.h>

#include "log/log.h"
#include "refused/refused.h"

static doca_error_t refuse(const char *function, const void *object)
{
	if (!object)
		return dpumap_fail_null(function);
	return dpumap_fail(
		DOCA_ERROR_NOT_SUPPORTED,
		"%s: Ethernet queues and groups of congestion control are not supported; "
		"use a QP",
		function);
}

/* The first argument is a pointer "object". */
#define CALL(name, ...)                          \
	doca_error_t name(__VA_ARGS__)           \
	{                                        \
		return refuse(__func__, object); \
	}

#define ATTR(q, type, name)                                            \
	CALL(doca_verbs_eth_##q##_init_attr_set_##name,                \
	     struct doca_verbs_eth_##q##_init_attr *object, type name) \
	REFUSED_GET(type, doca_verbs_eth_##q##_init_attr_get_##name,   \
		    const struct doca_verbs_eth_##q##_init_attr *object)
#define REFUSED_UNION(function, argument)    \
	union doca_data function(argument)   \
	{                                    \
		return (union doca_data){0}; \
	}

#define QUEUE(q)                                                                               \
	CALL(doca_verbs_eth_##q##_init_attr_create,                                            \
	     struct doca_verbs_eth_##q##_init_attr **object)                                   \
	CALL(doca_verbs_eth_##q##_init_attr_destroy,                                           \
	     struct doca_verbs_eth_##q##_init_attr *object)                                    \
	ATTR(q, struct doca_verbs_pd *, pd)                                                    \
	ATTR(q, struct doca_verbs_cq *, cq)                                                    \
	ATTR(q, uint32_t, wr_num)                                                              \
	ATTR(q, uint32_t, max_sges)                                                            \
	ATTR(q, uint32_t, user_index)                                                          \
	ATTR(q, uint16_t, queue_id)                                                            \
	CALL(doca_verbs_eth_##q##_init_attr_set_user_data,                                     \
	     struct doca_verbs_eth_##q##_init_attr *object, union doca_data user_data)         \
	REFUSED_UNION(doca_verbs_eth_##q##_init_attr_get_user_data,                            \
		      const struct doca_verbs_eth_##q##_init_attr *object)                     \
	ATTR(q, uint8_t, external_datapath_en)                                                 \
	ATTR(q, uint8_t, flush_in_error_en)                                                    \
	ATTR(q, uint8_t, ts_source_type)                                                       \
	ATTR(q, struct doca_dpa *, dpa)                                                        \
	ATTR(q, struct doca_dpa_completion *, dpa_completion)                                  \
	CALL(doca_verbs_eth_##q##_init_attr_set_external_umem,                                 \
	     struct doca_verbs_eth_##q##_init_attr *object, struct doca_umem *umem,            \
	     uint64_t offset)                                                                  \
	CALL(doca_verbs_eth_##q##_init_attr_get_external_umem,                                 \
	     const struct doca_verbs_eth_##q##_init_attr *object, struct doca_umem **umem,     \
	     uint64_t *offset)                                                                 \
	CALL(doca_verbs_eth_##q##_init_attr_set_external_dbr_umem,                             \
	     struct doca_verbs_eth_##q##_init_attr *object, struct doca_umem *umem,            \
	     uint64_t offset)                                                                  \
	CALL(doca_verbs_eth_##q##_init_attr_get_external_dbr_umem,                             \
	     const struct doca_verbs_eth_##q##_init_attr *object, struct doca_umem **umem,     \
	     uint64_t *offset)                                                                 \
	REFUSED_GET(enum doca_verbs_eth_##q##_state, doca_verbs_eth_##q##_init_attr_get_state, \
		    const struct doca_verbs_eth_##q##_init_attr *object)                       \
	CALL(doca_verbs_eth_##q##_create, struct doca_verbs_context *object,                   \
	     struct doca_verbs_eth_##q##_init_attr *attr, struct doca_verbs_eth_##q **queue)   \
	CALL(doca_verbs_eth_##q##_destroy, struct doca_verbs_eth_##q *object)                  \
	CALL(doca_verbs_eth_##q##_query, struct doca_verbs_eth_##q *object,                    \
	     struct doca_verbs_eth_##q##_init_attr *attr)                                      \
	CALL(doca_verbs_eth_##q##_recover_from_error, struct doca_verbs_eth_##q *object)       \
	REFUSED_GET(uint32_t, doca_verbs_eth_##q##_get_##q##_hw_number,                        \
		    const struct doca_verbs_eth_##q *object)                                   \
	CALL(doca_verbs_eth_##q##_get_dpa_handle, struct doca_verbs_eth_##q *object,           \
	     struct doca_dpa *dpa, doca_dpa_dev_verbs_eth_##q##_t *handle)                     \
	REFUSED_GET(void *, doca_verbs_eth_##q##_get_dbr_addr,                                 \
		    const struct doca_verbs_eth_##q *object)

QUEUE(sq)
QUEUE(rq)

ATTR(sq, int, sig_all)
ATTR(sq, uint32_t, max_inline_data)
ATTR(sq, uint8_t, allow_multi_pkt_send_wqe)
ATTR(sq, uint8_t, plane_index)
CALL(doca_verbs_eth_sq_init_attr_set_external_uar, struct doca_verbs_eth_sq_init_attr *object,
     struct doca_uar *external_uar)
CALL(doca_verbs_eth_sq_init_attr_get_external_uar, const struct doca_verbs_eth_sq_init_attr *object,
     struct doca_uar **external_uar)
CALL(doca_verbs_eth_sq_get_wq, const struct doca_verbs_eth_sq *object, void **buf,
     uint32_t *entries)
REFUSED_GET(void *, doca_verbs_eth_sq_get_uar_addr, const struct doca_verbs_eth_sq *object)
ATTR(rq, struct doca_verbs_srq *, srq)
CALL(doca_verbs_eth_rq_get_wq, const struct doca_verbs_eth_rq *object, void **buf,
     uint32_t *entries, uint32_t *bytes)

CALL(doca_verbs_cc_group_attr_create, struct doca_verbs_cc_group_attr **object)
CALL(doca_verbs_cc_group_attr_destroy, struct doca_verbs_cc_group_attr *object)
CALL(doca_verbs_cc_group_attr_set_hint, struct doca_verbs_cc_group_attr *object, const void *hint,
     size_t size)
CALL(doca_verbs_cc_group_attr_get_hint, const struct doca_verbs_cc_group_attr *object,
     const void **hint, size_t *size)
CALL(doca_verbs_cc_group_create, const struct doca_verbs_context *object,
     struct doca_verbs_cc_group_attr *attr, struct doca_verbs_cc_group **cc_group)
CALL(doca_verbs_cc_group_destroy, struct doca_verbs_cc_group *object)
CALL(doca_verbs_cc_group_modify, struct doca_verbs_cc_group *object,
     struct doca_verbs_cc_group_attr *attr)
CALL(doca_verbs_cc_group_query, const struct doca_verbs_cc_group *object,
     struct doca_verbs_cc_group_attr *attr)
CALL(doca_verbs_query_cc_group_caps, const struct doca_verbs_context *object,
     struct doca_verbs_cc_group_caps **caps)
CALL(doca_verbs_cc_group_caps_free, struct doca_verbs_cc_group_caps *object)
CALL(doca_verbs_cc_group_caps_get_data, struct doca_verbs_cc_group_caps *object, const void **data,
     size_t *size)
REFUSED_GET(uint32_t, doca_verbs_cc_group_caps_get_vendor_id,
	    const struct doca_verbs_cc_group_caps *object)
REFUSED_GET(uint32_t, doca_verbs_cc_group_caps_get_format_id,
	    const struct doca_verbs_cc_group_caps *object)
