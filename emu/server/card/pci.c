/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Linux, Documentation/ABI/testing/sysfs-bus-pci; the configuration space: linux/pci_regs.h.
 */
#include "emu/server/card/pci.h"

#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/pci_ids.h"
#include "emu/server/card/numa.h"
#include "emu/server/card/place.h"
#include "emu/server/card/sysfs.h"

#define CLASS_ETHERNET 0x020000
#define CLASS_BRIDGE   0x060400
#define NRESOURCES     13 /* 6 BARs, the ROM, 6 of virtual functions */
#define CONFIG_BYTES   256
#define EXPRESS_AT     0x40 /* in the configuration: the capability of PCI Express */
#define FILE_BYTES     128

/* A device on the bus: a function of a card, or a bridge above it. */
struct device {
	const struct emu_func *f;
	const struct emu_bridge *bridge; /* or NULL */
	char pci[16];
	unsigned int bus, class;
	unsigned int vendor, device, subvendor, subdevice, revision;
	const char *driver;
	struct emu_sysfs_dir dir;
};

/* What stands for ports of a machine and of switches, by the names of pci.ids. */
static const struct {
	unsigned int vendor, device, subvendor, subdevice;
} root_port = {0x1b36, 0x000c, 0x1b36, 0x0000}, switch_port = {0x1000, 0xc030, 0x1000, 0x0088};

/* The MAC address that corresponds to the port's EUI-64. */
static void put_mac(struct emu_sysfs_dir *d, const char *name)
{
	uint64_t g = d->f->node_guid;

	emu_sysfs_line(d, name, "%02x:%02x:%02x:%02x:%02x:%02x", (unsigned int)(g >> 56),
		       (unsigned int)(g >> 48) & 0xff, (unsigned int)(g >> 40) & 0xff,
		       (unsigned int)(g >> 16) & 0xff, (unsigned int)(g >> 8) & 0xff,
		       (unsigned int)g & 0xff);
}

/* The kernel's line for udev, and what it tells about the device in one file. */
static void put_names(struct device *v)
{
	char alias[80];

	snprintf(alias, sizeof(alias), "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X", v->vendor,
		 v->device, v->subvendor, v->subdevice, v->class >> 16, v->class >> 8 & 0xff,
		 v->class & 0xff);
	emu_sysfs_line(&v->dir, "modalias", "%s", alias);
	emu_sysfs_line(&v->dir, "uevent",
		       "DRIVER=%s\nPCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\n"
		       "PCI_SLOT_NAME=%s\nMODALIAS=%s",
		       v->driver, v->class, v->vendor, v->device, v->subvendor, v->subdevice,
		       v->pci, alias);
}

/* No memory of the card can be mapped by way of PCI: all resources are empty. */
static void put_resources(struct emu_sysfs_dir *d)
{
	static const char empty[] = "0x0000000000000000 0x0000000000000000 0x0000000000000000";
	char text[NRESOURCES * sizeof(empty)];
	size_t len = 0, i;

	for (i = 0; i < NRESOURCES; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? "\n" : "",
					empty);
	emu_sysfs_line(d, "resource", "%s", text);
}

static void put16(uint8_t *config, unsigned int at, unsigned int value)
{
	config[at] = (uint8_t)value;
	config[at + 1] = (uint8_t)(value >> 8);
}

static void set_bridge(uint8_t *config, const struct emu_bridge *b)
{
	config[PCI_HEADER_TYPE] = PCI_HEADER_TYPE_BRIDGE;
	config[PCI_PRIMARY_BUS] = b->bus;
	config[PCI_SECONDARY_BUS] = b->secondary;
	config[PCI_SUBORDINATE_BUS] = b->subordinate;
}

/* PCI Express: version 2, and a link that is as fast as it can be. */
static void set_express(uint8_t *at, unsigned int type, const struct emu_profile *p)
{
	const unsigned int link = p->pcie_lanes << 4 | emu_pcie_speed_code(p->pcie_speed);

	at[PCI_CAP_LIST_ID] = PCI_CAP_ID_EXP;
	put16(at, PCI_EXP_FLAGS, type << 4 | 2);
	put16(at, PCI_EXP_LNKCAP, link);
	put16(at, PCI_EXP_LNKSTA, link);
}

