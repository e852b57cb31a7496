/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The emulator's server: the kernel driver and the firmware of every emulated card, in one
 * single-threaded process. Objects, and who owns them:
 *
 *   emu_card   a physical device: on-chip memory, and its functions
 *   emu_func   a PCI function (VHCA) with one character device
 *   emu_file   an open file description of a character device = a kernel context; owns uobjects
 *   emu_chan   one process's channel to a file
 *   emu_proc   a process's engine slot, shared by all its channels
 *
 * Functions return 0 or a negative errno unless they say otherwise.
 */
#ifndef EMU_SERVER_H
#define EMU_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "emu/proto.h"
#include "emu/shm.h"
#include "profile.h"

#define EMU_MAX_FUNCS	     16
#define EMU_GIDS	     4
#define EMU_PAGE	     4096u
#define EMU_PORTS	     1u
#define EMU_PORT_CAP	     0x04010000u /* CM, IP-based GIDs */
#define EMU_COMP_VECTORS     4u
#define EMU_LOG_MAX_DM_ALIGN 6u /* log_max_memic_addr_alignment, in units of 64 bytes */

struct emu_card {
	unsigned int index;
	unsigned int node;   /* the machine that it is in */
	unsigned int number; /* among its machine's cards */
	uint64_t guid;	     /* system image GUID */
	const struct emu_profile *profile;
	uint8_t *dm_pages; /* one byte a page of its DM: in use */
	unsigned int dm_npages;
	uint64_t dm_used;
	uint64_t dm_taken; /* a fault: by somebody whom nobody knows */
};

enum emu_role_kind { EMU_FUNC_DPU, EMU_FUNC_HOST };

struct emu_counts {
	unsigned int contexts, pds, mrs, mkeys, aliases, dms, umems, cqs, qps, uars, channels;
	unsigned int mws;
	unsigned int srqs, xrcds, ahs, flow_counters;
	uint64_t dm_bytes;
};

struct emu_func {
	uint16_t index; /* in server.func, and emu_mkey.func */
	uint16_t vhca_id;
	struct emu_card *card;
	enum emu_role_kind kind;
	char role[16];	  /* directory, and what `run --as` calls it */
	unsigned int dev; /* N of uverbsN and mlx5_N */
	char pci[16];
	uint64_t node_guid;
	uint8_t gid[EMU_GIDS][16];
	uint8_t gid_type[EMU_GIDS];
	int listener;
	bool dead;		 /* a fault: every command fails until it is cleared */
	struct emu_counts count; /* the function's share of server.count */
};

enum emu_watch_type {
	EMU_WATCH_SIGNAL,
	EMU_WATCH_LOCK,	    /* of the directory: is it still there? */
	EMU_WATCH_LISTENER, /* of a function */
	EMU_WATCH_ADMIN,    /* a connection to it */
	EMU_WATCH_FILE,
	EMU_WATCH_CHAN,
	EMU_WATCH_NOTES,
	EMU_WATCH_EVENTS,
	EMU_WATCH_NETLINK,
};

/* What epoll hands back; the first member of everything that has a descriptor. */
struct emu_watch {
	enum emu_watch_type type;
	int fd;
};

struct emu_proc {
	struct emu_watch notes; /* our end of its notify socket */
	struct emu_proc *next;
	pid_t pid;
	uint32_t slot;
	int peer; /* the process's end, until it was sent */
};

struct emu_uobj;
struct emu_events;
struct emu_db_page;

struct emu_file {
	struct emu_watch watch;
	struct emu_file *next;
	struct emu_func *func;
	struct emu_chan *chans;
	struct emu_events *events;
	struct emu_db_page *db_pages;
	struct emu_uobj **objs; /* by handle */
	unsigned int nobjs;
	unsigned int first_free; /* no handle below it is */
	uint64_t ino;		 /* of the client's socket, as it says */
	bool has_context;
	bool dead;	       /* a fault: the device died under it */
	unsigned int trace_id; /* what a trace calls it; 0: nothing yet */
	uint16_t devx_uid;     /* 0 = opened without DEVX */
};

struct emu_chan {
	struct emu_watch watch;
	struct emu_chan *next;
	struct emu_file *file;
	pid_t pid;
};

