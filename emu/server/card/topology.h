/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The emulated cards and their PCI functions, and the files by which libibverbs finds them. */
#ifndef EMU_TOPOLOGY_H
#define EMU_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/server/card/profile.h"

#define EMU_PAGE 4096u
/* The interface of every emulated port: the machine's loopback, which every address of 127/8 has. */
#define EMU_NETDEV     "lo"
#define EMU_PCI_PATH   72
#define EMU_IBDEV_PATH 96
#define EMU_PORTS      1u
#define EMU_PORT_CAP   0x04010000u /* CM, IP-based GIDs */
/*
 * What the card negotiates by Enhanced Connection Establishment: version 1, and one option. NVIDIA
 * does not publish what the options mean; here they change nothing.
 */
#define EMU_ECE		     0x10000002u
#define EMU_COMP_VECTORS     4u
#define EMU_LOG_MAX_DM_ALIGN 6u /* log_max_memic_addr_alignment, in units of 64 bytes */

/* A physical device: its on-chip memory is shared by its functions. */
struct emu_card {
	unsigned int index;
	unsigned int node;   /* the machine that has it */
	unsigned int number; /* within its machine */
	uint64_t guid;	     /* system image GUID */
	const struct emu_profile *profile;
	uint8_t *dm_pages; /* one byte per page of device memory: in use */
	unsigned int dm_npages;
	uint64_t dm_used;
	uint64_t dm_withheld; /* by a fault on demand */
};

enum emu_func_kind { EMU_FUNC_DPU, EMU_FUNC_HOST };

/* A bridge of PCI Express: a root port, or a port of a switch. */
struct emu_bridge {
	uint8_t type; /* PCI_EXP_TYPE_* of linux/pci_regs.h */
	uint8_t bus, slot;
	uint8_t secondary, subordinate; /* the buses behind it */
};

/* Where a function is in its machine. */
struct emu_place {
	unsigned int
		numa_nodes; /* 0: those of the machine below, and the function is near all of them */
	unsigned int numa_node;
	uint8_t root;	       /* the bus of the host bridge */
	unsigned int nbridges; /* from there to the function */
	struct emu_bridge bridge[3];
	uint8_t bus;
};

/* Objects in existence. */
struct emu_counts {
	unsigned int contexts, pds, mrs, mkeys, aliases, dms, umems, cqs, qps, uars, channels;
	unsigned int mws;
	unsigned int srqs, xrcds, ahs, dmahs, flow_counters, deks;
	unsigned int attachments; /* of queue pairs to multicast groups */
	unsigned int others;	  /* objects of drivers of PCI functions */
	uint64_t dm_bytes;
};

/* A PCI function (VHCA) with one character device. */
struct emu_func {
	uint16_t index; /* in emu_topology.func, and emu_mkey.func */
	uint16_t vhca_id;
	struct emu_card *card;
	enum emu_func_kind kind;
	char role[16];	  /* its directory, and the argument of `run --as` */
	unsigned int dev; /* N of uverbsN and mlx5_N */
	uint32_t ibdev;	  /* index of the device, which no other one has had */
	struct emu_place place;
	char pci[16];
	char path[EMU_PCI_PATH]; /* its directory below the function's tree of /sys */
	uint64_t node_guid;
	bool port_down;
	uint32_t lane_speed;  /* at first the card's */
	uint16_t lid, sm_lid; /* 0 on Ethernet */
	uint16_t pkey[EMU_MAX_PKEYS];
	bool dead;		 /* a fault on demand: every command fails until it is cleared */
	bool is_unanswered;	 /* a fault on demand: no neighbour answers until it is cleared */
	struct emu_counts count; /* the function's share of emu_topology.count */
};

struct emu_topology {
	struct emu_card card[EMU_MAX_CARDS];
	unsigned int ncards;
	struct emu_func func[EMU_MAX_FUNCS];
	unsigned int nfuncs;
	struct emu_counts count;
};

extern struct emu_topology emu_topology;

/* Create the cards, the functions and, below `dir`, their sysfs files. 0 or a negative errno. */
int emu_topology_create(const char *dir, const struct emu_topology_spec *spec);
/* The directory of the device's files, below the function's root of sysfs. */
void emu_func_ibdev(const struct emu_func *f, char path[static EMU_IBDEV_PATH]);
const struct emu_func *emu_func_by_vhca(const struct emu_card *card, uint16_t vhca_id);

#endif