/* The head of the configuration space, which lspci, libpciaccess and hwloc read. */
static int put_config(const struct device *v)
{
	uint8_t config[CONFIG_BYTES] = {
		[PCI_REVISION_ID] = (uint8_t)v->revision, [PCI_CAPABILITY_LIST] = EXPRESS_AT};
	char file[FILE_BYTES];

	put16(config, PCI_VENDOR_ID, v->vendor);
	put16(config, PCI_DEVICE_ID, v->device);
	put16(config, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	put16(config, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put16(config, PCI_CLASS_DEVICE, v->class >> 8);
	set_express(config + EXPRESS_AT, v->bridge ? v->bridge->type : PCI_EXP_TYPE_ENDPOINT,
		    v->f->card->profile);
	if (v->bridge) {
		set_bridge(config, v->bridge);
	} else {
		put16(config, PCI_SUBSYSTEM_VENDOR_ID, v->subvendor);
		put16(config, PCI_SUBSYSTEM_ID, v->subdevice);
	}
	snprintf(file, sizeof(file), "%.*s/config", EMU_PCI_PATH, v->dir.path);
	return emu_sysfs_put_bytes(v->f, file, config, sizeof(config));
}

/* A link in a device's directory to `to`, below /sys. */
static void link_up(struct device *v, const char *name, const char *to)
{
	char file[FILE_BYTES], target[FILE_BYTES] = "../";
	size_t len = 3;

	for (const char *p = v->dir.path; (p = strchr(p, '/')); p++)
		len += (size_t)snprintf(target + len, sizeof(target) - len, "../");
	snprintf(target + len, sizeof(target) - len, "%s", to);
	snprintf(file, sizeof(file), "%.*s/%s", EMU_PCI_PATH, v->dir.path, name);
	if (!v->dir.err)
		v->dir.err = emu_sysfs_link(v->f, file, target);
}

/* A link `file` to a device's directory. */
static void link_down(struct device *v, const char *file, const char *up, const char *to)
{
	char target[FILE_BYTES];

	snprintf(target, sizeof(target), "%s%s", up, to);
	if (!v->dir.err)
		v->dir.err = emu_sysfs_link(v->f, file, target);
}

static void put_links(struct device *v)
{
	char file[FILE_BYTES];

	snprintf(file, sizeof(file), "bus/pci/drivers/%s", v->driver);
	link_up(v, "driver", file);
	link_up(v, "subsystem", "bus/pci");
	snprintf(file, sizeof(file), "bus/pci/devices/%s", v->pci);
	link_down(v, file, "../../../", v->dir.path);
	snprintf(file, sizeof(file), "bus/pci/drivers/%s/%s", v->driver, v->pci);
	link_down(v, file, "../../../../", v->dir.path);
}

/* The device's bus, as a directory beside it: NCCL finds a device from there. */
static void put_bus(struct device *v)
{
	struct emu_sysfs_dir bus = {.f = v->f, .err = v->dir.err};
	const int parent = (int)(strrchr(v->dir.path, '/') - v->dir.path);
	char file[FILE_BYTES];

	snprintf(bus.path, sizeof(bus.path), "%.*s/pci_bus/0000:%02x", parent, v->dir.path, v->bus);
	emu_numa_cpus(&bus, "cpuaffinity", "cpulistaffinity", &v->f->place);
	v->dir.err = bus.err;
	snprintf(file, sizeof(file), "class/pci_bus/0000:%02x", v->bus);
	link_down(v, file, "../../", bus.path);
}

static void put_ids(struct device *v)
{
	const struct {
		const char *name;
		int digits;
		unsigned int value;
	} ids[] = {
		{"vendor", 4, v->vendor},
		{"device", 4, v->device},
		{"subsystem_vendor", 4, v->subvendor},
		{"subsystem_device", 4, v->subdevice},
		{"class", 6, v->class},
		{"revision", 2, v->revision},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		emu_sysfs_line(&v->dir, ids[i].name, "0x%0*x", ids[i].digits, ids[i].value);
}

static void put_place(struct device *v)
{
	const struct emu_profile *p = v->f->card->profile;
	const struct emu_place *at = &v->f->place;

	for (unsigned int i = 0; i < 2; i++) {
		emu_sysfs_line(&v->dir, i ? "max_link_width" : "current_link_width", "%u",
			       p->pcie_lanes);
		emu_sysfs_line(&v->dir, i ? "max_link_speed" : "current_link_speed",
			       "%u.0 GT/s PCIe", p->pcie_speed);
	}
	emu_sysfs_line(&v->dir, "numa_node", "%d", at->numa_nodes ? (int)at->numa_node : -1);
	emu_numa_cpus(&v->dir, "local_cpus", "local_cpulist", at);
	emu_sysfs_line(&v->dir, "irq", "0");
	emu_sysfs_line(&v->dir, "enable", "1");
}

static int create(struct device *v)
{
	int err;

	put_ids(v);
	put_place(v);
	put_names(v);
	put_resources(&v->dir);
	put_links(v);
	put_bus(v);
	err = v->dir.err;
	return err ? err : put_config(v);
}

/* The bridge whose directory has `len` bytes of the function's path. Functions behind it write the same files. */
static int create_bridge(const struct emu_func *f, const struct emu_bridge *b, int len)
{
	const bool is_root = b->type == PCI_EXP_TYPE_ROOT_PORT;
	struct device v = {
		.f = f,
		.bridge = b,
		.bus = b->bus,
		.class = CLASS_BRIDGE,
		.vendor = is_root ? root_port.vendor : switch_port.vendor,
		.device = is_root ? root_port.device : switch_port.device,
		.subvendor = is_root ? root_port.subvendor : switch_port.subvendor,
		.subdevice = is_root ? root_port.subdevice : switch_port.subdevice,
		.driver = "pcieport",
		.dir = {.f = f},
	};

	emu_place_address(b->bus, b->slot, v.pci);
	snprintf(v.dir.path, sizeof(v.dir.path), "%.*s", len, f->path);
	return create(&v);
}

static int create_bridges(const struct emu_func *f)
{
	const char *end = strchr(strchr(f->path, '/') + 1, '/');
	int err = 0;

	for (unsigned int i = 0; i < f->place.nbridges && !err; i++) {
		end = strchr(end + 1, '/');
		err = create_bridge(f, &f->place.bridge[i], (int)(end - f->path));
	}
	return err;
}

int emu_pci_create(const struct emu_func *f)
{
	struct device v = {
		.f = f,
		.bus = f->place.bus,
		.class = CLASS_ETHERNET,
		.vendor = EMU_PCI_VENDOR,
		.device = f->card->profile->part_id,
		.subvendor = EMU_PCI_VENDOR,
		.subdevice = EMU_PCI_SUBSYSTEM,
		.revision = EMU_PCI_REVISION,
		.driver = "mlx5_core",
		.dir = {.f = f},
	};
	int err = create_bridges(f);

	if (err)
		return err;
	emu_place_address(v.bus, 0, v.pci);
	snprintf(v.dir.path, sizeof(v.dir.path), "%s", f->path);
	put_mac(&v.dir, "net/" EMU_NETDEV "/address");
	err = create(&v);
	return err ? err : emu_numa_create(f);
}
