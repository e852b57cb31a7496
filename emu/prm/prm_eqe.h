/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events: the event queue entry as DEVX hands it out, and the numbers of events.
 *
 * PRM, "Event Queue Entry"; Linux, include/linux/mlx5/device.h: struct mlx5_eqe, mlx5_eqe_cq_err,
 * mlx5_eqe_comp and mlx5_eqe_qp_srq, enum mlx5_event.
 */
#ifndef EMU_PRM_EQE_H
#define EMU_PRM_EQE_H

#include "emu/prm/prm.h"

enum emu_event_type {
	EMU_EVENT_TYPE_COMPLETION = 0x00,
	EMU_EVENT_TYPE_PATH_MIG = 0x01,
	EMU_EVENT_TYPE_COMM_EST = 0x02,
	EMU_EVENT_TYPE_SQ_DRAINED = 0x03,
	EMU_EVENT_TYPE_CQ_ERROR = 0x04,
	EMU_EVENT_TYPE_WQ_CATASTROPHE = 0x05,
	EMU_EVENT_TYPE_PATH_MIG_FAILED = 0x07,
	EMU_EVENT_TYPE_INTERNAL_ERROR = 0x08,
	EMU_EVENT_TYPE_PORT_CHANGE = 0x09,
	EMU_EVENT_TYPE_PAGE_REQUEST = 0x0b,
	EMU_EVENT_TYPE_PAGE_FAULT = 0x0c,
	EMU_EVENT_TYPE_WQ_INVALID_REQUEST = 0x10,
	EMU_EVENT_TYPE_WQ_ACCESS = 0x11,
	EMU_EVENT_TYPE_SRQ_CATASTROPHE = 0x12,
	EMU_EVENT_TYPE_LAST_WQE = 0x13,
	EMU_EVENT_TYPE_SRQ_LIMIT = 0x14,
	EMU_EVENT_TYPE_XRQ_ERROR = 0x18,
	EMU_EVENT_TYPE_DCT_DRAINED = 0x1c,
	EMU_EVENT_TYPE_DCT_KEY = 0x1d,
};

/* All of it: what depends on the type is between the head and the owner. */
#define EMU_EQE_LAYOUT(F)               \
	F(EMU_EQE_TYPE, 0x00, 23, 16)   \
	F(EMU_EQE_SUB_TYPE, 0x00, 7, 0) \
	F(EMU_EQE_DATA, 0x20, 223, 0)
EMU_PRM_LAYOUT(EMU_EQE, 0x40);

/* The event of an error of a completion queue. */
#define EMU_EQE_CQ_ERROR_LAYOUT(F)             \
	F(EMU_EQE_CQ_ERROR_TYPE, 0x00, 23, 16) \
	F(EMU_EQE_CQ_ERROR_CQN, 0x20, 23, 0)   \
	F(EMU_EQE_CQ_ERROR_SYNDROME, 0x28, 7, 0)
EMU_PRM_LAYOUT(EMU_EQE_CQ_ERROR, 0x40);

#define EMU_EQE_CQ_OVERRUN 1

/* The driver is asked for pages, or to take some back. */
#define EMU_EQE_PAGES_LAYOUT(F)             \
	F(EMU_EQE_PAGES_TYPE, 0x00, 23, 16) \
	F(EMU_EQE_PAGES_NUM_PAGES, 0x24, 31, 0)
EMU_PRM_LAYOUT(EMU_EQE_PAGES, 0x40);

#define EMU_EQE_PORT_LAYOUT(F)               \
	F(EMU_EQE_PORT_TYPE, 0x00, 23, 16)   \
	F(EMU_EQE_PORT_SUB_TYPE, 0x00, 7, 0) \
	F(EMU_EQE_PORT_NUMBER, 0x28, 31, 28)
EMU_PRM_LAYOUT(EMU_EQE_PORT, 0x40);

enum emu_eqe_port_change {
	EMU_EQE_PORT_DOWN = 1,
	EMU_EQE_PORT_ACTIVE = 4,
	EMU_EQE_PORT_LID = 6,
	EMU_EQE_PORT_PKEY = 7,
	EMU_EQE_PORT_GUID = 8,
	EMU_EQE_PORT_REREGISTER = 9,
};

/* All other events of a queue. */
#define EMU_EQE_QUEUE_LAYOUT(F)             \
	F(EMU_EQE_QUEUE_TYPE, 0x00, 23, 16) \
	F(EMU_EQE_QUEUE_NUMBER, 0x38, 23, 0)
EMU_PRM_LAYOUT(EMU_EQE_QUEUE, 0x40);

#endif
