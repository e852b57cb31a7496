/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bytes that drivers and the engine read and write in rings: the segments of work requests, and
 * completion queue entries. All fields are big endian; emu_get32() and its like read them.
 *
 * PRM, "Work Request Format" and "Completion Queue Entry Format"; rdma-core, providers/mlx5/mlx5dv.h:
 * struct mlx5_wqe_*_seg, struct mlx5_cqe64 and struct mlx5_err_cqe; Linux, include/linux/mlx5/qp.h and
 * device.h have the same.
 */
#ifndef EMU_ENGINE_MEMORY_SEGMENTS_H
#define EMU_ENGINE_MEMORY_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#define EMU_SEG_BYTES	16u /* what ds counts */
#define EMU_WQEBB_BYTES 64u /* what the send queue counts */

/* The control segment, with which each send work request begins. */
struct emu_seg_ctrl {
	uint8_t opmod;
	uint8_t wqe_index[2];
	uint8_t opcode;	   /* enum emu_wqe_opcode */
	uint8_t qpn_ds[4]; /* 24 bits, and the length of the request in EMU_SEG_BYTES */
	uint8_t signature;
	uint8_t dci_stream_channel_id[2];
	uint8_t fm_ce_se;
	uint8_t imm[4]; /* or the key to invalidate, or the mkey of a UMR */
};

struct emu_seg_raddr {
	uint8_t raddr[8];
	uint8_t rkey[4];
	uint8_t reserved[4];
};

struct emu_seg_atomic {
	uint8_t swap_add[8];
	uint8_t compare[8];
};

/* A piece of memory; of inline data only byte_count is there, followed by the bytes. */
struct emu_seg_data {
	uint8_t byte_count[4];
	uint8_t lkey[4];
	uint8_t addr[8];
};

#define EMU_SEG_DATA_INLINE	  0x80000000u /* in byte_count */
#define EMU_SEG_DATA_INVALID_LKEY 0x100u      /* ends the list of a receive work request */

/* Where the device keeps the state of a copy by its DMA engine, or writes the result of another engine. */
struct emu_seg_mmo {
	uint8_t control[4];
	uint8_t lkey[4];
	uint8_t addr[8];
};

/* A request for one of the engines: all of it is in one block. A byte_count of 0 means 2^31. */
struct emu_wqe_mmo {
	struct emu_seg_ctrl ctrl;
	struct emu_seg_mmo meta;
	struct emu_seg_data src;
	struct emu_seg_data dst;
};

/*
 * The result of compression and decompression (drivers of DPDK, mlx5_prm.h: struct mlx5_gga_compress_opaque). The
 * older engine has its checksums at the end, the newer one in front.
 */
struct emu_mmo_result {
	uint8_t syndrome[4];
	uint8_t reserved_4[4];
	uint8_t length[4];
	uint8_t newer_crc32[4];
	uint8_t newer_adler32[4];
	uint8_t newer_crc32c[4];
	uint8_t newer_xxh32[4];
	uint8_t reserved_28[4];
	uint8_t older_crc32[4];
	uint8_t older_adler32[4];
	uint8_t reserved_40[216];
};

/*
 * The parameters of encryption and decryption by AES-GCM, and their result, which replaces the first words (drivers of
 * DPDK, mlx5_prm.h: union mlx5_gga_crypto_opaque).
 */
struct emu_crypto_opaque {
	uint8_t syndrome[4];
	uint8_t reserved_4[8];
	uint8_t iv[12];
	uint8_t tag_bytes[4];
	uint8_t aad_bytes[4];
	uint8_t reserved_32[32];
};

/* A change of an mkey; its context and the translation list follow. Layout: emu/prm/prm_umr.h. */
struct emu_seg_umr_ctrl {
	uint8_t flags;
	uint8_t reserved_1[3];
	uint8_t klm_octowords[2];
	uint8_t translation_offset[2];
	uint8_t mkey_mask[8];
	uint8_t reserved_16[32];
};

#define EMU_SEG_UMR_INLINE 0x80u /* in flags: the list is in the work request */

