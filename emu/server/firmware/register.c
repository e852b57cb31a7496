/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* PRM, "Port and Management Registers"; Linux, mlx5_ifc.h: struct mlx5_ifc_ptys_reg_bits and the like. */
#include <string.h>

#include "base/array.h"
#include "emu/prm/prm_hca.h"
#include "emu/server/card/topology.h"
#include "emu/server/firmware/driver.h"

#define MAX_MTU 10000u

/* Kinds of link: their bits in eth_proto and in ext_eth_proto. 0: there is none; that of ext_eth_proto is newer. */
static const struct link {
	uint32_t lane_speed, lanes;
	uint32_t eth, ext;
} links[] = {
	{10, 1, 1u << 12, 1u << 4}, /* 10GBASE-CR */
	{10, 4, 1u << 6, 1u << 5},  /* 40GBASE-CR4 */
	{14, 4, 1u << 8, 0},	    /* 56GBASE-R4 */
	{25, 1, 1u << 27, 1u << 6}, /* 25GBASE-CR */
	{25, 2, 1u << 30, 1u << 7}, /* 50GBASE-CR2 */
	{25, 4, 1u << 20, 1u << 9}, /* 100GBASE-CR4 */
	{50, 1, 0, 1u << 8},	    /* 50GBASE-CR */
	{50, 2, 0, 1u << 10},	    /* 100GBASE-CR2 */
	{50, 4, 0, 1u << 12},	    /* 200GBASE-CR4 */
	{50, 8, 0, 1u << 15},	    /* 400GAUI-8 */
	{100, 1, 0, 1u << 11},	    /* 100GBASE-CR */
	{100, 2, 0, 1u << 13},	    /* 200GBASE-CR2 */
	{100, 4, 0, 1u << 16},	    /* 400GBASE-CR4 */
	{100, 8, 0, 1u << 19},	    /* 800GBASE-CR8 */
};

/* That of the port, or else the fastest one that is not faster. */
static const struct link *link_of(const struct emu_func *f)
{
	const uint32_t speed = f->lane_speed, lanes = f->card->profile->lanes;
	const struct link *best = &links[0];

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		const struct link *l = &links[i];

		if (l->lane_speed == speed && l->lanes == lanes)
			return l;
		if (l->lane_speed * l->lanes <= speed * lanes &&
		    l->lane_speed * l->lanes > best->lane_speed * best->lanes)
			best = l;
	}
	return best;
}

#define RATE_UNITS 10u /* of 100 Mb/s in 1 Gb/s */

static void read_ptys(const struct emu_func *f, uint8_t *reg)
{
	const struct link *l = link_of(f);

	emu_prm_set(reg, EMU_PTYS_EXT_ETH_PROTO_CAPABILITY, l->ext);
	emu_prm_set(reg, EMU_PTYS_ETH_PROTO_CAPABILITY, l->eth);
	emu_prm_set(reg, EMU_PTYS_EXT_ETH_PROTO_ADMIN, l->ext);
	emu_prm_set(reg, EMU_PTYS_ETH_PROTO_ADMIN, l->eth);
	emu_prm_set(reg, EMU_PTYS_EXT_ETH_PROTO_OPER, f->port_down ? 0 : l->ext);
	emu_prm_set(reg, EMU_PTYS_ETH_PROTO_OPER, f->port_down ? 0 : l->eth);
	emu_prm_set(reg, EMU_PTYS_DATA_RATE_OPER,
		    f->port_down ? 0 : l->lane_speed * l->lanes * RATE_UNITS);
}

static void read_pmtu(const struct emu_func *f, uint8_t *reg)
{
	(void)f;
	emu_prm_set(reg, EMU_PMTU_MAX_MTU, MAX_MTU);
	emu_prm_set(reg, EMU_PMTU_ADMIN_MTU, MAX_MTU);
	emu_prm_set(reg, EMU_PMTU_OPER_MTU, MAX_MTU);
}

static void read_paos(const struct emu_func *f, uint8_t *reg)
{
	emu_prm_set(reg, EMU_PAOS_ADMIN_STATUS, EMU_PAOS_UP);
	emu_prm_set(reg, EMU_PAOS_OPER_STATUS, f->port_down ? EMU_PAOS_DOWN : EMU_PAOS_UP);
}

/* The capabilities of the registers of ports: one feature beyond those that every card has. */
static void read_pcam(const struct emu_func *f, uint8_t *reg)
{
	(void)f;
	if (!emu_prm_get(reg, EMU_PCAM_FEATURE_GROUP))
		emu_prm_set(reg, EMU_PCAM_PTYS_EXTENDED_ETHERNET, 1);
}

/* No register and no feature beyond those that every card has. */
static void read_zeros(const struct emu_func *f, uint8_t *reg)
{
	(void)f;
	(void)reg;
}

/* What a driver writes to these registers changes nothing that the card does. */
static const struct {
	uint16_t id;
	uint16_t bytes;
	void (*read)(const struct emu_func *f, uint8_t *reg);
} registers[] = {
	{EMU_REG_PMTU, EMU_PMTU_BYTES, read_pmtu}, {EMU_REG_PTYS, EMU_PTYS_BYTES, read_ptys},
	{EMU_REG_PAOS, EMU_PAOS_BYTES, read_paos}, {EMU_REG_PPCNT, 0x100, read_zeros},
	{EMU_REG_PFCC, 0x20, read_zeros},	   {EMU_REG_PCAM, EMU_PCAM_BYTES, read_pcam},
	{EMU_REG_MCAM, 0x48, read_zeros},	   {EMU_REG_NODE_DESC, 64, read_zeros},
	{EMU_REG_HOST_ENDIANNESS, 16, read_zeros},
};

int emu_driver_access_reg(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint64_t id = emu_prm_get(m->in, EMU_ACCESS_REG_IN_REGISTER_ID);
	const uint8_t *in = m->in + EMU_ACCESS_REG_IN_BYTES;
	uint8_t *out = m->out + EMU_ACCESS_REG_IN_BYTES;
	size_t i = 0, bytes;

	(void)o;
	while (i < ARRAY_SIZE(registers) && registers[i].id != id)
		i++;
	if (i == ARRAY_SIZE(registers) || m->op_mod > EMU_ACCESS_REG_READ)
		return emu_refuse(m, EMU_CMD_SYN_REGISTER);
	bytes = EMU_ACCESS_REG_IN_BYTES + registers[i].bytes;
	if (m->in_len < EMU_ACCESS_REG_IN_BYTES + sizeof(uint32_t))
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_IN_LEN);
	if (m->out_len < bytes && m->op_mod == EMU_ACCESS_REG_READ)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OUT_LEN);
	memcpy(out, in,
	       m->in_len < bytes ? m->in_len - EMU_ACCESS_REG_IN_BYTES : registers[i].bytes);
	if (m->op_mod == EMU_ACCESS_REG_READ)
		registers[i].read(c->file->func, out);
	return 0;
}
