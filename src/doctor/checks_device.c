/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/checks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "base/array.h"
#include "doctor/check_context.h"

#define ADVICE_DMESG "check dmesg for mlx5_core, then reload the driver or reset the card"

/* --- which devices ---------------------------------------------------------------------------- */

static unsigned int count_cards(void)
{
	const struct dirent *entry;
	DIR *dir = opendir("/sys/bus/pci/devices");
	unsigned int cards = 0;
	char path[PATH_MAX], line[32];

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", entry->d_name);
		cards += doctor_read_line(path, line, sizeof(line)) && strcmp(line, "0x15b3") == 0;
	}
	if (dir)
		closedir(dir);
	return cards;
}

static void add_attribute(struct json_object *object, const struct ibv_device *ibdev,
			  const char *file)
{
	char path[PATH_MAX], line[128];

	snprintf(path, sizeof(path), "%s/%s", ibdev->ibdev_path, file);
	if (doctor_read_line(path, line, sizeof(line)))
		json_object_object_add(object, file, json_object_new_string(line));
}

static struct json_object *describe(const struct device *device, struct ibv_device *ibdev)
{
	static const char *const files[] = {"fw_ver", "board_id", "hca_type", "node_guid",
					    "sys_image_guid"};
	struct json_object *object = json_object_new_object();
	const char *name = ibv_get_device_name(ibdev);
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];

	json_object_object_add(object, "name", json_object_new_string(name));
	json_object_object_add(object, "node_type",
			       json_object_new_string(ibv_node_type_str(ibdev->node_type)));
	json_object_object_add(object, "mlx5", json_object_new_boolean(mlx5dv_is_supported(ibdev)));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		add_attribute(object, ibdev, files[i]);
	for (uint32_t i = 0; i < device->num_infos; i++) {
		char own[DOCA_DEVINFO_IBDEV_NAME_SIZE];

		if (doca_devinfo_get_ibdev_name(device->infos[i], own, sizeof(own)) ==
			    DOCA_SUCCESS &&
		    strcmp(own, name) == 0 &&
		    doca_devinfo_get_pci_addr_str(device->infos[i], address) == DOCA_SUCCESS)
			json_object_object_add(object, "pci", json_object_new_string(address));
	}
	return object;
}

static void report_none(struct finding *finding)
{
	unsigned int cards = count_cards();

	doctor_fail(finding, DPUMAP_EXIT_NOT_FOUND, "no RDMA device found");
	if (cards) {
		doctor_advise(finding,
			      "%u PCI functions of the card's vendor found: load their driver "
			      "(modprobe mlx5_ib); in a container, pass /dev/infiniband through",
			      cards);
	} else {
		doctor_advise(finding,
			      "no card found: check that it is plugged in (lspci -d 15b3:), passed "
			      "through to this machine, and that its firmware runs");
	}
}

static void check_list(struct check_context *context, struct finding *finding)
{
	struct device *device = &context->device;
	struct json_object *devices = json_object_new_array();
	char text[320] = "";

	doctor_device_list(device);
	for (int i = 0; i < device->num; i++) {
		json_object_array_add(devices, describe(device, device->list[i]));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", i ? ", " : "",
			 ibv_get_device_name(device->list[i]),
			 mlx5dv_is_supported(device->list[i]) ? "" : " (not mlx5)");
	}
	doctor_fact_object(finding, "devices", devices);
	if (device->num)
		doctor_report(finding, DOCTOR_OK, "%d: %s", device->num, text);
	else
		report_none(finding);
}

