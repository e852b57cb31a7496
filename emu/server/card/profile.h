/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The machines and the capabilities of their cards: the profiles, the capabilities that a user can
 * change, and their textual forms: options, a configuration file, and one line of text per node, with
 * which the tool starts the server.
 */
#ifndef EMU_PROFILE_H
#define EMU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/ipc/shm.h"

#define EMU_DEFAULT_PROFILE "bluefield-3"
#define EMU_MAX_NODES	    EMU_MAX_CARDS
#define EMU_NODE_TEXT	    512 /* all settings, with their longest values */
#define EMU_MAX_NUMA_NODES  4
#define EMU_MAX_GID_LINES   512
#define EMU_GID_TEXT	    96
#define EMU_WIRE_TEXT	    96

struct emu_profile {
	const char *name;
	const char *pci_id; /* device id as in modalias */
	uint64_t fw_ver;
	uint32_t part_id;
	bool tph; /* processing hints of DMA handles */
	/* The rest has a name in the table of capabilities. */
	uint32_t max_dm_size;
	uint32_t log_max_dma_mmo;  /* 0 = no MMO DMA */
	uint32_t log_max_compress; /* 0 = no engine; the same for the next one */
	uint32_t log_max_decompress;
	uint32_t log_max_crypto;    /* AES-GCM */
	uint32_t decompress_newer;  /* LZ4 too, and the newer layout of results */
	uint32_t crossing;	    /* cross-VHCA mkeys */
	uint32_t crossing_indirect; /* KLM and KSM ones too */
	uint32_t max_session;	    /* CQEs in a compressed session; 0 = none */
	uint32_t max_pd, max_mr, max_cq, max_qp, max_ah; /* per function */
	uint32_t lane_speed, lanes;			 /* of the port; Gb/s */
	uint32_t pcie_speed, pcie_lanes;		 /* GT/s */
	uint32_t max_pkeys;				 /* entries of a port's P_Key table */
	uint32_t max_gids;				 /* entries of a port's GID table */
	uint32_t memlock;				 /* registered memory counts as locked */
};

/* A machine with equal cards. */
struct emu_node_spec {
	struct emu_profile profile;
	uint32_t cards;
	uint32_t numa_nodes;	   /* each with a host bridge; 0: not emulated */
	uint32_t cards_per_switch; /* 0: no switches */
};

struct emu_topology_spec {
	uint64_t guid; /* of the first card; 0: made from the directory */
	unsigned int nnodes;
	struct emu_node_spec node[EMU_MAX_NODES];
	/* "FUNCTION ADDRESS ...", see dpumap-emu(1); changes of the default GID tables. */
	unsigned int ngids;
	char gid[EMU_MAX_GID_LINES][EMU_GID_TEXT];
	/* "[FUNCTION=]ADDRESS ...", see dpumap-emu(1) */
	unsigned int nwires;
	char wire[EMU_MAX_ENDPOINTS][EMU_WIRE_TEXT];
};

const struct emu_profile *emu_profile_find(const char *name);

/* Does the card have engines for work requests (MMO), and what do queues that may use them ask of them? */
bool emu_profile_has_engines(const struct emu_profile *p);
struct emu_mmo emu_profile_engines(const struct emu_profile *p);

/* Speeds and widths as port attributes encode them (enum ib_port_speed, ib_port_width); 0: none. */
uint8_t emu_speed_code(uint32_t lane_speed);
uint8_t emu_width_code(uint32_t lanes);
const char *emu_speed_name(uint32_t lane_speed);
/* That of a lane of PCI Express, as its link registers encode it; 0: none. */
uint8_t emu_pcie_speed_code(uint32_t pcie_speed);

/* One node of the default profile. */
void emu_topology_default(struct emu_topology_spec *t);
/*
 * Set "profile", a number of the machine or a capability of a node. Returns NULL or an error message. A profile
 * includes its capabilities, so it must be set before they are changed.
 */
const char *emu_node_set(struct emu_node_spec *n, const char *name, const char *value);
/* "PROFILE,cards=N,NAME=VALUE,...", as emu_node_parse reads it. */
void emu_node_format(const struct emu_node_spec *n, char text[static EMU_NODE_TEXT]);
const char *emu_node_parse(const char *text, struct emu_node_spec *n);
/* Add nodes equal to the first one. */
const char *emu_topology_repeat(struct emu_topology_spec *t, unsigned int nnodes);
/* Add a GID; its form is not checked. */
const char *emu_topology_add_gid(struct emu_topology_spec *t, const char *text);
/* Add an address of a port on a network; its form is not checked. */
const char *emu_topology_add_wire(struct emu_topology_spec *t, const char *text);
/* Check the numbers of nodes and cards. Returns NULL or an error message. */
const char *emu_topology_check(const struct emu_topology_spec *t);
/*
 * Read a configuration file. Returns NULL or an error message; `*line` is its line, 0 for the file as
 * a whole.
 */
const char *emu_topology_read(FILE *in, struct emu_topology_spec *t, unsigned int *line);

/* Print the names of the profiles, and a table of the capabilities of each profile. */
void emu_profile_names(FILE *out);
void emu_caps_print(FILE *out);

#endif
