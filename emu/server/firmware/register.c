/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* PRM, "Port and Management Registers"; Linux, mlx5_ifc.h: struct mlx5_ifc_ptys_reg_bits and the like. */
#include <string.h>

#include "base/array.h"
#include "emu/prm/prm_hca.h"
#include "emu/server/card/topology.h"
#include "emu/server/firmware/driver.h"

#define MAX_MTU 10000u

/* Speeds of the port in eth_proto (a bit for each kind of link), and in ext_eth_proto. */
static uint32_t speed_bit(const struct emu_profile *p)
{
	const uint32_t gbps = p->lane_speed * p->lanes;

	if (gbps >= 100)
		return 1u << 23;		 /* 100GBASE-KR4 */
	return gbps >= 50 ? 1u << 30 : 1u << 28; /* 50GBASE-SR2, 25GBASE-SR */
}

static void read_ptys(const struct emu_func *f, uint8_t *reg)
{
	const uint32_t speed = speed_bit(f->card->profile);

	emu_prm_set(reg, EMU_PTYS_ETH_PROTO_CAPABILITY, speed);
	emu_prm_set(reg, EMU_PTYS_ETH_PROTO_ADMIN, speed);
	emu_prm_set(reg, EMU_PTYS_ETH_PROTO_OPER, f->port_down ? 0 : speed);
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
	{EMU_REG_PCAM, 0x50, read_zeros},	   {EMU_REG_MCAM, 0x48, read_zeros},
	{EMU_REG_NODE_DESC, 64, read_zeros},	   {EMU_REG_HOST_ENDIANNESS, 16, read_zeros},
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
