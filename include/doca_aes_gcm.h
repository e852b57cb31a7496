/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Encryption with AES-GCM (NIST SP 800-38D) by the engine of a device. Each task of the context
 * (doca_ctx.h) reads the data of its source buf, and appends the result to the data of its
 * destination buf:
 *
 *   encrypt: additional data, text             -> additional data, encrypted text, tag
 *   decrypt: additional data, encrypted text, tag -> additional data, text
 *
 * The additional data are the first bytes of the source; they are authenticated and copied. Source
 * and destination may be the same memory if the result begins where the source begins.
 *
 * BlueField-3 has the engine, on the host and on the DPU. This library never does its work on the
 * CPU: what the device lacks is DOCA_ERROR_NOT_SUPPORTED. The engine takes only initialization
 * vectors of 12 bytes, and tags of 12 or 16 bytes. Never use a vector twice with a key.
 *
 * A key is an object of the device. The library keeps no copy of its bytes, wipes its own request
 * for it, and never logs it.
 *
 * Both kinds of bufs may be on a map that was imported over PCI. A source and a destination are one
 * buf each, not a list. Tasks of one context complete in the order in which they were submitted. A
 * task whose tag is wrong fails alone, and none of its text is written. If the device refuses a
 * task, for example because a map was revoked, its queue has failed: the context becomes STOPPING,
 * and later tasks are flushed. Its keys stay.
 *
 * Thread safety of all functions: only one thread at a time may use a context, its tasks, its keys
 * and its progress engine. Capability functions may be called from any thread. On any error the
 * outputs keep their values. Semantics: DOCA 3.3, doca_aes_gcm.h.
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
 * Create an object for AES-GCM.
 *
 * @param dev an open device; in use until doca_aes_gcm_destroy()
 * @param aes_gcm out: the object, owned by the caller until doca_aes_gcm_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no engine for AES-GCM
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_STABLE doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm);

/**
 * Destroy an object for AES-GCM and disconnect its context from its progress engine. Its own
 * callbacks may call this function.
 *
 * @param aes_gcm an object without keys whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the object has keys, or the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm);

/**
 * Get the context of an object for AES-GCM.
 *
 * @param aes_gcm the object
 * @return the context, valid until doca_aes_gcm_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm);

/**
 * Get the maximum number of tasks of both kinds together.
 *
 * @param aes_gcm the object, in any state of its context
 * @param max_num_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm,
							    uint32_t *max_num_tasks);

/**
 * Create a key from its bytes, in any state of the context.
 *
 * @param aes_gcm the object whose tasks use the key
 * @param raw_key 16 or 32 bytes, according to key_type; read during the call only
 * @param key_type the length of the key
 * @param key out: the key, owned by the caller until doca_aes_gcm_key_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or there is no such type of keys
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support keys of this length
 * - DOCA_ERROR_NO_MEMORY: an allocation fails, or the device has no room for a key
 * - DOCA_ERROR_DRIVER: the device refuses the key
 */
DOCA_STABLE doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
						 enum doca_aes_gcm_key_type key_type,
						 struct doca_aes_gcm_key **key);

/**
 * Destroy a key. The device forgets it.
 *
 * @param key the key; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: submitted tasks use the key
 * - DOCA_ERROR_DRIVER: the device does not destroy it
 */
DOCA_STABLE doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key);

