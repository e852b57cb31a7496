/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include <string.h>

#include "core/dev/caps.h"
#include "device/memory/export.h"
#include "log/log.h"
#include "secret/secret.h"

static size_t max_size(const struct dpumap_caps *caps)
{
	return caps->can_export ? DPUMAP_ACCESS_KEY_SIZE : 0;
}

doca_error_t doca_mmap_cap_get_max_export_access_token_size(const struct doca_devinfo *devinfo,
							    size_t *size)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, size, &caps);

	if (result == DOCA_SUCCESS)
		*size = max_size(&caps);
	return result;
}

void dpumap_mmap_drop_token(struct mmap_slot *slot)
{
	dpumap_secret_free(slot->token, DPUMAP_ACCESS_KEY_SIZE);
	slot->token = NULL;
}

static doca_error_t store_token(struct mmap_slot *slot, const uint8_t *token, size_t size)
{
	if (!slot->token)
		slot->token = dpumap_secret_alloc(DPUMAP_ACCESS_KEY_SIZE);
	if (!slot->token)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an access token");
	memset(slot->token, 0, DPUMAP_ACCESS_KEY_SIZE);
	memcpy(slot->token, token, size);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_export_access_token(struct doca_mmap *mmap, const struct doca_dev *dev,
					       const uint8_t *token, size_t token_size)
{
	struct mmap_slot *slot;
	doca_error_t result;
	size_t max;

	if (!mmap || !dev || !token)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	result = dpumap_mmap_check_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_mmap_get_slot(mmap, dev, &slot);
	if (result != DOCA_SUCCESS)
		return result;
	max = max_size(dpumap_device_caps(dev->device));
	if (!token_size || token_size > max)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"access token of %zu bytes is invalid: on %s it must have 1 to %zu",
			token_size, dpumap_hca_name(dev->info.hca), max);
	return store_token(slot, token, token_size);
}
