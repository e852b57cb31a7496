/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a device can do. */
#ifndef DPUMAP_DEVICE_CAPS_H
#define DPUMAP_DEVICE_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

/* What a compression engine can do. */
enum dpumap_engine {
	DPUMAP_ENGINE_DEFLATE = 0x1, /* compress */
	DPUMAP_ENGINE_INFLATE = 0x2,
	DPUMAP_ENGINE_LZ4_STREAM = 0x4, /* decompress */
	DPUMAP_ENGINE_LZ4_BLOCK = 0x8,
	DPUMAP_ENGINE_NEWER = 0x10, /* the layout of its results */
};

/* What an engine for AES-GCM can do. */
enum dpumap_crypto {
	DPUMAP_CRYPTO_ENCRYPT_128 = 0x1,
	DPUMAP_CRYPTO_ENCRYPT_256 = 0x2,
	DPUMAP_CRYPTO_DECRYPT_128 = 0x4,
	DPUMAP_CRYPTO_DECRYPT_256 = 0x8,
	DPUMAP_CRYPTO_TAG_96 = 0x10,
	DPUMAP_CRYPTO_TAG_128 = 0x20,
};

#define DPUMAP_DM_LOG_LINE 6u /* the driver allocates device memory in lines of 64 bytes */

struct ibv_context;
struct ibv_device_attr;

struct dpumap_caps {
	uint64_t card_guid; /* sys_image_guid: equal for all functions of a card */
	uint64_t max_dm_len;
	uint64_t dm_granularity;   /* unit in which device memory is allocated */
	uint64_t max_memcpy_len;   /* of the DMA engine; 0 without one */
	uint64_t max_compress_len; /* of an input */
	uint64_t max_decompress_len;
	uint32_t engine;	  /* enum dpumap_engine */
	uint64_t max_crypto_len;  /* of an input; 0: no AES-GCM */
	uint32_t crypto;	  /* enum dpumap_crypto */
	uint64_t max_copy_len;	  /* max_memcpy_len, or else of an RDMA message; or 0 */
	uint64_t clock_khz;	  /* of the free-running clock; 0 if it cannot be read */
	uint32_t max_message_len; /* of RDMA; 0 without a port */
	uint32_t max_queue_depth;
	uint32_t max_send_pieces; /* of one work request */
	uint32_t max_recv_depth;  /* of a shared receive queue; 0 without */
	uint32_t max_recv_pieces; /* of one receive in it */
	uint32_t num_gids;	  /* entries of the port's table of addresses; 0 without a port */
	uint32_t max_dm_log_align;
	uint16_t vhca_id;
	uint8_t log_max_mtu; /* of the port, in bytes; 0 without a port */
	bool is_ethernet;    /* the port */
	bool has_atomics;    /* on 8 bytes, for RDMA */
	bool is_mlx5;	     /* driver: only then mlx5dv functions may be called */
	bool has_vhca_id;    /* firmware commands (DEVX) work */
	bool can_export;
	bool can_import;
};

doca_error_t dpumap_caps_query(struct ibv_context *context, bool devx, struct dpumap_caps *caps,
			       struct ibv_device_attr *attr);

#endif
