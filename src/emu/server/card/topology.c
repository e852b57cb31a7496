/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The cards, their functions, and the files by which libibverbs finds them. Each card has a function of the DPU (in the directory "dpu", "dpu1", ...) and a physical function of the host; the host sees those of all its cards ("host"). The machines after the first have theirs in "node1.dpu", "node1.host" and so on. */
#include "emu/server/card/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "emu/server/card/segments.h"

/*
 * The interface of every emulated port: the machine's loopback, whose addresses become the port's.
 */
#define NETDEV "lo"
/* So that small pieces use up the memory and not, as a rule, the BAR. */
#define BAR_PAGES_PER_DM_PAGE 2u
#define GID_ROCE_V1	      1
#define GID_ROCE_V2	      2
#define GUID_VENDOR	      0x0c42a1ull
#define GUID_CARD_BITS	      16 /* the lowest bits number the cards and their functions */

struct emu_topology emu_topology;

static const char *directory; /* that the sysfs files are in */
static uint64_t first_guid;

static void make_gids(struct emu_func *f)
{
	unsigned int i, type;

	/* fe80::/64 with the port's EUI-64, once for each version of RoCE. */
	for (type = GID_ROCE_V1; type <= GID_ROCE_V2; type++) {
		uint8_t *gid = f->gid[type - 1];

		gid[0] = 0xfe;
		gid[1] = 0x80;
		for (i = 0; i < 8; i++)
			gid[8 + i] = (uint8_t)(f->node_guid >> (56 - 8 * i));
		gid[8] ^= 2; /* universal/local bit */
		f->gid_type[type - 1] = (uint8_t)type;
	}
}

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

static void add_func(struct emu_card *card, enum emu_func_kind kind)
{
	struct emu_func *f = &emu_topology.func[emu_topology.nfuncs];

	f->index = (uint16_t)emu_topology.nfuncs++;
	f->card = card;
	f->kind = kind;
	f->vhca_id = kind == EMU_FUNC_DPU ? 0 : 1;
	f->node_guid = card->guid + 1u + f->vhca_id;
	name_role(f);
	if (kind == EMU_FUNC_HOST) {
		f->dev = card->number;
		snprintf(f->pci, sizeof(f->pci), "0000:%02x:00.0", 0x3b + card->number);
	} else {
		strcpy(f->pci, "0000:03:00.0");
	}
	make_gids(f);
}

/* --- sysfs ------------------------------------------------------------------------------------ */

