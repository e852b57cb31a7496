/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of sync events that are not implemented. */
#include <doca_sync_event.h>

#include "log/log.h"

doca_error_t doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_cap_is_export_to_remote_net_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_cap_remote_net_is_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	(void)event;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
						size_t sz, struct doca_sync_event **event)
{
	(void)dev;
	(void)data;
	(void)sz;
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
					      struct doca_sync_event_remote_net **event)
{
	(void)dev;
	(void)data;
	(void)sz;
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
							struct doca_dev *dev)
{
	(void)event;
	(void)dev;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
							struct doca_dpa *dpa)
{
	(void)event;
	(void)dpa;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event,
							struct doca_gpu *gpu)
{
	(void)event;
	(void)gpu;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
							 struct doca_dev *dev)
{
	(void)event;
	(void)dev;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
							 struct doca_dpa *dpa)
{
	(void)event;
	(void)dpa;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event,
							 struct doca_gpu *gpu)
{
	(void)event;
	(void)gpu;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	(void)event;
	(void)addr;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf)
{
	(void)event;
	(void)buf;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev, const uint8_t **data,
						  size_t *sz)
{
	(void)event;
	(void)dev;
	(void)data;
	(void)sz;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
						  const uint8_t **data, size_t *sz)
{
	(void)event;
	(void)data;
	(void)sz;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *handle)
{
	(void)event;
	(void)dpa;
	(void)handle;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **handle)
{
	(void)event;
	(void)gpu;
	(void)handle;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_remote_net_get_dpa_handle(struct doca_sync_event_remote_net *event,
						       struct doca_dpa *dpa,
						       doca_dpa_dev_sync_event_remote_net_t *handle)
{
	(void)event;
	(void)dpa;
	(void)handle;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_remote_net_get_gpu_handle(struct doca_sync_event_remote_net *event,
						       struct doca_gpu *gpu,
						       doca_gpu_dev_sync_event_remote_net_t *handle)
{
	(void)event;
	(void)gpu;
	(void)handle;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	(void)event;
	(void)value;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
					uint64_t *fetched)
{
	(void)event;
	(void)value;
	(void)fetched;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	(void)event;
	(void)value;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	(void)event;
	(void)value;
	(void)mask;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask)
{
	(void)event;
	(void)value;
	(void)mask;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	(void)event;
	(void)value;
	(void)mask;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask)
{
	(void)event;
	(void)value;
	(void)mask;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	(void)event;
	(void)value;
	(void)mask;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value,
					    uint64_t mask)
{
	(void)event;
	(void)value;
	(void)mask;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
				  doca_sync_event_task_get_completion_cb_t success_completion_cb,
				  doca_sync_event_task_get_completion_cb_t error_completion_cb,
				  uint32_t num_tasks)
{
	(void)event;
	(void)success_completion_cb;
	(void)error_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
						 uint64_t *ret_val_ptr, union doca_data user_data,
						 struct doca_sync_event_task_get **task)
{
	(void)event;
	(void)ret_val_ptr;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task,
					      uint64_t *ret_val_ptr)
{
	(void)task;
	(void)ret_val_ptr;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

doca_error_t doca_sync_event_task_notify_set_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_set_completion_cb_t success_completion_cb,
	doca_sync_event_task_notify_set_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	(void)event;
	(void)success_completion_cb;
	(void)error_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
					   union doca_data user_data,
					   struct doca_sync_event_task_notify_set **task)
{
	(void)event;
	(void)set_val;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *
doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task,
						 uint64_t set_val)
{
	(void)task;
	(void)set_val;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t
doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

doca_error_t doca_sync_event_task_notify_add_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_add_completion_cb_t success_completion_cb,
	doca_sync_event_task_notify_add_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	(void)event;
	(void)success_completion_cb;
	(void)error_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
					   uint64_t *fetched_val_ptr, union doca_data user_data,
					   struct doca_sync_event_task_notify_add **task)
{
	(void)event;
	(void)inc_val;
	(void)fetched_val_ptr;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *
doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task,
						 uint64_t inc_val)
{
	(void)task;
	(void)inc_val;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t
doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

void doca_sync_event_task_notify_add_set_fetched_val_ptr(
	struct doca_sync_event_task_notify_add *task, uint64_t *fetched_val_ptr)
{
	(void)task;
	(void)fetched_val_ptr;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(
	const struct doca_sync_event_task_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

doca_error_t doca_sync_event_task_wait_eq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_eq_completion_cb_t success_completion_cb,
	doca_sync_event_task_wait_eq_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	(void)event;
	(void)success_completion_cb;
	(void)error_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event,
						     uint64_t wait_val, uint64_t mask,
						     union doca_data user_data,
						     struct doca_sync_event_task_wait_eq **task)
{
	(void)event;
	(void)wait_val;
	(void)mask;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *
doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task,
					       uint64_t wait_val)
{
	(void)task;
	(void)wait_val;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask)
{
	(void)task;
	(void)mask;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

doca_error_t doca_sync_event_task_wait_neq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_neq_completion_cb_t success_completion_cb,
	doca_sync_event_task_wait_neq_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	(void)event;
	(void)success_completion_cb;
	(void)error_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event,
						      uint64_t wait_val, uint64_t mask,
						      union doca_data user_data,
						      struct doca_sync_event_task_wait_neq **task)
{
	(void)event;
	(void)wait_val;
	(void)mask;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *
doca_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task,
						uint64_t wait_val)
{
	(void)task;
	(void)wait_val;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t
doca_sync_event_task_wait_neq_get_wait_val(const struct doca_sync_event_task_wait_neq *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

void doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task,
					    uint64_t mask)
{
	(void)task;
	(void)mask;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}
