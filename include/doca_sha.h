/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hashes (SHA) that the engine of a device computes. rdma-core has no interface to this engine,
 * so the library supports it on no device. Each capability function and doca_sha_create() return
 * DOCA_ERROR_NOT_SUPPORTED; programs that look for a capable device find none.
 *
 * No object or task of this header exists. The other functions return an error, NULL or 0, or do
 * nothing.
 *
 * Thread safety: all functions may be called from any thread. On any error the outputs keep their
 * values. Semantics: DOCA 3.0, doca_sha.h.
 */
#ifndef DOCA_SHA_H_
#define DOCA_SHA_H_

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_sha;
struct doca_sha_task_hash;
struct doca_sha_task_partial_hash;
struct doca_task;

/** Hash algorithm. */
enum doca_sha_algorithm {
	DOCA_SHA_ALGORITHM_SHA1 = 0,   /**< SHA-1, 20 bytes. */
	DOCA_SHA_ALGORITHM_SHA256 = 1, /**< SHA-256, 32 bytes. */
	DOCA_SHA_ALGORITHM_SHA512 = 2, /**< SHA-512, 64 bytes. */
};

/**
 * Report the completion of a task that computes a hash. The library never calls it, because no
 * task exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_sha_task_hash_completion_cb_t)(struct doca_sha_task_hash *task,
						   union doca_data task_user_data,
						   union doca_data ctx_user_data);

/**
 * Report the completion of a task that hashes one part of the data. The library never calls it,
 * because no task exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_sha_task_partial_hash_completion_cb_t)(struct doca_sha_task_partial_hash *task,
							   union doca_data task_user_data,
							   union doca_data ctx_user_data);

/**
 * Create an object for hashes. No device supports it.
 *
 * @param dev an open device
 * @param sha not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha);

/**
 * Destroy an object for hashes. No object exists, because doca_sha_create() refuses.
 *
 * @param sha the object
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_destroy(struct doca_sha *sha);

/**
 * Get the context of an object for hashes. No object exists, because doca_sha_create() refuses.
 *
 * @param sha not used
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);

/**
 * Get the maximum length of a source list. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_list_num_elem not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_max_list_buf_num_elem(
	const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Get the maximum number of bytes of a source. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo,
								 uint64_t *max_buf_size);

/**
 * Get the minimum number of bytes of a destination. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param algorithm the algorithm
 * @param min_buf_size number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_min_dst_buf_size(const struct doca_devinfo *devinfo,
								 enum doca_sha_algorithm algorithm,
								 uint32_t *min_buf_size);

/**
 * Get the number of bytes of which each part except the last is a multiple. No device supports
 * this.
 *
 * @param devinfo the device, open or not
 * @param algorithm the algorithm
 * @param block_size number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sha_cap_get_partial_hash_block_size(const struct doca_devinfo *devinfo,
					 enum doca_sha_algorithm algorithm, uint32_t *block_size);

/**
 * Get the maximum number of tasks. No object exists, because doca_sha_create() refuses.
 *
 * @param sha the object
 * @param max_num_tasks not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: sha is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha,
							      uint32_t *max_num_tasks);

/**
 * Check whether the device supports tasks that compute a hash. No device does.
 *
 * @param devinfo the device, open or not
 * @param algorithm the algorithm
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_task_hash_get_supported(
	const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm);

/**
 * Configure tasks that compute a hash. No object exists, because doca_sha_create() refuses.
 *
 * @param sha the object
 * @param success_cb not called
 * @param error_cb not called
 * @param log_num_tasks binary logarithm of the number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: sha is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sha_task_hash_set_conf(struct doca_sha *sha, doca_sha_task_hash_completion_cb_t success_cb,
			    doca_sha_task_hash_completion_cb_t error_cb, uint8_t log_num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task);

/**
 * Allocate a task to compute a hash. No object exists, because doca_sha_create() refuses.
 *
 * @param sha the object
 * @param algorithm the algorithm
 * @param src_buf not used
 * @param dst_buf not used
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: sha is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_alloc_init(
	struct doca_sha *sha, enum doca_sha_algorithm algorithm, const struct doca_buf *src_buf,
	struct doca_buf *dst_buf, union doca_data user_data, struct doca_sha_task_hash **task);

/**
 * Set the source of a task. No task exists.
 *
 * @param task the task
 * @param src_buf not used
 * @return
 * - DOCA_ERROR_INVALID_VALUE: task is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task,
							  const struct doca_buf *src_buf);

/**
 * Set the destination of a task. No task exists.
 *
 * @param task the task
 * @param dst_buf not used
 * @return
 * - DOCA_ERROR_INVALID_VALUE: task is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task,
							  struct doca_buf *dst_buf);

/**
 * Set the algorithm of a task. No task exists.
 *
 * @param task the task
 * @param algorithm not used
 * @return
 * - DOCA_ERROR_INVALID_VALUE: task is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task,
								enum doca_sha_algorithm algorithm);

/**
 * Get the source of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_sha_task_hash_get_src(const struct doca_sha_task_hash *task);

/**
 * Get the destination of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_sha_task_hash_get_dst(const struct doca_sha_task_hash *task);

/**
 * Get the algorithm of a task. No task exists.
 *
 * @param task not used
 * @return DOCA_SHA_ALGORITHM_SHA1, which is 0
 */
