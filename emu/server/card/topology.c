/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The cards, their functions, and the files by which libibverbs finds them. Each card has a
 * function of the DPU (in the directory "dpu", "dpu1", ...) and a physical function of the host;
 * the host sees those of all its cards ("host"). The machines after the first have theirs in
 * "node1.dpu", "node1.host" and so on.
 */
#include "emu/server/card/topology.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "emu/server/card/place.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/sysfs.h"

/* So that small pieces use up the memory and not, as a rule, the BAR. */
#define BAR_PAGES_PER_DM_PAGE 2u
#define DEFAULT_PKEY	      0xffff
#define GUID_VENDOR	      0x0c42a1ull
#define GUID_CARD_BITS	      16 /* the lowest bits number the cards and their functions */

struct emu_topology emu_topology;

static uint64_t first_guid;

static void name_role(struct emu_func *f)
{
	char node[16] = "", number[16] = "";

	if (f->card->node)
		snprintf(node, sizeof(node), "node%u.", f->card->node);
	if (f->card->number && f->kind == EMU_FUNC_DPU)
		snprintf(number, sizeof(number), "%u", f->card->number);
	snprintf(f->role, sizeof(f->role), "%.6s%.4s%.3s", node,
		 f->kind == EMU_FUNC_HOST ? "host" : "dpu", number);
}

static void add_func(struct emu_card *card, enum emu_func_kind kind,
		     const struct emu_node_spec *machine)
{
	struct emu_func *f = &emu_topology.func[emu_topology.nfuncs];

	f->index = (uint16_t)emu_topology.nfuncs++;
	f->card = card;
	f->kind = kind;
	f->vhca_id = kind == EMU_FUNC_DPU ? 0 : 1;
	f->node_guid = card->guid + 1u + f->vhca_id;
	name_role(f);
	f->pkey[0] = DEFAULT_PKEY;
	f->lane_speed = card->profile->lane_speed;
	if (kind == EMU_FUNC_HOST) {
		f->dev = card->number;
		f->ibdev = card->number;
	}
	emu_place_choose(f, machine);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int create_dm(struct emu_card *card)
{
	card->dm_npages =
		BAR_PAGES_PER_DM_PAGE * ((card->profile->max_dm_size + EMU_PAGE - 1) / EMU_PAGE);
	card->dm_pages = calloc(card->dm_npages + 1, 1);
	return card->dm_pages ? 0 : -ENOMEM;
}

static uint64_t continue_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return hash;
}

/*
 * The GUID of the first card: another one for each directory and machine, as a descriptor of another
 * emulator must not look like one of this card. Containers can have the same names, but not the same addresses on a
 * network. An emulator that is started again has the same GUID.
 */
static uint64_t make_guid(const char *dir, const struct emu_topology_spec *spec)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	struct utsname machine = {0};
	char text[PATH_MAX + sizeof(machine.nodename)], path[PATH_MAX];

	uname(&machine);
	snprintf(text, sizeof(text), "%s:%s", machine.nodename, realpath(dir, path) ? path : dir);
	hash = continue_hash(hash, text);
	for (unsigned int i = 0; i < spec->nwires; i++)
		hash = continue_hash(hash, spec->wire[i]);
	return GUID_VENDOR << 40 | hash >> 40 << GUID_CARD_BITS;
}

static int add_card(const struct emu_node_spec *machine, unsigned int node, unsigned int number)
{
	struct emu_card *card = &emu_topology.card[emu_topology.ncards];
	int err;

	card->index = emu_topology.ncards++;
	card->node = node;
	card->number = number;
	card->profile = &machine->profile;
	card->guid = first_guid + 0x100ull * card->index;
	err = create_dm(card);
	if (err)
		return err;
	add_func(card, EMU_FUNC_DPU, machine);
	add_func(card, EMU_FUNC_HOST, machine);
	return 0;
}

int emu_topology_create(const char *dir, const struct emu_topology_spec *spec)
{
	int err = 0;

	first_guid = spec->guid ? spec->guid : make_guid(dir, spec);
	if (emu_topology_check(spec))
		return -EINVAL;
	for (unsigned int i = 0; i < spec->nnodes; i++)
		for (unsigned int j = 0; j < spec->node[i].cards && !err; j++)
			err = add_card(&spec->node[i], i, j);
	for (unsigned int i = 0; i < emu_topology.nfuncs && !err; i++)
		err = emu_sysfs_create(dir, &emu_topology.func[i]);
	return err;
}

void emu_func_ibdev(const struct emu_func *f, char path[static EMU_IBDEV_PATH])
{
	snprintf(path, EMU_IBDEV_PATH, "%s/infiniband/mlx5_%u", f->path, f->dev);
}

const struct emu_func *emu_func_by_vhca(const struct emu_card *card, uint16_t vhca_id)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (emu_topology.func[i].card == card && emu_topology.func[i].vhca_id == vhca_id)
			return &emu_topology.func[i];
	return NULL;
}