/* --- encryption --- */

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again
 * or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_aes_gcm_task_encrypt_completion_cb_t)(struct doca_aes_gcm_task_encrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/**
 * Check whether the device can encrypt.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 12 bytes when it encrypts.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it does
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it does not
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 16 bytes when it encrypts.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it does
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it does not
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports keys of a length when it encrypts.
 *
 * @param devinfo the device, open or not
 * @param key_type the length of the key
 * @return
 * - DOCA_SUCCESS: it does
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL, or there is no such type of keys
 * - DOCA_ERROR_NOT_SUPPORTED: it does not
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(
	const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type);

/**
 * Get the maximum length of an initialization vector. The engine takes no shorter ones either.
 *
 * @param devinfo the device, open or not
 * @param max_iv_len out: number of bytes, which is 12
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(
	const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

/**
 * Get the maximum length of a source, with its additional data and its tag.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs.
 *
 * @param devinfo the device, open or not
 * @param max_list_num_elem out: number of bufs, which is 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(
	const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Configure tasks of this kind. One kind at least is required before the context is started.
 *
 * @param aes_gcm an object whose context is IDLE
 * @param success_cb called for tasks that succeeded
 * @param error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum less those
 *         of the other kind
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_encrypt_set_conf(
	struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_encrypt_completion_cb_t success_cb,
	doca_aes_gcm_task_encrypt_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task for the functions of doca_pe.h. Only DOCA_SUCCESS extends the data of the
 * destination.
 *
 * doca_task_submit() refuses a task, which then still belongs to the program, with one of these:
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL or a list; the key is NULL, of another object or of a
 *   length that the device lacks; the initialization vector has not 12 bytes, or the tag not 12 or
 *   16; the source has no data, more than the maximum, or fewer than
 *   its additional data; or the destination has less room than the result
 *   needs, or none
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map was imported without the right
 *
 * The status of a completed task is one of these:
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IO_FAILED: the device failed
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it; the
 *   context becomes STOPPING
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task was refused by the device
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *
doca_aes_gcm_task_encrypt_as_task(struct doca_aes_gcm_task_encrypt *task);

/**
 * Allocate a task. It can be submitted many times, each time with other values.
 *
 * @param aes_gcm an object whose context is RUNNING
 * @param src_buf buf whose data is read; owned by the caller, must exist until the task has
 *         completed; may be set later
 * @param dst_buf buf to whose data the result is appended; owned by the caller, must exist until
 *         the task has completed; may be set later
 * @param key a key of the object; owned by the caller, must exist until the task has completed; may
 *         be set later
 * @param iv the initialization vector, which is copied; may be set later
 * @param iv_len number of bytes of the initialization vector
 * @param tag_size number of bytes of the tag
 * @param aad_size number of bytes of additional data
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_encrypt_alloc_init(
	struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
	struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_len, uint32_t tag_size,
	uint32_t aad_size, union doca_data user_data, struct doca_aes_gcm_task_encrypt **task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_src(struct doca_aes_gcm_task_encrypt *task,
						   const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE const struct doca_buf *
doca_aes_gcm_task_encrypt_get_src(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_dst(struct doca_aes_gcm_task_encrypt *task,
						   struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE struct doca_buf *
doca_aes_gcm_task_encrypt_get_dst(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the key of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param key a key of the object; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_key(struct doca_aes_gcm_task_encrypt *task,
						   struct doca_aes_gcm_key *key);

/**
 * Get the key of a task.
 *
 * @param task the task, not NULL
 * @return the key, owned by the caller
 */
DOCA_STABLE struct doca_aes_gcm_key *
doca_aes_gcm_task_encrypt_get_key(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the length of the tag of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param tag_size number of bytes; doca_task_submit() refuses other lengths than 12 and 16
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_tag_size(struct doca_aes_gcm_task_encrypt *task,
							uint32_t tag_size);

/**
 * Get the length of the tag of a task.
 *
 * @param task the task, not NULL
 * @return number of bytes
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_encrypt_get_tag_size(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the length of the additional data of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param aad_size number of bytes
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_aad_size(struct doca_aes_gcm_task_encrypt *task,
							uint32_t aad_size);

/**
 * Get the length of the additional data of a task.
 *
 * @param task the task, not NULL
 * @return number of bytes
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_encrypt_get_aad_size(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Set the initialization vector of a task, which is copied.
 *
 * @param task a task that is not submitted, not NULL
 * @param iv iv_len bytes; NULL is as no bytes
 * @param iv_len number of bytes; doca_task_submit() refuses another number than 12
 */
DOCA_STABLE void doca_aes_gcm_task_encrypt_set_iv(struct doca_aes_gcm_task_encrypt *task,
						  const uint8_t *iv, uint32_t iv_len);

/**
 * Get the initialization vector of a task.
 *
 * @param task the task, not NULL
 * @param iv_len out: number of bytes that were set; not NULL
 * @return the copy in the task, of at most 12 bytes; valid until doca_task_free()
 */
DOCA_STABLE const uint8_t *
doca_aes_gcm_task_encrypt_get_iv(const struct doca_aes_gcm_task_encrypt *task, uint32_t *iv_len);

/* --- decryption --- */

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again
 * or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_aes_gcm_task_decrypt_completion_cb_t)(struct doca_aes_gcm_task_decrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/**
 * Check whether the device can decrypt.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 12 bytes when it decrypts.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it does
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it does not
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports tags of 16 bytes when it decrypts.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it does
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it does not
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device supports keys of a length when it decrypts.
 *
 * @param devinfo the device, open or not
 * @param key_type the length of the key
 * @return
 * - DOCA_SUCCESS: it does
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL, or there is no such type of keys
 * - DOCA_ERROR_NOT_SUPPORTED: it does not
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(
	const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type);

/**
 * Get the maximum length of an initialization vector. The engine takes no shorter ones either.
 *
 * @param devinfo the device, open or not
 * @param max_iv_len out: number of bytes, which is 12
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(
	const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

/**
 * Get the maximum length of a source, with its additional data and its tag.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs.
 *
 * @param devinfo the device, open or not
 * @param max_list_num_elem out: number of bufs, which is 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(
	const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Configure tasks of this kind. One kind at least is required before the context is started.
 *
 * @param aes_gcm an object whose context is IDLE
 * @param success_cb called for tasks that succeeded
 * @param error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum less those
 *         of the other kind
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_decrypt_set_conf(
	struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_decrypt_completion_cb_t success_cb,
	doca_aes_gcm_task_decrypt_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task for the functions of doca_pe.h. Only DOCA_SUCCESS extends the data of the
 * destination.
 *
 * doca_task_submit() refuses a task, which then still belongs to the program, with one of these:
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL or a list; the key is NULL, of another object or of a
 *   length that the device lacks; the initialization vector has not 12 bytes, or the tag not 12 or
 *   16; the source has no data, more than the maximum, or fewer than
 *   its additional data and its tag; or the destination has less room than the result
 *   needs, or none
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map was imported without the right
 *
 * The status of a completed task is one of these:
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IO_FAILED: the tag is wrong, and nothing was written; or the device failed
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it; the
 *   context becomes STOPPING
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task was refused by the device
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *
doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task);

/**
 * Allocate a task. It can be submitted many times, each time with other values.
 *
 * @param aes_gcm an object whose context is RUNNING
 * @param src_buf buf whose data is read; owned by the caller, must exist until the task has
 *         completed; may be set later
 * @param dst_buf buf to whose data the result is appended; owned by the caller, must exist until
 *         the task has completed; may be set later
 * @param key a key of the object; owned by the caller, must exist until the task has completed; may
 *         be set later
 * @param iv the initialization vector, which is copied; may be set later
 * @param iv_len number of bytes of the initialization vector
 * @param tag_size number of bytes of the tag
 * @param aad_size number of bytes of additional data
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated
 */
DOCA_STABLE doca_error_t doca_aes_gcm_task_decrypt_alloc_init(
	struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
	struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_len, uint32_t tag_size,
	uint32_t aad_size, union doca_data user_data, struct doca_aes_gcm_task_decrypt **task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task,
						   const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE const struct doca_buf *
doca_aes_gcm_task_decrypt_get_src(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task,
						   struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE struct doca_buf *
doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the key of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param key a key of the object; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task,
						   struct doca_aes_gcm_key *key);

/**
 * Get the key of a task.
 *
 * @param task the task, not NULL
 * @return the key, owned by the caller
 */
DOCA_STABLE struct doca_aes_gcm_key *
doca_aes_gcm_task_decrypt_get_key(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the length of the tag of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param tag_size number of bytes; doca_task_submit() refuses other lengths than 12 and 16
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task,
							uint32_t tag_size);

/**
 * Get the length of the tag of a task.
 *
 * @param task the task, not NULL
 * @return number of bytes
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the length of the additional data of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param aad_size number of bytes
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task,
							uint32_t aad_size);

/**
 * Get the length of the additional data of a task.
 *
 * @param task the task, not NULL
 * @return number of bytes
 */
DOCA_STABLE uint32_t
doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Set the initialization vector of a task, which is copied.
 *
 * @param task a task that is not submitted, not NULL
 * @param iv iv_len bytes; NULL is as no bytes
 * @param iv_len number of bytes; doca_task_submit() refuses another number than 12
 */
DOCA_STABLE void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task,
						  const uint8_t *iv, uint32_t iv_len);

/**
 * Get the initialization vector of a task.
 *
 * @param task the task, not NULL
 * @param iv_len out: number of bytes that were set; not NULL
 * @return the copy in the task, of at most 12 bytes; valid until doca_task_free()
 */
DOCA_STABLE const uint8_t *
doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task, uint32_t *iv_len);

#ifdef __cplusplus
}
#endif

#endif
