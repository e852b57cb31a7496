/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/serve.h"

#include <stddef.h>
#include <sys/socket.h>

#include "emu/server/admin/capture.h"
#include "emu/server/admin/trace.h"
#include "emu/server/base/log.h"
#include "emu/server/card/dct_context.h"
#include "emu/server/card/segments.h"
#include "emu/server/devx/events.h"
#include "emu/server/devx/methods.h"
#include "emu/server/firmware/dek.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/mkey.h"
#include "emu/server/uverbs/events.h"

/*
 * A late note names a queue that was destroyed; another queue may have its number by now. Serial 0 was
 * read of a queue in this moment.
 */
static bool is_current(const struct emu_note *n)
{
	const struct emu_queues *q = emu_queues;

	if (!n->serial)
		return false;
	switch (n->type) {
	case EMU_NOTE_COMP:
	case EMU_NOTE_CQ_ERR:
		return n->number < EMU_MAX_CQS &&
		       n->serial == atomic_load(&q->cq[n->number].serial);
	case EMU_NOTE_SRQ:
		return n->number < EMU_MAX_SRQS &&
		       n->serial == atomic_load(&q->srq[n->number].serial);
	default:
		return n->number < EMU_MAX_QPS &&
		       n->serial == atomic_load(&q->qp[n->number].serial);
	}
}

void emu_note(const struct emu_note *n)
{
	if (!is_current(n)) /* notes.pml: note_take */
		return;
	if (n->type == EMU_NOTE_UMR)
		emu_umr_serve(n->number);
	if (n->type == EMU_NOTE_KEY)
		emu_dek_serve(n->number, n->event);
	if (n->type == EMU_NOTE_PAGE_FAULT)
		emu_page_fault_serve(n->number, n->event);
	if (n->type == EMU_NOTE_DC_WIRE)
		emu_log("DCI 0x%x: its request to a target outside this emulator failed, as the "
			"packets of DC "
			"are not published; use a reliable connection, or a target of this "
			"emulator",
			n->number);
	if (n->type == EMU_NOTE_DC_KEY && !emu_dct_violate(n->number))
		return;
	emu_events_note(n);
	emu_devx_note(n);
	emu_driver_note(n);
}

void emu_notes_ready(struct emu_watch *w)
{
	union {
		struct emu_note note;
		struct emu_note_wr wr;
		struct emu_note_packet packet;
	} n;
	ssize_t len;

	while (w->fd >= 0) {
		len = recv(w->fd, &n, sizeof(n), MSG_DONTWAIT);
		if (len == sizeof(n.wr) && n.note.type == EMU_NOTE_WR)
			emu_trace_wr(&n.wr);
		else if (len >= (ssize_t)offsetof(struct emu_note_packet, bytes) &&
			 n.note.type == EMU_NOTE_PACKET)
			emu_capture_packet(&n.packet, (size_t)len);
		else if (len == sizeof(n.note))
			emu_note(&n.note);
		else
			break;
	}
}