DOCA_EXPERIMENTAL enum doca_sha_algorithm
doca_sha_task_hash_get_algorithm(const struct doca_sha_task_hash *task);

/**
 * Check whether the device supports tasks that hash one part of the data. No device does.
 *
 * @param devinfo the device, open or not
 * @param algorithm the algorithm
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_task_partial_hash_get_supported(
	const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm);

/**
 * Configure tasks that hash one part of the data. No object exists, because doca_sha_create()
 * refuses.
 *
 * @param sha the object
 * @param success_cb not called
 * @param error_cb not called
 * @param log_num_tasks binary logarithm of the number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: sha is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_conf(
	struct doca_sha *sha, doca_sha_task_partial_hash_completion_cb_t success_cb,
	doca_sha_task_partial_hash_completion_cb_t error_cb, uint8_t log_num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task);

/**
 * Allocate a task to hash one part of the data. No object exists, because doca_sha_create()
 * refuses.
 *
 * @param sha the object
 * @param algorithm the algorithm
 * @param src_buf not used
 * @param dst_buf not used
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: sha is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_alloc_init(
	struct doca_sha *sha, enum doca_sha_algorithm algorithm, const struct doca_buf *src_buf,
	struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_sha_task_partial_hash **task);

/**
 * Set the source of a task. No task exists.
 *
 * @param task the task
 * @param src_buf not used
 * @return
 * - DOCA_ERROR_INVALID_VALUE: task is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_src(
	struct doca_sha_task_partial_hash *task, const struct doca_buf *src_buf);

/**
 * Set the destination of a task. No task exists.
 *
 * @param task the task
 * @param dst_buf not used
 * @return
 * - DOCA_ERROR_INVALID_VALUE: task is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_dst(
	struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf);

/**
 * Set the algorithm of a task. No task exists.
 *
 * @param task the task
 * @param algorithm not used
 * @return
 * - DOCA_ERROR_INVALID_VALUE: task is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_algorithm(
	struct doca_sha_task_partial_hash *task, enum doca_sha_algorithm algorithm);

/**
 * Get the source of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_sha_task_partial_hash_get_src(const struct doca_sha_task_partial_hash *task);

/**
 * Get the destination of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_sha_task_partial_hash_get_dst(const struct doca_sha_task_partial_hash *task);

/**
 * Get the algorithm of a task. No task exists.
 *
 * @param task not used
 * @return DOCA_SHA_ALGORITHM_SHA1, which is 0
 */
DOCA_EXPERIMENTAL enum doca_sha_algorithm
doca_sha_task_partial_hash_get_algorithm(const struct doca_sha_task_partial_hash *task);

/**
 * Begin a new hash. No task exists.
 *
 * @param task the task
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task);

/**
 * Mark the source as the last part. No task exists.
 *
 * @param task the task
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task);

/**
 * Get whether the source is the last part. No task exists.
 *
 * @param task not used
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t
doca_sha_task_partial_hash_get_is_final(const struct doca_sha_task_partial_hash *task);

/**
 * Get whether the destination contains the hash. No task exists.
 *
 * @param task not used
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t
doca_sha_task_partial_hash_get_has_result(const struct doca_sha_task_partial_hash *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SHA_H_ */
