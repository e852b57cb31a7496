/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Encryption with AES-GCM by the engine of a device. rdma-core has no interface to this engine,
 * so the library supports it on no device. Each capability function and doca_aes_gcm_create()
 * return DOCA_ERROR_NOT_SUPPORTED; programs that look for a capable device find none.
 *
 * No object, key or task of this header exists. The other functions return an error, NULL or 0,
 * or do nothing.
 *
 * We do not know which of these functions are experimental. All are declared stable, so that no
 * program gets a warning.
 *
 * Thread safety: all functions may be called from any thread. On any error the outputs keep their
 * values. Semantics: DOCA 3.3, doca_aes_gcm.h.
 */
#ifndef DOCA_AES_GCM_H_
#define DOCA_AES_GCM_H_

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_aes_gcm;
struct doca_aes_gcm_key;
struct doca_aes_gcm_task_decrypt;
struct doca_aes_gcm_task_encrypt;
struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** Length of a key. */
enum doca_aes_gcm_key_type {
	DOCA_AES_GCM_KEY_128 = 1, /**< 128 bits. */
	DOCA_AES_GCM_KEY_256 = 2, /**< 256 bits. */
};

/**
 * Report the completion of a task that encrypts. The library never calls it, because no task
 * exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_aes_gcm_task_encrypt_completion_cb_t)(struct doca_aes_gcm_task_encrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/**
 * Report the completion of a task that decrypts. The library never calls it, because no task
 * exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_aes_gcm_task_decrypt_completion_cb_t)(struct doca_aes_gcm_task_decrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/**
 * Create an object for AES-GCM. No device supports it.
 *
 * @param dev an open device
 * @param aes_gcm not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm);

/**
 * Destroy an object for AES-GCM. No object exists, because doca_aes_gcm_create() refuses.
 *
 * @param aes_gcm the object
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm);

/**
 * Get the context of an object for AES-GCM. No object exists, because doca_aes_gcm_create()
 * refuses.
 *
 * @param aes_gcm not used
 * @return NULL
 */
DOCA_STABLE struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm);

/**
 * Get the maximum number of tasks. No object exists, because doca_aes_gcm_create() refuses.
 *
 * @param aes_gcm the object
 * @param max_num_tasks not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: aes_gcm is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm,
							    uint32_t *max_num_tasks);

/**
 * Create a key from its bytes. No object exists, because doca_aes_gcm_create() refuses.
 *
 * @param aes_gcm the object
 * @param raw_key not read
 * @param key_type the length of the key
 * @param key not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: aes_gcm is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
						 enum doca_aes_gcm_key_type key_type,
						 struct doca_aes_gcm_key **key);

/**
 * Destroy a key. No key exists.
 *
 * @param key the key
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key);

/**
 * Check whether the device supports tasks that encrypt. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 96 bits when it encrypts. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 128 bits when it encrypts. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports keys of a length when it encrypts. No device does.
 *
 * @param devinfo the device, open or not
 * @param key_type the length of the key
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(
	const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type);

/**
 * Get the maximum number of bytes of an initialization vector of tasks that encrypt. No device
 * supports this.
 *
 * @param devinfo the device, open or not
 * @param max_iv_len number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(
	const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

/**
 * Get the maximum number of bytes that one task can encrypt. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs of tasks that encrypt. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_list_num_elem not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(
	const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Configure tasks that encrypt. No object exists, because doca_aes_gcm_create() refuses.
 *
 * @param aes_gcm the object
 * @param success_cb not called
 * @param error_cb not called
 * @param num_tasks number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: aes_gcm is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_encrypt_set_conf(
	struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_encrypt_completion_cb_t success_cb,
	doca_aes_gcm_task_encrypt_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_task *
doca_aes_gcm_task_encrypt_as_task(struct doca_aes_gcm_task_encrypt *task);

/**
 * Allocate a task to encrypt. No object exists, because doca_aes_gcm_create() refuses.
 *
 * @param aes_gcm the object
 * @param src_buf not used
 * @param dst_buf not used
 * @param key not used
 * @param iv not read
 * @param iv_len number of bytes of the initialization vector
 * @param tag_size number of bytes of the tag
 * @param aad_size number of bytes that are only authenticated
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: aes_gcm is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_encrypt_alloc_init(
	struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
	struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_len, uint32_t tag_size,
	uint32_t aad_size, union doca_data user_data, struct doca_aes_gcm_task_encrypt **task);

/**
 * Set the source of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param src not used
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_src(struct doca_aes_gcm_task_encrypt *task,
						   const struct doca_buf *src);

/**
 * Get the source of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_buf *
doca_aes_gcm_task_encrypt_get_src(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the destination of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param dst not used
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_dst(struct doca_aes_gcm_task_encrypt *task,
						   struct doca_buf *dst);

/**
 * Get the destination of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_buf *
doca_aes_gcm_task_encrypt_get_dst(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the key of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param key not used
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_key(struct doca_aes_gcm_task_encrypt *task,
						   struct doca_aes_gcm_key *key);

/**
 * Get the key of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_aes_gcm_key *
doca_aes_gcm_task_encrypt_get_key(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the number of bytes of the tag. No task exists. The function does nothing.
 *
 * @param task not used
 * @param tag_size number of bytes; not used
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_tag_size(struct doca_aes_gcm_task_encrypt *task,
							uint32_t tag_size);

/**
 * Get the number of bytes of the tag. No task exists.
 *
 * @param task not used
 * @return 0
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_encrypt_get_tag_size(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the number of bytes that are only authenticated. No task exists. The function does nothing.
 *
 * @param task not used
 * @param aad_size number of bytes; not used
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_aad_size(struct doca_aes_gcm_task_encrypt *task,
							uint32_t aad_size);

/**
 * Get the number of bytes that are only authenticated. No task exists.
 *
 * @param task not used
 * @return 0
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_encrypt_get_aad_size(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the initialization vector of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param iv not read
 * @param iv_len number of bytes; not used
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_iv(struct doca_aes_gcm_task_encrypt *task,
						  const uint8_t *iv, uint32_t iv_len);

/**
 * Get the initialization vector of a task. No task exists.
 *
 * @param task not used
 * @param iv_len number of bytes; not written
 * @return NULL
 */
