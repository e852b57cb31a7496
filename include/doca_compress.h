/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compression with the engine of a device. Each task of the context (doca_ctx.h) reads the data of
 * its source buf as a whole stream, and appends the result to the data of its destination buf.
 *
 * BlueField-2 compresses and decompresses deflate, BlueField-3 decompresses deflate and LZ4. This
 * library never does it on the CPU: what the device lacks is DOCA_ERROR_NOT_SUPPORTED.
 *
 * Streams of deflate are raw, without the header and trailer of zlib or gzip. Streams of LZ4 are
 * the blocks of a frame, each after its length, without what is around them; a block of length 0
 * ends them. Both kinds of bufs may be on a map that was imported over PCI. A source and a
 * destination are one buf each, not a list.
 *
 * Tasks of one context complete in the order in which they were submitted. A task whose data are
 * wrong fails alone. If the device refuses a task, for example because a map was revoked, its queue
 * has failed: the context becomes STOPPING, and later tasks are flushed.
 *
 * Thread safety of all functions: only one thread at a time may use a context, its tasks and its
 * progress engine. Capability functions may be called from any thread. On any error the outputs
 * keep their values. Semantics: DOCA 3.0 to 3.3, doca_compress.h.
 */
#ifndef DOCA_COMPRESS_H_
#define DOCA_COMPRESS_H_

#include <inttypes.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_compress;
struct doca_compress_task_compress_deflate;
struct doca_compress_task_decompress_deflate;
struct doca_compress_task_decompress_lz4;
struct doca_compress_task_decompress_lz4_stream;
struct doca_compress_task_decompress_lz4_block;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/**
 * Create a compress object.
 *
 * @param dev an open device; in use until doca_compress_destroy()
 * @param compress out: the object, owned by the caller until doca_compress_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_INITIALIZATION: the device has no compression engine
 */
DOCA_STABLE doca_error_t doca_compress_create(struct doca_dev *dev,
					      struct doca_compress **compress);