static int make_dirs(const char *path)
{
	char buf[512], *p;

	if (snprintf(buf, sizeof(buf), "%s", path) >= (int)sizeof(buf))
		return -ENAMETOOLONG;
	for (p = buf + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(buf, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(buf, 0755) && errno != EEXIST ? -errno : 0;
}

/* Write one line to a file below a function's sysfs tree, making its directories. */
static int put(const struct emu_func *f, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int put(const struct emu_func *f, const char *file, const char *fmt, ...)
{
	char path[512], *slash;
	va_list ap;
	FILE *out;
	int err;

	snprintf(path, sizeof(path), "%s/%s/sysfs/%s", directory, f->role, file);
	slash = strrchr(path, '/');
	*slash = '\0';
	err = make_dirs(path);
	*slash = '/';
	if (err)
		return err;
	out = fopen(path, "we");
	if (!out)
		return -errno;
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
	return fclose(out) ? -errno : 0;
}

static int put_guid(const struct emu_func *f, const char *file, uint64_t g)
{
	return put(f, file, "%04x:%04x:%04x:%04x", (unsigned int)(g >> 48) & 0xffff,
		   (unsigned int)(g >> 32) & 0xffff, (unsigned int)(g >> 16) & 0xffff,
		   (unsigned int)g & 0xffff);
}

static int put_gid(const struct emu_func *f, const char *ib, unsigned int i)
{
	static const char *const types[] = {"", "IB/RoCE v1", "RoCE v2"};
	const uint8_t *g = f->gid[i];
	char file[128], text[48];
	int n = 0, err;
	unsigned int j;

	for (j = 0; j < 16; j += 2)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%02x%02x", j ? ":" : "", g[j],
			      g[j + 1]);
	snprintf(file, sizeof(file), "%s/ports/1/gids/%u", ib, i);
	err = put(f, file, "%s", text);
	if (err || !f->gid_type[i])
		return err;
	snprintf(file, sizeof(file), "%s/ports/1/gid_attrs/types/%u", ib, i);
	err = put(f, file, "%s", types[f->gid_type[i]]);
	if (err)
		return err;
	snprintf(file, sizeof(file), "%s/ports/1/gid_attrs/ndevs/%u", ib, i);
	return put(f, file, "%s", NETDEV);
}

/* The MAC address that corresponds to the port's EUI-64. */
static int put_mac(const struct emu_func *f, const char *file)
{
	uint64_t g = f->node_guid;

	return put(f, file, "%02x:%02x:%02x:%02x:%02x:%02x", (unsigned int)(g >> 56),
		   (unsigned int)(g >> 48) & 0xff, (unsigned int)(g >> 40) & 0xff,
		   (unsigned int)(g >> 16) & 0xff, (unsigned int)(g >> 8) & 0xff,
		   (unsigned int)g & 0xff);
}

#define IN(dir, name) (snprintf(file, sizeof(file), "%s/%s", dir, name), file)

static int put_link(const struct emu_func *f, const char *file, const char *target)
{
	char path[512], *slash;
	int err;

	snprintf(path, sizeof(path), "%s/%s/sysfs/%s", directory, f->role, file);
	slash = strrchr(path, '/');
	*slash = '\0';
	err = make_dirs(path);
	*slash = '/';
	if (err)
		return err;
	return symlink(target, path) && errno != EEXIST ? -errno : 0;
}

static int write_pci(const struct emu_func *f, const char *dir)
{
	const struct emu_profile *p = f->card->profile;
	char file[128];
	int err;

	err = put(f, IN(dir, "modalias"), "pci:v000015B3d0000%ssv000015B3sd00000001bc02sc00i00",
		  p->pci_id);
	if (!err)
		err = put(f, IN(dir, "vendor"), "0x15b3");
	if (!err)
		err = put(f, IN(dir, "device"), "0x%04x", p->part_id);
	if (!err)
		err = put(f, IN(dir, "numa_node"), "-1");
	if (!err)
		err = put_mac(f, IN(dir, "net/" NETDEV "/address"));
	return err;
}

/*
 * Programs follow a device's link to its PCI function (without it UCX takes the device for a
 * virtual one), or follow `device`.
 */
static int link_ibdev(const struct emu_func *f, const char *ib)
{
	char file[128], target[128];
	int err;

	snprintf(target, sizeof(target), "../../../%s", f->pci);
	err = put_link(f, IN(ib, "device"), target);
	if (err)
		return err;
	snprintf(target, sizeof(target), "../../%s", ib);
	snprintf(file, sizeof(file), "class/infiniband/mlx5_%u", f->dev);
	return put_link(f, file, target);
}

/* As the kernel prints it: the lane's speed by name, and the rate of four lanes. */
static const char *rate(uint8_t speed)
{
	switch (speed) {
	case 32:
		return "100 Gb/sec (4X EDR)";
	case 64:
		return "200 Gb/sec (4X HDR)";
	default:
		return "400 Gb/sec (4X NDR)";
	}
}

/* An Ethernet port has no LIDs and no subnet manager. */
static int write_port(const struct emu_func *f, const char *ib)
{
	const char *const values[][2] = {
		{"pkeys/0", "0xffff"},
		{"link_layer", "Ethernet"},
		{"state", "4: ACTIVE"},
		{"phys_state", "5: LinkUp"},
		{"lid", "0x0"},
		{"lid_mask_count", "0"},
		{"sm_lid", "0x0"},
		{"sm_sl", "0"},
		{"rate", rate(f->card->profile->port_speed)},
	};
	char file[160];
	unsigned int i;
	int err = 0;

	for (i = 0; i < sizeof(values) / sizeof(values[0]) && !err; i++) {
		snprintf(file, sizeof(file), "%s/ports/1/%s", ib, values[i][0]);
		err = put(f, file, "%s", values[i][1]);
	}
	return err ? err : put(f, IN(ib, "ports/1/cap_mask"), "0x%08x", EMU_PORT_CAP);
}

static int write_ibdev(const struct emu_func *f)
{
	const struct emu_profile *p = f->card->profile;
	char pci[64], ib[96], file[128];
	unsigned int i;
	int err;

	snprintf(pci, sizeof(pci), "devices/pci0000:00/%s", f->pci);
	snprintf(ib, sizeof(ib), "%s/infiniband/mlx5_%u", pci, f->dev);
	err = put(f, IN(ib, "node_type"), "1: CA");
	if (!err)
		err = put_guid(f, IN(ib, "node_guid"), f->node_guid);
	if (!err)
		err = put_guid(f, IN(ib, "sys_image_guid"), f->card->guid);
	if (!err)
		err = put(f, IN(ib, "fw_ver"), "%u.%u.%04u", (unsigned int)(p->fw_ver >> 32),
			  (unsigned int)(p->fw_ver >> 16) & 0xffff,
			  (unsigned int)p->fw_ver & 0xffff);
	if (!err)
		err = put(f, IN(ib, "board_id"), "EMU_%s", p->pci_id);
	if (!err)
		err = put(f, IN(ib, "hca_type"), "MT%u", p->part_id);
	if (!err)
		err = put(f, IN(ib, "hw_rev"), "0");
	if (!err)
		err = write_port(f, ib);
	for (i = 0; i < EMU_GIDS && !err; i++)
		err = put_gid(f, ib, i);
	if (!err)
		err = write_pci(f, pci);
	return err ? err : link_ibdev(f, ib);
}

static int write_sysfs(const struct emu_func *f)
{
	char dir[64], file[128];
	int err;

	snprintf(dir, sizeof(dir), "class/infiniband_verbs/uverbs%u", f->dev);
	err = put(f, "class/infiniband_verbs/abi_version", "6");
	if (!err)
		err = put(f, IN(dir, "ibdev"), "mlx5_%u", f->dev);
	if (!err)
		err = put(f, IN(dir, "dev"), "231:%u", 192 + f->dev);
	if (!err)
		err = put(f, IN(dir, "abi_version"), "1");
	return err ? err : write_ibdev(f);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int create_dm(struct emu_card *card)
{
	card->dm_npages =
		BAR_PAGES_PER_DM_PAGE * ((card->profile->max_dm_size + EMU_PAGE - 1) / EMU_PAGE);
	card->dm_pages = calloc(card->dm_npages + 1, 1);
	return card->dm_pages ? 0 : -ENOMEM;
}

/*
 * The GUID of the first card: another one for each directory and machine, as a descriptor of another
 * emulator must not look like one of this card. An emulator that is started again has the same GUID.
 */
static uint64_t make_guid(const char *dir)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	struct utsname machine = {0};
	char text[PATH_MAX + sizeof(machine.nodename)], path[PATH_MAX];
	const char *c;

	uname(&machine);
	snprintf(text, sizeof(text), "%s:%s", machine.nodename, realpath(dir, path) ? path : dir);
	for (c = text; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
	return GUID_VENDOR << 40 | hash >> 40 << GUID_CARD_BITS;
}

static int add_card(const struct emu_profile *profile, unsigned int node, unsigned int number)
{
	struct emu_card *card = &emu_topology.card[emu_topology.ncards];
	int err;

	card->index = emu_topology.ncards++;
	card->node = node;
	card->number = number;
	card->profile = profile;
	card->guid = first_guid + 0x100ull * card->index;
	err = create_dm(card);
	if (err)
		return err;
	add_func(card, EMU_FUNC_DPU);
	add_func(card, EMU_FUNC_HOST);
	return 0;
}

/* Publish the GIDs, by which engines address datagrams. */
static void publish_gids(void)
{
	struct emu_tables *t = emu_tables;
	unsigned int i, j;

	for (i = 0; i < emu_topology.nfuncs; i++) {
		for (j = 0; j < EMU_GIDS && t->ngids < EMU_MAX_GIDS; j++) {
			const struct emu_func *f = &emu_topology.func[i];
			struct emu_gid *g = &t->gid[t->ngids];

			if (!f->gid_type[j])
				continue;
			memcpy(g->raw, f->gid[j], sizeof(g->raw));
			g->func = f->index;
			g->index = (uint8_t)j;
			g->type = f->gid_type[j];
			t->ngids++;
		}
	}
}

int emu_topology_create(const char *dir, const struct emu_topology_spec *spec)
{
	unsigned int i, j;
	int err = 0;

	directory = dir;
	first_guid = spec->guid ? spec->guid : make_guid(dir);
	if (emu_topology_check(spec))
		return -EINVAL;
	for (i = 0; i < spec->nnodes; i++)
		for (j = 0; j < spec->node[i].cards && !err; j++)
			err = add_card(&spec->node[i].profile, i, j);
	for (i = 0; i < emu_topology.nfuncs && !err; i++)
		err = write_sysfs(&emu_topology.func[i]);
	publish_gids();
	return err;
}

const struct emu_func *emu_func_by_vhca(const struct emu_card *card, uint16_t vhca_id)
{
	unsigned int i;

	for (i = 0; i < emu_topology.nfuncs; i++)
		if (emu_topology.func[i].card == card && emu_topology.func[i].vhca_id == vhca_id)
			return &emu_topology.func[i];
	return NULL;
}

const struct emu_func *emu_func_by_gid(const uint8_t gid[16])
{
	unsigned int i, j;

	for (i = 0; i < emu_topology.nfuncs; i++)
		for (j = 0; j < EMU_GIDS; j++)
			if (emu_topology.func[i].gid_type[j] &&
			    !memcmp(emu_topology.func[i].gid[j], gid, 16))
				return &emu_topology.func[i];
	return NULL;
}