static void check_chosen(struct check_context *context, struct finding *finding)
{
	const struct dpumap_doctor_options *options = context->options;
	struct device *device = &context->device;

	if (!device->num) {
		doctor_skip(finding, "device.list");
		return;
	}
	doctor_device_choose(device, options);
	if (!device->ibdev) {
		doctor_fail(finding, DPUMAP_EXIT_NOT_FOUND, "device %s not found", options->device);
		doctor_advise(finding, "use a device of device.list, by name or PCI address");
		return;
	}
	doctor_fact(finding, "name", doctor_device_name(device));
	doctor_report(finding, DOCTOR_OK, "%s: %s", doctor_device_name(device),
		      options->device	 ? "selected by --device or the configuration"
		      : device->num == 1 ? "the only device"
					 : "selected by default; use --device to check another");
}

/* False, with the finding set, when there is no device. */
static bool has_device(const struct check_context *context, struct finding *finding)
{
	if (!context->device.ibdev)
		doctor_skip(finding, context->device.num ? "device.chosen" : "device.list");
	return context->device.ibdev;
}

/* --- opening the device ----------------------------------------------------------------------- */

static void check_file(struct check_context *context, struct finding *finding)
{
	char path[PATH_MAX];
	int fd;

	if (!has_device(context, finding))
		return;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", context->device.ibdev->dev_name);
	doctor_fact(finding, "path", path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		doctor_report(finding, DOCTOR_OK, "%s can be opened", path);
		return;
	}
	if (errno == EACCES || errno == EPERM) {
		doctor_fail(finding, DPUMAP_EXIT_REFUSED, "%s: %s", path, strerror(errno));
		doctor_advise(
			finding,
			"let this user: a udev rule that gives /dev/infiniband/uverbs* to "
			"its group (KERNEL==\"uverbs*\", GROUP=\"rdma\", MODE=\"0660\"), or in "
			"a container the device cgroup");
	} else if (errno == ENOENT) {
		doctor_fail(finding, DPUMAP_EXIT_NOT_FOUND, "%s does not exist", path);
		doctor_advise(finding, "load the module (modprobe ib_uverbs); in a container, pass "
				       "/dev/infiniband through");
	} else {
		doctor_fail(finding, DPUMAP_EXIT_DEVICE, "%s: %s", path, strerror(errno));
		doctor_advise(finding, ADVICE_DMESG);
	}
}

static void check_open(struct check_context *context, struct finding *finding)
{
	struct device *device = &context->device;

	if (!has_device(context, finding))
		return;
	if (doctor_device_open(device)) {
		doctor_report(finding, DOCTOR_OK, "%s can be opened", doctor_device_name(device));
		return;
	}
	doctor_fail(finding, errno == EACCES ? DPUMAP_EXIT_REFUSED : DPUMAP_EXIT_DEVICE,
		    "cannot open %s: %s", doctor_device_name(device), strerror(errno));
	if (errno == EACCES || errno == EPERM)
		doctor_advise(finding, "see device.file, or run as root");
	else if (errno == ENOMEM || errno == EMFILE || errno == ENFILE)
		doctor_advise(finding, "raise the limits (system.memlock, system.nofile), or stop "
				       "other users of the device; otherwise " ADVICE_DMESG);
	else
		doctor_advise(finding, ADVICE_DMESG);
}

bool doctor_is_open(const struct check_context *context, struct finding *finding)
{
	if (!has_device(context, finding))
		return false;
	if (!context->device.context)
		doctor_skip(finding, "device.open");
	return context->device.context;
}

static void check_driver(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;

	if (!has_device(context, finding))
		return;
	doctor_fact_bool(finding, "mlx5", device->is_mlx5);
	if (device->is_mlx5) {
		doctor_report(finding, DOCTOR_OK, "mlx5");
		return;
	}
	doctor_report(finding, DOCTOR_WARN,
		      "%s is not an mlx5 device: no PCI exports, no device memory, no DMA engine%s",
		      doctor_device_name(device),
		      device->info ? "; it supports exports over RDMA" : "");
	doctor_advise(finding, "PCI exports need a function of the DPU's card; this device "
			       "supports only exports with via = \"rdma\"");
}

/* --- function and firmware -------------------------------------------------------------------- */