struct emu_server {
	const char *dir;
	struct emu_card card[EMU_MAX_CARDS];
	unsigned int ncards;
	struct emu_func func[EMU_MAX_FUNCS];
	unsigned int nfuncs;
	int tables_fd, tables_ro_fd, queues_fd, dm_fd, uar_fd;
	struct emu_tables *tables;
	struct emu_queues *queues;
	struct emu_file *files;
	struct emu_proc *procs;
	struct emu_counts count;
	uint64_t commands, command_errors;
	int epoll;
	int lock; /* a file in the directory */
	unsigned int holders;
	bool was_held;	  /* ends when the last holder goes */
	bool unreachable; /* its directory was removed: ends when the last client goes */
	bool stop;
};

extern struct emu_server emu;

/* --- memory of a client: copy_from_user and copy_to_user -----------------------------------------
 */
int emu_copy_from(pid_t pid, void *dst, uint64_t src, size_t len);
int emu_copy_to(pid_t pid, uint64_t dst, const void *src, size_t len);
/* As much of *len bytes as can be had, but not less than `least`. */
int emu_copy_from_upto(pid_t pid, void *dst, uint64_t src, size_t *len, size_t least);
/* Pairs of pieces, each as long as the other. */
int emu_copy_to_many(pid_t pid, const struct iovec *dst, const struct iovec *src, unsigned int n);
/* Is [addr, addr + len) mapped readable (and writable)? What pinning would find out. */
int emu_check_range(pid_t pid, uint64_t addr, uint64_t len, bool write);

/* --- pin.c: locked memory
 * -------------------------------------------------------------------------
 */
/* Has the process that capability (CAP_...)? Yes, if nobody can tell. */
bool emu_capable(pid_t pid, unsigned int cap);
/* A channel of the process ended: when it has no other, nothing counts for that number any more. */
void emu_pin_forget(pid_t pid);

/* --- shared segments (segments.c) ----------------------------------------------------------------
 */
int emu_segments_create(void);
/* A serial number that was never handed out before. */
uint32_t emu_new_serial(void);
/* Wait until no engine can still be using an entry whose serial was cleared. */
void emu_grace(void);
/* Tell an engine that its QPs or CQs changed, and wake it. */
void emu_engine_kick(uint32_t slot);

/* --- topology (topology.c) -----------------------------------------------------------------------
 */
int emu_topology_create(const struct emu_topology_spec *spec);
int emu_card_dm_init(struct emu_card *card);
const struct emu_func *emu_func_by_vhca(const struct emu_card *card, uint16_t vhca_id);
/* The function that owns a GID, or NULL. */
const struct emu_func *emu_func_by_gid(const uint8_t gid[16]);

/* --- reactor (server.c) --------------------------------------------------------------------------
 */
int emu_watch_add(struct emu_watch *w);
void emu_watch_del(struct emu_watch *w); /* closes the descriptor too, if it is open */
/* Free memory that events of the batch in hand may still point to: when the batch is done. */
void emu_bury(void *p);

/* --- files and processes (server.c) --------------------------------------------------------------
 */
struct emu_proc *emu_proc_of(pid_t pid);
struct emu_proc *emu_proc_by_slot(uint32_t slot);
void emu_drain_notes(struct emu_proc *p);

/* --- orphan.c: what outlives the process that made it
 * ---------------------------------------------
 */
/* `pid` is gone, or became another program; others hold the file on. */
void emu_orphan(struct emu_file *f, pid_t pid);
/* The message in the inbox of a QP that nobody serves any more is lost. */
void emu_inbox_drop(struct emu_msg *m);
/* The process with that engine is gone: as the owner of the QP, its peer, or who executes for it.
 */
void emu_orphan_qp(uint32_t qpn, uint32_t slot);

/* --- serve.c -----------------------------------------------------------------------------------
 */
struct emu_server_options {
	const char *dir;
	const struct emu_topology_spec *topology;
	int ready_fd; /* takes an int when clients may connect: 0, or the errno why not (EBUSY:
			 others serve) */
	int hold_fd;  /* a first holder's connection: the server ends with its last holder; or -1 */
};

/* Serve until stopped. Returns a process exit code. */
int emu_serve(const struct emu_server_options *opt);

void emu_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
