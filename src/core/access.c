/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/access.h"

#include <doca_types.h>

#include "device/memory/access.h"
#include "log/log.h"

#define ALL_FLAGS                                                                     \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DPUMAP_ACCESS_RDMA | DPUMAP_ACCESS_PCI | \
	 DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)

doca_error_t dpumap_access_check(uint32_t access_mask)
{
	if (access_mask & ~(uint32_t)ALL_FLAGS)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "access mask 0x%x has undefined bits",
				   access_mask);
	if ((access_mask & DPUMAP_ACCESS_PCI) == DPUMAP_ACCESS_PCI)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "access mask 0x%x: PCI_READ_ONLY excludes PCI_READ_WRITE",
				   access_mask);
	if ((access_mask & DPUMAP_ACCESS_PCI) &&
	    (access_mask & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "access mask 0x%x: PCI_RELAXED_ORDERING excludes PCI access",
				   access_mask);
	return DOCA_SUCCESS;
}
