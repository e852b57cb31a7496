/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sync events. A sync event is a number of 64 bits, at first 0. A publisher updates it and a subscriber
 * waits for it. The event has one location for each of them: the CPU of this process, another function of
 * the card (remote PCI), or for the publisher a peer on the network (remote net). The locations only
 * determine the memory of the event; each process that has the event can read, update and wait.
 *
 * The process that creates the event adds the locations, starts it, and exports it. Export returns bytes
 * that the program sends to the peer over any channel. A process on the other function of the card
 * creates its event from them with doca_sync_event_create_from_export(), starts it, and uses it like the
 * original. A peer on the network creates a remote event with
 * doca_sync_event_remote_net_create_from_export(), which only the tasks of doca_rdma.h use. Updates
 * become visible to all others without progress of any process. Additions are atomic: while the event is
 * exported, all processes add by the device, and before that the creator adds by the CPU. An assignment
 * at the same time as an addition of another process may be lost.
 *
 * The event is used either directly, with doca_sync_event_start() and doca_sync_event_stop(), or as a
 * context (doca_ctx.h) with tasks. doca_ctx_start() returns DOCA_SUCCESS, and the context is RUNNING. The
 * functions without tasks work in both cases. A task that fails does not stop its context, and submitting
 * a task with a mask or pointer that is not valid returns DOCA_ERROR_INVALID_VALUE. DPA and GPU are not
 * supported.
 *
 * Thread safety of all functions: only one thread at a time may use an event, its tasks and its progress
 * engine; several processes, and several objects of one event, may be used at the same time. Capability
 * functions may be called from any thread. On any error the outputs keep their values. Semantics: DOCA
 * 3.0, doca_sync_event.h; docs/doca-sync-event-rules.md marks the rules that DOCA does not document with
 * R.
 */
#ifndef DOCA_SYNC_EVENT_H_
#define DOCA_SYNC_EVENT_H_

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
struct doca_dpa;
struct doca_gpu;
struct doca_sync_event;
struct doca_sync_event_remote_net;
struct doca_sync_event_task_get;
struct doca_sync_event_task_notify_add;
struct doca_sync_event_task_notify_set;
struct doca_sync_event_task_wait_eq;
struct doca_sync_event_task_wait_neq;
struct doca_task;

/** Handles for code of a DPA or GPU, which are not supported. */
typedef uint64_t doca_dpa_dev_sync_event_t;
typedef uint64_t doca_dpa_dev_sync_event_remote_net_t;
typedef uint64_t doca_gpu_dev_sync_event_t;
typedef uint64_t doca_gpu_dev_sync_event_remote_net_t;

