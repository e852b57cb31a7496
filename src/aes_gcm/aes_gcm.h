/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_aes_gcm: aes_gcm.c has the object and its settings, key.c its keys, caps.c what devices can do, task.c executes
 * tasks, and kinds.c has the functions of users that both kinds of tasks have alike. core/engine/ has its queue.
 */
#ifndef DPUMAP_AES_GCM_AES_GCM_H
#define DPUMAP_AES_GCM_AES_GCM_H

#include <doca_aes_gcm.h>

#include "core/engine/engine.h"
#include "device/caps.h"
#include "device/dek.h"

/* The engine takes no other length of an initialization vector: DPDK, mlx5_crypto_gcm.c. */
#define AES_GCM_IV_LEN DPUMAP_SQ_IV_LEN

enum aes_gcm_kind {
	AES_GCM_ENCRYPT,
	AES_GCM_DECRYPT,
	AES_GCM_NUM_KINDS,
};

struct aes_gcm_task {
	struct engine_task task;
	const struct doca_buf *src;
	struct doca_buf *dst;
	struct doca_aes_gcm_key *key;
	uint32_t tag_size, aad_size, iv_len;
	uint8_t iv[AES_GCM_IV_LEN];
	size_t out_len;			   /* of this run */
	struct doca_aes_gcm_key *used_key; /* the same, as the program may set another one */
};

struct doca_aes_gcm {
	struct engine_ctx engine;
	struct engine_pool pools[AES_GCM_NUM_KINDS];
	uint64_t max_len; /* of a source */
	uint32_t crypto;  /* enum dpumap_crypto */
	size_t num_keys;
};

/* The device has the key; this is its number. */
struct doca_aes_gcm_key {
	struct doca_aes_gcm *aes_gcm;
	struct dpumap_dek dek;
	enum doca_aes_gcm_key_type type;
	size_t num_inflight; /* tasks */
};

static inline struct doca_aes_gcm *dpumap_aes_gcm_of(const struct doca_ctx *ctx)
{
	return (struct doca_aes_gcm *)ctx;
}

/* caps.c. The bit of enum dpumap_crypto that a kind of tasks needs for a key; 0: there is no such type of keys. */
uint32_t dpumap_aes_gcm_need(enum aes_gcm_kind kind, enum doca_aes_gcm_key_type type);
bool dpumap_aes_gcm_has_kind(uint32_t crypto, enum aes_gcm_kind kind);
doca_error_t dpumap_aes_gcm_is_supported(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
					 const char *function);
doca_error_t dpumap_aes_gcm_has_tag(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
				    uint32_t tag, const char *function);
doca_error_t dpumap_aes_gcm_has_key_type(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
					 enum doca_aes_gcm_key_type type, const char *function);
doca_error_t dpumap_aes_gcm_get_max_iv_len(const struct doca_devinfo *devinfo,
					   enum aes_gcm_kind kind, uint32_t *len,
					   const char *function);
doca_error_t dpumap_aes_gcm_get_max_len(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
					uint64_t *len, const char *function);
doca_error_t dpumap_aes_gcm_get_max_list_len(const struct doca_devinfo *devinfo,
					     enum aes_gcm_kind kind, uint32_t *len,
					     const char *function);

/* kinds.c. By the kind of the task. */
extern void (*const dpumap_aes_gcm_calls[AES_GCM_NUM_KINDS])(struct engine_task *task,
							     engine_callback *callback);

/* task.c */
/* A length that is too long stays, and only so many bytes are copied as the task has room for. */
void dpumap_aes_gcm_set_iv(struct aes_gcm_task *task, const uint8_t *iv, uint32_t iv_len);
doca_error_t dpumap_aes_gcm_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_aes_gcm_check(const struct doca_task *task);
void dpumap_aes_gcm_complete(struct doca_task *task);
void dpumap_aes_gcm_log_data_error(const struct doca_task *task, enum dpumap_sq_data_error error);

#endif