DOCA_STABLE const uint8_t *
doca_aes_gcm_task_encrypt_get_iv(const struct doca_aes_gcm_task_encrypt *task, uint32_t *iv_len);

/**
 * Check whether the device supports tasks that decrypt. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 96 bits when it decrypts. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 128 bits when it decrypts. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports keys of a length when it decrypts. No device does.
 *
 * @param devinfo the device, open or not
 * @param key_type the length of the key
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(
	const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type);

/**
 * Get the maximum number of bytes of an initialization vector of tasks that decrypt. No device
 * supports this.
 *
 * @param devinfo the device, open or not
 * @param max_iv_len number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(
	const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

/**
 * Get the maximum number of bytes that one task can decrypt. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs of tasks that decrypt. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_list_num_elem not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(
	const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Configure tasks that decrypt. No object exists, because doca_aes_gcm_create() refuses.
 *
 * @param aes_gcm the object
 * @param success_cb not called
 * @param error_cb not called
 * @param num_tasks number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: aes_gcm is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_decrypt_set_conf(
	struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_decrypt_completion_cb_t success_cb,
	doca_aes_gcm_task_decrypt_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_task *
doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task);

/**
 * Allocate a task to decrypt. No object exists, because doca_aes_gcm_create() refuses.
 *
 * @param aes_gcm the object
 * @param src_buf not used
 * @param dst_buf not used
 * @param key not used
 * @param iv not read
 * @param iv_len number of bytes of the initialization vector
 * @param tag_size number of bytes of the tag
 * @param aad_size number of bytes that are only authenticated
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: aes_gcm is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_decrypt_alloc_init(
	struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
	struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_len, uint32_t tag_size,
	uint32_t aad_size, union doca_data user_data, struct doca_aes_gcm_task_decrypt **task);

/**
 * Set the source of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param src not used
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task,
						   const struct doca_buf *src);

/**
 * Get the source of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_buf *
doca_aes_gcm_task_decrypt_get_src(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the destination of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param dst not used
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task,
						   struct doca_buf *dst);

/**
 * Get the destination of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_buf *
doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the key of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param key not used
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task,
						   struct doca_aes_gcm_key *key);

/**
 * Get the key of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_aes_gcm_key *
doca_aes_gcm_task_decrypt_get_key(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the number of bytes of the tag. No task exists. The function does nothing.
 *
 * @param task not used
 * @param tag_size number of bytes; not used
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task,
							uint32_t tag_size);

/**
 * Get the number of bytes of the tag. No task exists.
 *
 * @param task not used
 * @return 0
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the number of bytes that are only authenticated. No task exists. The function does nothing.
 *
 * @param task not used
 * @param aad_size number of bytes; not used
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task,
							uint32_t aad_size);

/**
 * Get the number of bytes that are only authenticated. No task exists.
 *
 * @param task not used
 * @return 0
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the initialization vector of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param iv not read
 * @param iv_len number of bytes; not used
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task,
						  const uint8_t *iv, uint32_t iv_len);

/**
 * Get the initialization vector of a task. No task exists.
 *
 * @param task not used
 * @param iv_len number of bytes; not written
 * @return NULL
 */
DOCA_STABLE const uint8_t *
doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task, uint32_t *iv_len);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_AES_GCM_H_ */
