/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The attributes of doca_verbs, and what their functions have alike. */
#ifndef DPUMAP_VERBS_ATTR_H
#define DPUMAP_VERBS_ATTR_H

#include <stdlib.h>

#include <doca_verbs.h>

#include "device/verbs/qp_attr.h"
#include "log/log.h"

/* A place in a umem. */
struct dpumap_verbs_place {
	struct doca_umem *umem;
	uint64_t offset;
};

struct dpumap_verbs_umem_number {
	uint32_t id;
	uint64_t offset;
};

struct doca_verbs_qp_init_attr {
	struct doca_verbs_pd *pd;
	struct doca_verbs_cq *send_cq, *receive_cq;
	struct doca_verbs_srq *srq;
	int sq_sig_all;
	uint32_t sq_wr, rq_wr, send_max_sges, receive_max_sges, max_inline_data;
	uint32_t user_index, qp_type, uar_id, pdn;
	uint8_t external_datapath_en, core_direct_master;
	void *qp_context;
	struct doca_dpa *dpa;
	struct doca_dpa_completion *send_dpa_completion, *receive_dpa_completion;
	enum doca_verbs_qp_send_dbr_mode send_dbr_mode;
	enum doca_verbs_qp_scatter_to_cqe cqe_inline;
	struct dpumap_verbs_place external_umem, external_dbr_umem;
	struct dpumap_verbs_umem_number dbr_umem, wq_umem;
	struct doca_uar *external_uar;
};

struct doca_verbs_qp_attr {
	struct dpumap_verbs_qp_attr verbs;
	struct doca_verbs_ah_attr *ah_attr;
	struct doca_verbs_cc_group *cc_group;
};

struct doca_verbs_ah_attr {
	struct dpumap_verbs_ah verbs;
};

struct doca_verbs_cq_attr {
	uint32_t cq_size, dpa_thread_id;
	enum doca_verbs_cq_entry_size entry_size;
	uint8_t cq_overrun, external_datapath_en;
	struct doca_verbs_comp_channel *comp_channel;
	void *cq_context;
	struct doca_uar *external_uar;
	struct dpumap_verbs_place external_umem;
};

struct doca_verbs_srq_init_attr {
	struct doca_verbs_pd *pd;
	uint32_t srq_wr, receive_max_sges;
	enum doca_verbs_srq_type type;
	uint8_t external_datapath_en;
	struct doca_dpa *dpa;
	struct dpumap_verbs_place external_umem, external_dbr_umem;
};

/* A zeroed object; NULL, logged, without memory. function is that of the user. */
void *dpumap_verbs_new(size_t size, const char *function);

/* Error of the setter `function` of a value outside of its range. */
doca_error_t dpumap_verbs_fail_range(const char *function, uint64_t value, uint64_t max);

/* The macros define functions of users, with the arguments of the header. */

#define VERBS_ATTR_DESTROY(object)                         \
	doca_error_t object##_destroy(struct object *attr) \
	{                                                  \
		if (!attr)                                 \
			return dpumap_fail_null(__func__); \
		free(attr);                                \
		return DOCA_SUCCESS;                       \
	}

#define VERBS_ATTR_CREATE(object)                                       \
	doca_error_t object##_create(struct object **attr)              \
	{                                                               \
		struct object *created;                                 \
                                                                        \
		if (!attr)                                              \
			return dpumap_fail_null(__func__);              \
		created = dpumap_verbs_new(sizeof(*created), __func__); \
		if (!created)                                           \
			return DOCA_ERROR_NO_MEMORY;                    \
		*attr = created;                                        \
		return DOCA_SUCCESS;                                    \
	}

/* A member; in `verbs.`, if place is that, and of any value. */
#define VERBS_ATTR_IN(object, place, type, name)                         \
	doca_error_t object##_set_##name(struct object *attr, type name) \
	{                                                                \
		if (!attr)                                               \
			return dpumap_fail_null(__func__);               \
		attr->place name = name;                                 \
		return DOCA_SUCCESS;                                     \
	}                                                                \
	type object##_get_##name(const struct object *attr)              \
	{                                                                \
		return attr ? attr->place name : (type){0};              \
	}

/* A number of 0 to max. */
#define VERBS_ATTR_UP_TO(object, place, type, name, max)                                 \
	doca_error_t object##_set_##name(struct object *attr, type name)                 \
	{                                                                                \
		if (!attr)                                                               \
			return dpumap_fail_null(__func__);                               \
		if ((uint64_t)(name) > (max))                                            \
			return dpumap_verbs_fail_range(__func__, (uint64_t)(name), max); \
		attr->place name = name;                                                 \
		return DOCA_SUCCESS;                                                     \
	}                                                                                \
	type object##_get_##name(const struct object *attr)                              \
	{                                                                                \
		return attr ? attr->place name : (type)0;                                \
	}

#define VERBS_ATTR_UMEM(object, name)                                                        \
	doca_error_t object##_set_##name(struct object *attr, struct doca_umem *umem,        \
					 uint64_t offset)                                    \
	{                                                                                    \
		if (!attr)                                                                   \
			return dpumap_fail_null(__func__);                                   \
		attr->name = (struct dpumap_verbs_place){umem, offset};                      \
		return DOCA_SUCCESS;                                                         \
	}                                                                                    \
	doca_error_t object##_get_##name(const struct object *attr, struct doca_umem **umem, \
					 uint64_t *offset)                                   \
	{                                                                                    \
		if (!attr || !umem || !offset)                                               \
			return dpumap_fail_null(__func__);                                   \
		*umem = attr->name.umem;                                                     \
		*offset = attr->name.offset;                                                 \
		return DOCA_SUCCESS;                                                         \
	}

#endif
