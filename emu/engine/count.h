/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the engine adds to the counters of ports. */
#ifndef EMU_ENGINE_COUNT_H
#define EMU_ENGINE_COUNT_H

#include "emu/engine/cq.h"
#include "emu/engine/memory/wqe.h"
#include "emu/ipc/counters.h"
#include "emu/wire/packet.h"

struct engine;

/* A request of a send queue is finished: the packets of both sides, or of a datagram's sender. */
void emu_count_request(struct engine *e, const struct emu_qp *q, const struct emu_wqe *w,
		       uint32_t syndrome);
/* A packet of a connection on the wire has left, with `len` bytes of headers and payload. */
void emu_count_sent_packet(struct engine *e, const struct emu_qp *q, size_t len);
/* One has arrived; `executed`: it is a request that was executed. */
void emu_count_arrived_packet(struct engine *e, const struct emu_qp *q, const struct wire_packet *p,
			      bool executed);
/* A datagram has arrived. */
void emu_count_datagram(struct engine *e, const struct emu_qp *q, uint64_t len, bool multicast);
/* The responder had no receive WQE for a message of q. */
void emu_count_no_buffer(struct engine *e, const struct emu_qp *q, const struct emu_qp *peer);
/* The responder has dropped a message: one of EMU_VIOLATION_COUNTERS. */
void emu_count_violation(struct engine *e, const struct emu_qp *q, enum emu_counter id);
/* What the transport on the wire counts, for the port of a function. */
void emu_count_one(struct engine *e, uint32_t func, enum emu_counter id);
/* A completion in error. */
void emu_count_completion(struct engine *e, const struct emu_cqe *cqe);

#endif
