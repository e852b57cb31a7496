/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a device can do. */
#include <stdlib.h>

#include "log/log.h"
#include "verbs/bridge.h"
#include "verbs/verbs.h"

struct doca_verbs_device_attr {
	struct dpumap_verbs_limits limits;
};

doca_error_t dpumap_verbs_query_limits(void *context, const char *function,
				       struct doca_verbs_device_attr **attr)
{
	struct doca_verbs_device_attr *created = dpumap_verbs_new(sizeof(*created), function);
	doca_error_t result;

	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = dpumap_verbs_query(context, &created->limits);
	if (result == DOCA_SUCCESS)
		*attr = created;
	else
		free(created);
	return result;
}

doca_error_t doca_verbs_query_device(struct doca_verbs_context *context,
				     struct doca_verbs_device_attr **verbs_device_attr)
{
	if (!context || !verbs_device_attr)
		return dpumap_fail_null(__func__);
	return dpumap_verbs_query_limits(context->verbs.context, __func__, verbs_device_attr);
}

doca_error_t doca_verbs_device_attr_free(struct doca_verbs_device_attr *verbs_device_attr)
{
	if (!verbs_device_attr)
		return dpumap_fail_null(__func__);
	free(verbs_device_attr);
	return DOCA_SUCCESS;
}

#define LIMIT(type, name, member)                                                         \
	type doca_verbs_device_attr_get_##name(const struct doca_verbs_device_attr *attr) \
	{                                                                                 \
		return attr ? (type)attr->limits.member : 0;                              \
	}

LIMIT(uint32_t, max_qp, attr.max_qp)
LIMIT(uint32_t, max_qp_wr, attr.max_qp_wr)
LIMIT(uint32_t, max_sge, attr.max_sge)
LIMIT(uint32_t, max_cq, attr.max_cq)
LIMIT(uint32_t, max_cqe, attr.max_cqe)
LIMIT(uint32_t, max_mr, attr.max_mr)
LIMIT(uint32_t, max_pd, attr.max_pd)
LIMIT(uint32_t, max_ah, attr.max_ah)
LIMIT(uint32_t, max_srq, attr.max_srq)
LIMIT(uint32_t, max_srq_wr, attr.max_srq_wr)
LIMIT(uint32_t, max_srq_sge, attr.max_srq_sge)
LIMIT(uint16_t, max_pkeys, attr.max_pkeys)
LIMIT(uint8_t, max_qp_rd_atom, attr.max_qp_rd_atom)
LIMIT(uint8_t, max_qp_init_rd_atom, attr.max_qp_init_rd_atom)
LIMIT(enum doca_verbs_atomic_cap, atomic_cap, attr.atomic_cap)
LIMIT(uint32_t, ts_free_running_clock_frequency, clock_khz)

/* Limits of objects that do not exist. */
#define NO_LIMIT(type, name)                                                              \
	type doca_verbs_device_attr_get_##name(const struct doca_verbs_device_attr *attr) \
	{                                                                                 \
		(void)attr;                                                               \
		return 0;                                                                 \
	}

NO_LIMIT(uint32_t, max_cc_group)
NO_LIMIT(uint32_t, max_eth_sq_wr_num)
NO_LIMIT(uint32_t, max_eth_rq_wr_num)
NO_LIMIT(size_t, max_cc_group_hint_max_size)

static doca_error_t is_lacking(const struct doca_verbs_device_attr *attr, const char *function)
{
	if (!attr)
		return dpumap_fail_null(function);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s: not supported", function);
}

#define LACKS(name)                                                    \
	doca_error_t doca_verbs_device_attr_get_is_##name##_supported( \
		const struct doca_verbs_device_attr *attr)             \
	{                                                              \
		return is_lacking(attr, __func__);                     \
	}

LACKS(dpa_external_datapath)
LACKS(gpu_external_datapath)
LACKS(ece)
LACKS(cc_group)
LACKS(cqe_inline)
LACKS(allow_multi_pkt_send_wqe)
LACKS(plane_index)
LACKS(eth_rq_srq)

#define LACKS_TIME(name)                                                              \
	doca_error_t doca_verbs_device_attr_get_is_##name##_ts_source_type_supported( \
		const struct doca_verbs_device_attr *attr, uint8_t ts_source)         \
	{                                                                             \
		(void)ts_source;                                                      \
		return is_lacking(attr, __func__);                                    \
	}

LACKS_TIME(eth_sq)
LACKS_TIME(eth_rq)

doca_error_t
doca_verbs_device_attr_get_is_qp_type_supported(const struct doca_verbs_device_attr *attr,
						uint32_t qp_type)
{
	if (!attr)
		return dpumap_fail_null(__func__);
	if (qp_type == DOCA_VERBS_QP_TYPE_RC || qp_type == DOCA_VERBS_QP_TYPE_UC)
		return DOCA_SUCCESS;
	return dpumap_verbs_fail_range(__func__, qp_type, DOCA_VERBS_QP_TYPE_UC);
}

doca_error_t
doca_verbs_device_attr_get_is_send_dbr_mode_supported(const struct doca_verbs_device_attr *attr,
						      enum doca_verbs_qp_send_dbr_mode mode)
{
	if (!attr)
		return dpumap_fail_null(__func__);
	if ((unsigned int)mode > DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_INT)
		return dpumap_verbs_fail_range(__func__, mode,
					       DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_INT);
	if (mode == DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID)
		return DOCA_SUCCESS;
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s: each send queue has a doorbell record", __func__);
}
