/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/prm/prm_eq.h"

#include <string.h>

#include "emu/server/firmware/driver.h"
#include "emu/server/uverbs/uar.h"

#define MAX_LOG_EQ 22u

static uint32_t free_number(const struct emu_file *f, const struct emu_uobj *self)
{
	const struct emu_plain *other;
	uint32_t eqn = 0;

	do {
		eqn++;
		other = NULL;
		while ((other = emu_uobj_next(f, self->type, other)) && other->number != eqn)
			;
	} while (other);
	return eqn < EMU_FW_EQS ? eqn : 0;
}

/* The ring is in the guest's memory, which the process that offers the function writes. */
int emu_driver_create_eq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_eq_object *eq = (struct emu_eq_object *)o;
	const uint8_t *eqc = emu_prm_at_const(m->in, EMU_CREATE_EQ_IN_EQC);
	struct emu_uar *uar;
	int err = emu_driver_check(m, EMU_CREATE_EQ_IN_BYTES, EMU_CREATE_EQ_OUT_BYTES);

	if (err)
		return err;
	if (emu_prm_get(eqc, EMU_EQC_LOG_EQ_SIZE) > MAX_LOG_EQ)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
	uar = emu_uar_of(c->file, emu_prm_get(eqc, EMU_EQC_UAR_PAGE));
	if (!uar)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OBJECT);
	eq->plain.number = free_number(c->file, o);
	if (!eq->plain.number)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	eq->uar = uar;
	emu_uobj_hold(&uar->obj);
	memcpy(eq->eqc, eqc, sizeof(eq->eqc));
	emu_prm_set(eq->eqc, EMU_EQC_ST, EMU_EQC_ST_ARMED);
	c->file->driver->event_mask[eq->plain.number] =
		emu_prm_get(m->in, EMU_CREATE_EQ_IN_EVENT_BITMASK);
	emu_prm_set(m->out, EMU_CREATE_EQ_OUT_EQ_NUMBER, eq->plain.number);
	return 0;
}

int emu_driver_eq_undo(struct emu_uobj *o)
{
	struct emu_driver *d = o->file->driver;
	const struct emu_eq_object *eq = (const struct emu_eq_object *)o;

	d->event_mask[eq->plain.number] = 0;
	emu_uobj_release(&eq->uar->obj);
	return 0;
}

int emu_driver_query_eq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_eq_object *eq = (const struct emu_eq_object *)o;
	int err = emu_driver_check(m, EMU_EQ_IN_BYTES, EMU_QUERY_EQ_OUT_BYTES);

	(void)c;
	if (!err)
		memcpy(emu_prm_at(m->out, EMU_QUERY_EQ_OUT_EQC), eq->eqc, sizeof(eq->eqc));
	return err;
}
