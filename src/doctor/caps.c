/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the device can do, by its own word. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <doca_rdma.h>
#include <dpumap/dm.h>

#include "device/prm.h"
#include "doctor/group_device.h"
#include "doctor/patient.h"

#define ADVICE_FIRMWARE "update the card's firmware, and see docs/hardware.md for which can"

void doctor_cap_devx(struct patient *patient, struct finding *finding)
{
	if (!doctor_is_open(patient, finding))
		return;
	doctor_fact_bool(finding, "devx", patient->device.devx);
	if (patient->device.devx) {
		doctor_say(finding, DOCTOR_OK, "the firmware's own commands can be used");
		return;
	}
	if (!patient->device.is_mlx5) {
		doctor_say(finding, DOCTOR_WARN, "not a device of mlx5");
		doctor_advise(finding, "see device.driver");
		return;
	}
	doctor_fail(finding, DPUMAP_EXIT_DEVICE,
		    "the device opens without DEVX only: nothing can be exported or imported");
	doctor_advise(finding,
		      "needs firmware with UCTX_EN (mlxconfig -d PCI-ADDRESS set "
		      "UCTX_EN=1) and a kernel with CONFIG_INFINIBAND_USER_ACCESS and mlx5 "
		      "DEVX");
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
	bool may_allow; /* mkeys can be allowed to other functions */
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

void doctor_cap_sharing(struct patient *patient, struct finding *finding)
{
	const struct device *device = &patient->device;
	struct sharing sharing;
	int err;

	if (!doctor_is_open(patient, finding))
		return;
	if (!device->devx) {
		doctor_follows(finding, "cap.devx");
		return;
	}
	err = query_sharing(device->context, &sharing);
	if (err) {
		doctor_say(finding, DOCTOR_UNKNOWN, "the firmware does not answer: %s",
			   strerror(err));
		doctor_advise(finding, "look at dmesg for mlx5_core");
		return;
	}
	doctor_fact_bool(finding, "indirect_mkeys", sharing.ksm);
	doctor_fact_bool(finding, "allow_other_vhca_access", sharing.may_allow);
	doctor_fact_bool(finding, "alias_mkeys", sharing.may_alias);
	doctor_say(finding,
		   sharing.ksm && sharing.may_allow && sharing.may_alias ? DOCTOR_OK : DOCTOR_WARN,
		   "indirect mkeys %s, ALLOW_OTHER_VHCA_ACCESS of mkeys %s, aliases of mkeys %s",
		   sharing.ksm ? "yes" : "no", sharing.may_allow ? "yes" : "no",
		   sharing.may_alias ? "yes" : "no");
	if (finding->state != DOCTOR_OK)
		doctor_advise(finding, ADVICE_FIRMWARE "; else only exports over RDMA work");
}

typedef doca_error_t cap_fn(const struct doca_devinfo *info, uint8_t *supported);

/* What the side cannot work without is a failure there. */
static void check_pci(const struct patient *patient, struct finding *finding, cap_fn *cap,
		      enum dpumap_doctor_side needed_by, const char *what)
{
	bool is_needed = patient->options->side == needed_by;
	const struct device *device = &patient->device;
	doca_error_t result = DOCA_SUCCESS;
	uint8_t supported = 0;

	if (!doctor_is_open(patient, finding))
		return;
	if (device->info)
		result = cap(device->info, &supported);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_SUPPORTED) {
		doctor_fail(finding, dpumap_fault_exit(result), "the device does not tell: %s",
			    doca_error_get_descr(result));
		doctor_advise(finding, "look at dmesg for mlx5_core; --verbose says more");
		return;
	}
	doctor_fact_bool(finding, "supported", supported);
	if (supported) {
		doctor_say(finding, DOCTOR_OK, "it can %s memory over PCI", what);
	} else if (is_needed) {
		doctor_fail(finding, DPUMAP_EXIT_DEVICE, "it cannot %s memory over PCI", what);
		doctor_advise(finding, device->is_mlx5
					       ? "see cap.devx and cap.sharing"
					       : "use a function of the card that the DPU is on; "
						 "here only exports over RDMA can work");
	} else {
		doctor_say(finding, DOCTOR_OK,
			   "it cannot %s memory over PCI, which is not needed "
			   "on this side",
			   what);
	}
}

void doctor_cap_pci_export(struct patient *patient, struct finding *finding)
{
	check_pci(patient, finding, doca_mmap_cap_is_export_pci_supported, DPUMAP_DOCTOR_DPU,
		  "export");
}

void doctor_cap_pci_import(struct patient *patient, struct finding *finding)
{
	check_pci(patient, finding, doca_mmap_cap_is_create_from_export_pci_supported,
		  DPUMAP_DOCTOR_HOST, "import");
}

