/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fields of PRM mailboxes: big endian, bits counted from the most significant bit of byte 0. */
#ifndef EMU_PRM_H
#define EMU_PRM_H

#include <stdint.h>

static inline uint64_t emu_prm_get(const uint8_t *p, unsigned int bit, unsigned int width)
{
	uint64_t v = 0;

	for (; width; width--, bit++)
		v = v << 1 | (p[bit / 8] >> (7 - bit % 8) & 1);
	return v;
}

static inline void emu_prm_set(uint8_t *p, unsigned int bit, unsigned int width, uint64_t v)
{
	uint8_t mask;

	for (bit += width; width; width--, v >>= 1) {
		bit--;
		mask = (uint8_t)(1u << (7 - bit % 8));
		p[bit / 8] = (uint8_t)((p[bit / 8] & ~mask) | (v & 1 ? mask : 0));
	}
}

#define EMU_PRM_BYTE(n) ((n)*8)

/* Commands */
#define EMU_CMD_QUERY_HCA_CAP		0x100
#define EMU_CMD_CREATE_MKEY		0x200
#define EMU_CMD_QUERY_MKEY		0x201
#define EMU_CMD_CREATE_CQ		0x400
#define EMU_CMD_QUERY_CQ		0x402
#define EMU_CMD_CREATE_QP		0x500
#define EMU_CMD_QUERY_QP		0x50b
#define EMU_CMD_INIT2INIT_QP		0x50e
#define EMU_CMD_CREATE_RMP		0x90c
#define EMU_CMD_ALLOC_FLOW_COUNTER	0x939
#define EMU_CMD_QUERY_FLOW_COUNTER	0x93b
#define EMU_CMD_CREATE_GENERAL_OBJECT	0xa00
#define EMU_CMD_QUERY_GENERAL_OBJECT	0xa02
#define EMU_CMD_QUERY_ESW_FUNCTIONS	0x740
#define EMU_CMD_ALLOW_OTHER_VHCA_ACCESS 0xb16

/* Status of a command */
#define EMU_STATUS_BAD_OP	0x2
#define EMU_STATUS_BAD_PARAM	0x3
#define EMU_STATUS_BAD_RES	0x5
#define EMU_STATUS_LIM		0x8
#define EMU_STATUS_BAD_QP_STATE 0x10
#define EMU_STATUS_BAD_INP_LEN	0x50
#define EMU_STATUS_BAD_OUTP_LEN 0x51

#define EMU_KLM_REPEAT		0x400 /* in place of a key: the head of a list with strides */

#define EMU_OBJ_TYPE_MKEY	0xff01
#define EMU_ACCESS_KEY_BYTES	32

/* Capability pages (op_mod >> 1) */
#define EMU_CAP_GENERAL		   0x0
#define EMU_CAP_ETHERNET	   0x1
#define EMU_CAP_ODP		   0x2
#define EMU_CAP_ATOMIC		   0x3
#define EMU_CAP_FLOW_TABLE	   0x7
#define EMU_CAP_ESWITCH_FLOW_TABLE 0x8
#define EMU_CAP_ESWITCH		   0x9
#define EMU_CAP_QOS		   0xc
#define EMU_CAP_DEVICE_MEMORY	   0xf
#define EMU_CAP_CRYPTO		   0x1a
#define EMU_CAP_GENERAL_2	   0x20

#endif