static void check_function(struct check_context *context, struct finding *finding)
{
	static const char *const types[] = {"PF", "VF", "SF"};
	const struct device *device = &context->device;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE] = "", vhca[32] = "", guid[64];
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_PF;
	const char *type_name = "function";
	char path[PATH_MAX];
	uint16_t vhca_id;

	if (!doctor_is_open(context, finding))
		return;
	if (device->info && doca_devinfo_get_pci_addr_str(device->info, address) == DOCA_SUCCESS)
		doctor_fact(finding, "pci", address);
	if (device->info && doca_devinfo_get_pci_func_type(device->info, &type) == DOCA_SUCCESS) {
		type_name = types[type];
		doctor_fact(finding, "type", type_name);
	}
	if (device->info && doca_devinfo_get_vhca_id(device->info, &vhca_id) == DOCA_SUCCESS) {
		snprintf(vhca, sizeof(vhca), ", vhca_id %u", vhca_id);
		doctor_fact_number(finding, "vhca_id", vhca_id);
	}
	snprintf(path, sizeof(path), "%s/sys_image_guid", device->ibdev->ibdev_path);
	if (!doctor_read_line(path, guid, sizeof(guid)))
		snprintf(guid, sizeof(guid), "unknown");
	else
		doctor_fact(finding, "sys_image_guid", guid);
	doctor_report(finding, DOCTOR_OK, "%s at %s%s, of card %s", type_name,
		      address[0] ? address : "an unknown address", vhca, guid);
}

static void check_firmware(struct check_context *context, struct finding *finding)
{
	struct device *device = &context->device;
	const struct ibv_device_attr *attr = &device->attr.orig_attr;
	int err;

	if (!doctor_is_open(context, finding))
		return;
	err = ibv_query_device_ex(device->context, NULL, &device->attr);
	if (err) {
		doctor_fail(finding, DPUMAP_EXIT_DEVICE, "query of %s failed: %s",
			    doctor_device_name(device), strerror(err < 0 ? errno : err));
		doctor_advise(finding, ADVICE_DMESG);
		return;
	}
	device->has_attr = true;
	doctor_fact(finding, "version", attr->fw_ver);
	doctor_fact_number(finding, "vendor_id", attr->vendor_id);
	doctor_fact_number(finding, "part_id", attr->vendor_part_id);
	doctor_report(finding, DOCTOR_OK, "%s (vendor %04x, part %04x)",
		      attr->fw_ver[0] ? attr->fw_ver : "without a version", attr->vendor_id,
		      attr->vendor_part_id);
}

/* --- BlueField's mode ------------------------------------------------------------------------- */

/* Device ids of the functions of BlueField-2, -3 and -4, as the PCI ID repository has them. */
static bool is_bluefield(const struct device *device)
{
	switch (device->attr.orig_attr.vendor_part_id) {
	case 0xa2d6:
	case 0xa2dc:
	case 0xa2df:
		return true;
	}
	return false;
}

static uint32_t list_representors(const struct device *device, struct finding *finding, char *first,
				  doca_error_t *result)
{
	struct json_object *found = json_object_new_array();
	struct doca_devinfo_rep **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t n = 0;

	*result = doca_dev_open(device->info, &dev);
	if (*result == DOCA_SUCCESS)
		*result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n);
	for (uint32_t i = 0; *result == DOCA_SUCCESS && i < n; i++) {
		char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = "";

		if (doca_devinfo_rep_get_pci_addr_str(list[i], address) != DOCA_SUCCESS)
			continue;
		json_object_array_add(found, json_object_new_string(address));
		if (i == 0)
			memcpy(first, address, sizeof(address));
	}
	if (*result == DOCA_SUCCESS)
		doca_devinfo_rep_destroy_list(list);
	if (dev)
		doca_dev_close(dev);
	doctor_fact_object(finding, "pci", found);
	return *result == DOCA_SUCCESS ? n : 0;
}

