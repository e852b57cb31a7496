/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* PCI Express Base Specification, chapter 7; the names are those of linux/pci_regs.h. */
#include "emu/pci/config.h"

#include <linux/pci_regs.h>
#include <string.h>

#include "emu/ipc/pci_ids.h"
#include "emu/pci/irqs.h"

#define CLASS	       0x0200 /* Ethernet controller */

#define PM	       0x40
#define EXPRESS	       0x48
#define MSIX	       0x84
#define GATEWAY	       0x90
#define MSIX_PENDING   0x800 /* in its BAR, after the table */

#define EXPRESS_LINK   (PCI_EXP_LNKCAP_SLS_32_0GB | 16u << 4)
#define EXPRESS_STATUS (PCI_EXP_LNKCAP_SLS_32_0GB | 16u << 4)

static void put(struct emu_pci_config *c, unsigned int at, unsigned int bytes, uint32_t value,
		uint32_t writable)
{
	for (unsigned int i = 0; i < bytes; i++, value >>= 8, writable >>= 8) {
		c->byte[at + i] = (uint8_t)value;
		c->writable[at + i] = (uint8_t)writable;
	}
}

/* The virtual machine asks for the sizes of BARs otherwise, and keeps their addresses itself. */
static void put_header(struct emu_pci_config *c, uint16_t device)
{
	put(c, PCI_VENDOR_ID, 2, EMU_PCI_VENDOR, 0);
	put(c, PCI_DEVICE_ID, 2, device, 0);
	put(c, PCI_COMMAND, 2, 0,
	    PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
		    PCI_COMMAND_INTX_DISABLE);
	put(c, PCI_STATUS, 2, PCI_STATUS_CAP_LIST, 0);
	put(c, PCI_REVISION_ID, 1, EMU_PCI_REVISION, 0);
	put(c, PCI_CLASS_DEVICE, 2, CLASS, 0);
	put(c, PCI_CACHE_LINE_SIZE, 1, 0, 0xff);
	put(c, PCI_BASE_ADDRESS_0, 4, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
	    ~(EMU_PCI_BAR_BYTES - 1));
	put(c, PCI_BASE_ADDRESS_1, 4, 0, UINT32_MAX);
	put(c, PCI_BASE_ADDRESS_2, 4, 0, ~(EMU_PCI_MSIX_BYTES - 1));
	put(c, PCI_SUBSYSTEM_VENDOR_ID, 2, EMU_PCI_VENDOR, 0);
	put(c, PCI_SUBSYSTEM_ID, 2, EMU_PCI_SUBSYSTEM, 0);
	put(c, PCI_CAPABILITY_LIST, 1, PM, 0);
	put(c, PCI_INTERRUPT_LINE, 1, 0, 0xff);
}

static void put_capability(struct emu_pci_config *c, unsigned int at, uint8_t id, uint8_t next)
{
	put(c, at + PCI_CAP_LIST_ID, 1, id, 0);
	put(c, at + PCI_CAP_LIST_NEXT, 1, next, 0);
}

static void put_pm(struct emu_pci_config *c)
{
	put_capability(c, PM, PCI_CAP_ID_PM, EXPRESS);
	put(c, PM + PCI_PM_PMC, 2, 3, 0); /* version 1.2; D0 and D3 */
	put(c, PM + PCI_PM_CTRL, 2, PCI_PM_CTRL_NO_SOFT_RESET, PCI_PM_CTRL_STATE_MASK);
}

static void put_express(struct emu_pci_config *c)
{
	put_capability(c, EXPRESS, PCI_CAP_ID_EXP, MSIX);
	put(c, EXPRESS + PCI_EXP_FLAGS, 2, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 0);
	put(c, EXPRESS + PCI_EXP_DEVCAP, 4,
	    2 | PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR, 0);
	put(c, EXPRESS + PCI_EXP_DEVCTL, 2,
	    PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ_512B,
	    PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE |
		    PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_PAYLOAD | PCI_EXP_DEVCTL_EXT_TAG |
		    PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ);
	put(c, EXPRESS + PCI_EXP_LNKCAP, 4, EXPRESS_LINK, 0);
	put(c, EXPRESS + PCI_EXP_LNKCTL, 2, 0, PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_CCC);
	put(c, EXPRESS + PCI_EXP_LNKSTA, 2, EXPRESS_STATUS, 0);
	put(c, EXPRESS + PCI_EXP_DEVCAP2, 4, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS, 0);
	put(c, EXPRESS + PCI_EXP_DEVCTL2, 2, 0, PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
	put(c, EXPRESS + PCI_EXP_LNKCAP2, 4, PCI_EXP_LNKCAP2_SLS_32_0GB, 0);
}

static void put_msix(struct emu_pci_config *c)
{
	put_capability(c, MSIX, PCI_CAP_ID_MSIX, GATEWAY);
	put(c, MSIX + PCI_MSIX_FLAGS, 2, EMU_PCI_VECTORS - 1,
	    PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	put(c, MSIX + PCI_MSIX_TABLE, 4, EMU_PCI_MSIX_BAR, 0);
	put(c, MSIX + PCI_MSIX_PBA, 4, MSIX_PENDING | EMU_PCI_MSIX_BAR, 0);
}

void emu_pci_config_init(struct emu_pci_config *config, uint16_t device)
{
	memset(config, 0, sizeof(*config));
	put_header(config, device);
	put_pm(config);
	put_express(config);
	put_msix(config);
	put_capability(config, GATEWAY, PCI_CAP_ID_VNDR, 0);
	emu_gateway_init(config->byte + GATEWAY, config->writable + GATEWAY);
}

static bool resets(uint64_t at, const uint8_t *data, uint32_t len)
{
	const uint64_t flr = EXPRESS + PCI_EXP_DEVCTL + 1;

	return at <= flr && flr < at + len && data[flr - at] & PCI_EXP_DEVCTL_BCR_FLR >> 8;
}

bool emu_pci_config_write(struct emu_pci_config *config, uint64_t at, const uint8_t *data,
			  uint32_t len)
{
	const uint64_t end = GATEWAY + EMU_GATEWAY_BYTES;
	uint8_t gateway[EMU_GATEWAY_BYTES];

	memcpy(gateway, config->byte + GATEWAY, sizeof(gateway));
	for (uint32_t i = 0; i < len; i++) {
		uint8_t *byte = &config->byte[at + i], mask = config->writable[at + i];

		*byte = (uint8_t)((*byte & ~mask) | (data[i] & mask));
	}
	if (at < end && at + len > GATEWAY)
		emu_gateway_written(&config->gateway, config->byte + GATEWAY, gateway,
				    at > GATEWAY ? at - GATEWAY : 0, at + len - GATEWAY);
	return resets(at, data, len);
}
