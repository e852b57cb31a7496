/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/link/place.h"

#include <string.h>

#include "core/dev/dev.h"
#include "core/dev/devinfo_rep.h"
#include "log/log.h"

static doca_error_t get_function(struct doca_dev *dev, struct doca_dev_rep *rep, uint16_t *function)
{
	const struct dpumap_caps *caps = dpumap_device_caps(dev->device);

	if (rep && !dpumap_dev_rep_is_of(rep, dev))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s and the representor are on different cards",
				   dpumap_hca_name(dev->info.hca));
	if (rep)
		return doca_devinfo_rep_get_vhca_id(doca_dev_rep_as_devinfo(rep), function);
	if (!caps->has_vhca_id)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s does not report the number of its function (DEVX is not "
				   "available), by which a server of doca_comch is found",
				   dpumap_hca_name(dev->info.hca));
	*function = caps->vhca_id;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_place_get(struct doca_dev *dev, struct doca_dev_rep *rep,
				    const char *name, struct dpumap_comch_place *place)
{
	size_t len = strnlen(name, DPUMAP_COMCH_NAME_SIZE);

	if (len == 0 || len == DPUMAP_COMCH_NAME_SIZE)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "the name of a server must have 1 to %d bytes",
				   DPUMAP_COMCH_NAME_SIZE - 1);
	*place = (struct dpumap_comch_place){.card = dpumap_device_caps(dev->device)->card_guid};
	memcpy(place->name, name, len);
	return get_function(dev, rep, &place->function);
}
