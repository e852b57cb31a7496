/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/checks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <doca_rdma.h>
#include <dpumap/dm.h>

#include "device/prm.h"
#include "doctor/check_context.h"

#define ADVICE_FIRMWARE "update the card's firmware (docs/hardware.md lists what supports it)"

void doctor_cap_devx(struct check_context *context, struct finding *finding)
{
	if (!doctor_is_open(context, finding))
		return;
	doctor_fact_bool(finding, "devx", context->device.devx);
	if (context->device.devx) {
		doctor_report(finding, DOCTOR_OK, "DEVX firmware commands are available");
		return;
	}
	if (!context->device.is_mlx5) {
		doctor_report(finding, DOCTOR_WARN, "not an mlx5 device");
		doctor_advise(finding, "see device.driver");
		return;
	}
	doctor_fail(finding, DPUMAP_EXIT_DEVICE,
		    "the device opens only without DEVX: PCI export and import do not work");
	doctor_advise(finding,
		      "enable UCTX_EN in the firmware (mlxconfig -d PCI-ADDRESS set UCTX_EN=1), "
		      "and use a kernel with CONFIG_INFINIBAND_USER_ACCESS and mlx5 DEVX");
}

/* One page of QUERY_HCA_CAP; the errno. */
static int query_page(struct ibv_context *context, uint32_t op_mod,
		      uint8_t out[static PRM_QUERY_HCA_CAP_OUT_LEN])
{
	uint8_t in[PRM_QUERY_HCA_CAP_IN_LEN] = {0};
	int err;

	memset(out, 0, PRM_QUERY_HCA_CAP_OUT_LEN);
	prm_set(in, PRM_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	prm_set(in, PRM_IN_OP_MOD, op_mod);
	err = mlx5dv_devx_general_cmd(context, in, sizeof(in), out, PRM_QUERY_HCA_CAP_OUT_LEN);
	return err < 0 ? errno : err;
}

struct sharing {
	bool ksm;
	bool may_allow; /* access by other functions can be allowed */
	bool may_alias;
};

static int query_sharing(struct ibv_context *context, struct sharing *sharing)
{
	uint8_t out[PRM_QUERY_HCA_CAP_OUT_LEN];
	const uint8_t *cap = out + PRM_QUERY_HCA_CAP_PAGE;
	int err;

	*sharing = (struct sharing){0};
	err = query_page(context, PRM_CAP_GENERAL_CURRENT, out);
	if (err)
		return err;
	sharing->ksm = prm_get(cap, PRM_CAP_FIXED_BUFFER_SIZE);
	if (!prm_get(cap, PRM_CAP_HCA_CAP_2))
		return 0;
	err = query_page(context, PRM_CAP_GENERAL_2_CURRENT, out);
	if (err)
		return err;
	sharing->may_allow =
		prm_get(cap, PRM_CAP2_ALLOWED_OBJECT_FOR_OTHER_VHCA) & PRM_ALLOWED_OBJECT_MKEY;
	sharing->may_alias = prm_get(cap, PRM_CAP2_CROSS_VHCA_OBJECT_TO_OBJECT) &
			     PRM_CROSS_VHCA_LOCAL_MKEY_TO_REMOTE;
	return 0;
}

void doctor_cap_sharing(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;
	struct sharing sharing;
	int err;

	if (!doctor_is_open(context, finding))
		return;
	if (!device->devx) {
		doctor_skip(finding, "cap.devx");
		return;
	}
	err = query_sharing(device->context, &sharing);
	if (err) {
		doctor_report(finding, DOCTOR_UNKNOWN, "the firmware query failed: %s",
			      strerror(err));
		doctor_advise(finding, "check dmesg for mlx5_core");
		return;
	}
	doctor_fact_bool(finding, "indirect_mkeys", sharing.ksm);
	doctor_fact_bool(finding, "allow_other_vhca_access", sharing.may_allow);
	doctor_fact_bool(finding, "alias_mkeys", sharing.may_alias);
	doctor_report(finding,
		      sharing.ksm && sharing.may_allow && sharing.may_alias ? DOCTOR_OK
									    : DOCTOR_WARN,
		      "indirect mkeys %s, ALLOW_OTHER_VHCA_ACCESS of mkeys %s, aliases of mkeys %s",
		      sharing.ksm ? "yes" : "no", sharing.may_allow ? "yes" : "no",
		      sharing.may_alias ? "yes" : "no");
	if (finding->state != DOCTOR_OK)
		doctor_advise(finding, ADVICE_FIRMWARE "; without it, only exports over RDMA work");
}

typedef doca_error_t cap_fn(const struct doca_devinfo *info, uint8_t *supported);

/* A missing capability is a failure on the side that needs it. */
static void check_pci(const struct check_context *context, struct finding *finding, cap_fn *cap,
		      enum dpumap_doctor_side needed_by, const char *what)
{
	bool is_needed = context->options->side == needed_by;
	const struct device *device = &context->device;
	doca_error_t result = DOCA_SUCCESS;
	uint8_t supported = 0;

	if (!doctor_is_open(context, finding))
		return;
	if (device->info)
		result = cap(device->info, &supported);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_SUPPORTED) {
		doctor_fail(finding, dpumap_error_exit(result), "the device query failed: %s",
			    doca_error_get_descr(result));
		doctor_advise(finding,
			      "check dmesg for mlx5_core; --verbose shows the log of the library");
		return;
	}
	doctor_fact_bool(finding, "supported", supported);
	if (supported) {
		doctor_report(finding, DOCTOR_OK, "the device can %s memory over PCI", what);
	} else if (is_needed) {
		doctor_fail(finding, DPUMAP_EXIT_DEVICE, "the device cannot %s memory over PCI",
			    what);
		doctor_advise(finding, device->is_mlx5
					       ? "see cap.devx and cap.sharing"
					       : "use a function of the DPU's card; with this "
						 "device, only exports over RDMA work");
	} else {
		doctor_report(finding, DOCTOR_OK,
			      "the device cannot %s memory over PCI, which this side does not need",
			      what);
	}
}

