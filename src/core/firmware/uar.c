/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Doorbell pages of programs that create objects of the firmware. */
#include <doca_uar.h>

#include <stdlib.h>

#include "core/dev/dev.h"
#include "device/memory/devx_resource.h"
#include "log/log.h"

struct doca_uar {
	struct doca_dev *dev;
	struct dpumap_devx_page *devx;
};

doca_error_t doca_uar_create(const struct doca_dev *dev,
			     enum doca_uar_allocation_type allocation_type, struct doca_uar **uar)
{
	struct doca_uar *created;
	doca_error_t result;

	if (!dev || !uar)
		return dpumap_fail_null(__func__);
	if ((unsigned int)allocation_type > DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: %u is not a kind of doorbell page", __func__,
				   allocation_type);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory", __func__);
	created->dev = (struct doca_dev *)dev; /* the interface takes a const device */
	result = dpumap_devx_page_alloc(dev->device, allocation_type, &created->devx);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	dpumap_dev_add_user(created->dev);
	*uar = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_uar_destroy(struct doca_uar *uar)
{
	if (!uar)
		return dpumap_fail_null(__func__);
	dpumap_devx_page_free(uar->devx);
	dpumap_dev_remove_user(uar->dev);
	free(uar);
	return DOCA_SUCCESS;
}

doca_error_t doca_uar_dpa_create(struct doca_dpa *dpa, struct doca_uar **uar)
{
	if (!dpa || !uar)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: DPAs are not supported", __func__);
}

doca_error_t doca_uar_id_get(const struct doca_uar *uar, uint32_t *uar_id)
{
	if (!uar || !uar_id)
		return dpumap_fail_null(__func__);
	*uar_id = dpumap_devx_page_id(uar->devx);
	return DOCA_SUCCESS;
}

doca_error_t doca_uar_page_get(const struct doca_uar *uar, const void **page)
{
	if (!uar || !page)
		return dpumap_fail_null(__func__);
	*page = dpumap_devx_page_addr(uar->devx);
	return DOCA_SUCCESS;
}

doca_error_t doca_uar_reg_addr_get(const struct doca_uar *uar, const void **reg_addr)
{
	if (!uar || !reg_addr)
		return dpumap_fail_null(__func__);
	*reg_addr = dpumap_devx_page_doorbell(uar->devx);
	return DOCA_SUCCESS;
}
