/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The objects of doca_verbs. Each counts the objects that use it, and cannot be destroyed before them. */
#ifndef DPUMAP_VERBS_VERBS_H
#define DPUMAP_VERBS_VERBS_H

#include <stdatomic.h>

#include <doca_verbs.h>

#include "device/verbs/qp.h"
#include "verbs/attr.h"

struct doca_verbs_context {
	struct dpumap_verbs_context verbs; /* first: events name it */
	atomic_uint users;
};

struct doca_verbs_pd {
	struct dpumap_verbs_pd verbs;
	struct doca_verbs_context *context; /* NULL for a PD that the program brought */
	atomic_uint users;
};

struct doca_verbs_comp_channel {
	struct dpumap_verbs_channel verbs;
	struct doca_verbs_context *context;
	atomic_uint users;
};

struct doca_verbs_cq {
	struct dpumap_verbs_cq verbs; /* first: events name it */
	struct doca_verbs_context *context;
	struct doca_verbs_cq_attr attr;
	atomic_uint users;
};

struct doca_verbs_srq {
	struct dpumap_verbs_srq verbs;
	struct doca_verbs_context *context;
	struct doca_verbs_srq_init_attr attr;
	atomic_uint users;
};

struct doca_verbs_qp {
	struct dpumap_verbs_qp verbs; /* first: events name it */
	struct doca_verbs_context *context;
	struct doca_verbs_qp_init_attr attr; /* with the numbers that it has */
	struct doca_verbs_ah_attr queried;   /* the address that a query returned last */
};

/* One more, or one less, object that uses another; users may be NULL. */
static inline void dpumap_verbs_use(atomic_uint *users)
{
	if (users)
		atomic_fetch_add(users, 1);
}

static inline void dpumap_verbs_unuse(atomic_uint *users)
{
	if (users)
		atomic_fetch_sub(users, 1);
}

#define dpumap_verbs_users_of(object) ((object) ? &(object)->users : NULL)

/* states.c. Whether a queue pair may change like this; the error is logged. */
struct dpumap_verbs_change {
	bool is_rc;
	enum doca_verbs_qp_state from, to;
	int mask;
};

doca_error_t dpumap_verbs_check_change(const struct dpumap_verbs_change *change);

#endif
