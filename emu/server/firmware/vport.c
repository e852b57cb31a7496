/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/prm/prm_hca.h"

#include <string.h>

#include "emu/server/card/counters.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/pkey.h"
#include "emu/server/firmware/driver.h"

#define MTU 1522u /* with the header of a frame with a VLAN, and its checksum */

int emu_driver_query_nic_vport(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_func *f = c->file->func;
	uint8_t *ctx = emu_prm_at(m->out, EMU_QUERY_NIC_VPORT_OUT_CTX), mac[6];
	int err = emu_driver_check(m, EMU_QUERY_NIC_VPORT_IN_BYTES, EMU_QUERY_NIC_VPORT_OUT_BYTES);

	(void)o;
	if (!err && emu_prm_get(m->in, EMU_QUERY_NIC_VPORT_IN_OTHER_VPORT))
		err = emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
	if (err)
		return err;
	emu_func_mac(f, mac);
	const struct emu_prm_value fields[] = {
		{EMU_NIC_VPORT_ROCE_EN, !c->file->driver || c->file->driver->roce},
		{EMU_NIC_VPORT_MTU, MTU},
		{EMU_NIC_VPORT_SYSTEM_IMAGE_GUID, f->card->guid},
		{EMU_NIC_VPORT_PORT_GUID, f->node_guid},
		{EMU_NIC_VPORT_NODE_GUID, f->node_guid},
		{EMU_NIC_VPORT_QKEY_VIOLATION_COUNTER,
		 emu_prm_fit(EMU_NIC_VPORT_QKEY_VIOLATION_COUNTER,
			     emu_counter_value(f, EMU_COUNTER_qkey_viol_cntr))},
		{EMU_NIC_VPORT_PERMANENT_ADDRESS_HIGH, (uint64_t)mac[0] << 8 | mac[1]},
		{EMU_NIC_VPORT_PERMANENT_ADDRESS_LOW,
		 (uint64_t)mac[2] << 24 | (uint64_t)mac[3] << 16 | (uint64_t)mac[4] << 8 | mac[5]},
	};

	EMU_PRM_FILL(ctx, fields);
	return 0;
}

/* The lists of addresses and the modes are those of the network interface, which receives nothing yet. */
int emu_driver_modify_nic_vport(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint8_t *ctx = emu_prm_at_const(m->in, EMU_MODIFY_NIC_VPORT_IN_CTX);
	uint64_t select;
	int err = emu_driver_check(m, EMU_MODIFY_NIC_VPORT_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)o;
	if (err)
		return err;
	select = emu_prm_get(m->in, EMU_MODIFY_NIC_VPORT_IN_FIELD_SELECT);
	if (select & EMU_NIC_VPORT_SELECT_ROCE_EN)
		c->file->driver->roce = emu_prm_get(ctx, EMU_NIC_VPORT_ROCE_EN);
	return 0;
}

/* An address of zeros removes the entry. */
int emu_driver_set_roce_address(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const uint8_t none[16];
	struct emu_func *f = c->file->func;
	const uint8_t *raw = emu_prm_at_const(m->in, EMU_SET_ROCE_ADDRESS_IN_SOURCE_L3_ADDRESS);
	unsigned int index, type, vlan;
	int err = emu_driver_check(m, EMU_SET_ROCE_ADDRESS_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)o;
	if (err)
		return err;
	index = (unsigned int)emu_prm_get(m->in, EMU_SET_ROCE_ADDRESS_IN_INDEX);
	type = emu_prm_get(m->in, EMU_SET_ROCE_ADDRESS_IN_ROCE_VERSION) == EMU_ROCE_VERSION_2
		       ? EMU_GID_ROCE_V2
		       : EMU_GID_ROCE_V1;
	vlan = emu_prm_get(m->in, EMU_SET_ROCE_ADDRESS_IN_VLAN_VALID)
		       ? (unsigned int)emu_prm_get(m->in, EMU_SET_ROCE_ADDRESS_IN_VLAN_ID)
		       : EMU_NO_VLAN;
	if (emu_gid_at(f, index))
		emu_gid_del(f, index);
	if (!memcmp(raw, none, sizeof(none)))
		return 0;
	return emu_gid_put(f, (int)index, raw, type, vlan) < 0
		       ? emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM)
		       : 0;
}

/* One entry, or all of them. */
int emu_driver_query_hca_vport_pkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_func *f = c->file->func;
	uint32_t index = (uint32_t)emu_prm_get(m->in, EMU_QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX);
	uint32_t last = index, i;
	uint8_t *at = m->out + EMU_CMD_OUT_BYTES;

	(void)o;
	if (index == EMU_PKEY_ANY_INDEX) {
		index = 0;
		last = f->card->profile->max_pkeys - 1;
	}
	if (!emu_pkey_is_index(f, last))
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
	if (m->out_len < EMU_CMD_OUT_BYTES + (last - index + 1) * 4ull)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OUT_LEN);
	for (i = index; i <= last; i++, at += 4) {
		at[2] = (uint8_t)(f->pkey[i] >> 8);
		at[3] = (uint8_t)f->pkey[i];
	}
	return 0;
}
