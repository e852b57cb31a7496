/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Linux, Documentation/ABI/testing/sysfs-bus-pci; the configuration space: linux/pci_regs.h.
 */
#include "emu/server/card/pci.h"

#include <linux/pci_regs.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/pci_ids.h"
#include "emu/server/card/sysfs.h"

#define CLASS	     0x020000 /* Ethernet controller */
#define DRIVER	     "mlx5_core"
#define DEVICES	     "devices/pci0000:00"
#define NRESOURCES   13 /* 6 BARs, the ROM, 6 of virtual functions */
#define CONFIG_BYTES 256

#define FILE_BYTES   128

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
static void put_names(struct emu_sysfs_dir *d)
{
	const char *id = d->f->card->profile->pci_id;
	char alias[80];

	snprintf(alias, sizeof(alias), "pci:v%08Xd0000%ssv%08Xsd%08Xbc02sc00i00", EMU_PCI_VENDOR,
		 id, EMU_PCI_VENDOR, EMU_PCI_SUBSYSTEM);
	emu_sysfs_line(d, "modalias", "%s", alias);
	emu_sysfs_line(d, "uevent",
		       "DRIVER=" DRIVER "\nPCI_CLASS=%X\nPCI_ID=%04X:%s\nPCI_SUBSYS_ID=%04X:%04X\n"
		       "PCI_SLOT_NAME=%s\nMODALIAS=%s",
		       CLASS, EMU_PCI_VENDOR, id, EMU_PCI_VENDOR, EMU_PCI_SUBSYSTEM, d->f->pci,
		       alias);
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

/* The head of the configuration space, which lspci and libpciaccess read. */
static int put_config(const struct emu_func *f)
{
	uint8_t config[CONFIG_BYTES] = {[PCI_REVISION_ID] = EMU_PCI_REVISION,
					[PCI_CLASS_DEVICE + 1] = CLASS >> 16};
	char file[FILE_BYTES];

	put16(config, PCI_VENDOR_ID, EMU_PCI_VENDOR);
	put16(config, PCI_DEVICE_ID, f->card->profile->part_id);
	put16(config, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	put16(config, PCI_SUBSYSTEM_VENDOR_ID, EMU_PCI_VENDOR);
	put16(config, PCI_SUBSYSTEM_ID, EMU_PCI_SUBSYSTEM);
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

/* The CPUs near the card: all that the machine has. */
static void put_cpus(struct emu_sysfs_dir *d)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), word;
	char text[512];
	size_t len = 0;

	if (cpus < 1)
		cpus = 1;
	for (word = (cpus - 1) / 32; word >= 0 && len < sizeof(text) - 16; word--) {
		unsigned int in = cpus - 32 * word >= 32 ? 32 : (unsigned int)(cpus % 32);

		len += (size_t)snprintf(text + len, sizeof(text) - len, len ? ",%08x" : "%x",
					(unsigned int)((1ull << in) - 1));
	}
	emu_sysfs_line(d, "local_cpus", "%s", text);
	emu_sysfs_line(d, "local_cpulist", cpus > 1 ? "0-%ld" : "%ld", cpus - 1);
}

static void put_lines(struct emu_sysfs_dir *d)
{
	static const struct {
		const char *name;
		unsigned int digits, value;
	} numbers[] = {
		{"vendor", 4, EMU_PCI_VENDOR},
		{"subsystem_vendor", 4, EMU_PCI_VENDOR},
		{"subsystem_device", 4, EMU_PCI_SUBSYSTEM},
		{"class", 6, CLASS},
		{"revision", 2, EMU_PCI_REVISION},
	};
	static const char *const texts[][2] = {
		{"current_link_width", "16"},
		{"max_link_width", "16"},
		{"current_link_speed", "32.0 GT/s PCIe"},
		{"max_link_speed", "32.0 GT/s PCIe"},
		{"numa_node", "-1"},
		{"irq", "0"},
		{"enable", "1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		emu_sysfs_line(d, numbers[i].name, "0x%0*x", (int)numbers[i].digits,
			       numbers[i].value);
	emu_sysfs_line(d, "device", "0x%04x", (unsigned int)d->f->card->profile->part_id);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		emu_sysfs_line(d, texts[i][0], "%s", texts[i][1]);
}

int emu_pci_create(const struct emu_func *f)
{
	struct emu_sysfs_dir d = {.f = f};
	int err;

	snprintf(d.path, sizeof(d.path), DEVICES "/%s", f->pci);
	put_lines(&d);
	put_names(&d);
	put_resources(&d);
	put_cpus(&d);
	put_mac(&d, "net/" EMU_NETDEV "/address");
	err = d.err ? d.err : put_config(f);
	return err ? err : put_links(f);
}
