/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/event_queue.h"

#include <stddef.h>
#include <string.h>

#include "emu/server/base/log.h"

#define CONSUMER_MASK 0xffffffu

struct eqe {
	uint8_t reserved_0;
	uint8_t type;
	uint8_t reserved_2;
	uint8_t sub_type;
	uint8_t reserved_4[28];
	uint8_t data[EMU_FW_EVENT_DATA];
	uint8_t reserved_60[2];
	uint8_t signature;
	uint8_t owner; /* the lowest bit changes with each turn of the ring */
};

_Static_assert(sizeof(struct eqe) == 64 && offsetof(struct eqe, data) == 32, "event queue entry");

static struct emu_eq *find(struct emu_eqs *eqs, uint32_t eqn)
{
	return eqn < EMU_FW_EQS && eqs->eq[eqn].ring ? &eqs->eq[eqn] : NULL;
}

void emu_eq_create(struct emu_eqs *eqs, uint32_t eqn, struct emu_guest_view *ring,
		   uint32_t log_size, uint32_t vector)
{
	eqs->eq[eqn] = (struct emu_eq){.ring = ring, .log_size = log_size, .vector = vector};
}

void emu_eq_destroy(struct emu_eqs *eqs, uint32_t eqn)
{
	struct emu_eq *q = find(eqs, eqn);

	if (!q)
		return;
	emu_guest_view_destroy(q->ring);
	q->ring = NULL;
}

void emu_eqs_destroy_all(struct emu_eqs *eqs)
{
	for (uint32_t eqn = 0; eqn < EMU_FW_EQS; eqn++)
		emu_eq_destroy(eqs, eqn);
}

static bool is_full(const struct emu_eq *q)
{
	return ((q->producer - q->consumer) & CONSUMER_MASK) >> q->log_size;
}

static void interrupt(struct emu_eq *q, const struct emu_irqs *irqs)
{
	if (!q->is_armed || ((q->producer ^ q->consumer) & CONSUMER_MASK) == 0)
		return;
	q->is_armed = false;
	emu_irqs_raise(irqs, q->vector);
}

/* Once a queue: the driver decides how often it happens. */
static void say_lost(struct emu_eq *q, const struct emu_fw_event *event)
{
	if (q->has_lost)
		return;
	q->has_lost = true;
	emu_log("event queue %u has no room for an event of type 0x%02x, which is lost, as are "
		"those "
		"that follow: the driver does not read them",
		event->eqn, event->type);
}

/* The guest may have withdrawn the ring, so each entry is looked at. */
void emu_eq_put(struct emu_eqs *eqs, const struct emu_fw_event *event, const struct emu_irqs *irqs)
{
	struct emu_eq *q = find(eqs, event->eqn);
	const struct eqe e = {.type = event->type, .sub_type = event->sub_type};
	uint32_t index;
	struct eqe *at;

	if (!q)
		return;
	if (is_full(q)) {
		say_lost(q, event);
		return;
	}
	index = q->producer & ((1u << q->log_size) - 1);
	at = emu_guest_view_bytes(q->ring, (uint64_t)index * sizeof(*at), sizeof(*at));
	if (!at)
		return;
	memcpy(at, &e, offsetof(struct eqe, data));
	memcpy(at->data, event->data, sizeof(at->data));
	__atomic_store_n(&at->owner, (uint8_t)(q->producer >> q->log_size & 1), __ATOMIC_RELEASE);
	q->producer++;
	interrupt(q, irqs);
}

void emu_eq_ring(struct emu_eqs *eqs, uint32_t doorbell, bool arm, const struct emu_irqs *irqs)
{
	struct emu_eq *q = find(eqs, doorbell >> 24);

	if (!q)
		return;
	q->consumer = doorbell & CONSUMER_MASK;
	q->is_armed = arm;
	interrupt(q, irqs);
}
