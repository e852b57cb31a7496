/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which machines there are and what their cards can do: the profiles, the capabilities that a user
 * may change, and the ways to write it all down: options, a configuration file, and one line of
 * text a node, by which the tool tells the server.
 */
#ifndef EMU_PROFILE_H
#define EMU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/shm.h"

#define EMU_DEFAULT_PROFILE "bluefield-3"
#define EMU_MAX_NODES	    EMU_MAX_CARDS
#define EMU_NODE_TEXT	    256

struct emu_profile {
	const char *name;
	const char *pci_id; /* device id as in modalias */
	uint64_t fw_ver;
	uint32_t part_id;
	uint8_t port_speed; /* of a lane, as in the port attributes */
	/* What follows has a name in the table of capabilities. */
	uint32_t max_dm_size;
	uint32_t log_max_dma_mmo;		 /* 0 = no MMO DMA */
	uint32_t crossing;			 /* cross-VHCA mkeys */
	uint32_t crossing_indirect;		 /* KLM and KSM ones too */
	uint32_t max_session;			 /* CQEs in a compressed session; 0 = none */
	uint32_t max_pd, max_mr, max_cq, max_qp; /* of a function */
	uint32_t memlock;			 /* registered memory counts as locked */
};

/* A machine: `cards` equal cards. */
struct emu_node_spec {
	struct emu_profile profile;
	unsigned int cards;
};

struct emu_topology_spec {
	unsigned int nnodes;
	struct emu_node_spec node[EMU_MAX_NODES];
};

const struct emu_profile *emu_profile_find(const char *name);

/* One node of the default profile. */
void emu_topology_default(struct emu_topology_spec *t);
/*
 * Set "profile", "cards" or a capability of a node. NULL, or what is wrong with it. A profile
 * brings its capabilities: it must be set before they are changed.
 */
const char *emu_node_set(struct emu_node_spec *n, const char *name, const char *value);
/* "PROFILE,cards=N,NAME=VALUE,...", as emu_node_parse reads it. */
void emu_node_format(const struct emu_node_spec *n, char text[static EMU_NODE_TEXT]);
const char *emu_node_parse(const char *text, struct emu_node_spec *n);
/* More nodes, all like the first. */
const char *emu_topology_repeat(struct emu_topology_spec *t, unsigned int nnodes);
/* Is there room for all of it? NULL or what is wrong. */
const char *emu_topology_check(const struct emu_topology_spec *t);
/* Read a configuration file. NULL or what is wrong; `*line` is where, 0 for the file as such. */
const char *emu_topology_read(FILE *in, struct emu_topology_spec *t, unsigned int *line);

/* For people: the names of the profiles; the capabilities, and what each profile has of them. */
void emu_profile_names(FILE *out);
void emu_caps_print(FILE *out);

#endif