void doctor_cap_pci_export(struct check_context *context, struct finding *finding)
{
	check_pci(context, finding, doca_mmap_cap_is_export_pci_supported, DPUMAP_DOCTOR_DPU,
		  "export");
}

void doctor_cap_pci_import(struct check_context *context, struct finding *finding)
{
	check_pci(context, finding, doca_mmap_cap_is_create_from_export_pci_supported,
		  DPUMAP_DOCTOR_HOST, "import");
}

void doctor_cap_rdma(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;
	doca_error_t result = DOCA_ERROR_NOT_SUPPORTED;

	if (!doctor_is_open(context, finding))
		return;
	if (device->info)
		result = doca_rdma_cap_task_read_is_supported(device->info);
	if (device->info && result == DOCA_SUCCESS)
		result = doca_rdma_cap_task_write_is_supported(device->info);
	doctor_fact_bool(finding, "supported", result == DOCA_SUCCESS);
	if (result == DOCA_SUCCESS) {
		doctor_report(finding, DOCTOR_OK,
			      "the device supports RDMA connections to other machines");
	} else if (result == DOCA_ERROR_NOT_SUPPORTED) {
		doctor_report(finding, DOCTOR_WARN,
			      "the device does not support RDMA connections to other machines");
		doctor_advise(finding,
			      "exports with via = \"rdma\" need a device with RC queue pairs");
	} else {
		doctor_report(finding, DOCTOR_UNKNOWN, "the device query failed: %s",
			      doca_error_get_descr(result));
		doctor_advise(finding, "check dmesg; --verbose shows the log of the library");
	}
}

void doctor_cap_mmo(struct check_context *context, struct finding *finding)
{
	struct mlx5dv_context dv = {.comp_mask = MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH};
	const struct device *device = &context->device;
	int err;

	if (!doctor_is_open(context, finding))
		return;
	err = device->is_mlx5 ? mlx5dv_query_device(device->context, &dv) : 0;
	if (err) {
		doctor_report(finding, DOCTOR_UNKNOWN, "the device query failed: %s",
			      strerror(err < 0 ? errno : err));
		doctor_advise(finding, "check dmesg for mlx5_core");
		return;
	}
	if (!device->is_mlx5 || !(dv.comp_mask & MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH))
		dv.max_wr_memcpy_length = 0;
	doctor_fact_number(finding, "max_len", dv.max_wr_memcpy_length);
	if (dv.max_wr_memcpy_length) {
		doctor_report(finding, DOCTOR_OK,
			      "the device has a DMA engine (MMO), up to %" PRIu64 " bytes per copy",
			      (uint64_t)dv.max_wr_memcpy_length);
		return;
	}
	doctor_report(finding, DOCTOR_WARN, "the device has no DMA engine (MMO)%s",
		      device->is_mlx5 ? ": copies use RDMA reads and writes within the device"
				      : "");
	doctor_advise(finding, device->is_mlx5
				       ? "no action needed; BlueField-2 and later have a DMA engine"
				       : "see device.driver");
}

void doctor_cap_device_memory(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;
	uint64_t size = 0, granularity = 0;
	doca_error_t result = DOCA_ERROR_NOT_SUPPORTED;

	if (!doctor_is_open(context, finding))
		return;
	if (device->info)
		result = dpumap_dm_cap_get_max_len(device->info, &size);
	if (result == DOCA_SUCCESS && size)
		dpumap_dm_cap_get_granularity(device->info, &granularity);
	doctor_fact_number(finding, "bytes", size);
	doctor_fact_number(finding, "granularity", granularity);
	if (size) {
		doctor_report(finding, DOCTOR_OK,
			      "%" PRIu64 " bytes, allocated in units of %" PRIu64, size,
			      granularity);
	} else if (result == DOCA_SUCCESS || result == DOCA_ERROR_NOT_SUPPORTED) {
		doctor_report(finding, DOCTOR_WARN,
			      "the device has no device memory: exports of kind dm do not work");
		doctor_advise(finding,
			      "use kind dram; device memory needs support by firmware and kernel");
	} else {
		doctor_report(finding, DOCTOR_UNKNOWN, "the device query failed: %s",
			      doca_error_get_descr(result));
		doctor_advise(finding,
			      "check dmesg for mlx5_core; --verbose shows the log of the library");
	}
}

void doctor_cap_odp(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;
	bool has_odp = device->attr.odp_caps.general_caps & IBV_ODP_SUPPORT;

	if (!doctor_is_open(context, finding))
		return;
	if (!device->has_attr) {
		doctor_skip(finding, "device.firmware");
		return;
	}
	doctor_fact_bool(finding, "supported", has_odp);
	doctor_report(finding, DOCTOR_OK, "%s; dpumap does not use it",
		      has_odp ? "supported" : "not supported");
}
