/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the firmware reports to the driver of a function. */
#include <string.h>

#include "emu/prm/prm_eqe.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/uverbs/events.h"

uint32_t emu_driver_eqn(const struct emu_driver *d, uint8_t type)
{
	for (uint32_t eqn = 1; eqn < EMU_FW_EQS; eqn++)
		if (type < 64 && d->event_mask[eqn] >> type & 1)
			return eqn;
	return 0;
}

void emu_driver_send(const struct emu_driver *d, uint32_t eqn, uint8_t type, const uint8_t *eqe)
{
	struct emu_fw_event e = {
		.eqn = (uint8_t)eqn,
		.type = type,
		.sub_type = (uint8_t)emu_prm_get(eqe, EMU_EQE_SUB_TYPE),
	};

	if (!eqn)
		return;
	memcpy(e.data, emu_prm_at_const(eqe, EMU_EQE_DATA), sizeof(e.data));
	emu_events_send(d->events, &e, sizeof(e));
}

void emu_driver_port_changed(const struct emu_func *func, uint8_t change)
{
	static const uint8_t type = EMU_EVENT_TYPE_PORT_CHANGE;
	uint8_t eqe[EMU_EQE_BYTES] = {0};

	emu_prm_set(eqe, EMU_EQE_PORT_SUB_TYPE, change);
	emu_prm_set(eqe, EMU_EQE_PORT_NUMBER, EMU_PORTS);
	for (const struct emu_file *f = emu_files; f; f = f->next)
		if (f->func == func && f->driver)
			emu_driver_send(f->driver, emu_driver_eqn(f->driver, type), type, eqe);
}

/* --- failures --------------------------------------------------------------------------------- */

static void tell(const struct emu_driver *d, enum emu_fw_change change)
{
	const struct emu_fw_event e = {.type = (uint8_t)change};

	emu_events_send(d->events, &e, sizeof(e));
}

void emu_driver_fail(struct emu_driver *d)
{
	static const uint8_t eqe[EMU_EQE_BYTES];
	static const uint8_t type = EMU_EVENT_TYPE_INTERNAL_ERROR;

	d->has_failed = true;
	emu_driver_send(d, emu_driver_eqn(d, type), type, eqe);
	tell(d, EMU_FW_FAILED);
}

void emu_driver_repair(const struct emu_driver *d)
{
	tell(d, EMU_FW_REPAIRED);
}
