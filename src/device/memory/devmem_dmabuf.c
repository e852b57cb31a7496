/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "device/errno.h"
#include "device/memory/devmem_priv.h"
#include "device/symbol.h"
#include "log/log.h"

doca_error_t dpumap_devmem_export_dmabuf(const struct dpumap_devmem *mem, int *fd)
{
	const char *name = dpumap_hca_name(mem->device->hca);
	int (*export_dmabuf)(struct ibv_dm * dm);
	int made;

	dpumap_find_symbol("ibv_dm_export_dmabuf_fd", &export_dmabuf);
	if (!export_dmabuf)
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"%s: exporting device memory as a dma-buf: the loaded libibverbs does "
			"not have it; install rdma-core 62 or newer",
			name);
	made = export_dmabuf(mem->dm);
	if (made >= 0) {
		*fd = made;
		return DOCA_SUCCESS;
	}
	if (dpumap_errno_to_error(errno) == DOCA_ERROR_NOT_SUPPORTED)
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"%s: exporting device memory as a dma-buf: the kernel or the device "
			"does not have it: %s",
			name, strerror(errno));
	return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_NO_MEMORY),
			   "%s: exporting device memory as a dma-buf failed: %s", name,
			   strerror(errno));
}