/**
 * Report the completion of a read. The program owns the task again and may free it, submit it again
 * or keep it. doca_task_get_status() returns one of:
 *
 * - DOCA_SUCCESS: the operation was executed, or the condition of the wait is true
 * - DOCA_ERROR_NOT_PERMITTED: the exporter does not permit the access, or no longer permits it
 * - DOCA_ERROR_SHUTDOWN: the context was stopped
 * - DOCA_ERROR_IO_FAILED: the device failed
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_sync_event_task_get_completion_cb_t)(struct doca_sync_event_task_get *task,
							 union doca_data task_user_data,
							 union doca_data ctx_user_data);

/**
 * Report the completion of an assignment. The program owns the task again and may free it, submit
 * it again or keep it. doca_task_get_status() returns one of the results of
 * doca_sync_event_task_get_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_sync_event_task_notify_set_completion_cb_t)(
	struct doca_sync_event_task_notify_set *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Report the completion of an addition. The program owns the task again and may free it, submit it
 * again or keep it. doca_task_get_status() returns one of the results of
 * doca_sync_event_task_get_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_sync_event_task_notify_add_completion_cb_t)(
	struct doca_sync_event_task_notify_add *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Report the completion of a wait for a value. The program owns the task again and may free it,
 * submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_sync_event_task_get_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_sync_event_task_wait_eq_completion_cb_t)(
	struct doca_sync_event_task_wait_eq *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Report the completion of a wait for a change. The program owns the task again and may free it,
 * submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_sync_event_task_get_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_sync_event_task_wait_neq_completion_cb_t)(
	struct doca_sync_event_task_wait_neq *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether events can be created from exports over PCI with the device.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot import memory
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether events can be exported over PCI with the device.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot export memory
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether events can be exported to peers on the network with the device.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or no atomics
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_is_export_to_remote_net_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether events can be exported to a DPA.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether events can be exported to a GPU.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether remote events can be created from exports with the device.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or no atomics
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_remote_net_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether remote events can be exported to a DPA.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether remote events can be exported to a GPU.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of events can execute reads.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of events can execute assignments.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of events can execute additions.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of events can execute waits for a value.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of events can execute waits for a change.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo);

/**
 * Create an event.
 *
 * @param event out: the event, owned by the caller until doca_sync_event_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_create(struct doca_sync_event **event);

/**
 * Destroy an event. An event that is started without a context is stopped.
 *
 * @param event an event whose context, if any, is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context of the event is not IDLE
 * - DOCA_ERROR_DRIVER: the device fails to end an export; the event stays and can be destroyed again
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/**
 * Get the context of an event. The event can then be started as a context only.
 *
 * @param event an event that is not started
 * @return the context, valid until doca_sync_event_destroy(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/**
 * Create an event from an export over PCI. It has its locations already, and must be started before
 * it is used.
 *
 * @param dev an open device; in use until the event is destroyed
 * @param data bytes of the export; owned by the caller, may be freed after the call
 * @param sz number of bytes
 * @param event out: the event, owned by the caller until doca_sync_event_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the bytes are not an export over PCI
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot import memory, or has no atomics
 * - DOCA_ERROR_NOT_PERMITTED: the export is of another card, or has ended
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev,
								  const uint8_t *data, size_t sz,
								  struct doca_sync_event **event);

/**
 * Create a remote event from an export to peers on the network, for tasks of doca_rdma.h.
 *
 * @param dev an open device; in use until the event is destroyed
 * @param data bytes of the export; owned by the caller, may be freed after the call
 * @param sz number of bytes
 * @param event out: the event, owned by the caller until doca_sync_event_remote_net_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the bytes are not an export to the network
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or no atomics
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
					      struct doca_sync_event_remote_net **event);

/**
 * Destroy a remote event.
 *
 * @param event an event that no submitted task uses; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_DRIVER: the device fails; the event can be destroyed again
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event);

/**
 * Locate the publisher at the CPU of this process.
 *
 * @param event an event of doca_sync_event_create() that is not started
 * @param dev an open device; in use until the event is destroyed
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the event has a location of this kind already
 * - DOCA_ERROR_BAD_STATE: the event is started or was created from an export
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

/**
 * Locate the publisher at a DPA.
 *
 * @param event an event
 * @param dpa never read
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

/**
 * Locate the publisher at a GPU.
 *
 * @param event an event
 * @param gpu never read
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

/**
 * Locate the publisher at another function of the card.
 *
 * @param event an event of doca_sync_event_create() that is not started
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL, or the event has a location of this kind
 *   already
 * - DOCA_ERROR_BAD_STATE: the event is started or was created from an export
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);

/**
 * Locate the subscriber at the CPU of this process.
 *
 * @param event an event of doca_sync_event_create() that is not started
 * @param dev an open device; in use until the event is destroyed
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the event has a location of this kind already
 * - DOCA_ERROR_BAD_STATE: the event is started or was created from an export
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

/**
 * Locate the subscriber at a DPA.
 *
 * @param event an event
 * @param dpa never read
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

/**
 * Locate the subscriber at a GPU.
 *
 * @param event an event
 * @param gpu never read
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

/**
 * Locate the subscriber at another function of the card.
 *
 * @param event an event of doca_sync_event_create() that is not started
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL, or the event has a location of this kind
 *   already
 * - DOCA_ERROR_BAD_STATE: the event is started or was created from an export
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);

/**
 * Locate the publisher at a peer on the network.
 *
 * @param event an event of doca_sync_event_create() that is not started
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL, or the event has a location of this kind
 *   already
 * - DOCA_ERROR_BAD_STATE: the event is started or was created from an export
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event);

/**
 * Set the memory of the event. By default the library allocates it. The value that the memory has
 * is kept.
 *
 * @param event an event of doca_sync_event_create() that is not started
 * @param addr 8 bytes, aligned to 8; owned by the caller, must exist until the event is destroyed
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the address is not a multiple of 8
 * - DOCA_ERROR_BAD_STATE: the event is started or was created from an export
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event,
							uint64_t *addr);

/**
 * Set the memory of the event to the data of a buf. The value that the memory has is kept.
 *
 * @param event an event of doca_sync_event_create() that is not started
 * @param buf a buf, no list, with 8 bytes of data, aligned to 8; its map permits local and remote
 *         reads, writes and atomics, for export over PCI also access over PCI. Owned by the caller,
 *         must exist until the event is destroyed
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is started or was created from an export
 * - DOCA_ERROR_NOT_PERMITTED: the permissions or the length are wrong, or the buf is a list
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event,
							    struct doca_buf *buf);

/**
 * Start an event that is not used as a context.
 *
 * @param event an event with a publisher and a subscriber, or created from an export
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is started; lacks a publisher or subscriber; or
 *   doca_sync_event_as_ctx() was called
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_start(struct doca_sync_event *event);

/**
 * Stop an event that is not used as a context. Its exports become invalid.
 *
 * @param event an event that doca_sync_event_start() started
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started, or is used as a context
 * - DOCA_ERROR_DRIVER: the device fails to end an export; the event can be stopped again
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/**
 * Export an event to processes on another function of the card. A process that has the bytes can update
 * the event.
 *
 * @param event an event that is started, also as a context
 * @param dev an open device; in use until the event is stopped
 * @param data out: at most 1024 bytes, owned by the event; valid until it is stopped
 * @param sz out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_SUPPORTED: a location is neither the CPU nor remote PCI, the event was created
 *   from an export, or the device cannot export memory
 * - DOCA_ERROR_NO_MEMORY: an allocation fails, or the device has no resources
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
								    struct doca_dev *dev,
								    const uint8_t **data,
								    size_t *sz);

/**
 * Export an event to a peer on the network. A peer needs a connection with permissions for the
 * tasks.
 *
 * @param event an event that is started, also as a context
 * @param data out: at most 4096 bytes, owned by the event; valid until it is stopped
 * @param sz out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_SUPPORTED: the publisher is not remote net, or the device has no port or no
 *   atomics
 * - DOCA_ERROR_NO_MEMORY: an allocation fails, or the device has no resources
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
								    const uint8_t **data,
								    size_t *sz);

/**
 * Get the handle for code of a DPA.
 *
 * @param event an event
 * @param dpa never read
 * @param handle never written
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event,
							      struct doca_dpa *dpa,
							      doca_dpa_dev_sync_event_t *handle);

/**
 * Get the handle for code of a GPU.
 *
 * @param event an event
 * @param gpu never read
 * @param handle never written
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event,
							      struct doca_gpu *gpu,
							      doca_gpu_dev_sync_event_t **handle);

/**
 * Get the handle for code of a DPA.
 *
 * @param event an event
 * @param dpa never read
 * @param handle never written
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_remote_net_get_dpa_handle(
	struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
	doca_dpa_dev_sync_event_remote_net_t *handle);

/**
 * Get the handle for code of a GPU.
 *
 * @param event an event
 * @param gpu never read
 * @param handle never written
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_remote_net_get_gpu_handle(
	struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
	doca_gpu_dev_sync_event_remote_net_t *handle);

/**
 * Read the value.
 *
 * @param event an event that is started, also as a context
 * @param value out: the value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);

/**
 * Add to the value, atomically.
 *
 * @param event an event that is started, also as a context
 * @param value what is added, modulo 2^64
 * @param fetched out: the value before
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_update_add(struct doca_sync_event *event,
							  uint64_t value, uint64_t *fetched);

/**
 * Assign a value.
 *
 * @param event an event that is started, also as a context
 * @param value the new value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_update_set(struct doca_sync_event *event,
							  uint64_t value);

/**
 * Wait until the bits of the event that a mask selects are greater than a value, as unsigned
 * numbers. The function looks again and again, and soon sleeps between two looks for some
 * microseconds.
 *
 * @param event an event that is started, also as a context
 * @param value the value that (event & mask) is compared with
 * @param mask bits of the event that are compared
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event,
						       uint64_t value, uint64_t mask);

/**
 * Wait until the bits of the event that a mask selects are greater than a value, as unsigned
 * numbers. Other threads may run between two looks (sched_yield()).
 *
 * @param event an event that is started, also as a context
 * @param value the value that (event & mask) is compared with
 * @param mask bits of the event that are compared
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event,
							     uint64_t value, uint64_t mask);

/**
 * Wait until the bits of the event that a mask selects equal a value. The function looks
 * again and again, and soon sleeps between two looks for some microseconds.
 *
 * @param event an event that is started, also as a context
 * @param value the value that (event & mask) is compared with
 * @param mask bits of the event that are compared
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event,
						       uint64_t value, uint64_t mask);

/**
 * Wait until the bits of the event that a mask selects equal a value. Other threads may run between
 * two looks (sched_yield()).
 *
 * @param event an event that is started, also as a context
 * @param value the value that (event & mask) is compared with
 * @param mask bits of the event that are compared
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event,
							     uint64_t value, uint64_t mask);

/**
 * Wait until the bits of the event that a mask selects differ from a value. The function looks
 * again and again, and soon sleeps between two looks for some microseconds.
 *
 * @param event an event that is started, also as a context
 * @param value the value that (event & mask) is compared with
 * @param mask bits of the event that are compared
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event,
							uint64_t value, uint64_t mask);

/**
 * Wait until the bits of the event that a mask selects differ from a value. Other threads may run
 * between two looks (sched_yield()).
 *
 * @param event an event that is started, also as a context
 * @param value the value that (event & mask) is compared with
 * @param mask bits of the event that are compared
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event is NULL
 * - DOCA_ERROR_BAD_STATE: the event is not started
 * - DOCA_ERROR_NOT_PERMITTED: the exporter no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event,
							      uint64_t value, uint64_t mask);

/**
 * Configure reads.
 *
 * @param event an event whose context is IDLE
 * @param success_completion_cb called for tasks that succeeded
 * @param error_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once; 0 for none
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_get_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_get_completion_cb_t success_completion_cb,
	doca_sync_event_task_get_completion_cb_t error_completion_cb, uint32_t num_tasks);

/**
 * Allocate a read. It can be submitted many times, each time with other arguments.
 *
 * @param event an event whose context is RUNNING
 * @param ret_val_ptr receives the value; owned by the caller, must exist until the task has
 *         completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_get_alloc_init(
	struct doca_sync_event *event, uint64_t *ret_val_ptr, union doca_data user_data,
	struct doca_sync_event_task_get **task);

/**
 * Get the generic task of a read.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task);

/**
 * Set the output of a read.
 *
 * @param task a task that is not submitted, not NULL
 * @param ret_val_ptr receives the value; owned by the caller, must exist until the task has
 *         completed
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task,
					 uint64_t *ret_val_ptr);

/**
 * Get the output of a read.
 *
 * @param task the task, not NULL
 * @return the output, owned by the caller
 */
