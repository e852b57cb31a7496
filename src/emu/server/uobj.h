/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Objects that a command file owns, by handle; and the commands on them. */
#ifndef EMU_UOBJ_H
#define EMU_UOBJ_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "server.h"

enum emu_type {
	EMU_T_NONE,
	EMU_T_PD,
	EMU_T_CQ,
	EMU_T_QP,
	EMU_T_MR,
	EMU_T_DM,
	EMU_T_UAR,
	EMU_T_UMEM,
	EMU_T_DEVX_MKEY,
	EMU_T_DEVX_ALIAS,
	EMU_T_MW,
	EMU_T_DEVX_CQ,
	EMU_T_DEVX_QP,
	EMU_T_DEVX_RMP,
	EMU_T_DEVX_COUNTER,
	EMU_T_SRQ,
	EMU_T_XRCD,
	EMU_T_AH,
};

struct emu_uobj {
	enum emu_type type;
	uint32_t handle;
	struct emu_file *file;
	unsigned int users; /* objects that refer to this one: it is busy while there are any */
};

/* Pages that a process has locked; all zeros: none. */
struct emu_pin {
	struct emu_mm *mm;
	uint64_t pages;
};

/* Of a queue: its ring, and the page of its doorbell record. */
struct emu_queue_pins {
	struct emu_pin ring;
	struct emu_db_page *dbr;
};

struct emu_pd {
	struct emu_uobj obj;
	uint32_t pdn;
};

enum emu_events_kind {
	EMU_EVENTS_COMPLETION,
	EMU_EVENTS_ASYNC,
	EMU_EVENTS_DEVX,     /* device events of DEVX objects */
	EMU_EVENTS_COMMANDS, /* answers of queries that nobody waited for */
};

/*
 * All kinds of event file: the writing end of a pipe, found again by the pipe's inode. No handle
 * names it: it lives until the client closed its end and nothing refers to it.
 */
struct emu_events {
	struct emu_watch watch; /* fd -1 when the client's end is closed */
	struct emu_events *next;
	struct emu_file *file;
	enum emu_events_kind kind;
	struct emu_subscription *subscriptions; /* EMU_EVENTS_DEVX */
	bool omit_data;
	ino_t ino;
	unsigned int users;
};

struct emu_cq_obj {
	struct emu_uobj obj;
	uint32_t cqn;
	uint64_t user_handle;
	struct emu_events *channel;
	struct emu_events *async;
	uint32_t comp_events, async_events;
	struct emu_queue_pins pins;
};

/* The same number in the objects of all who opened the same file. */
struct emu_xrcd {
	struct emu_uobj obj;
	uint32_t number;
	ino_t ino; /* 0: nobody else's */
	dev_t dev;
};

struct emu_ah {
	struct emu_uobj obj;
	struct emu_pd *pd;
};

struct emu_srq_obj {
	struct emu_uobj obj;
	uint32_t srqn;
	uint32_t type; /* enum ib_uverbs_srq_type */
	uint32_t max_wr, max_sge;
	uint64_t user_handle;
	struct emu_pd *pd;
	struct emu_xrcd *xrcd; /* of an XRC one, and where it completes; or NULL */
	struct emu_cq_obj *cq;
	struct emu_events *async;
	uint32_t async_events;
	struct emu_queue_pins pins;
};

struct emu_qp_obj {
	struct emu_uobj obj;
	uint32_t qpn;
	uint8_t type; /* enum emu_qp_type */
	uint64_t user_handle;
	struct emu_pd *pd;
	struct emu_cq_obj *send_cq, *recv_cq;
	struct emu_srq_obj *srq;
	struct emu_xrcd *xrcd;
	struct emu_events *async;
	uint32_t async_events;
	struct ib_uverbs_qp_cap cap;
	struct ib_uverbs_modify_qp attr; /* the last value given of each attribute */
	bool sq_sig_all;
	struct emu_queue_pins pins;
};

struct emu_dm {
	struct emu_uobj obj;
	uint64_t length; /* as asked for */
	uint64_t offset; /* in the dm segment, of its first page */
	uint32_t npages;
};

/* A client's dma-buf as the server holds it; `id` 0: none. */
struct emu_dmabuf {
	uint32_t id;
	int fd;
	uint64_t ino;
};

struct emu_mr {
	struct emu_uobj obj;
	struct emu_pd *pd;
	struct emu_dm *dm; /* or NULL: a dma-buf, or memory of a process */
	struct emu_dmabuf dmabuf;
	uint32_t key;
	uint64_t length, iova;
	uint64_t addr; /* in what it is memory of */
	uint32_t access;
	struct emu_pin pin;
};

struct emu_mw {
	struct emu_uobj obj;
	struct emu_pd *pd;
	uint32_t type;
	uint32_t key; /* its first one: the low byte changes with each bind */
};

struct emu_uar {
	struct emu_uobj obj;
	uint32_t page;
};

struct emu_umem {
	struct emu_uobj obj;
	uint32_t id;
	struct emu_dmabuf dmabuf;
	uint64_t addr, len; /* in the dma-buf, or in process `pid` */
	uint32_t access;
	pid_t pid;
	struct emu_pin pin;
};

#define EMU_MKC_BYTES 64

