/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Commands: their opcodes and the headers of their mailboxes.
 *
 * PRM, "Command Reference"; Linux and rdma-core, mlx5_ifc.h: MLX5_CMD_OP_*, struct
 * mlx5_ifc_mbox_in_bits, mlx5_ifc_mbox_out_bits and mlx5_ifc_general_obj_in_cmd_hdr_bits.
 */
#ifndef EMU_PRM_CMD_H
#define EMU_PRM_CMD_H

#include "emu/prm/prm.h"

#define EMU_CMD_QUERY_HCA_CAP		    0x100
#define EMU_CMD_QUERY_ADAPTER		    0x101
#define EMU_CMD_INIT_HCA		    0x102
#define EMU_CMD_TEARDOWN_HCA		    0x103
#define EMU_CMD_ENABLE_HCA		    0x104
#define EMU_CMD_DISABLE_HCA		    0x105
#define EMU_CMD_QUERY_PAGES		    0x107
#define EMU_CMD_MANAGE_PAGES		    0x108
#define EMU_CMD_SET_HCA_CAP		    0x109
#define EMU_CMD_QUERY_ISSI		    0x10a
#define EMU_CMD_SET_ISSI		    0x10b
#define EMU_CMD_SET_DRIVER_VERSION	    0x10d
#define EMU_CMD_CREATE_MKEY		    0x200
#define EMU_CMD_QUERY_MKEY		    0x201
#define EMU_CMD_DESTROY_MKEY		    0x202
#define EMU_CMD_QUERY_SPECIAL_CONTEXTS	    0x203
#define EMU_CMD_PAGE_FAULT_RESUME	    0x204
#define EMU_CMD_ALLOC_MEMIC		    0x205
#define EMU_CMD_DEALLOC_MEMIC		    0x206
#define EMU_CMD_CREATE_EQ		    0x301
#define EMU_CMD_DESTROY_EQ		    0x302
#define EMU_CMD_QUERY_EQ		    0x303
#define EMU_CMD_CREATE_CQ		    0x400
#define EMU_CMD_DESTROY_CQ		    0x401
#define EMU_CMD_QUERY_CQ		    0x402
#define EMU_CMD_MODIFY_CQ		    0x403
#define EMU_CMD_CREATE_QP		    0x500
#define EMU_CMD_DESTROY_QP		    0x501
#define EMU_CMD_RST2INIT_QP		    0x502
#define EMU_CMD_INIT2RTR_QP		    0x503
#define EMU_CMD_RTR2RTS_QP		    0x504
#define EMU_CMD_RTS2RTS_QP		    0x505
#define EMU_CMD_SQERR2RTS_QP		    0x506
#define EMU_CMD_2ERR_QP			    0x507
#define EMU_CMD_2RST_QP			    0x50a
#define EMU_CMD_QUERY_QP		    0x50b
#define EMU_CMD_MAD_IFC			    0x50d
#define EMU_CMD_INIT2INIT_QP		    0x50e
#define EMU_CMD_CREATE_PSV		    0x600
#define EMU_CMD_CREATE_SRQ		    0x700
#define EMU_CMD_CREATE_XRC_SRQ		    0x705
#define EMU_CMD_DESTROY_XRC_SRQ		    0x706
#define EMU_CMD_QUERY_XRC_SRQ		    0x707
#define EMU_CMD_ARM_XRC_SRQ		    0x708
#define EMU_CMD_CREATE_DCT		    0x710
#define EMU_CMD_DESTROY_DCT		    0x711
#define EMU_CMD_DRAIN_DCT		    0x712
#define EMU_CMD_QUERY_DCT		    0x713
#define EMU_CMD_ARM_DCT			    0x714 /* for a violation of its key */
#define EMU_CMD_CREATE_XRQ		    0x717
#define EMU_CMD_QUERY_ESW_FUNCTIONS	    0x740
#define EMU_CMD_QUERY_VPORT_STATE	    0x750
#define EMU_CMD_QUERY_ESW_VPORT_CONTEXT	    0x752
#define EMU_CMD_QUERY_NIC_VPORT_CONTEXT	    0x754
#define EMU_CMD_MODIFY_NIC_VPORT_CONTEXT    0x755
#define EMU_CMD_QUERY_ROCE_ADDRESS	    0x760
#define EMU_CMD_SET_ROCE_ADDRESS	    0x761
#define EMU_CMD_QUERY_HCA_VPORT_CONTEXT	    0x762
#define EMU_CMD_QUERY_HCA_VPORT_PKEY	    0x765
#define EMU_CMD_QUERY_VNIC_ENV		    0x76f
#define EMU_CMD_QUERY_VPORT_COUNTER	    0x770
#define EMU_CMD_ALLOC_Q_COUNTER		    0x771
#define EMU_CMD_DEALLOC_Q_COUNTER	    0x772
#define EMU_CMD_QUERY_Q_COUNTER		    0x773
#define EMU_CMD_CREATE_SCHEDULING_ELEMENT   0x782
#define EMU_CMD_ALLOC_PD		    0x800
#define EMU_CMD_DEALLOC_PD		    0x801
#define EMU_CMD_ALLOC_UAR		    0x802
#define EMU_CMD_DEALLOC_UAR		    0x803
#define EMU_CMD_ACCESS_REG		    0x805
#define EMU_CMD_ATTACH_TO_MCG		    0x806
#define EMU_CMD_DETACH_FROM_MCG		    0x807
#define EMU_CMD_GET_DROPPED_PACKET_LOG	    0x80a
#define EMU_CMD_NOP			    0x80d
#define EMU_CMD_ALLOC_XRCD		    0x80e
#define EMU_CMD_DEALLOC_XRCD		    0x80f
#define EMU_CMD_ALLOC_TRANSPORT_DOMAIN	    0x816
#define EMU_CMD_DEALLOC_TRANSPORT_DOMAIN    0x817
#define EMU_CMD_QUERY_CONG_STATUS	    0x822
#define EMU_CMD_QUERY_CONG_PARAMS	    0x824
#define EMU_CMD_QUERY_CONG_STATISTICS	    0x826
#define EMU_CMD_ADD_VXLAN_UDP_DPORT	    0x827
#define EMU_CMD_SET_L2_TABLE_ENTRY	    0x829
#define EMU_CMD_DELETE_L2_TABLE_ENTRY	    0x82b
#define EMU_CMD_QUERY_LAG		    0x842
#define EMU_CMD_CREATE_TIR		    0x900
#define EMU_CMD_MODIFY_TIR		    0x901
#define EMU_CMD_DESTROY_TIR		    0x902
#define EMU_CMD_CREATE_SQ		    0x904
#define EMU_CMD_MODIFY_SQ		    0x905
#define EMU_CMD_DESTROY_SQ		    0x906
#define EMU_CMD_QUERY_SQ		    0x907
#define EMU_CMD_CREATE_RQ		    0x908
#define EMU_CMD_MODIFY_RQ		    0x909
#define EMU_CMD_DESTROY_RQ		    0x90a
#define EMU_CMD_QUERY_RQ		    0x90b
#define EMU_CMD_CREATE_RMP		    0x90c
#define EMU_CMD_MODIFY_RMP		    0x90d
#define EMU_CMD_DESTROY_RMP		    0x90e
#define EMU_CMD_QUERY_RMP		    0x90f
#define EMU_CMD_CREATE_TIS		    0x912
#define EMU_CMD_MODIFY_TIS		    0x913
#define EMU_CMD_DESTROY_TIS		    0x914
#define EMU_CMD_CREATE_RQT		    0x916
#define EMU_CMD_MODIFY_RQT		    0x917
#define EMU_CMD_DESTROY_RQT		    0x918
#define EMU_CMD_SET_FLOW_TABLE_ROOT	    0x92f
#define EMU_CMD_CREATE_FLOW_TABLE	    0x930
#define EMU_CMD_DESTROY_FLOW_TABLE	    0x931
#define EMU_CMD_CREATE_FLOW_GROUP	    0x933
#define EMU_CMD_DESTROY_FLOW_GROUP	    0x934
#define EMU_CMD_SET_FLOW_TABLE_ENTRY	    0x936
#define EMU_CMD_DELETE_FLOW_TABLE_ENTRY	    0x938
#define EMU_CMD_ALLOC_FLOW_COUNTER	    0x939
#define EMU_CMD_DEALLOC_FLOW_COUNTER	    0x93a
#define EMU_CMD_QUERY_FLOW_COUNTER	    0x93b
#define EMU_CMD_MODIFY_FLOW_TABLE	    0x93c
#define EMU_CMD_ALLOC_PACKET_REFORMAT	    0x93d
#define EMU_CMD_ALLOC_MODIFY_HEADER_CONTEXT 0x940
#define EMU_CMD_CREATE_GENERAL_OBJECT	    0xa00
#define EMU_CMD_QUERY_GENERAL_OBJECT	    0xa02
#define EMU_CMD_DESTROY_GENERAL_OBJECT	    0xa03
#define EMU_CMD_CREATE_UCTX		    0xa04
#define EMU_CMD_DESTROY_UCTX		    0xa06
#define EMU_CMD_CREATE_UMEM		    0xa08
#define EMU_CMD_DESTROY_UMEM		    0xa0a
/* Commands without an object have opcodes from BEGIN up to, but not including, END. */
#define EMU_CMD_GENERAL_BEGIN		0xb00
#define EMU_CMD_ALLOW_OTHER_VHCA_ACCESS 0xb16
#define EMU_CMD_GENERAL_END		0xd00

#define EMU_OBJ_TYPE_DEK		0x000c
#define EMU_OBJ_TYPE_MKEY		0xff01

#define EMU_CMD_IN_LAYOUT(F)		EMU_PRM_HEADER_IN(F, EMU_CMD_IN)
EMU_PRM_LAYOUT(EMU_CMD_IN, 0x10);

/* A query, or a change of an object, by its number of 24 bits. */
#define EMU_OBJECT_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_OBJECT_IN) \
	F(EMU_OBJECT_IN_NUMBER, 0x08, 23, 0)
EMU_PRM_LAYOUT(EMU_OBJECT_IN, 0x10);

#define EMU_CMD_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_CMD_OUT) \
	F(EMU_CMD_OUT_NUMBER, 0x08, 23, 0) /* of a new object */
EMU_PRM_LAYOUT(EMU_CMD_OUT, 0x10);

/* CREATE_PSV, of which the kernel looks at one field. */
#define EMU_CREATE_PSV_IN_LAYOUT(F) F(EMU_CREATE_PSV_IN_NUM_PSV, 0x08, 31, 28)
EMU_PRM_LAYOUT(EMU_CREATE_PSV_IN, 0x10);

#endif
