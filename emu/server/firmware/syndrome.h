/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Why the firmware refuses a command: each syndrome with its number, the status that goes with it
 * and a sentence for the trace.
 *
 * The statuses are public (emu/ipc/codes.h). The numbers of syndromes are our own: NVIDIA does not
 * publish the firmware's. The first word of a name is the command, or the object that it creates.
 */
#ifndef EMU_SERVER_FIRMWARE_SYNDROME_H
#define EMU_SERVER_FIRMWARE_SYNDROME_H

#include <stdint.h>

#include "emu/ipc/codes.h"

/* S(name, number, status, sentence) */
#define EMU_CMD_SYNDROMES(S)                                                                       \
	/* QUERY_HCA_CAP */                                                                        \
	S(CAP_PAGE, 0x01, BAD_PARAM, "the card has no such capability page")                       \
	S(CAP_RESERVED, 0x09, BAD_PARAM,                                                           \
	  "a reserved field is set; a function queries only its own capabilities")                 \
	/* ALLOW_OTHER_VHCA_ACCESS */                                                              \
	S(ALLOW_IN_LEN, 0x02, BAD_INP_LEN, "the mailbox is shorter than the command")              \
	S(ALLOW_UNSUPPORTED, 0x03, BAD_OP, "the card does not share mkeys between functions")      \
	S(ALLOW_OBJECT_TYPE, 0x04, BAD_PARAM, "only mkeys can be shared")                          \
	S(ALLOW_OBJECT, 0x05, BAD_RES,                                                             \
	  "the mkey does not exist, or another user context created it")                           \
	S(ALLOW_INDIRECT, 0x06, BAD_PARAM, "the card does not share indirect mkeys")               \
	S(ALLOW_OP_MOD, 0x07, BAD_OP, "op_mod must be 0")                                          \
	S(ALLOW_RESERVED, 0x08, BAD_PARAM, "a reserved bit of the command is set")                 \
	/* CREATE_GENERAL_OBJECT of an alias, and its query */                                     \
	S(ALIAS_IN_LEN, 0x10, BAD_INP_LEN, "the mailbox is shorter than the command")              \
	S(ALIAS_OUT_LEN, 0x11, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")       \
	S(ALIAS_UNSUPPORTED, 0x12, BAD_OP,                                                         \
	  "the object is not an alias, or the card does not share mkeys between functions")        \
	S(ALIAS_TARGET, 0x13, BAD_PARAM,                                                           \
	  "the function, the mkey or the access key is wrong; the device does not say which")      \
	S(ALIAS_PD, 0x14, BAD_RES, "the context has no such protection domain")                    \
	S(ALIAS_LIMIT, 0x15, LIM, "the card has no free mkey")                                     \
	S(ALIAS_RESERVED, 0x16, BAD_PARAM, "a reserved bit of the command is set")                 \
	S(QUERY_ALIAS_RESERVED, 0x17, BAD_PARAM, "a reserved bit of the command is set")           \
	S(QUERY_ALIAS_OUT_LEN, 0x18, BAD_OUTP_LEN, "the answer does not fit into the out mailbox") \
	/* CREATE_GENERAL_OBJECT of a DEK, and its query */                                        \
	S(DEK_UNSUPPORTED, 0x19, BAD_OP, "the card does not encrypt")                              \
	S(DEK_IN_LEN, 0x1a, BAD_INP_LEN, "the mailbox is shorter than the command")                \
	S(DEK_OUT_LEN, 0x1b, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")         \
	S(DEK_RESERVED, 0x1c, BAD_PARAM, "a reserved bit of the command is set")                   \
	S(DEK_KIND, 0x1d, BAD_PARAM,                                                               \
	  "only keys for AES-GCM of 128 and 256 bits without a key tag are supported")             \
	S(DEK_PD, 0x1e, BAD_RES, "the context has no such protection domain")                      \
	S(DEK_LIMIT, 0x1f, LIM, "the card has no free data encryption key")                        \
	/* CREATE_MKEY */                                                                          \
	S(MKEY_LIST_LEN, 0x20, BAD_PARAM,                                                          \
	  "the translation list is empty, or longer than the mkey or the mailbox allows")          \
	S(MKEY_LIST_LIMIT, 0x21, LIM, "the card has no room for the translation list")             \
	S(MKEY_LIST_RANGE, 0x22, BAD_PARAM,                                                        \
	  "the translation list does not cover the range of the mkey")                             \
	S(MKEY_UMEM, 0x23, BAD_RES, "the context has no such umem")                                \
	S(MKEY_UMEM_RANGE, 0x24, BAD_PARAM, "the range lies outside the umem")                     \
	S(MKEY_PD, 0x25, BAD_RES, "the context has no such protection domain")                     \
	S(MKEY_RANGE, 0x26, BAD_PARAM, "the range is empty, or wraps around")                      \
	S(MKEY_MODE, 0x27, BAD_PARAM,                                                              \
	  "the access mode does not exist, or does not allow the entity size or flags given")      \
	S(MKEY_IN_LEN, 0x28, BAD_INP_LEN, "the mailbox is shorter than the command")               \
	S(MKEY_LIMIT, 0x29, LIM, "the card has no free mkey")                                      \
	S(MKEY_FREE, 0x2a, BAD_PARAM, "a free mkey must have umr_en")                              \
	S(MKEY_OP_MOD, 0x2b, BAD_OP, "op_mod must be 0")                                           \
	S(MKEY_RESERVED, 0x2c, BAD_PARAM,                                                          \
	  "a bit is set that is reserved, or whose capability is not announced")                   \
	S(MKEY_ATOMIC_ALIGNMENT, 0x2d, BAD_PARAM,                                                  \
	  "an indirect mkey that allows atomics must begin and end at multiples of 8 bytes")       \
	S(MKEY_UMEM_ALIGNMENT, 0x2f, BAD_PARAM,                                                    \
	  "start_addr and the umem address must have the same offset within their pages")          \
	S(MKEY_MEMIC, 0x2e, BAD_RES,                                                               \
	  "the range is not in device memory that the function has allocated")                     \
	/* Commands in general */                                                                  \
	S(GENERAL_OPCODE, 0x40, BAD_OP, "the card does not execute this command")                  \
	S(CREATE_OPCODE, 0x41, BAD_OP, "the card does not create objects of this type")            \
	S(ESW_FUNCTIONS, 0x42, BAD_OP, "only the DPU's function manages other functions")          \
	S(TUNNELLED, 0x43, BAD_PARAM, "the card does not execute commands for other functions")    \
	/* QUERY_LAG, QUERY_ISSI, QUERY_VPORT_STATE and NOP */                                     \
	S(QUERY_OP_MOD, 0x44, BAD_OP, "op_mod must be 0")                                          \
	S(QUERY_RESERVED, 0x45, BAD_PARAM,                                                         \
	  "a reserved bit is set; a function queries only its own port")                           \
	S(QUERY_OUT_LEN, 0x46, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")       \
	/* INIT2INIT_QP */                                                                         \
	S(INIT2INIT_IN_LEN, 0x50, BAD_INP_LEN, "the mailbox is shorter than the command")          \
	S(INIT2INIT_STATE, 0x51, BAD_QP_STATE, "the queue pair is not in state INIT")              \
	S(INIT2INIT_MASK, 0x52, BAD_PARAM,                                                         \
	  "only mmo of the queue pair context extension can be changed")                           \
	S(INIT2INIT_MMO, 0x53, BAD_PARAM, "the card has no engines")                               \
	/* RTS2RTS_QP with the extension */                                                        \
	S(RTS2RTS_IN_LEN, 0x54, BAD_INP_LEN, "the mailbox is shorter than the command")            \
	S(RTS2RTS_STATE, 0x55, BAD_QP_STATE, "the queue pair is not in state RTS")                 \
	S(RTS2RTS_MASK, 0x56, BAD_PARAM,                                                           \
	  "only a stream of the queue pair context extension can be changed")                      \
	S(RTS2RTS_STREAM, 0x57, BAD_PARAM, "the queue pair has no failed stream of this number")   \
	/* QUERY_MKEY */                                                                           \
	S(QUERY_MKEY_OUT_LEN, 0x60, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")  \
	S(QUERY_MKEY_OP_MOD, 0x61, BAD_OP, "op_mod must be 0")                                     \
	S(QUERY_MKEY_RESERVED, 0x62, BAD_PARAM, "a reserved bit of the command is set")            \
	/* CREATE_CQ and QUERY_CQ */                                                               \
	S(CQ_CONTEXT, 0x70, BAD_PARAM,                                                             \
	  "the size of the queue or its entries, or the compression, is not supported")            \
	S(CQ_RESOURCE, 0x71, BAD_RES, "the context has no such event queue or doorbell page")      \
	S(CQ_UMEM, 0x72, BAD_RES, "the context has no such umem")                                  \
	S(CQ_UMEM_RANGE, 0x73, BAD_PARAM,                                                          \
	  "the queue or its doorbell record is misaligned, or lies outside its umem")              \
	S(CQ_IN_LEN, 0x74, BAD_INP_LEN, "the mailbox is shorter than the command")                 \
	S(CQ_LIMIT, 0x75, LIM, "the card has no free completion queue")                            \
	S(QUERY_CQ_OUT_LEN, 0x76, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")    \
	S(CQ_UMEM_ACCESS, 0x77, BAD_PARAM, "the umem of the queue is not writable")                \
	/* MODIFY_CQ */                                                                            \
	S(MODIFY_CQ_IN_LEN, 0x78, BAD_INP_LEN, "the mailbox is shorter than the command")          \
	S(MODIFY_CQ_OP_MOD, 0x79, BAD_OP, "op_mod must be 0, or 1 to resize the queue")            \
	S(MODIFY_CQ_SELECT, 0x7a, BAD_PARAM,                                                       \
	  "field_select names no field, a field that cannot be changed, or not all of a resize")   \
	S(MODIFY_CQ_RESERVED, 0x7b, BAD_PARAM, "a reserved bit of the command is set")             \
	S(MODIFY_CQ_CONTEXT, 0x7c, BAD_PARAM,                                                      \
	  "the size of the queue is not supported, or its entries would get another size")         \
	S(MODIFY_CQ_OUTSTANDING, 0x7d, BAD_SIZE,                                                   \
	  "the completions that were not polled do not fit, or the queue has overrun")             \
	/* CREATE_QP, QUERY_QP and the transitions */                                              \
	S(QP_CONTEXT, 0x80, BAD_PARAM,                                                             \
	  "the service type, rq_type, a queue size or a number of streams is not supported")       \
	S(QP_UMEM, 0x81, BAD_RES, "the context has no such umem")                                  \
	S(QP_UMEM_RANGE, 0x82, BAD_PARAM,                                                          \
	  "the queues or their doorbell record are misaligned, or lie outside their umem")         \
	S(QP_RESOURCE, 0x83, BAD_RES,                                                              \
	  "the context has no such protection domain, completion queue or doorbell page")          \
	S(QP_IN_LEN, 0x84, BAD_INP_LEN, "the mailbox is shorter than the command")                 \
	S(QP_LIMIT, 0x85, LIM, "the card has no free queue pair")                                  \
	S(QP_STATE, 0x86, BAD_QP_STATE,                                                            \
	  "the queue pair is not in the state that the transition starts from")                    \
	S(QP_TRANSITION_IN_LEN, 0x87, BAD_INP_LEN, "the mailbox is shorter than the command")      \
	S(QP_TRANSITION_CONTEXT, 0x88, BAD_PARAM,                                                  \
	  "pkey_index, port, mtu, log_msg_max, a depth of reads or the source GID is not valid")   \
	S(QP_STATE_CHANGED, 0x89, BAD_QP_STATE,                                                    \
	  "the queue pair left the state that the transition starts from")                         \
	S(QUERY_QP_OUT_LEN, 0x8a, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")    \
	S(QP_SRQ, 0x8b, BAD_RES, "the context has no such shared receive queue")                   \
	S(QP_TYPE, 0x8c, BAD_PARAM, "only RC and UC queue pairs can be modified")                  \
	S(QP_MMO, 0x8d, BAD_PARAM, "the card has no engines")                                      \
	/* CREATE_DCT, QUERY_DCT, DRAIN_DCT and ARM_DCT_FOR_KEY_VIOLATION */                       \
	S(DCT_IN_LEN, 0xa8, BAD_INP_LEN, "the mailbox is shorter than the command")                \
	S(DCT_CONTEXT, 0xa9, BAD_PARAM, "pkey_index, port, mtu or the source GID is not valid")    \
	S(DCT_RESOURCE, 0xaa, BAD_RES,                                                             \
	  "the context has no such protection domain, completion queue or shared receive queue")   \
	S(DCT_LIMIT, 0xab, LIM, "the card has no free queue pair")                                 \
	S(DCT_STATE, 0xac, BAD_RES_STATE, "the target is drained already")                         \
	S(QUERY_DCT_OUT_LEN, 0xad, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")   \
	/* CREATE_RMP */                                                                           \
	S(RMP_CONTEXT, 0x90, BAD_PARAM,                                                            \
	  "the state, the type of the work queue or one of its sizes is not supported")            \
	S(RMP_RESOURCE, 0x91, BAD_RES, "the context has no such protection domain or umem")        \
	S(RMP_UMEM_RANGE, 0x92, BAD_PARAM,                                                         \
	  "the queue or its doorbell record is misaligned, or lies outside its umem")              \
	S(RMP_IN_LEN, 0x93, BAD_INP_LEN, "the mailbox is shorter than the command")                \
	S(RMP_LIMIT, 0x94, LIM, "the card has no free shared receive queue")                       \
	/* ALLOC_FLOW_COUNTER and QUERY_FLOW_COUNTER */                                            \
	S(COUNTER_OP_MOD, 0xa0, BAD_OP, "op_mod must be 0")                                        \
	S(COUNTER_RESERVED, 0xa1, BAD_PARAM, "a reserved bit is set; bulks are not supported")     \
	S(COUNTER_LIMIT, 0xa2, LIM, "the function has no free flow counter")                       \
	S(QUERY_COUNTER_OP_MOD, 0xa3, BAD_OP, "op_mod must be 0")                                  \
	S(QUERY_COUNTER_RESERVED, 0xa4, BAD_PARAM,                                                 \
	  "a reserved bit is set, or more than one counter is queried")                            \
	S(QUERY_COUNTER_OUT_LEN, 0xa5, BAD_OUTP_LEN,                                               \
	  "the answer does not fit into the out mailbox")                                          \
	/* Commands of a function's driver */                                                      \
	S(DRIVER_OPCODE, 0xb0, BAD_OP, "the card does not execute this command")                   \
	S(DRIVER_OP_MOD, 0xb1, BAD_OP, "op_mod must be 0")                                         \
	S(DRIVER_IN_LEN, 0xb2, BAD_INP_LEN, "the mailbox is shorter than the command")             \
	S(DRIVER_OUT_LEN, 0xb3, BAD_OUTP_LEN, "the answer does not fit into the out mailbox")      \
	S(DRIVER_PARAM, 0xb4, BAD_PARAM, "a field of the command has no valid value")              \
	S(DRIVER_OBJECT, 0xb5, BAD_RES, "the function has no object of this number")               \
	S(DRIVER_BUSY, 0xb6, RES_BUSY, "another object uses the object")                           \
	S(DRIVER_LIMIT, 0xb7, LIM, "the function has as many of these objects as it can have")     \
	S(DRIVER_STATE, 0xb8, BAD_SYS_STATE,                                                       \
	  "the function is not enabled or not initialized, or is so already")                      \
	S(REGISTER, 0xb9, BAD_PARAM, "the card has no such register")                              \
	S(RQ_STATE, 0xba, BAD_RES_STATE,                                                           \
	  "the receive queue is in another state than the command says")                           \
	/* ATTACH_TO_MCG and DETACH_FROM_MCG */                                                    \
	S(MCG_RESERVED, 0xbc, BAD_PARAM, "a reserved bit of the command is set")                   \
	S(MCG_QP, 0xbd, BAD_PARAM, "the queue pair is not one of datagrams")                       \
	S(MCG_GROUP, 0xbe, BAD_PARAM,                                                              \
	  "the address is not that of a group, or the queue pair is not attached to it")           \
	S(MCG_LIMIT, 0xbf, LIM, "the card has no room for the group or the attachment")            \
	/* ALLOC_MEMIC and DEALLOC_MEMIC */                                                        \
	S(MEMIC_UNSUPPORTED, 0xc8, BAD_OP, "the card has no device memory")                        \
	S(MEMIC_RESERVED, 0xc9, BAD_PARAM, "a reserved bit of the command is set")                 \
	S(MEMIC_RANGE, 0xca, BAD_PARAM,                                                            \
	  "the range is not one of whole pages of device memory, or the size or alignment is "     \
	  "none")                                                                                  \
	S(MEMIC_NONE, 0xcb, NO_RES, "the range has no room for the memory")                        \
	S(MEMIC_OBJECT, 0xcc, BAD_RES, "the function has no device memory of this place and size") \
	/* QUERY_PAGES and MANAGE_PAGES, and INIT_HCA without the pages */                         \
	S(PAGES_OP_MOD, 0xc0, BAD_OP, "op_mod is none of the command")                             \
	S(PAGES_FUNCTION, 0xc1, BAD_PARAM,                                                         \
	  "a reserved bit is set, or another function is named; it has pages of its own only")     \
	S(PAGES_ADDRESS, 0xc2, BAD_PARAM,                                                          \
	  "a page is 0 or misaligned, or the function has it already")                             \
	S(PAGES_LIMIT, 0xc3, LIM, "the function has as many pages as it can use")                  \
	S(PAGES_MISSING, 0xc4, NO_RES,                                                             \
	  "the driver has given fewer pages than QUERY_PAGES asks for")                            \
	/* Creations */                                                                            \
	S(PAGES_NONE, 0xc5, NO_RES,                                                                \
	  "the object needs a page, which the driver cannot give, or is not asked for: it has no " \
	  "event queue for requests of pages")

#define EMU_CMD_SYNDROME_(name, number, status, sentence) EMU_CMD_SYN_##name = (number),

enum emu_cmd_syndrome { EMU_CMD_SYNDROMES(EMU_CMD_SYNDROME_) };

/* What the table says of a syndrome; all zeros for a number that is not in it. */
struct emu_cmd_refusal {
	const char *name;
	const char *sentence;
	uint8_t status; /* enum emu_status */
};

struct emu_cmd_refusal emu_cmd_refusal(uint32_t syndrome);

#endif