static void check_mode(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;
	bool is_dpu = context->options->side == DPUMAP_DOCTOR_DPU;
	char first[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = "";
	doca_error_t result;
	uint32_t n;

	if (!doctor_is_open(context, finding))
		return;
	if (!device->info || !device->is_mlx5) {
		doctor_report(finding, DOCTOR_OK, "not a DPU: not an mlx5 device");
		return;
	}
	n = list_representors(device, finding, first, &result);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_SUPPORTED &&
	    result != DOCA_ERROR_NOT_FOUND) {
		doctor_report(finding, DOCTOR_UNKNOWN, "the device query failed: %s",
			      doca_error_get_descr(result));
		doctor_advise(finding, "see device.open and try.open; " ADVICE_DMESG);
	} else if (n) {
		doctor_fact(finding, "mode", "embedded");
		doctor_report(finding, DOCTOR_OK,
			      "embedded (ECPF) mode: manages the host's function at %s", first);
	} else if (!is_dpu) {
		doctor_report(finding, DOCTOR_OK, "not an e-switch manager (normal on a host)");
	} else if (is_bluefield(device)) {
		doctor_report(finding, DOCTOR_WARN,
			      "a BlueField that does not manage the host's function: not in "
			      "embedded (ECPF) mode");
		doctor_advise(finding,
			      "set INTERNAL_CPU_MODEL to EMBEDDED_CPU(1) (as root: mlxconfig -d "
			      "PCI-ADDRESS query), then power cycle the machine");
	} else {
		doctor_report(
			finding, DOCTOR_WARN,
			"not a BlueField: PCI exports reach only other functions of this card");
		doctor_advise(finding, "no action needed if exporter and importer are on one "
				       "machine or its guests");
	}
}

/* --- ports ------------------------------------------------------------------------------------ */

static void check_port(struct check_context *context, struct finding *finding)
{
	struct device *device = &context->device;
	int err;

	if (!doctor_is_open(context, finding))
		return;
	err = ibv_query_port(device->context, 1, &device->port);
	if (err) {
		doctor_fail(finding, DPUMAP_EXIT_DEVICE, "query of port 1 failed: %s",
			    strerror(err < 0 ? errno : err));
		doctor_advise(finding, ADVICE_DMESG);
		return;
	}
	device->has_port = true;
	doctor_fact(finding, "state", ibv_port_state_str(device->port.state));
	if (device->port.state == IBV_PORT_ACTIVE) {
		doctor_report(finding, DOCTOR_OK, "port 1 is active");
		return;
	}
	doctor_fail(finding, DPUMAP_EXIT_NOT_FOUND,
		    "port 1 is %s: queue pairs cannot be connected, not even within the device",
		    ibv_port_state_str(device->port.state));
	doctor_advise(finding, "set the interface up (ip link set INTERFACE up); check cable and "
			       "switch (ethtool), and on InfiniBand the subnet manager");
}

static bool has_port(const struct check_context *context, struct finding *finding)
{
	if (!doctor_is_open(context, finding))
		return false;
	if (!context->device.has_port)
		doctor_skip(finding, "port.state");
	return context->device.has_port;
}

static unsigned int mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static void check_link(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;
	bool is_ethernet = device->port.link_layer == IBV_LINK_LAYER_ETHERNET;
	char rate_text[32] = "";
	uint64_t rate = 0;

	if (!has_port(context, finding))
		return;
	if (device->info && doca_devinfo_get_active_rate(device->info, &rate) == DOCA_SUCCESS &&
	    rate) {
		doctor_fact_number(finding, "rate", rate);
		snprintf(rate_text, sizeof(rate_text), ", %.4g Gbit/s", (double)rate / 1e9);
	}
	doctor_fact(finding, "layer", is_ethernet ? "Ethernet" : "InfiniBand");
	doctor_fact_number(finding, "mtu", mtu_bytes(device->port.active_mtu));
	doctor_fact_number(finding, "lid", device->port.lid);
	doctor_report(finding, DOCTOR_OK, "%s%s, MTU %u", is_ethernet ? "Ethernet" : "InfiniBand",
		      rate_text, mtu_bytes(device->port.active_mtu));
}

