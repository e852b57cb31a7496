/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Servers and clients of doca_comch without a device: the linker's --wrap puts these in its place. */
#include <string.h>

#include <doca_comch.h>

#include "comch/link/place.h"

doca_error_t __wrap_dpumap_comch_place_get(struct doca_dev *dev, struct doca_dev_rep *rep,
					   const char *name, struct dpumap_comch_place *place);
doca_error_t __wrap_doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);
doca_error_t __wrap_doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

doca_error_t __wrap_dpumap_comch_place_get(struct doca_dev *of, struct doca_dev_rep *rep,
					   const char *name, struct dpumap_comch_place *place)
{
	(void)of, (void)rep;
	*place = (struct dpumap_comch_place){.card = 1, .function = 2};
	strncpy(place->name, name, sizeof(place->name) - 1);
	return DOCA_SUCCESS;
}

doca_error_t __wrap_doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return DOCA_SUCCESS;
}

doca_error_t __wrap_doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return DOCA_SUCCESS;
}
