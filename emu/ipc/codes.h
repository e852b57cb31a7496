/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Public numbers that the server, the engine and the tool share, each with its name.
 *
 * Sources: the Mellanox Adapters Programmer's Reference Manual (PRM); Linux
 * include/linux/mlx5/device.h and drivers/net/ethernet/mellanox/mlx5/core/cmd.c; rdma-core
 * providers/mlx5/mlx5dv.h.
 */
#ifndef EMU_IPC_CODES_H
#define EMU_IPC_CODES_H

/*
 * Status of a command, byte 0 of the out mailbox: PRM, "command return status"; Linux,
 * MLX5_CMD_STAT_*. The errno is what cmd.c makes of it where no client sees the mailbox.
 * S(name, number, errno, meaning)
 */
#define EMU_STATUSES(S)                                                          \
	S(INT_ERR, 0x01, EIO, "internal error of the firmware")                  \
	S(BAD_OP, 0x02, EINVAL, "operation not supported")                       \
	S(BAD_PARAM, 0x03, EINVAL, "a parameter is not valid")                   \
	S(BAD_SYS_STATE, 0x04, EIO, "not possible in the state of the device")   \
	S(BAD_RES, 0x05, EINVAL, "a resource does not exist or is not owned")    \
	S(RES_BUSY, 0x06, EBUSY, "a resource is in use")                         \
	S(LIM, 0x08, ENOMEM, "a limit of the device is reached")                 \
	S(BAD_RES_STATE, 0x09, EINVAL, "not possible in the resource's state")   \
	S(IX_ERR, 0x0a, EINVAL, "an index is not valid")                         \
	S(NO_RES, 0x0f, EAGAIN, "the firmware has no resources left")            \
	S(BAD_QP_STATE, 0x10, EINVAL, "not possible in the queue pair's state")  \
	S(BAD_PKT, 0x30, EINVAL, "a management packet is malformed")             \
	S(BAD_SIZE, 0x40, EINVAL, "outstanding completions exceed the new size") \
	S(BAD_INP_LEN, 0x50, EIO, "the in mailbox is too short")                 \
	S(BAD_OUTP_LEN, 0x51, EIO, "the out mailbox is too short")

#define EMU_STATUS_(name, number, errnum, meaning) EMU_STATUS_##name = (number),

enum emu_status { EMU_STATUSES(EMU_STATUS_) };

/*
 * Syndrome of a completion with an error, byte 55 of the CQE: PRM, "completion with error"; Linux,
 * MLX5_CQE_SYNDROME_*. The word is that of enum ibv_wc_status, without IBV_WC_. The vendor syndrome,
 * byte 54, refines it on a device. The numbers that cards were seen to report with it are in
 * openucx/ucx issues 1569, 1770, 2973, 3618, 5472 and 9515 and linux-nvme/nvme-cli issue 3268; those
 * of LOC_LEN, MW_BIND, BAD_RESP, LOC_ACCESS, RNR_RETRY and REM_ABORT are the emulator's own.
 * S(name, number, vendor, word, meaning)
 */
#define EMU_CQE_SYNDROMES(S)                                                                       \
	S(LOC_LEN, 0x01, 0x69, "LOC_LEN_ERR",                                                      \
	  "a message is longer than its buffer, or than allowed")                                  \
	S(LOC_QP_OP, 0x02, 0x68, "LOC_QP_OP_ERR",                                                  \
	  "the work request is malformed or not supported")                                        \
	S(LOC_PROT, 0x04, 0x51, "LOC_PROT_ERR", "a local key does not allow the access")           \
	S(FLUSH, 0x05, 0xf9, "WR_FLUSH_ERR", "the queue pair was in the error state")              \
	S(MW_BIND, 0x06, 0x6a, "MW_BIND_ERR", "the mkey does not allow this change")               \
	S(BAD_RESP, 0x10, 0x8b, "BAD_RESP_ERR", "the responder sent an unexpected answer")         \
	S(LOC_ACCESS, 0x11, 0x6b, "LOC_ACCESS_ERR", "an RDMA write violated the receive buffer")   \
	S(REM_INV_REQ, 0x12, 0x8a, "REM_INV_REQ_ERR", "the responder found the request not valid") \
	S(REM_ACCESS, 0x13, 0x88, "REM_ACCESS_ERR", "the remote key does not allow the access")    \
	S(REM_OP, 0x14, 0x89, "REM_OP_ERR", "the responder could not complete the operation")      \
	S(RETRY, 0x15, 0x81, "RETRY_EXC_ERR", "the responder did not answer any retry")            \
	S(RNR_RETRY, 0x16, 0x87, "RNR_RETRY_EXC_ERR", "the responder had no receive posted")       \
	S(REM_ABORT, 0x22, 0x8c, "REM_ABORT_ERR", "the responder aborted the operation")

#define EMU_CQE_SYNDROME_(name, number, vendor, word, meaning) EMU_SYN_##name = (number),

enum emu_syndrome { EMU_SYN_OK = 0x00, EMU_CQE_SYNDROMES(EMU_CQE_SYNDROME_) };

/*
 * Opcode of a work request, byte 3 of its control segment: PRM, "WQE opcodes"; rdma-core,
 * MLX5_OPCODE_*. O(name, number)
 */
#define EMU_WQE_OPCODES(O)      \
	O(NOP, 0x00)            \
	O(SEND_INVAL, 0x01)     \
	O(RDMA_WRITE, 0x08)     \
	O(RDMA_WRITE_IMM, 0x09) \
	O(SEND, 0x0a)           \
	O(SEND_IMM, 0x0b)       \
	O(RDMA_READ, 0x10)      \
	O(ATOMIC_CS, 0x11)      \
	O(ATOMIC_FA, 0x12)      \
	O(SEND_EN, 0x17)        \
	O(UMR, 0x25)            \
	O(MMO, 0x2f)

#define EMU_WQE_OPCODE_(name, number) EMU_WQE_##name = (number),

enum emu_wqe_opcode { EMU_WQE_OPCODES(EMU_WQE_OPCODE_) };

/* Engines for MMO, by the first byte of the control segment: drivers of DPDK, mlx5_prm.h. E(name, number) */
#define EMU_MMO_ENGINES(E) \
	E(dma, 1)          \
	E(compress, 2)     \
	E(decompress, 3)   \
	E(crypto, 6)

#define EMU_MMO_ENGINE_(name, number) EMU_MMO_##name = (number),

enum emu_mmo_engine { EMU_MMO_ENGINES(EMU_MMO_ENGINE_) };

#endif
