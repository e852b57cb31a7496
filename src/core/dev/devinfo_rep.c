/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Representors: the host's physical function, as a device of the DPU reports it. */
#include "core/dev/devinfo_rep.h"

#include <stdlib.h>
#include <string.h>

#include "core/dev/dev.h"
#include "device/hca.h"
#include "device/sysfs.h"
#include "log/log.h"

struct doca_devinfo_rep {
	struct dpumap_hca *hca; /* of the DPU's device */
	struct dpumap_host_pf pf;
};

struct doca_dev_rep {
	struct doca_devinfo_rep info;
	atomic_uint users;
};

static doca_error_t query_cap(const struct doca_devinfo *devinfo, uint8_t *cap, uint8_t value,
			      const char *function)
{
	struct dpumap_host_pf pf;
	doca_error_t result;

	if (!devinfo || !cap)
		return dpumap_fail_null(function);
	result = dpumap_hca_query_host_pf(devinfo->hca, &pf);
	if (result == DOCA_SUCCESS)
		*cap = value;
	return result;
}

doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_all_supported)
{
	return query_cap(devinfo, filter_all_supported, 1, __func__);
}

doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_net_supported)
{
	return query_cap(devinfo, filter_net_supported, 1, __func__);
}

doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported)
{
	return query_cap(devinfo, filter_emulated_supported, 0, __func__);
}

static void destroy_reps(struct doca_devinfo_rep **reps)
{
	for (uint32_t i = 0; reps[i]; i++) {
		dpumap_hca_put(reps[i]->hca);
		free(reps[i]);
	}
	free(reps);
}

/* The array ends with NULL: it is destroyed without its length. */
static doca_error_t create_reps(struct dpumap_hca *hca, const struct dpumap_host_pf *pf, uint32_t n,
				struct doca_devinfo_rep ***list)
{
	struct doca_devinfo_rep **reps = calloc((size_t)n + 1, sizeof(struct doca_devinfo_rep *));

	if (!reps)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for %u representors", n);
	for (uint32_t i = 0; i < n; i++) {
		reps[i] = calloc(1, sizeof(*reps[i]));
		if (!reps[i]) {
			destroy_reps(reps);
			return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a representor");
		}
		reps[i]->hca = dpumap_hca_get(hca);
		reps[i]->pf = *pf;
	}
	*list = reps;
	return DOCA_SUCCESS;
}

static bool wants_net(int filter)
{
	return filter == DOCA_DEVINFO_REP_FILTER_ALL || (filter & DOCA_DEVINFO_REP_FILTER_NET);
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep)
{
	struct dpumap_host_pf pf;
	doca_error_t result;
	uint32_t n;

	if (!dev || !dev_list_rep || !nb_devs_rep)
		return dpumap_fail_null(__func__);
	if (filter & ~(DOCA_DEVINFO_REP_FILTER_NET | DOCA_DEVINFO_REP_FILTER_EMULATED))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "representors: filter 0x%x has undefined bits",
				   (unsigned int)filter);
	result = dpumap_hca_query_host_pf(dev->info.hca, &pf);
	if (result != DOCA_SUCCESS)
		return result;
	n = wants_net(filter) ? 1 : 0;
	result = create_reps(dev->info.hca, &pf, n, dev_list_rep);
	if (result == DOCA_SUCCESS)
		*nb_devs_rep = n;
	return result;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	if (!dev_list_rep)
		return dpumap_fail_null(__func__);
	destroy_reps(dev_list_rep);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo_rep, struct doca_dev_rep **dev_rep)
{
	struct doca_dev_rep *opened;

	if (!devinfo_rep || !dev_rep)
		return dpumap_fail_null(__func__);
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a representor");
	opened->info = *devinfo_rep;
	atomic_init(&opened->users, 0);
	dpumap_hca_get(opened->info.hca);
	*dev_rep = opened;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev_rep)
{
	unsigned int users;

	if (!dev_rep)
		return dpumap_fail_null(__func__);
	users = atomic_load(&dev_rep->users);
	if (users)
		return dpumap_fail(
			DOCA_ERROR_IN_USE,
			"representor %p of %s: %u servers of doca_comch use it; destroy them first",
			(void *)dev_rep, dev_rep->info.pf.pci_addr, users);
	dpumap_hca_put(dev_rep->info.hca);
	free(dev_rep);
	return DOCA_SUCCESS;
}

