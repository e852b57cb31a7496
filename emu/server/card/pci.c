/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Linux, Documentation/ABI/testing/sysfs-bus-pci; the configuration space: linux/pci_regs.h.
 */
#include "emu/server/card/pci.h"

#include <linux/pci_regs.h>
#include <stdio.h>
#include <unistd.h>

#include "emu/server/card/sysfs.h"

#define VENDOR	     0x15b3
#define SUBSYSTEM    0x0001
#define CLASS	     0x020000 /* Ethernet controller */
#define REVISION     0x01
#define DRIVER	     "mlx5_core"
#define DEVICES	     "devices/pci0000:00"
#define NRESOURCES   13 /* 6 BARs, the ROM, 6 of virtual functions */
#define CONFIG_BYTES 256

#define FILE_BYTES   128

/* The MAC address that corresponds to the port's EUI-64. */
static int put_mac(const struct emu_func *f, const char *file)
{
	uint64_t g = f->node_guid;

	return emu_sysfs_put(f, file, "%02x:%02x:%02x:%02x:%02x:%02x", (unsigned int)(g >> 56),
			     (unsigned int)(g >> 48) & 0xff, (unsigned int)(g >> 40) & 0xff,
			     (unsigned int)(g >> 16) & 0xff, (unsigned int)(g >> 8) & 0xff,
			     (unsigned int)g & 0xff);
}

static int put_line(const struct emu_func *f, const char *name, const char *value)
{
	char file[FILE_BYTES];

	snprintf(file, sizeof(file), DEVICES "/%s/%s", f->pci, name);
	return emu_sysfs_put(f, file, "%s", value);
}

static int put_number(const struct emu_func *f, const char *name, unsigned int digits,
		      unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%0*x", (int)digits, value);
	return put_line(f, name, text);
}

static int put_ids(const struct emu_func *f)
{
	int err;

	err = put_number(f, "vendor", 4, VENDOR);
	if (!err)
		err = put_number(f, "device", 4, f->card->profile->part_id);
	if (!err)
		err = put_number(f, "subsystem_vendor", 4, VENDOR);
	if (!err)
		err = put_number(f, "subsystem_device", 4, SUBSYSTEM);
	if (!err)
		err = put_number(f, "class", 6, CLASS);
	return err ? err : put_number(f, "revision", 2, REVISION);
}

/* The kernel's line for udev, and what it tells about the device in one file. */
static int put_names(const struct emu_func *f)
{
	char alias[80], event[256];
	int err;

	snprintf(alias, sizeof(alias), "pci:v%08Xd0000%ssv%08Xsd%08Xbc02sc00i00", VENDOR,
		 f->card->profile->pci_id, VENDOR, SUBSYSTEM);
	snprintf(event, sizeof(event),
		 "DRIVER=" DRIVER "\nPCI_CLASS=%X\nPCI_ID=%04X:%s\nPCI_SUBSYS_ID=%04X:%04X\n"
		 "PCI_SLOT_NAME=%s\nMODALIAS=%s",
		 CLASS, VENDOR, f->card->profile->pci_id, VENDOR, SUBSYSTEM, f->pci, alias);
	err = put_line(f, "modalias", alias);
	return err ? err : put_line(f, "uevent", event);
}

/* No memory of the card can be mapped by way of PCI: all resources are empty. */
static int put_resources(const struct emu_func *f)
{
	static const char empty[] = "0x0000000000000000 0x0000000000000000 0x0000000000000000";
	char text[NRESOURCES * sizeof(empty)];
	size_t len = 0, i;

	for (i = 0; i < NRESOURCES; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? "\n" : "",
					empty);
	return put_line(f, "resource", text);
}

static void put16(uint8_t *config, unsigned int at, unsigned int value)
{
	config[at] = (uint8_t)value;
	config[at + 1] = (uint8_t)(value >> 8);
}

/* The head of the configuration space, which lspci and libpciaccess read. */
static int put_config(const struct emu_func *f)
{
	uint8_t config[CONFIG_BYTES] = {[PCI_REVISION_ID] = REVISION,
					[PCI_CLASS_DEVICE + 1] = CLASS >> 16};
	char file[FILE_BYTES];

	put16(config, PCI_VENDOR_ID, VENDOR);
	put16(config, PCI_DEVICE_ID, f->card->profile->part_id);
	put16(config, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	put16(config, PCI_SUBSYSTEM_VENDOR_ID, VENDOR);
	put16(config, PCI_SUBSYSTEM_ID, SUBSYSTEM);
	snprintf(file, sizeof(file), DEVICES "/%s/config", f->pci);
	return emu_sysfs_put_bytes(f, file, config, sizeof(config));
}

static int put_links(const struct emu_func *f)
{
	char file[FILE_BYTES], target[FILE_BYTES];
	int err;

	snprintf(file, sizeof(file), DEVICES "/%s/driver", f->pci);
	err = emu_sysfs_link(f, file, "../../../bus/pci/drivers/" DRIVER);
	if (err)
		return err;
	snprintf(file, sizeof(file), DEVICES "/%s/subsystem", f->pci);
	err = emu_sysfs_link(f, file, "../../../bus/pci");
	if (err)
		return err;
	snprintf(file, sizeof(file), "bus/pci/devices/%s", f->pci);
	snprintf(target, sizeof(target), "../../../" DEVICES "/%s", f->pci);
	err = emu_sysfs_link(f, file, target);
	if (err)
		return err;
	snprintf(file, sizeof(file), "bus/pci/drivers/" DRIVER "/%s", f->pci);
	snprintf(target, sizeof(target), "../../../../" DEVICES "/%s", f->pci);
	return emu_sysfs_link(f, file, target);
}

/* The link's width and speed, and the CPUs near the card: all that the machine has. */
static int put_place(const struct emu_func *f)
{
	static const char *const link[] = {"current_link_width", "max_link_width",
					   "current_link_speed", "max_link_speed"};
	long cpus = sysconf(_SC_NPROCESSORS_CONF), word;
	char text[512];
	size_t len = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; i < 4 && !err; i++)
		err = put_line(f, link[i], i < 2 ? "16" : "32.0 GT/s PCIe");
	if (cpus < 1)
		cpus = 1;
	for (word = (cpus - 1) / 32; word >= 0 && len < sizeof(text) - 16; word--) {
		unsigned int in = cpus - 32 * word >= 32 ? 32 : (unsigned int)(cpus % 32);

		len += (size_t)snprintf(text + len, sizeof(text) - len, len ? ",%08x" : "%x",
					(unsigned int)((1ull << in) - 1));
	}
	if (!err)
		err = put_line(f, "local_cpus", text);
	snprintf(text, sizeof(text), cpus > 1 ? "0-%ld" : "%ld", cpus - 1);
	return err ? err : put_line(f, "local_cpulist", text);
}

int emu_pci_create(const struct emu_func *f)
{
	char file[FILE_BYTES];
	int err;

	err = put_ids(f);
	if (!err)
		err = put_names(f);
	if (!err)
		err = put_resources(f);
	if (!err)
		err = put_config(f);
	if (!err)
		err = put_place(f);
	if (!err)
		err = put_line(f, "numa_node", "-1");
	if (!err)
		err = put_line(f, "irq", "0");
	if (!err)
		err = put_line(f, "enable", "1");
	snprintf(file, sizeof(file), DEVICES "/%s/net/" EMU_NETDEV "/address", f->pci);
	if (!err)
		err = put_mac(f, file);
	return err ? err : put_links(f);
}
