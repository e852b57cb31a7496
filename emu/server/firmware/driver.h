/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands that only the driver of a function sends. Each handler is a row of the firmware's table. */
#ifndef EMU_SERVER_FIRMWARE_DRIVER_H
#define EMU_SERVER_FIRMWARE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/counters.h"
#include "emu/ipc/firmware.h"
#include "emu/prm/prm_eq.h"
#include "emu/prm/prm_ethernet.h"
#include "emu/prm/prm_srq.h"
#include "emu/server/firmware/mailbox.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/rmp.h"
#include "emu/server/uverbs/xrc.h"

enum emu_driver_state { EMU_DRIVER_DISABLED, EMU_DRIVER_ENABLED, EMU_DRIVER_INITIALIZED };

/* What the driver of a function has set up: emu_file's `driver`. */
struct emu_driver {
	struct emu_events *events;
	uint64_t event_mask[EMU_FW_EQS]; /* of an event queue: a bit for each type of event */
	enum emu_driver_state state;
	struct {
		uint64_t *address;
		uint32_t n, room;
		int32_t asked; /* the driver is about to give so many; fewer than 0: to take */
		bool refused;  /* it cannot give what it was asked for */
	} pages;	       /* that it has given */
	uint32_t objects;
	bool roce;	 /* enabled */
	bool has_failed; /* since the last reset */
};

/* The queue for events of a type that is not of a completion queue; 0: the driver does not want them. */
uint32_t emu_driver_eqn(const struct emu_driver *d, uint8_t type);
/* Send an event (prm_eqe.h) to a queue; 0: to none. */
void emu_driver_send(const struct emu_driver *d, uint32_t eqn, uint8_t type, const uint8_t *eqe);
/* The state or a table of the port has changed (enum emu_eqe_port_change). */
void emu_driver_port_changed(const struct emu_func *f, uint8_t change);
/* The device fails: the driver's commands do, until it resets the function. */
void emu_driver_fail(struct emu_driver *d);
/* The device works again. */
void emu_driver_repair(const struct emu_driver *d);

/* An object without behaviour of its own: a number, and what it was created with. */
struct emu_plain {
	struct emu_uobj obj;
	uint32_t number;
};

struct emu_eq_object {
	struct emu_plain plain;
	struct emu_uar *uar; /* NULL: not created yet */
	uint8_t eqc[EMU_EQC_BYTES];
};

struct emu_xrc_srq {
	struct emu_devx_rmp rmp;
	struct emu_xrcd *xrcd;
	struct emu_devx_cq *cq;
};

struct emu_sq_object {
	struct emu_uobj obj;
	uint32_t sqn; /* 0: not created yet, and nothing is held */
	struct emu_devx_cq *cq;
	struct emu_umem *buf, *dbr;
	uint8_t sqc[EMU_SQC_BYTES]; /* what it was created with */
};

/* It receives nothing. */
struct emu_rq_object {
	struct emu_plain plain;
	uint8_t rqc[EMU_SQC_BYTES];
};

/* Refuse a command that is shorter than `in_len`, whose answer does not fit, or that has an op_mod: 0 or -EREMOTEIO. */
int emu_driver_check(struct emu_mbox *m, size_t in_len, size_t out_len);

#define EMU_DRIVER_HANDLER(name) \
	int emu_driver_##name(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)

/* The life of a function (hca.c). */
EMU_DRIVER_HANDLER(change_state);
EMU_DRIVER_HANDLER(set_hca_cap);
EMU_DRIVER_HANDLER(set_issi);
EMU_DRIVER_HANDLER(query_adapter);
EMU_DRIVER_HANDLER(query_special_contexts);
EMU_DRIVER_HANDLER(set_driver_version);
EMU_DRIVER_HANDLER(mad_ifc);

/* Pages that the driver gives to the firmware (pages.c). */
EMU_DRIVER_HANDLER(query_pages);
EMU_DRIVER_HANDLER(manage_pages);
bool emu_driver_pages_suffice(const struct emu_driver *d);
/* Room for an object more: 0, -EINPROGRESS until the driver has given pages, or -EREMOTEIO if it cannot. */
int emu_driver_pages_reserve(struct emu_driver *d, struct emu_mbox *m);
/* The function has fewer objects: offer pages that it does not need. */
void emu_driver_pages_return(struct emu_driver *d);
void emu_driver_pages_forget(struct emu_driver *d);

/* Page faults (page_fault.c). */
EMU_DRIVER_HANDLER(page_fault_resume);
/* A queue pair has posted one of a side (enum emu_page_fault_side). */
void emu_page_fault_serve(uint32_t qpn, uint32_t side);

/* Registers (register.c). */
EMU_DRIVER_HANDLER(access_reg);

/* Resources that are no queues (resource.c). */
EMU_DRIVER_HANDLER(alloc_pd);
EMU_DRIVER_HANDLER(alloc_uar);
EMU_DRIVER_HANDLER(alloc_xrcd);
EMU_DRIVER_HANDLER(alloc_plain);
EMU_DRIVER_HANDLER(create_uctx);

/* Counters (counters.c). A set of counters counts for all queue pairs of the function, from when it was allocated. */
struct emu_q_counter {
	struct emu_plain plain;
	uint64_t before[EMU_COUNTERS];
};

EMU_DRIVER_HANDLER(alloc_q_counter);
EMU_DRIVER_HANDLER(query_q_counter);
EMU_DRIVER_HANDLER(query_vport_counter);

/* Destroy an object (firmware.c). */
EMU_DRIVER_HANDLER(destroy);

/* Device memory in the BAR (memic.c). */
EMU_DRIVER_HANDLER(alloc_memic);
EMU_DRIVER_HANDLER(dealloc_memic);
/* The memory that [address, address + len) of the BAR is in; NULL: none of the driver's. */
struct emu_dm *emu_driver_memic_at(const struct emu_file *f, uint64_t address, uint64_t len);
/* The address of memory in the BAR. */
uint64_t emu_driver_memic_address(const struct emu_dm *dm);

/* The network interface (ethernet.c). */
EMU_DRIVER_HANDLER(create_numbered);
EMU_DRIVER_HANDLER(modify_plain);
EMU_DRIVER_HANDLER(create_sq);
EMU_DRIVER_HANDLER(modify_sq);
EMU_DRIVER_HANDLER(query_sq);
EMU_DRIVER_HANDLER(create_rq);
EMU_DRIVER_HANDLER(modify_rq);
EMU_DRIVER_HANDLER(query_rq);
int emu_driver_sq_undo(struct emu_uobj *o);

/* Event queues (eq.c). */
EMU_DRIVER_HANDLER(create_eq);
EMU_DRIVER_HANDLER(query_eq);
int emu_driver_eq_undo(struct emu_uobj *o);

/* XRC shared receive queues (xrc_srq.c). */
EMU_DRIVER_HANDLER(create_xrc_srq);
EMU_DRIVER_HANDLER(arm_xrc_srq);
EMU_DRIVER_HANDLER(query_xrc_srq);
int emu_driver_xrc_srq_undo(struct emu_uobj *o);

/* The virtual port (vport.c). */
EMU_DRIVER_HANDLER(query_nic_vport);
EMU_DRIVER_HANDLER(modify_nic_vport);
EMU_DRIVER_HANDLER(set_roce_address);
EMU_DRIVER_HANDLER(query_hca_vport_pkey);

#endif
