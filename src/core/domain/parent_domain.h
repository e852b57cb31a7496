/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parent domain object. */
#ifndef DPUMAP_CORE_DOMAIN_PARENT_DOMAIN_H
#define DPUMAP_CORE_DOMAIN_PARENT_DOMAIN_H

#include <stdatomic.h>

#include <dpumap/parent_domain.h>

#include "core/dev/dev.h"
#include "device/domain.h"

struct dpumap_parent_domain {
	struct doca_dev *dev;
	struct dpumap_domain *domain;
	atomic_uint users; /* queues on it */
};

#endif
