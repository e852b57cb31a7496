/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables segment: mkeys, their KLM lists, and the GIDs of the fabric. */
#ifndef EMU_IPC_TABLES_H
#define EMU_IPC_TABLES_H

#include <stdatomic.h>
#include <stdint.h>

#include "emu/ipc/limits.h"

/* mkey rights, as in the mkey context of the PRM (lr, lw, rr, rw, a). */
enum emu_right {
	EMU_LR = 1u << 0,
	EMU_LW = 1u << 1,
	EMU_RR = 1u << 2,
	EMU_RW = 1u << 3,
	EMU_RA = 1u << 4,
	EMU_MB = 1u << 5, /* memory windows may be bound to it; not a bit of the mkey context */
};

enum emu_mkey_flag {
	EMU_MK_FREE = 1u << 0,	 /* it exists but has no meaning until UMR gives it one */
	EMU_MK_UMR = 1u << 1,	 /* work requests may change it */
	EMU_MK_RINVAL = 1u << 2, /* a peer may free it by a send with invalidate */
	EMU_MK_PAGED =
		1u << 3, /* a driver gives what a null key in its list stands for on demand */
};

enum emu_mkey_mode {
	EMU_MKEY_MEM = 1,   /* memory of a process: u.mem */
	EMU_MKEY_DM = 2,    /* on-chip memory: u.dm */
	EMU_MKEY_KLM = 3,   /* consecutive pieces of any length: u.klm */
	EMU_MKEY_KSM = 4,   /* equal pieces of 2^log_entity bytes: u.klm */
	EMU_MKEY_ALIAS = 5, /* another function's mkey: u.alias */
	EMU_MKEY_FILE = 6,  /* a dma-buf, emulated by a memfd: u.file */
	/*
	 * u.klm, in turns: the low half of `bytes` is the length of an entry's piece, the high
	 * half the distance to its piece in the next turn.
	 */
	EMU_MKEY_STRIDED = 7,
	EMU_MKEY_NULL = 8, /* no memory: EMU_NULL_LKEY, which is not in the table */
	/*
	 * Pages of a virtual machine, of 2^log_entity bytes: u.klm, whose entries have the page's physical
	 * address in `addr` and EMU_LR and EMU_LW in `key`, as far as the page may be read and written.
	 */
	EMU_MKEY_PAGES = 9,
};

/*
 * One mkey; its index is the key >> 8. The low byte of a key must equal `tag`.
 * Valid addresses are [start, start + len).
 */
struct emu_mkey {
	_Atomic uint32_t serial;
	uint8_t mode;
	uint8_t tag;
	uint16_t func; /* the function (VHCA) that owns it */
	uint32_t rights;
	uint32_t pdn; /* for an alias: the importer's PD; the target is used with its own PD */
	uint64_t start;
	uint64_t len;
	uint32_t log_entity;   /* KSM and pages */
	uint32_t shared;       /* ALLOW_OTHER_VHCA_ACCESS was granted: aliases may reach it */
	uint32_t first_serial; /* UMR changes `serial`, but it remains the same key */
	uint32_t flags;	       /* enum emu_mkey_flag */
	uint32_t qpn;	       /* the only QP that may use it; 0: any of its PD */
	uint32_t mw;	       /* a memory window of this type; 0: none */
	union {
		struct {
			uint64_t addr;	 /* process address of `start` */
			uint64_t offset; /* of `start` in the shared file */
			int32_t pid;
			uint32_t
				shared; /* index in emu_tables.shared; 0: not the pages of such a file */
		} mem;
		struct {
			uint64_t offset; /* of `start` in the dm segment */
		} dm;
		struct {
			uint32_t first; /* index of the first entry in emu_tables.klm */
			uint32_t count;
			uint32_t room;	 /* number of its own entries, from the first on */
			uint32_t repeat; /* strided: number of turns */
			uint64_t base;	 /* pages: process address of the physical address 0 */
			int32_t pid;	 /* pages: the process */
		} klm;
		struct {
			uint32_t index;	 /* the target */
			uint32_t serial; /* `first_serial` of the mkey that was granted */
		} alias;
		struct {
			uint64_t offset; /* of `start` in the file */
			uint64_t ino;	 /* of the file, to verify that it is the right one */
			int32_t pid;	 /* the process that keeps it open while the mkey exists */
			int32_t fd;	 /* its descriptor there: engines open /proc/PID/fd/FD */
			uint32_t id;	 /* a serial, unique among open files */
		} file;
	} u;
};

#define EMU_PAGE_NOWHERE (1u << 31) /* in the key of a page: the machine does not have it */

struct emu_klm {
	uint32_t bytes; /* KLM only */
	uint32_t key;
	uint64_t addr;
};

/*
 * A file in memory whose pages regions consist of (mm/share.h). An entry lives as long as an mkey
 * refers to it.
 */
struct emu_shared {
	uint64_t ino, dev; /* of the file, to verify that it is the right one */
	int32_t pid;	   /* the process that keeps it open */
	int32_t fd;	   /* its descriptor there: engines open /proc/PID/fd/FD */
	uint64_t page;	   /* bytes of a page of the file */
};

#define EMU_NO_VLAN 0xffffu

/* An entry of a GID table; its index is its place there. */
struct emu_gid {
	_Atomic uint32_t serial;
	uint8_t type; /* 1: RoCE v1, 2: RoCE v2 */
	uint8_t pad;
	uint16_t vlan; /* or EMU_NO_VLAN */
	uint8_t raw[16];
};

/* The port of a function. Packets from it do not arrive at the functions whose bits are in `cut`. */
struct emu_port {
	_Atomic uint32_t gid_high; /* all entries in use are below */
	_Atomic uint32_t cut;
	_Atomic uint32_t
		gsi; /* the queue pair that a driver has as number 1 of its port; 0: none */
	struct emu_gid gid[EMU_MAX_GIDS];
};

/*
 * An IP address of a port on a network of this machine: packets to and from it are UDP datagrams (RoCEv2). The
 * port's GID table has the address too, as RoCE v2.
 */
struct emu_endpoint {
	_Atomic uint32_t serial; /* 0: not in use */
	_Atomic uint32_t down;	 /* the port is down */
	uint32_t func;
	uint8_t addr[16]; /* as a GID */
};

struct emu_tables {
	_Atomic uint32_t generation; /* the version of the tables' layout; 5 */
	/* Packets between two ports of this emulator that have endpoints are UDP datagrams, too. */
	uint32_t wire_forced;
	uint32_t pad[14];
	struct emu_endpoint endpoint[EMU_MAX_ENDPOINTS];
	struct emu_port port[EMU_MAX_FUNCS]; /* by the index of the function */
	struct emu_mkey mkey[EMU_MAX_MKEYS];
	struct emu_klm klm[EMU_MAX_KLMS];
	struct emu_shared shared[EMU_MAX_SHARED];
	_Atomic uint32_t dek[EMU_MAX_DEKS]; /* serials; the keys are with the server */
};

#endif