/* The address of a datagram, or of a request to a target of DC. */
struct emu_seg_av {
	union {
		struct {
			uint8_t qkey[4];
			uint8_t reserved_4[4];
		};
		uint8_t dc_key[8];
	};
	uint8_t dqp_dct[4]; /* 24 bits: the destination */
	uint8_t stat_rate_sl;
	uint8_t fl_mlid;
	uint8_t rlid[2];
	uint8_t reserved_16[4];
	uint8_t rmac[6];
	uint8_t tclass;
	uint8_t hop_limit;
	uint8_t grh_gid_fl[4]; /* bit 30: a GRH, 27:20 the source GID, 19:0 the flow label */
	uint8_t rgid[16];
};

/* Which queue pair may execute its send queue up to an index. */
struct emu_seg_send_en {
	uint8_t reserved[8];
	uint8_t index[4];
	uint8_t qpn[4];
};

struct emu_seg_xrc {
	uint8_t xrc_srqn[4];
	uint8_t reserved[12];
};

/* The first 16 bytes of each work request of a shared receive queue. */
struct emu_seg_srq_next {
	uint8_t reserved_0[2];
	uint8_t next_wqe_index[2];
	uint8_t signature;
	uint8_t reserved_5[11];
};

struct emu_cqe64 {
	uint8_t reserved_0[24];
	uint8_t flags_rqpn
		[4]; /* bit 28: a GRH, 25:24 the kind of network header, 23:0 the sender */
	uint8_t hds_ip_ext[4];
	uint8_t srqn_uidx[4];
	uint8_t imm_inval_pkey[4];
	uint8_t app[4];
	uint8_t byte_cnt[4]; /* of a compressed session: how many completions */
	union {
		uint8_t timestamp[8];
		struct {
			uint8_t reserved[4];
			uint8_t hw_error_syndrome;
			uint8_t hw_syndrome_type;
			uint8_t vendor_err_synd;
			uint8_t syndrome; /* enum emu_syndrome */
		} err;
	};
	uint8_t sop_drop_qpn[4]; /* the opcode of the work request, and 24 bits */
	uint8_t wqe_counter[2];
	uint8_t signature;
	uint8_t op_own; /* opcode 7:4, format 3:2, solicited 1, owner 0 */
};

/* What a compressed session says of each completion; eight of them fill an entry. */
struct emu_mini_cqe {
	uint8_t reserved[2];
	uint8_t stride_index[2]; /* with EMU_MINI_CSUM_STRIDX */
	uint8_t byte_cnt[4];
};

_Static_assert(sizeof(struct emu_seg_ctrl) == EMU_SEG_BYTES, "control segment");
_Static_assert(sizeof(struct emu_seg_raddr) == EMU_SEG_BYTES, "remote address segment");
_Static_assert(sizeof(struct emu_seg_atomic) == EMU_SEG_BYTES, "atomic segment");
_Static_assert(sizeof(struct emu_seg_data) == EMU_SEG_BYTES, "data segment");
_Static_assert(sizeof(struct emu_wqe_mmo) == EMU_WQEBB_BYTES, "copy");
_Static_assert(sizeof(struct emu_mmo_result) == 256, "result of an engine");
_Static_assert(sizeof(struct emu_crypto_opaque) == 64, "parameters of AES-GCM");
_Static_assert(sizeof(struct emu_seg_av) == 48 && offsetof(struct emu_seg_av, tclass) == 26,
	       "address vector");
_Static_assert(sizeof(struct emu_seg_umr_ctrl) == 48, "UMR control segment");
_Static_assert(sizeof(struct emu_seg_send_en) == EMU_SEG_BYTES, "send enable segment");
_Static_assert(sizeof(struct emu_seg_xrc) == EMU_SEG_BYTES, "XRC segment");
_Static_assert(sizeof(struct emu_seg_srq_next) == EMU_SEG_BYTES, "next segment");
_Static_assert(sizeof(struct emu_cqe64) == 64 && offsetof(struct emu_cqe64, srqn_uidx) == 32 &&
		       offsetof(struct emu_cqe64, err.syndrome) == 55 &&
		       offsetof(struct emu_cqe64, wqe_counter) == 60,
	       "completion queue entry");
_Static_assert(sizeof(struct emu_mini_cqe) == 8, "compressed completion");

#endif
