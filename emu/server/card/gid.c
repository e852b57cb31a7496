/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/gid.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/gid.h"
#include "emu/ipc/group.h"
#include "emu/server/base/log.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/path.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/sysfs.h"

#define MAX_LISTENERS 4
#define MAX_VLAN      4094u

/* Objects that refer to an entry. */
static uint32_t users[EMU_MAX_FUNCS][EMU_MAX_GIDS];
static void (*listener[MAX_LISTENERS])(struct emu_func *f);
static unsigned int nlisteners;

static struct emu_gid *entry(const struct emu_func *f, unsigned int index)
{
	return &emu_tables->port[f->index].gid[index];
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct emu_gid *emu_gid_at(const struct emu_func *f, unsigned int index)
{
	const struct emu_gid *g;

	if (index >= EMU_MAX_GIDS)
		return NULL;
	g = entry(f, index);
	return atomic_load(&g->serial) ? g : NULL;
}

const struct emu_gid *emu_gid_next(const struct emu_func *f, unsigned int *index)
{
	unsigned int high = atomic_load(&emu_tables->port[f->index].gid_high);

	for (; *index < high; ++*index)
		if (emu_gid_at(f, *index))
			return entry(f, *index);
	return NULL;
}

static bool matches(const struct emu_gid *g, const uint8_t raw[16], unsigned int type,
		    unsigned int vlan)
{
	return (type == EMU_GID_ANY || g->type == type) &&
	       (vlan == EMU_ANY_VLAN || g->vlan == vlan) && !memcmp(g->raw, raw, sizeof(g->raw));
}

int emu_gid_find(const struct emu_func *f, const uint8_t raw[16], unsigned int type,
		 unsigned int vlan)
{
	const struct emu_gid *g;
	unsigned int i;

	for (i = 0; (g = emu_gid_next(f, &i)); i++)
		if (matches(g, raw, type, vlan))
			return (int)i;
	return -1;
}

const struct emu_func *emu_func_by_gid(const uint8_t raw[16])
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (emu_gid_find(&emu_topology.func[i], raw, EMU_GID_ANY, EMU_ANY_VLAN) >= 0)
			return &emu_topology.func[i];
	return NULL;
}

bool emu_gid_of_ip(const struct sockaddr *addr, uint8_t raw[16])
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	if (addr->sa_family == AF_INET) {
		memcpy(&v4, addr, sizeof(v4));
		emu_gid_from_ipv4(raw, &v4.sin_addr);
		return true;
	}
	if (addr->sa_family != AF_INET6)
		return false;
	memcpy(&v6, addr, sizeof(v6));
	memcpy(raw, &v6.sin6_addr, sizeof(v6.sin6_addr));
	return true;
}

void emu_gid_to_ip(const uint8_t raw[16], struct sockaddr_storage *addr)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET};

	memset(addr, 0, sizeof(*addr));
	if (emu_gid_is_ipv4(raw)) {
		memcpy(&v4.sin_addr, raw + EMU_GID_IPV4, sizeof(v4.sin_addr));
		memcpy(addr, &v4, sizeof(v4));
		return;
	}
	memcpy(&v6.sin6_addr, raw, sizeof(v6.sin6_addr));
	memcpy(addr, &v6, sizeof(v6));
}

const struct emu_func *emu_func_by_ip(const char *role, const struct sockaddr *addr)
{
	const struct emu_func *f = emu_topology.func, *end = f + emu_topology.nfuncs;
	uint8_t raw[16];

	if (!emu_gid_of_ip(addr, raw))
		return NULL;
	for (; f < end; f++)
		if ((!role || !strcmp(role, f->role)) &&
		    emu_gid_find(f, raw, EMU_GID_ANY, EMU_ANY_VLAN) >= 0)
			return f;
	return NULL;
}

/* The EUI-64 of the port without the two bytes in its middle. */
void emu_func_mac(const struct emu_func *f, uint8_t mac[6])
{
	for (unsigned int i = 0; i < 3; i++) {
		mac[i] = (uint8_t)(f->node_guid >> (56 - 8 * i));
		mac[3 + i] = (uint8_t)(f->node_guid >> (16 - 8 * i));
	}
}

void emu_gid_netdev(const struct emu_gid *g, char name[static 16])
{
	int endpoint = emu_endpoint_by_addr(g->raw);

	if (g->vlan == EMU_NO_VLAN)
		snprintf(name, 16, "%s",
			 endpoint == EMU_NO_ENDPOINT ? EMU_NETDEV : emu_endpoint_netdev(endpoint));
	else
		snprintf(name, 16, "%.10s.%u", EMU_NETDEV, g->vlan & 0xfffu);
}

