/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/prm/prm_hca.h"

#include <stdio.h>
#include <string.h>

#include "emu/ipc/shm.h"
#include "emu/server/card/topology.h"
#include "emu/server/firmware/driver.h"

#define VENDOR_ID  0x02c9
#define ISSI	   1u
#define PSID_BYTES 16

int emu_driver_check(struct emu_mbox *m, size_t in_len, size_t out_len)
{
	if (m->in_len < in_len)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_IN_LEN);
	if (m->out_len < out_len)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OUT_LEN);
	return m->op_mod ? emu_refuse(m, EMU_CMD_SYN_DRIVER_OP_MOD) : 0;
}

/* Memory that the function names stays; it ends what its objects used. */
static void end_objects(struct emu_file *f)
{
	emu_uobj_destroy_others(f, EMU_T_UMEM);
	f->driver->objects = 0;
}

/* op_mod and profile of TEARDOWN_HCA say how graceful it is; nothing runs on after it in any case. */
int emu_driver_change_state(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct {
		uint16_t opcode;
		enum emu_driver_state from, to;
	} changes[] = {
		{EMU_CMD_ENABLE_HCA, EMU_DRIVER_DISABLED, EMU_DRIVER_ENABLED},
		{EMU_CMD_INIT_HCA, EMU_DRIVER_ENABLED, EMU_DRIVER_INITIALIZED},
		{EMU_CMD_TEARDOWN_HCA, EMU_DRIVER_INITIALIZED, EMU_DRIVER_ENABLED},
		{EMU_CMD_DISABLE_HCA, EMU_DRIVER_ENABLED, EMU_DRIVER_DISABLED},
	};
	struct emu_driver *d = c->file->driver;
	size_t i = 0;

	(void)o;
	while (changes[i].opcode != m->opcode)
		i++;
	if (d->state != changes[i].from)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_STATE);
	if (m->opcode == EMU_CMD_INIT_HCA && !emu_driver_pages_suffice(d))
		return emu_refuse(m, EMU_CMD_SYN_PAGES_MISSING);
	if (m->opcode == EMU_CMD_TEARDOWN_HCA)
		end_objects(c->file);
	d->state = changes[i].to;
	if (d->state == EMU_DRIVER_DISABLED)
		emu_driver_pages_forget(d);
	return 0;
}

/* A driver may ask for less than the card can do; what it asks for, it gets. */
int emu_driver_set_hca_cap(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	(void)o;
	if (m->in_len < EMU_QUERY_HCA_CAP_IN_BYTES + EMU_CAP_PAGE_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_IN_LEN);
	return c->file->driver->state == EMU_DRIVER_INITIALIZED
		       ? emu_refuse(m, EMU_CMD_SYN_DRIVER_STATE)
		       : 0;
}

int emu_driver_set_issi(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	int err = emu_driver_check(m, EMU_SET_ISSI_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)c;
	(void)o;
	if (!err && emu_prm_get(m->in, EMU_SET_ISSI_IN_CURRENT_ISSI) != ISSI)
		err = emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
	return err;
}

int emu_driver_query_adapter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	char psid[PSID_BYTES + 1] = "";
	int err = emu_driver_check(m, EMU_PLAIN_IN_BYTES, EMU_QUERY_ADAPTER_OUT_BYTES);

	(void)o;
	if (err)
		return err;
	snprintf(psid, sizeof(psid), "EMU_%s", c->file->func->card->profile->pci_id);
	emu_prm_set(m->out, EMU_QUERY_ADAPTER_OUT_IEEE_VENDOR_ID, VENDOR_ID);
	emu_prm_set(m->out, EMU_QUERY_ADAPTER_OUT_VSD_VENDOR_ID, VENDOR_ID);
	memcpy(emu_prm_at(m->out, EMU_QUERY_ADAPTER_OUT_VSD_CONTD_PSID), psid, PSID_BYTES);
	return 0;
}

int emu_driver_query_special_contexts(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	int err = emu_driver_check(m, EMU_PLAIN_IN_BYTES, EMU_QUERY_SPECIAL_CONTEXTS_OUT_BYTES);

	(void)c;
	(void)o;
	if (err)
		return err;
	emu_prm_set(m->out, EMU_QUERY_SPECIAL_CONTEXTS_OUT_DUMP_FILL_MKEY, EMU_NULL_LKEY);
	emu_prm_set(m->out, EMU_QUERY_SPECIAL_CONTEXTS_OUT_NULL_MKEY, EMU_NULL_LKEY);
	return 0;
}

/* The card tells nobody the name. */
int emu_driver_set_driver_version(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	(void)c;
	(void)o;
	return emu_driver_check(m, EMU_PLAIN_IN_BYTES, EMU_CMD_OUT_BYTES);
}

/* An Ethernet port has no subnet: it knows no attribute. */
int emu_driver_mad_ifc(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	uint8_t *mad = emu_prm_at(m->out, EMU_MAD_IFC_IN_MAD);

	(void)c;
	(void)o;
	if (m->in_len < EMU_MAD_IFC_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_IN_LEN);
	if (m->out_len < EMU_MAD_IFC_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OUT_LEN);
	memcpy(mad, emu_prm_at_const(m->in, EMU_MAD_IFC_IN_MAD), EMU_MAD_BYTES);
	emu_prm_set(mad, EMU_MAD_METHOD, emu_prm_get(mad, EMU_MAD_METHOD) | EMU_MAD_RESPONSE);
	emu_prm_set(mad, EMU_MAD_STATUS, EMU_MAD_UNSUPPORTED_ATTRIBUTE);
	return 0;
}