struct emu_devx {
	struct emu_uobj obj;
	uint32_t index;			/* of the mkey or the alias, the counter's number */
	struct emu_umem *umem;		/* that an MTT mkey stands on, or NULL */
	uint8_t context[EMU_MKC_BYTES]; /* as it was made; an alias's is without the access key */
};

void *emu_uobj_new(struct emu_file *f, enum emu_type type, size_t size);
/* Look one up: NULL if there is none of that type. */
void *emu_uobj_get(struct emu_file *f, uint32_t handle, enum emu_type type);
/* Forget an object and free its memory; what it stands for was undone. */
void emu_uobj_free(struct emu_uobj *o);
/* Undo and free one object: 0, or -EBUSY while it has users. */
int emu_uobj_destroy(struct emu_uobj *o);
/* All of a file's objects, whatever their order of use. */
void emu_uobj_destroy_all(struct emu_file *f);

/* --- XRC (xrc.c) ---------------------------------------------------------------------------------
 */
/* The handles of a QP, which processes of its XRC domain may share; NULL: no more. */
struct emu_qp_obj *emu_qp_next(uint32_t qpn, const struct emu_qp_obj *after);
/* Are there others of the same QP? */
bool emu_qp_shared(const struct emu_qp_obj *qp);
/* A new handle uses what it names. */
void emu_qp_hold(struct emu_qp_obj *qp);
/* What one of them was told all of them know. */
void emu_qp_spread(const struct emu_qp_obj *qp);
/* Another engine of those who hold the target, or EMU_NO_ENGINE. */
uint32_t emu_xrc_heir(uint32_t qpn, uint32_t slot);
/* There is a new target: engines that may have to execute messages to it look for it. */
void emu_xrc_announce(const struct emu_qp *tgt);

/* --- mkeys (mkey.c) ------------------------------------------------------------------------------
 */
/* Is a window of this file bound to the region with that key? */
bool emu_mw_bound(const struct emu_file *f, uint32_t key);
/* Do what the QP's engine asks for (umr.c). */
void emu_umr_serve(uint32_t qpn);
/* Publish a filled entry under a free index; returns the key, or 0 if the table is full. */
uint32_t emu_mkey_create(struct emu_mkey *m, bool own_tag);
/* Give an existing key another meaning, at once for everybody. */
void emu_mkey_update(uint32_t key, struct emu_mkey *m);
void emu_mkey_retire(uint32_t index);
/* A run of KLM entries: index of the first, or UINT32_MAX. */
uint32_t emu_klm_alloc(uint32_t count);
void emu_klm_free(uint32_t first, uint32_t count);
uint32_t emu_rights_of_access(uint32_t access);

/* --- locked memory (pin.c) -----------------------------------------------------------------------
 */
/* -ENOMEM or -EPERM above the limit, -EFAULT if it is not there. */
int emu_pin(const struct emu_chan *of, uint64_t addr, uint64_t len, bool write,
	    struct emu_pin *pin);
void emu_unpin(struct emu_pin *pin);
void emu_unpin_queue(struct emu_file *f, struct emu_queue_pins *pins);

/* --- dma-bufs (dmabuf.c) -------------------------------------------------------------------------
 */
/* Close it: no mkey of it may be left. */
void emu_dmabuf_close(struct emu_dmabuf *d);
/* Let the mkey start at `offset`. */
void emu_dmabuf_describe(const struct emu_dmabuf *d, uint64_t offset, struct emu_mkey *m);

/* --- event files (events.c) ----------------------------------------------------------------------
 */
/* Make one; `*peer` is the client's end. */
int emu_events_create(struct emu_file *f, enum emu_events_kind kind, struct emu_events **e,
		      int *peer);
/* The client's end was closed. */
void emu_events_hangup(struct emu_events *e);
void emu_events_put(struct emu_events *e);
void emu_events_destroy_all(struct emu_file *f);
/* Queue one record; false if nobody can read it. */
bool emu_events_send(struct emu_events *e, const void *record, size_t len);
/* Take back the unread records of an object that goes; returns how many there were. */
uint32_t emu_events_retract(struct emu_events *e, uint64_t element);
/* Deliver a note of an engine. */
void emu_note(const struct emu_note *n);
/* Tell those who subscribed (devx_events.c). */
void emu_devx_note(const struct emu_note *n);
/* Forget the subscriptions of an event file that closes, or to an object that goes. */
void emu_devx_unsubscribe_all(struct emu_events *e);
void emu_devx_unsubscribe(const struct emu_uobj *o);

/* --- destructors, one a type; each returns 0 or -EBUSY -------------------------------------------
 */
int emu_mr_undo(struct emu_uobj *o);
int emu_dm_undo(struct emu_uobj *o);
int emu_cq_undo(struct emu_uobj *o);
int emu_qp_undo(struct emu_uobj *o);
int emu_srq_undo(struct emu_uobj *o);
int emu_xrcd_undo(struct emu_uobj *o);
int emu_ah_undo(struct emu_uobj *o);
int emu_uar_undo(struct emu_uobj *o);
int emu_umem_undo(struct emu_uobj *o);
int emu_devx_counter_undo(struct emu_uobj *o);
int emu_devx_undo(struct emu_uobj *o);
int emu_mw_undo(struct emu_uobj *o);
int emu_devx_cq_undo(struct emu_uobj *o);
int emu_devx_qp_undo(struct emu_uobj *o);
int emu_devx_rmp_undo(struct emu_uobj *o);

#endif