static const char *gid_type(const struct ibv_gid_entry *gid)
{
	switch (gid->gid_type) {
	case IBV_GID_TYPE_IB:
		return "InfiniBand";
	case IBV_GID_TYPE_ROCE_V1:
		return "RoCE v1";
	case IBV_GID_TYPE_ROCE_V2:
		return "RoCE v2";
	default:
		return "unknown";
	}
}

#define GIDS_MAX 256

static void format_gid(const union ibv_gid *gid, char text[static 40])
{
	char *at = text;

	for (unsigned int i = 0; i < 16; i += 2)
		at += sprintf(at, "%s%02x%02x", i ? ":" : "", gid->raw[i], gid->raw[i + 1]);
}

static void check_gids(struct check_context *context, struct finding *finding)
{
	const struct device *device = &context->device;
	struct ibv_gid_entry *gids;
	struct json_object *list;
	char text[40] = "";
	ssize_t n;

	if (!has_port(context, finding))
		return;
	gids = calloc(GIDS_MAX, sizeof(*gids));
	n = gids ? ibv_query_gid_table(device->context, gids, GIDS_MAX, 0) : -ENOMEM;
	list = json_object_new_array();
	for (ssize_t i = n - 1; i >= 0; i--) {
		struct json_object *gid = json_object_new_object();

		format_gid(&gids[i].gid, text);
		json_object_object_add(gid, "index", json_object_new_int64(gids[i].gid_index));
		json_object_object_add(gid, "gid", json_object_new_string(text));
		json_object_object_add(gid, "type", json_object_new_string(gid_type(&gids[i])));
		json_object_array_add(list, gid);
	}
	free(gids);
	doctor_fact_object(finding, "gids", list);
	if (n > 0) {
		doctor_report(finding, DOCTOR_OK, "%zd GIDs, the first is %s", n, text);
	} else if (n < 0) {
		doctor_report(finding, DOCTOR_UNKNOWN, "cannot read the GID table: %s",
			      strerror((int)-n));
		doctor_advise(finding, "check rdma link show, and dmesg");
	} else {
		doctor_fail(finding, DPUMAP_EXIT_NOT_FOUND,
			    "the port has no GID: queue pairs cannot be connected");
		doctor_advise(finding, "assign an address to its network interface and set it up "
				       "(ip link set INTERFACE up)");
	}
}

static void end(struct check_context *context)
{
	doctor_device_close(&context->device);
}

static const struct check checks[] = {
	{"device.list", "RDMA devices", check_list},
	{"device.chosen", "Device to check", check_chosen},
	{"device.file", "Device file", check_file},
	{"device.open", "Device open", check_open},
	{"device.driver", "Driver", check_driver},
	{"device.function", "Function", check_function},
	{"device.firmware", "Firmware", check_firmware},
	{"device.mode", "BlueField's mode", check_mode},
	{"port.state", "Port state", check_port},
	{"port.link", "Port link", check_link},
	{"port.gid", "Port GIDs", check_gids},
	{"cap.devx", "DEVX", doctor_cap_devx},
	{"cap.sharing", "Keys shared between functions", doctor_cap_sharing},
	{"cap.pci-export", "Export over PCI", doctor_cap_pci_export},
	{"cap.pci-import", "Import over PCI", doctor_cap_pci_import},
	{"cap.rdma", "RDMA connections", doctor_cap_rdma},
	{"cap.mmo", "DMA engine", doctor_cap_mmo},
	{"cap.device-memory", "Device memory", doctor_cap_device_memory},
	{"cap.odp", "On-demand paging", doctor_cap_odp},
	{0},
};

const struct group doctor_group_device = {.title = "Device", .checks = checks, .end = end};
