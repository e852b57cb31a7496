/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/prm/prm_hca.h"

#include "emu/ipc/firmware.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/uar.h"
#include "emu/server/uverbs/xrc.h"

#define MAX_CONTEXTS 1023u /* a search for a free number looks at all of them */

int emu_driver_alloc_pd(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_pd *pd = (struct emu_pd *)o;
	int err = emu_driver_check(m, EMU_PLAIN_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)c;
	if (err)
		return err;
	pd->pdn = emu_pd_number();
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, pd->pdn);
	return 0;
}

/* Its pages are those of the BAR. */
int emu_driver_alloc_uar(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_uar *uar = (struct emu_uar *)o;
	int err = emu_driver_check(m, EMU_PLAIN_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)c;
	if (err)
		return err;
	uar->page = emu_uar_take(EMU_FW_FIRST_UAR, EMU_FW_UARS);
	if (!uar->page)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, uar->page);
	return 0;
}

int emu_driver_alloc_xrcd(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_xrcd *x = (struct emu_xrcd *)o;
	int err = emu_driver_check(m, EMU_PLAIN_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)c;
	if (err)
		return err;
	x->number = emu_xrcd_number();
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, x->number);
	return 0;
}

static bool is_taken(const struct emu_func *func, enum emu_type type, uint32_t number)
{
	const struct emu_plain *other = NULL;

	for (const struct emu_file *f = emu_files; f; f = f->next)
		while (f->func == func && (other = emu_uobj_next(f, type, other)))
			if (other->number == number)
				return true;
	return false;
}

/* The lowest number that no object of the type has. */
static uint32_t free_number(const struct emu_file *f, enum emu_type type)
{
	uint32_t number = 1;

	while (is_taken(f->func, type, number))
		number++;
	return number;
}

/* Sets of counters have numbers of 8 bits. Of transport domains, the driver takes one for each context. */
int emu_driver_alloc_plain(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_plain *plain = (struct emu_plain *)o;
	uint32_t number;
	int err = emu_driver_check(m, EMU_PLAIN_IN_BYTES, EMU_CMD_OUT_BYTES);

	if (err)
		return err;
	number = free_number(c->file, o->type);
	if (number > (o->type == EMU_T_Q_COUNTER ? UINT8_MAX : MAX_CONTEXTS))
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	plain->number = number;
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, number);
	return 0;
}

int emu_driver_create_uctx(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_plain *uctx = (struct emu_plain *)o;
	int err = emu_driver_check(m, EMU_CREATE_UCTX_IN_BYTES, EMU_CMD_OUT_BYTES);

	if (err)
		return err;
	uctx->number = free_number(c->file, o->type);
	if (uctx->number > MAX_CONTEXTS)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, uctx->number);
	return 0;
}