DOCA_EXPERIMENTAL uint64_t *
doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task);

/**
 * Configure assignments.
 *
 * @param event an event whose context is IDLE
 * @param success_completion_cb called for tasks that succeeded
 * @param error_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once; 0 for none
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_notify_set_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_set_completion_cb_t success_completion_cb,
	doca_sync_event_task_notify_set_completion_cb_t error_completion_cb, uint32_t num_tasks);

/**
 * Allocate an assignment. It can be submitted many times, each time with other arguments.
 *
 * @param event an event whose context is RUNNING
 * @param set_val the new value
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_notify_set_alloc_init(
	struct doca_sync_event *event, uint64_t set_val, union doca_data user_data,
	struct doca_sync_event_task_notify_set **task);

/**
 * Get the generic task of an assignment.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task);

/**
 * Set the new value of an assignment.
 *
 * @param task a task that is not submitted, not NULL
 * @param set_val the new value
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task,
					    uint64_t set_val);

/**
 * Get the new value of an assignment.
 *
 * @param task the task, not NULL
 * @return the new value
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task);

/**
 * Configure additions.
 *
 * @param event an event whose context is IDLE
 * @param success_completion_cb called for tasks that succeeded
 * @param error_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once; 0 for none
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_notify_add_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_add_completion_cb_t success_completion_cb,
	doca_sync_event_task_notify_add_completion_cb_t error_completion_cb, uint32_t num_tasks);

/**
 * Allocate an addition. It can be submitted many times, each time with other arguments.
 *
 * @param event an event whose context is RUNNING
 * @param inc_val what is added, modulo 2^64
 * @param fetched_val_ptr receives the value before; owned by the caller, must exist until the task
 *         has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_notify_add_alloc_init(
	struct doca_sync_event *event, uint64_t inc_val, uint64_t *fetched_val_ptr,
	union doca_data user_data, struct doca_sync_event_task_notify_add **task);

/**
 * Get the generic task of an addition.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task);

/**
 * Set the number that is added of an addition.
 *
 * @param task a task that is not submitted, not NULL
 * @param inc_val what is added, modulo 2^64
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task,
					    uint64_t inc_val);

/**
 * Get the number that is added of an addition.
 *
 * @param task the task, not NULL
 * @return the number that is added
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task);

/**
 * Set the output for the value before of an addition.
 *
 * @param task a task that is not submitted, not NULL
 * @param fetched_val_ptr receives the value before; owned by the caller, must exist until the task
 *         has completed
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_notify_add_set_fetched_val_ptr(struct doca_sync_event_task_notify_add *task,
						    uint64_t *fetched_val_ptr);

/**
 * Get the output for the value before of an addition.
 *
 * @param task the task, not NULL
 * @return the output for the value before, owned by the caller
 */