/* --- files ------------------------------------------------------------------------------------ */

static const char *file_of(const struct emu_func *f, const char *name, unsigned int index,
			   char file[static 160])
{
	char ib[EMU_IBDEV_PATH];

	emu_func_ibdev(f, ib);
	snprintf(file, 160, "%s/ports/1/%s/%u", ib, name, index);
	return file;
}

static int put_raw(const struct emu_func *f, unsigned int index, const uint8_t raw[16])
{
	char file[160], text[40];
	int n = 0;

	for (unsigned int i = 0; i < 16; i += 2)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%02x%02x", i ? ":" : "",
			      raw[i], raw[i + 1]);
	return emu_sysfs_put(f, file_of(f, "gids", index, file), "%s", text);
}

/* An entry of no GID has its files, but reads of the attributes fail: the shim knows them by their size. */
static int clear_files(const struct emu_func *f, unsigned int index)
{
	static const uint8_t none[16];
	char file[160];
	int err = put_raw(f, index, none);

	if (!err)
		err = emu_sysfs_put_bytes(f, file_of(f, "gid_attrs/types", index, file), "", 0);
	if (!err)
		err = emu_sysfs_put_bytes(f, file_of(f, "gid_attrs/ndevs", index, file), "", 0);
	return err;
}

static int write_files(const struct emu_func *f, unsigned int index, const struct emu_gid *g)
{
	char file[160], netdev[16];
	int err;

	emu_gid_netdev(g, netdev);
	err = emu_sysfs_put(f, file_of(f, "gid_attrs/types", index, file), "%s",
			    g->type == EMU_GID_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
	if (!err)
		err = emu_sysfs_put(f, file_of(f, "gid_attrs/ndevs", index, file), "%s", netdev);
	if (!err)
		err = put_raw(f, index, g->raw);
	if (err)
		clear_files(f, index);
	return err;
}

/* All files of empty entries in a directory are one file. */
static int write_empty(const struct emu_func *f)
{
	static const char *const dirs[] = {"gids", "gid_attrs/types", "gid_attrs/ndevs"};
	char first[160], file[160];
	int err = clear_files(f, 0);

	for (unsigned int d = 0; d < ARRAY_SIZE(dirs); d++) {
		file_of(f, dirs[d], 0, first);
		for (unsigned int i = 1; i < f->card->profile->max_gids && !err; i++)
			err = emu_sysfs_same(f, file_of(f, dirs[d], i, file), first);
	}
	return err;
}

/* --- changing --------------------------------------------------------------------------------- */

static void call_listeners(struct emu_func *f)
{
	for (unsigned int i = 0; i < nlisteners; i++)
		listener[i](f);
}

void emu_gid_on_change(void (*changed)(struct emu_func *f))
{
	if (nlisteners < MAX_LISTENERS)
		listener[nlisteners++] = changed;
}

static bool is_zero(const uint8_t raw[16])
{
	static const uint8_t none[16];

	return !memcmp(raw, none, sizeof(none)) ||
	       (emu_gid_is_ipv4(raw) && !memcmp(raw + EMU_GID_IPV4, none, 4));
}

static bool is_free(const struct emu_func *f, unsigned int index)
{
	return !emu_gid_at(f, index) && !users[f->index][index];
}

static int find_free(const struct emu_func *f)
{
	unsigned int i;

	for (i = 0; i < f->card->profile->max_gids; i++)
		if (is_free(f, i))
			return (int)i;
	return -ENOSPC;
}

/* Another port that has the GID in the same VLAN. */
static bool is_taken(const struct emu_func *f, const uint8_t raw[16], unsigned int vlan)
{
	const struct emu_func *other = emu_topology.func, *end = other + emu_topology.nfuncs;

	for (; other < end; other++)
		if (other != f && emu_gid_find(other, raw, EMU_GID_ANY, vlan) >= 0)
			return true;
	return false;
}

static int check(const struct emu_func *f, int index, const struct emu_gid *g)
{
	if (index < EMU_GID_LOWEST || index >= (int)f->card->profile->max_gids ||
	    (g->type != EMU_GID_ROCE_V1 && g->type != EMU_GID_ROCE_V2) ||
	    (g->vlan > MAX_VLAN && g->vlan != EMU_NO_VLAN) || is_zero(g->raw) ||
	    emu_gid_is_group(g->raw))
		return -EINVAL;
	if (is_taken(f, g->raw, g->vlan))
		return -EADDRINUSE;
	if (index != EMU_GID_LOWEST)
		return is_free(f, (unsigned int)index) ? index : -EBUSY;
	return find_free(f);
}

/* The entry rested for a grace period, see emu_gid_del(). */
static void publish(const struct emu_func *f, unsigned int index, const struct emu_gid *as)
{
	struct emu_port *port = &emu_tables->port[f->index];
	struct emu_gid *g = &port->gid[index];

	g->type = as->type;
	g->vlan = as->vlan;
	memcpy(g->raw, as->raw, sizeof(g->raw));
	atomic_store_explicit(&g->serial, emu_new_serial(), memory_order_release);
	if (atomic_load(&port->gid_high) <= index)
		atomic_store(&port->gid_high, index + 1);
}

int emu_gid_add(struct emu_func *f, int index, const uint8_t raw[16], unsigned int type,
		unsigned int vlan)
{
	return emu_gid_find(f, raw, type, vlan) >= 0 ? -EEXIST
						     : emu_gid_put(f, index, raw, type, vlan);
}

int emu_gid_put(struct emu_func *f, int index, const uint8_t raw[16], unsigned int type,
		unsigned int vlan)
{
	struct emu_gid g = {.type = (uint8_t)type, .vlan = (uint16_t)vlan};
	int err;

	if (type > UINT8_MAX || vlan > UINT16_MAX)
		return -EINVAL;
	memcpy(g.raw, raw, sizeof(g.raw));
	index = check(f, index, &g);
	if (index < 0)
		return index;
	err = write_files(f, (unsigned int)index, &g);
	if (err)
		return err;
	publish(f, (unsigned int)index, &g);
	emu_paths_refresh();
	call_listeners(f);
	return index;
}

int emu_gid_del(struct emu_func *f, unsigned int index)
{
	int err;

	if (!emu_gid_at(f, index))
		return -ENOENT;
	atomic_store(&entry(f, index)->serial, 0);
	emu_paths_refresh();
	emu_grace();
	err = clear_files(f, index);
	if (err)
		emu_log("%s: mlx5_%u: the files in sysfs still show GID %u, which was removed: %s",
			f->role, f->dev, index, strerror(-err));
	call_listeners(f);
	return 0;
}

int emu_gid_hold(const struct emu_func *f, unsigned int index)
{
	if (index >= f->card->profile->max_gids)
		return -EINVAL;
	if (!emu_gid_at(f, index))
		return -ENODATA;
	users[f->index][index]++;
	return 0;
}

void emu_gid_release(const struct emu_func *f, unsigned int index)
{
	users[f->index][index]--;
}

/* --- the first table -------------------------------------------------------------------------- */

static void link_local(const struct emu_func *f, uint8_t raw[static 16])
{
	memset(raw, 0, 16);
	raw[0] = 0xfe;
	raw[1] = 0x80;
	for (unsigned int i = 0; i < 8; i++)
		raw[8 + i] = (uint8_t)(f->node_guid >> (56 - 8 * i));
	raw[8] ^= 2; /* universal/local bit */
}

void emu_gid_default_ip(const struct emu_func *f, uint8_t raw[static 16])
{
	emu_gid_from_ipv4(raw, &(struct in_addr){htonl(127u << 24 | (100u + f->card->node) << 16 |
						       f->card->number << 8 |
						       (f->kind == EMU_FUNC_DPU ? 1 : 2))});
}

/* Both versions of an address, at the next two places. */
static int add_both(struct emu_func *f, const uint8_t raw[16])
{
	int err = 0;

	for (unsigned int type = EMU_GID_ROCE_V1; type <= EMU_GID_ROCE_V2 && err >= 0; type++)
		err = emu_gid_add(f, EMU_GID_LOWEST, raw, type, EMU_NO_VLAN);
	return err < 0 ? err : 0;
}

static int create(struct emu_func *f)
{
	uint8_t raw[16];
	int err;

	err = write_empty(f);
	if (err)
		return err;
	link_local(f, raw);
	err = add_both(f, raw);
	if (err)
		return err;
	emu_gid_default_ip(f, raw);
	return add_both(f, raw);
}

int emu_gid_replace_ip(struct emu_func *f, const uint8_t raw[16])
{
	uint8_t old[16];
	int index;

	emu_gid_default_ip(f, old);
	for (unsigned int type = EMU_GID_ROCE_V1; type <= EMU_GID_ROCE_V2; type++) {
		index = emu_gid_find(f, old, type, EMU_NO_VLAN);
		if (index >= 0)
			emu_gid_del(f, (unsigned int)index);
	}
	return add_both(f, raw);
}

int emu_gids_create(void)
{
	int err = 0;

	for (unsigned int i = 0; i < emu_topology.nfuncs && !err; i++)
		err = create(&emu_topology.func[i]);
	return err;
}
