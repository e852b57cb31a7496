/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A machine without numa-nodes and cards-per-switch has its functions on the host bridge. Otherwise each NUMA node has
 * a host bridge, the cards are divided among them in their order, and each card or switch is behind a root port:
 *
 *     host bridge - root port - card
 *     host bridge - root port - switch: upstream port - downstream ports - a card each
 *
 * Buses are numbered as firmware does, each bridge's after its own. On a DPU the card is behind the card's own switch.
 */
#include "emu/server/card/place.h"

#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

#define HOST_BUS      0x3b /* of a host's first card */
#define DPU_BUS	      0x03
#define SWITCH_BUSES  2 /* of a switch itself */
#define NUMA_BUSES    0x20
#define NUMA_BUSES_AT 0x40 /* the first NUMA node has all before those of the second one */

void emu_place_address(unsigned int bus, unsigned int slot, char text[static 16])
{
	snprintf(text, 16, "0000:%02x:%02x.0", bus & 0xff, slot & 0x1f);
}

static void add_bridge(struct emu_place *p, unsigned int type, unsigned int slot,
		       unsigned int secondary, unsigned int subordinate)
{
	const unsigned int bus = p->nbridges ? p->bridge[p->nbridges - 1].secondary : p->root;

	p->bridge[p->nbridges++] = (struct emu_bridge){(uint8_t)type, (uint8_t)bus, (uint8_t)slot,
						       (uint8_t)secondary, (uint8_t)subordinate};
	p->bus = (uint8_t)secondary;
}

/* Root port `port`, and a switch behind it with `cards` cards, one of which is number `i`. */
static void add_switch(struct emu_place *p, unsigned int port, unsigned int first,
		       unsigned int cards, unsigned int i)
{
	const unsigned int last = first + SWITCH_BUSES + cards - 1;

	add_bridge(p, PCI_EXP_TYPE_ROOT_PORT, port, first, last);
	add_bridge(p, PCI_EXP_TYPE_UPSTREAM, 0, first + 1, last);
	add_bridge(p, PCI_EXP_TYPE_DOWNSTREAM, i, first + SWITCH_BUSES + i,
		   first + SWITCH_BUSES + i);
}

/* Card `i` of the `cards` of a NUMA node. */
static void place_card(struct emu_place *p, unsigned int per_switch, unsigned int cards,
		       unsigned int i)
{
	const unsigned int first =
		p->root ? p->root + 1u : HOST_BUS - (per_switch ? SWITCH_BUSES : 0u);
	unsigned int before, behind;

	if (!per_switch) {
		add_bridge(p, PCI_EXP_TYPE_ROOT_PORT, 1 + i, first + i, first + i);
		return;
	}
	before = i / per_switch * per_switch;
	behind = cards - before < per_switch ? cards - before : per_switch;
	add_switch(p, 1 + i / per_switch, first + before + SWITCH_BUSES * (i / per_switch), behind,
		   i - before);
}

static void place_on_host(struct emu_place *p, const struct emu_node_spec *m, unsigned int number)
{
	const unsigned int nodes = m->numa_nodes ? m->numa_nodes : 1;
	const unsigned int per_node = (m->cards + nodes - 1) / nodes;
	unsigned int before;

	p->numa_nodes = m->numa_nodes;
	p->numa_node = number / per_node;
	p->root = p->numa_node ? (uint8_t)(NUMA_BUSES_AT + NUMA_BUSES * p->numa_node) : 0;
	before = p->numa_node * per_node;
	place_card(p, m->cards_per_switch,
		   m->cards - before < per_node ? m->cards - before : per_node, number - before);
}

void emu_place_choose(struct emu_func *f, const struct emu_node_spec *machine)
{
	const bool is_host = f->kind == EMU_FUNC_HOST;
	struct emu_place *p = &f->place;
	char address[16];
	int len;

	p->bus = (uint8_t)(is_host ? HOST_BUS + f->card->number : DPU_BUS);
	if (is_host && (machine->numa_nodes || machine->cards_per_switch))
		place_on_host(p, machine, f->card->number);
	else if (machine->numa_nodes || machine->cards_per_switch)
		add_switch(p, 0, DPU_BUS - SWITCH_BUSES, 1, 0);
	emu_place_address(p->bus, 0, f->pci);
	len = snprintf(f->path, sizeof(f->path), "devices/pci0000:%02x", p->root);
	for (unsigned int i = 0; i < p->nbridges; i++) {
		emu_place_address(p->bridge[i].bus, p->bridge[i].slot, address);
		len += snprintf(f->path + len, sizeof(f->path) - (size_t)len, "/%s", address);
	}
	snprintf(f->path + len, sizeof(f->path) - (size_t)len, "/%s", f->pci);
}