DOCA_EXPERIMENTAL uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(
	const struct doca_sync_event_task_notify_add *task);

/**
 * Configure waits for a value.
 *
 * @param event an event whose context is IDLE
 * @param success_completion_cb called for tasks that succeeded
 * @param error_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once; 0 for none
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_eq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_eq_completion_cb_t success_completion_cb,
	doca_sync_event_task_wait_eq_completion_cb_t error_completion_cb, uint32_t num_tasks);

/**
 * Allocate a wait for a value. It can be submitted many times, each time with other arguments.
 *
 * @param event an event whose context is RUNNING
 * @param wait_val the value that (event & mask) is compared with
 * @param mask bits of the event that are compared: 0, or 1, 2, 4 or 8 neighbouring bytes of 0xff
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_eq_alloc_init(
	struct doca_sync_event *event, uint64_t wait_val, uint64_t mask, union doca_data user_data,
	struct doca_sync_event_task_wait_eq **task);

/**
 * Get the generic task of a wait for a value.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task);

/**
 * Set the value that is compared of a wait for a value.
 *
 * @param task a task that is not submitted, not NULL
 * @param wait_val the value that (event & mask) is compared with
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task,
					  uint64_t wait_val);

/**
 * Get the value that is compared of a wait for a value.
 *
 * @param task the task, not NULL
 * @return the value that is compared
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task);

/**
 * Set the mask of a wait for a value.
 *
 * @param task a task that is not submitted, not NULL
 * @param mask bits of the event that are compared: 0, or 1, 2, 4 or 8 neighbouring bytes of 0xff
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask);

/**
 * Get the mask of a wait for a value.
 *
 * @param task the task, not NULL
 * @return the mask
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task);

/**
 * Configure waits for a change.
 *
 * @param event an event whose context is IDLE
 * @param success_completion_cb called for tasks that succeeded
 * @param error_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once; 0 for none
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_neq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_neq_completion_cb_t success_completion_cb,
	doca_sync_event_task_wait_neq_completion_cb_t error_completion_cb, uint32_t num_tasks);

/**
 * Allocate a wait for a change. It can be submitted many times, each time with other arguments.
 *
 * @param event an event whose context is RUNNING
 * @param wait_val the value that (event & mask) is compared with
 * @param mask bits of the event that are compared: 0, or 1, 2, 4 or 8 neighbouring bytes of 0xff
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the event or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_neq_alloc_init(
	struct doca_sync_event *event, uint64_t wait_val, uint64_t mask, union doca_data user_data,
	struct doca_sync_event_task_wait_neq **task);

/**
 * Get the generic task of a wait for a change.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task);

/**
 * Set the value that is compared of a wait for a change.
 *
 * @param task a task that is not submitted, not NULL
 * @param wait_val the value that (event & mask) is compared with
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task,
					   uint64_t wait_val);

/**
 * Get the value that is compared of a wait for a change.
 *
 * @param task the task, not NULL
 * @return the value that is compared
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_wait_neq_get_wait_val(const struct doca_sync_event_task_wait_neq *task);

/**
 * Set the mask of a wait for a change.
 *
 * @param task a task that is not submitted, not NULL
 * @param mask bits of the event that are compared: 0, or 1, 2, 4 or 8 neighbouring bytes of 0xff
 */
DOCA_EXPERIMENTAL void
doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task, uint64_t mask);

/**
 * Get the mask of a wait for a change.
 *
 * @param task the task, not NULL
 * @return the mask
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SYNC_EVENT_H_ */