void doctor_cap_rdma(struct patient *patient, struct finding *finding)
{
	const struct device *device = &patient->device;
	doca_error_t result = DOCA_ERROR_NOT_SUPPORTED;

	if (!doctor_is_open(patient, finding))
		return;
	if (device->info)
		result = doca_rdma_cap_task_read_is_supported(device->info);
	if (device->info && result == DOCA_SUCCESS)
		result = doca_rdma_cap_task_write_is_supported(device->info);
	doctor_fact_bool(finding, "supported", result == DOCA_SUCCESS);
	if (result == DOCA_SUCCESS) {
		doctor_say(finding, DOCTOR_OK, "it can be connected to other machines for RDMA");
	} else if (result == DOCA_ERROR_NOT_SUPPORTED) {
		doctor_say(finding, DOCTOR_WARN, "it cannot be connected to other machines");
		doctor_advise(finding,
			      "exports with via = \"rdma\" need a device that has RC queue "
			      "pairs");
	} else {
		doctor_say(finding, DOCTOR_UNKNOWN, "the device does not tell: %s",
			   doca_error_get_descr(result));
		doctor_advise(finding, "look at dmesg; --verbose says more");
	}
}

void doctor_cap_mmo(struct patient *patient, struct finding *finding)
{
	struct mlx5dv_context dv = {.comp_mask = MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH};
	const struct device *device = &patient->device;
	int err;

	if (!doctor_is_open(patient, finding))
		return;
	err = device->is_mlx5 ? mlx5dv_query_device(device->context, &dv) : 0;
	if (err) {
		doctor_say(finding, DOCTOR_UNKNOWN, "the device does not tell: %s",
			   strerror(err < 0 ? errno : err));
		doctor_advise(finding, "look at dmesg for mlx5_core");
		return;
	}
	if (!device->is_mlx5 || !(dv.comp_mask & MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH))
		dv.max_wr_memcpy_length = 0;
	doctor_fact_number(finding, "max_len", dv.max_wr_memcpy_length);
	if (dv.max_wr_memcpy_length) {
		doctor_say(finding, DOCTOR_OK,
			   "it has one (MMO), of up to %" PRIu64 " bytes a copy",
			   (uint64_t)dv.max_wr_memcpy_length);
		return;
	}
	doctor_say(finding, DOCTOR_WARN, "it has none (MMO)%s",
		   device->is_mlx5 ? ": copies are RDMA reads and writes to itself" : "");
	doctor_advise(finding, device->is_mlx5
				       ? "nothing to do: it works, and BlueField-2 or later has one"
				       : "see device.driver");
}

void doctor_cap_device_memory(struct patient *patient, struct finding *finding)
{
	const struct device *device = &patient->device;
	uint64_t size = 0, granularity = 0;
	doca_error_t result = DOCA_ERROR_NOT_SUPPORTED;

	if (!doctor_is_open(patient, finding))
		return;
	if (device->info)
		result = dpumap_dm_cap_get_max_len(device->info, &size);
	if (result == DOCA_SUCCESS && size)
		dpumap_dm_cap_get_granularity(device->info, &granularity);
	doctor_fact_number(finding, "bytes", size);
	doctor_fact_number(finding, "granularity", granularity);
	if (size) {
		doctor_say(finding, DOCTOR_OK, "%" PRIu64 " bytes, given by pieces of %" PRIu64,
			   size, granularity);
	} else if (result == DOCA_SUCCESS || result == DOCA_ERROR_NOT_SUPPORTED) {
		doctor_say(finding, DOCTOR_WARN, "it has none: exports of kind dm cannot be made");
		doctor_advise(finding, "use kind dram; device memory needs firmware and kernel "
				       "that give it to programs");
	} else {
		doctor_say(finding, DOCTOR_UNKNOWN, "the device does not tell: %s",
			   doca_error_get_descr(result));
		doctor_advise(finding, "look at dmesg for mlx5_core; --verbose says more");
	}
}

void doctor_cap_odp(struct patient *patient, struct finding *finding)
{
	const struct device *device = &patient->device;
	bool has_odp = device->attr.odp_caps.general_caps & IBV_ODP_SUPPORT;

	if (!doctor_is_open(patient, finding))
		return;
	if (!device->has_attr) {
		doctor_follows(finding, "device.firmware");
		return;
	}
	doctor_fact_bool(finding, "supported", has_odp);
	doctor_say(finding, DOCTOR_OK, "%s; dpumap locks the memory that it registers",
		   has_odp ? "it has it" : "it has none");
}