void dpumap_dev_rep_add_user(struct doca_dev_rep *rep)
{
	atomic_fetch_add(&rep->users, 1);
}

void dpumap_dev_rep_remove_user(struct doca_dev_rep *rep)
{
	atomic_fetch_sub(&rep->users, 1);
}

bool dpumap_dev_rep_is_of(const struct doca_dev_rep *rep, const struct doca_dev *dev)
{
	struct dpumap_caps caps;

	return dpumap_hca_get_caps(rep->info.hca, &caps) == DOCA_SUCCESS &&
	       caps.card_guid == dpumap_device_caps(dev->device)->card_guid;
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
	return dev_rep ? &dev_rep->info : NULL;
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
				       uint32_t size)
{
	(void)size;
	if (!devinfo_rep || !rep_vuid)
		return dpumap_fail_null(__func__);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s: VUIDs of representors are not supported",
				dpumap_hca_name(devinfo_rep->hca));
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
					       char *pci_addr_str)
{
	if (!devinfo_rep || !pci_addr_str)
		return dpumap_fail_null(__func__);
	memcpy(pci_addr_str, devinfo_rep->pf.pci_addr, sizeof(devinfo_rep->pf.pci_addr));
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr_str, uint8_t *is_equal)
{
	char wanted[DPUMAP_PCI_ADDR_SIZE];

	if (!devinfo_rep || !pci_addr_str || !is_equal)
		return dpumap_fail_null(__func__);
	if (dpumap_pci_addr_parse(pci_addr_str, wanted) != DOCA_SUCCESS)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "\"%s\" is not a valid PCI address: use dddd:bb:dd.f or bb:dd.f",
				   pci_addr_str);
	*is_equal = !strcmp(wanted, devinfo_rep->pf.pci_addr);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type)
{
	if (!devinfo_rep || !pci_func_type)
		return dpumap_fail_null(__func__);
	*pci_func_type = DOCA_PCI_FUNC_TYPE_PF;
	return DOCA_SUCCESS;
}

static doca_error_t answer(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_it,
			   uint8_t value, const char *function)
{
	if (!devinfo_rep || !is_it)
		return dpumap_fail_null(function);
	*is_it = value;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
					     uint8_t *is_hotplug)
{
	return answer(devinfo_rep, is_hotplug, 0, __func__);
}

doca_error_t doca_devinfo_rep_get_is_host_representor(const struct doca_devinfo_rep *devinfo_rep,
						      uint8_t *is_host_representor)
{
	return answer(devinfo_rep, is_host_representor, 1, __func__);
}

doca_error_t doca_devinfo_rep_get_is_uplink_representor(const struct doca_devinfo_rep *devinfo_rep,
							uint8_t *is_uplink_representor)
{
	return answer(devinfo_rep, is_uplink_representor, 0, __func__);
}

doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
					     char *iface_name, uint32_t size)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	doca_error_t result;

	if (!devinfo_rep || !iface_name)
		return dpumap_fail_null(__func__);
	if (size < sizeof(name))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: buffer of %u bytes, %zu needed",
				   __func__, size, sizeof(name));
	result =
		dpumap_sysfs_rep_iface(dpumap_hca_sysfs_path(devinfo_rep->hca), name, sizeof(name));
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_OPERATING_SYSTEM;
	memcpy(iface_name, name, strlen(name) + 1);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep,
					  uint16_t *vhca_id)
{
	if (!devinfo_rep || !vhca_id)
		return dpumap_fail_null(__func__);
	if (!devinfo_rep->pf.has_vhca_id)
		return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
					"%s: the firmware does not report the VHCA ID of the host",
					dpumap_hca_name(devinfo_rep->hca));
	*vhca_id = devinfo_rep->pf.vhca_id;
	return DOCA_SUCCESS;
}
