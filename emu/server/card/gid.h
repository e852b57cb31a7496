/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The GID tables of the ports. They are in the shared tables (emu/ipc/tables.h), where engines read
 * them too. An entry has an index that it keeps until it is removed; a table can have holes.
 *
 * By default a port has four entries: its link-local address as RoCE v1 and v2, and an IPv4 address as
 * RoCE v1 and v2. The IPv4 address is in 127/8, so it routes on every Linux machine: 127.(100 + n).c.1
 * for the DPU and .2 for the host, on card c of node n.
 */
#ifndef EMU_GID_H
#define EMU_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "emu/ipc/shm.h"
#include "emu/server/card/topology.h"

/* enum ib_uverbs_gid_type */
#define EMU_GID_ROCE_V1 1u
#define EMU_GID_ROCE_V2 2u
#define EMU_GID_ANY	0u /* any version of RoCE */
#define EMU_ANY_VLAN	0xfffeu
#define EMU_GID_LOWEST	(-1) /* the lowest free index */

/* --- reading ---------------------------------------------------------------------------------- */

/* The entry at an index, or NULL if there is none. */
const struct emu_gid *emu_gid_at(const struct emu_func *f, unsigned int index);
/*
 * The first entry at `*index` or above, or NULL. `*index` becomes its index:
 *	for (i = 0; (g = emu_gid_next(f, &i)); i++)
 */
const struct emu_gid *emu_gid_next(const struct emu_func *f, unsigned int *index);
/* The index of the first entry that matches; `type` and `vlan` may be "any". -1: there is none. */
int emu_gid_find(const struct emu_func *f, const uint8_t raw[16], unsigned int type,
		 unsigned int vlan);
/* The function that has a GID, of any version and VLAN; or NULL. */
const struct emu_func *emu_func_by_gid(const uint8_t raw[16]);

/*
 * The function that has an IP address (IPv4 or IPv6, of any port number), or NULL. `role` limits the
 * search to the functions of one machine, as `struct emu_func` names it; NULL: all functions.
 */
const struct emu_func *emu_func_by_ip(const char *role, const struct sockaddr *addr);
/* The GID that contains an IP address; false if the family is another one. */
bool emu_gid_of_ip(const struct sockaddr *addr, uint8_t raw[16]);
/* The IP address in a GID, with port number 0. Each GID is an IPv6 address or a mapped IPv4 one. */
void emu_gid_to_ip(const uint8_t raw[16], struct sockaddr_storage *addr);

/* The MAC address of a function's port. */
void emu_func_mac(const struct emu_func *f, uint8_t mac[6]);
/* The network interface of an entry: that of the port or, with a VLAN, the one above it. */
void emu_gid_netdev(const struct emu_gid *g, char name[static 16]);

/* --- changing --------------------------------------------------------------------------------- */

/*
 * Add an entry; `index` may be EMU_GID_LOWEST. When this returns, engines see it, its sysfs files are
 * there, and GID_CHANGE was reported. Returns the index, or
 * -EINVAL: the type, the VLAN or the index is out of range, or the GID is zero or a group,
 * -EEXIST: the port has this GID with this version and VLAN,
 * -EBUSY: the index is in use, or an object refers to its former entry (emu_gid_hold()),
 * -EADDRINUSE: another port has this GID in this VLAN,
 * -ENOSPC: the table is full.
 */
int emu_gid_add(struct emu_func *f, int index, const uint8_t raw[16], unsigned int type,
		unsigned int vlan);
/* The same, for a driver: it may put a GID into several entries of its table. */
int emu_gid_put(struct emu_func *f, int index, const uint8_t raw[16], unsigned int type,
		unsigned int vlan);
/* Remove an entry. When this returns, no engine uses it. -ENOENT: there is none. */
int emu_gid_del(struct emu_func *f, unsigned int index);

/*
 * An object refers to an entry: its index is not used again before the object has released it, even if
 * the entry is removed. Only existing entries can be held: else -ENODATA, or -EINVAL for an index that
 * is not in the table.
 */
int emu_gid_hold(const struct emu_func *f, unsigned int index);
void emu_gid_release(const struct emu_func *f, unsigned int index);

/* Make the tables and their files, with the entries of the default. 0 or a negative errno. */
int emu_gids_create(void);
/* The IPv4 address of the default table. */
void emu_gid_default_ip(const struct emu_func *f, uint8_t raw[static 16]);
/*
 * Replace it by another address or, if that was done, add one more address, as RoCE v1 and v2. 0 or
 * as emu_gid_add().
 */
int emu_gid_replace_ip(struct emu_func *f, const uint8_t raw[16]);
/* Call a function after each change of a table. At most 4 functions; they are never removed. */
void emu_gid_on_change(void (*changed)(struct emu_func *f));

#endif
