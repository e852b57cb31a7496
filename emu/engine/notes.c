/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/notes.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/cq.h"
#include "emu/engine/state.h"

bool emu_engine_record(struct engine *e, const void *record, size_t len)
{
	long r = syscall(SYS_sendto, e->cfg.notify_fd, record, len, MSG_DONTWAIT | MSG_NOSIGNAL,
			 NULL, 0);

	return r >= 0 || (errno != EAGAIN && errno != EINTR && errno != ENOBUFS);
}

bool emu_engine_note(struct engine *e, const struct emu_note *note)
{
	return emu_engine_record(e, note, sizeof(*note));
}

void emu_engine_event(struct engine *e, const struct emu_note *note)
{
	emu_cq_publish(e);
	emu_cq_end_session(e);
	if (!e->events.count && emu_engine_note(e, note)) /* notes.pml: event_send */
		return;
	if (e->events.count < ENGINE_EVENTS)
		e->events.note[e->events.count++] = *note; /* notes.pml: event_keep */
}

void emu_engine_send_events(struct engine *e)
{
	uint32_t sent = 0;

	/* notes.pml: kept_send */
	while (sent < e->events.count && emu_engine_note(e, &e->events.note[sent]))
		sent++;
	if (!sent)
		return;
	e->events.count -= sent;
	memmove(e->events.note, e->events.note + sent, e->events.count * sizeof(e->events.note[0]));
	e->pass.worked = true;
}

void emu_engine_wake(struct engine *e, uint32_t slot)
{
	struct emu_engine *other;

	if (slot == e->cfg.slot || slot >= EMU_MAX_ENGINES)
		return;
	other = &e->cfg.queues->engine[slot];
	if (!atomic_load(&other->asleep))
		return;
	atomic_fetch_add(&other->wake, 1); /* doorbell.pml: kick */
	syscall(SYS_futex, &other->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}