/**
 * Destroy a compress object and disconnect its context from its progress engine. Its own callbacks
 * may call this function.
 *
 * @param compress an object whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_compress_destroy(struct doca_compress *compress);

/**
 * Get the context of a compress object.
 *
 * @param compress the object
 * @return the context, valid until doca_compress_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress);

/**
 * Get the maximum number of tasks of all kinds together.
 *
 * @param compress the object, in any state of its context
 * @param max_num_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress,
							     uint32_t *max_num_tasks);

/* --- compression with deflate --- */

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again
 * or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_compress_task_compress_deflate_completion_cb_t)(
	struct doca_compress_task_compress_deflate *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether the device can compress the data of a buf into a raw deflate stream (RFC 1951).
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_compress_cap_task_compress_deflate_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum length of a source.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, which is 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure tasks of this kind. One kind at least is required before the context is started.
 *
 * @param compress an object whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum less those
 *         of other kinds
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 */
DOCA_STABLE doca_error_t doca_compress_task_compress_deflate_set_conf(
	struct doca_compress *compress,
	doca_compress_task_compress_deflate_completion_cb_t task_completion_cb,
	doca_compress_task_compress_deflate_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task. It can be submitted many times, each time with other bufs.
 *
 * @param compress an object whose context is RUNNING
 * @param src buf whose data is read; owned by the caller, must exist until the task has completed;
 *         may be set later
 * @param dst buf to whose data the result is appended; owned by the caller, must exist until the
 *         task has completed; may be set later
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated
 */
DOCA_STABLE doca_error_t doca_compress_task_compress_deflate_alloc_init(
	struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst,
	union doca_data user_data, struct doca_compress_task_compress_deflate **task);

/**
 * Get the generic task for the functions of doca_pe.h. Only DOCA_SUCCESS extends the data of the
 * destination; after an error the bufs are unchanged, but bytes behind the data of the destination
 * may have been written.
 *
 * doca_task_submit() refuses a task, which then still belongs to the program, with one of these:
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL or a list, the source has no data or more than the
 *   maximum, or the destination has no room
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map was imported without the right
 *
 * The status of a completed task is one of these:
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IO_FAILED: the result does not fit into the destination, or the device failed
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it; the
 *   context becomes STOPPING
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task was refused by the device
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *
doca_compress_task_compress_deflate_as_task(struct doca_compress_task_compress_deflate *task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void
doca_compress_task_compress_deflate_set_src(struct doca_compress_task_compress_deflate *task,
					    const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE const struct doca_buf *
doca_compress_task_compress_deflate_get_src(const struct doca_compress_task_compress_deflate *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void
doca_compress_task_compress_deflate_set_dst(struct doca_compress_task_compress_deflate *task,
					    struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE struct doca_buf *
doca_compress_task_compress_deflate_get_dst(const struct doca_compress_task_compress_deflate *task);

/**
 * Get the CRC-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_STABLE uint32_t doca_compress_task_compress_deflate_get_crc_cs(
	const struct doca_compress_task_compress_deflate *task);

/**
 * Get the Adler-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_STABLE uint32_t doca_compress_task_compress_deflate_get_adler_cs(
	const struct doca_compress_task_compress_deflate *task);

/* --- decompression of deflate --- */

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again
 * or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_compress_task_decompress_deflate_completion_cb_t)(
	struct doca_compress_task_decompress_deflate *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether the device can decompress a raw deflate stream (RFC 1951).
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_compress_cap_task_decompress_deflate_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum length of a source.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, which is 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure tasks of this kind. One kind at least is required before the context is started.
 *
 * @param compress an object whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum less those
 *         of other kinds
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 */
DOCA_STABLE doca_error_t doca_compress_task_decompress_deflate_set_conf(
	struct doca_compress *compress,
	doca_compress_task_decompress_deflate_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_deflate_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task. It can be submitted many times, each time with other bufs.
 *
 * @param compress an object whose context is RUNNING
 * @param src buf whose data is read; owned by the caller, must exist until the task has completed;
 *         may be set later
 * @param dst buf to whose data the result is appended; owned by the caller, must exist until the
 *         task has completed; may be set later
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated
 */
DOCA_STABLE doca_error_t doca_compress_task_decompress_deflate_alloc_init(
	struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst,
	union doca_data user_data, struct doca_compress_task_decompress_deflate **task);

/**
 * Get the generic task for the functions of doca_pe.h. Only DOCA_SUCCESS extends the data of the
 * destination; after an error the bufs are unchanged, but bytes behind the data of the destination
 * may have been written.
 *
 * doca_task_submit() refuses a task, which then still belongs to the program, with one of these:
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL or a list, the source has no data or more than the
 *   maximum, or the destination has no room
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map was imported without the right
 *
 * The status of a completed task is one of these:
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IO_FAILED: the result does not fit into the destination, the source is no whole and
 *   valid stream, or the device failed
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it; the
 *   context becomes STOPPING
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task was refused by the device
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *
doca_compress_task_decompress_deflate_as_task(struct doca_compress_task_decompress_deflate *task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void
doca_compress_task_decompress_deflate_set_src(struct doca_compress_task_decompress_deflate *task,
					      const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE const struct doca_buf *doca_compress_task_decompress_deflate_get_src(
	const struct doca_compress_task_decompress_deflate *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void
doca_compress_task_decompress_deflate_set_dst(struct doca_compress_task_decompress_deflate *task,
					      struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE struct doca_buf *doca_compress_task_decompress_deflate_get_dst(
	const struct doca_compress_task_decompress_deflate *task);

/**
 * Get the CRC-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_STABLE uint32_t doca_compress_task_decompress_deflate_get_crc_cs(
	const struct doca_compress_task_decompress_deflate *task);

/**
 * Get the Adler-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_STABLE uint32_t doca_compress_task_decompress_deflate_get_adler_cs(
	const struct doca_compress_task_decompress_deflate *task);

/* --- decompression of LZ4 --- */

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again
 * or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_compress_task_decompress_lz4_completion_cb_t)(
	struct doca_compress_task_decompress_lz4 *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether the device can decompress blocks of an LZ4 frame without checksums, which may refer
 * to each other. Deprecated: the tasks of LZ4 streams replace it.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t
doca_compress_cap_task_decompress_lz4_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum length of a source.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, which is 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure tasks of this kind. One kind at least is required before the context is started.
 *
 * @param compress an object whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum less those
 *         of other kinds
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 */
DOCA_STABLE doca_error_t doca_compress_task_decompress_lz4_set_conf(
	struct doca_compress *compress,
	doca_compress_task_decompress_lz4_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_lz4_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task. It can be submitted many times, each time with other bufs.
 *
 * @param compress an object whose context is RUNNING
 * @param src buf whose data is read; owned by the caller, must exist until the task has completed;
 *         may be set later
 * @param dst buf to whose data the result is appended; owned by the caller, must exist until the
 *         task has completed; may be set later
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated
 */
DOCA_STABLE doca_error_t doca_compress_task_decompress_lz4_alloc_init(
	struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst,
	union doca_data user_data, struct doca_compress_task_decompress_lz4 **task);

/**
 * Get the generic task for the functions of doca_pe.h. Only DOCA_SUCCESS extends the data of the
 * destination; after an error the bufs are unchanged, but bytes behind the data of the destination
 * may have been written.
 *
 * doca_task_submit() refuses a task, which then still belongs to the program, with one of these:
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL or a list, the source has no data or more than the
 *   maximum, or the destination has no room
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map was imported without the right
 *
 * The status of a completed task is one of these:
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IO_FAILED: the result does not fit into the destination, the source is no whole and
 *   valid stream, or the device failed
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it; the
 *   context becomes STOPPING
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task was refused by the device
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *
doca_compress_task_decompress_lz4_as_task(struct doca_compress_task_decompress_lz4 *task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void
doca_compress_task_decompress_lz4_set_src(struct doca_compress_task_decompress_lz4 *task,
					  const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE const struct doca_buf *
doca_compress_task_decompress_lz4_get_src(const struct doca_compress_task_decompress_lz4 *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the buf; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void
doca_compress_task_decompress_lz4_set_dst(struct doca_compress_task_decompress_lz4 *task,
					  struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_STABLE struct doca_buf *
doca_compress_task_decompress_lz4_get_dst(const struct doca_compress_task_decompress_lz4 *task);

/**
 * Get the CRC-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_STABLE uint32_t
doca_compress_task_decompress_lz4_get_crc_cs(const struct doca_compress_task_decompress_lz4 *task);

/**
 * Get the Adler-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_STABLE uint32_t doca_compress_task_decompress_lz4_get_adler_cs(
	const struct doca_compress_task_decompress_lz4 *task);

/* --- decompression of LZ4 streams --- */

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again
 * or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_compress_task_decompress_lz4_stream_completion_cb_t)(
	struct doca_compress_task_decompress_lz4_stream *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether the device can decompress blocks of an LZ4 frame.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_compress_cap_task_decompress_lz4_stream_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum length of a source.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, which is 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure tasks of this kind. One kind at least is required before the context is started.
 *
 * @param compress an object whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum less those
 *         of other kinds
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_stream_set_conf(
	struct doca_compress *compress,
	doca_compress_task_decompress_lz4_stream_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_lz4_stream_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task. It can be submitted many times, each time with other bufs.
 *
 * @param compress an object whose context is RUNNING
 * @param has_block_checksum 1: each block is followed by its checksum, which the device checks
 * @param are_blocks_independent 1: no block refers to another one
 * @param src buf whose data is read; owned by the caller, must exist until the task has completed;
 *         may be set later
 * @param dst buf to whose data the result is appended; owned by the caller, must exist until the
 *         task has completed; may be set later
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(
	struct doca_compress *compress, uint8_t has_block_checksum, uint8_t are_blocks_independent,
	const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
	struct doca_compress_task_decompress_lz4_stream **task);

/**
 * Get the generic task for the functions of doca_pe.h. Only DOCA_SUCCESS extends the data of the
 * destination; after an error the bufs are unchanged, but bytes behind the data of the destination
 * may have been written.
 *
 * doca_task_submit() refuses a task, which then still belongs to the program, with one of these:
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL or a list, the source has no data or more than the
 *   maximum, or the destination has no room
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map was imported without the right
 *
 * The status of a completed task is one of these:
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IO_FAILED: the result does not fit into the destination, the source is no whole and
 *   valid stream, or the device failed
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it; the
 *   context becomes STOPPING
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task was refused by the device
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_compress_task_decompress_lz4_stream_as_task(
	struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the buf; owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_lz4_stream_set_src(
	struct doca_compress_task_decompress_lz4_stream *task, const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_compress_task_decompress_lz4_stream_get_src(
	const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the buf; owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_lz4_stream_set_dst(
	struct doca_compress_task_decompress_lz4_stream *task, struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_compress_task_decompress_lz4_stream_get_dst(
	const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Get the CRC-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_EXPERIMENTAL uint32_t doca_compress_task_decompress_lz4_stream_get_crc_cs(
	const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Get the xxHash-32 of the uncompressed data, with seed 0.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the four bytes of the checksum as an LZ4 frame has them, read as a big-endian number:
 * htobe32() of the word that a program reads from the frame
 */
DOCA_EXPERIMENTAL uint32_t doca_compress_task_decompress_lz4_stream_get_xxh_cs(
	const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set whether each block is followed by its checksum.
 *
 * @param task a task that is not submitted, not NULL
 * @param has_block_checksum 1 or 0
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_lz4_stream_set_has_block_checksum(
	struct doca_compress_task_decompress_lz4_stream *task, uint8_t has_block_checksum);

/**
 * Get whether each block is followed by its checksum.
 *
 * @param task the task, not NULL
 * @return what was set last
 */
DOCA_EXPERIMENTAL uint8_t doca_compress_task_decompress_lz4_stream_get_has_block_checksum(
	const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set whether no block refers to another one.
 *
 * @param task a task that is not submitted, not NULL
 * @param are_blocks_independent 1 or 0
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(
	struct doca_compress_task_decompress_lz4_stream *task, uint8_t are_blocks_independent);

/**
 * Get whether no block refers to another one.
 *
 * @param task the task, not NULL
 * @return what was set last
 */
DOCA_EXPERIMENTAL uint8_t doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(
	const struct doca_compress_task_decompress_lz4_stream *task);

/* --- decompression of LZ4 blocks --- */

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again
 * or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_compress_task_decompress_lz4_block_completion_cb_t)(
	struct doca_compress_task_decompress_lz4_block *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether the device can decompress the data of one LZ4 block.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_compress_cap_task_decompress_lz4_block_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum length of a source.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, which is 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure tasks of this kind. One kind at least is required before the context is started.
 *
 * @param compress an object whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum less those
 *         of other kinds
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the device lacks this kind of tasks
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_block_set_conf(
	struct doca_compress *compress,
	doca_compress_task_decompress_lz4_block_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_lz4_block_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task. It can be submitted many times, each time with other bufs.
 *
 * @param compress an object whose context is RUNNING
 * @param src buf whose data is read; owned by the caller, must exist until the task has completed;
 *         may be set later
 * @param dst buf to whose data the result is appended; owned by the caller, must exist until the
 *         task has completed; may be set later
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_block_alloc_init(
	struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst,
	union doca_data user_data, struct doca_compress_task_decompress_lz4_block **task);

/**
 * Get the generic task for the functions of doca_pe.h. Only DOCA_SUCCESS extends the data of the
 * destination; after an error the bufs are unchanged, but bytes behind the data of the destination
 * may have been written.
 *
 * doca_task_submit() refuses a task, which then still belongs to the program, with one of these:
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL or a list, the source has no data or more than the
 *   maximum, or the destination has no room
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map was imported without the right
 *
 * The status of a completed task is one of these:
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IO_FAILED: the result does not fit into the destination, the source is no whole and
 *   valid stream, or the device failed
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it; the
 *   context becomes STOPPING
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task was refused by the device
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_compress_task_decompress_lz4_block_as_task(
	struct doca_compress_task_decompress_lz4_block *task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the buf; owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_lz4_block_set_src(
	struct doca_compress_task_decompress_lz4_block *task, const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_compress_task_decompress_lz4_block_get_src(
	const struct doca_compress_task_decompress_lz4_block *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the buf; owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_lz4_block_set_dst(
	struct doca_compress_task_decompress_lz4_block *task, struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_compress_task_decompress_lz4_block_get_dst(
	const struct doca_compress_task_decompress_lz4_block *task);

/**
 * Get the CRC-32 of the uncompressed data, as zlib computes it.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the checksum, in the order of the CPU
 */
DOCA_EXPERIMENTAL uint32_t doca_compress_task_decompress_lz4_block_get_crc_cs(
	const struct doca_compress_task_decompress_lz4_block *task);

/**
 * Get the xxHash-32 of the uncompressed data, with seed 0.
 *
 * @param task a task that has succeeded, and was neither submitted again nor freed; not NULL
 * @return the four bytes of the checksum as an LZ4 frame has them, read as a big-endian number:
 * htobe32() of the word that a program reads from the frame
 */
DOCA_EXPERIMENTAL uint32_t doca_compress_task_decompress_lz4_block_get_xxh_cs(
	const struct doca_compress_task_decompress_lz4_block *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMPRESS_H_ */
