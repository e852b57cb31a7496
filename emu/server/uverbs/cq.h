/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues: creating and destroying them. */
#ifndef EMU_CQ_H
#define EMU_CQ_H

#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/buffer.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

#define EMU_MAX_CQE ((1u << 22) - 1)

struct emu_cq_obj {
	struct emu_uobj obj;
	uint32_t cqn;
	uint64_t user_handle;
	struct emu_events *channel;
	struct emu_events *async;
	uint32_t comp_events, async_events;
	struct emu_queue_pins pins;
	struct emu_mapped mapped;
};

struct emu_cq;

/*
 * Let a queue have another ring: the old one gets its last entry. -EINVAL: what was not polled does not fit, or the
 * queue has overrun.
 */
int emu_cq_resize(pid_t pid, struct emu_cq *q, uint64_t buf_addr, uint32_t entries);

extern const struct emu_method emu_methods_cq[];

#endif
