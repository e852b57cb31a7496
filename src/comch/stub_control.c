/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions that are declared but not implemented yet. */
#include <doca_comch.h>

#include "log/log.h"

doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
					     uint32_t *max_name_len)
{
	(void)devinfo;
	(void)max_name_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo,
					     uint32_t *max_msg_size)
{
	(void)devinfo;
	(void)max_msg_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						    uint32_t *max_recv_queue_size)
{
	(void)devinfo;
	(void)max_recv_queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
					       uint32_t *max_send_tasks)
{
	(void)devinfo;
	(void)max_send_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
					    uint32_t *max_clients)
{
	(void)devinfo;
	(void)max_clients;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
				      const char *name, struct doca_comch_server **comch_server)
{
	(void)dev;
	(void)repr;
	(void)name;
	(void)comch_server;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **comch_client)
{
	(void)dev;
	(void)name;
	(void)comch_client;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server)
{
	(void)comch_server;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server)
{
	(void)comch_server;
	return NULL;
}

doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
						uint32_t max_msg_size)
{
	(void)comch_server;
	(void)max_msg_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
						uint32_t *max_msg_size)
{
	(void)comch_server;
	(void)max_msg_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server,
						   uint32_t queue_size)
{
	(void)comch_server;
	(void)queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
						   uint32_t *queue_size)
{
	(void)comch_server;
	(void)queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
					  struct doca_dev **dev)
{
	(void)comch_server;
	(void)dev;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
					      struct doca_dev_rep **rep)
{
	(void)comch_server;
	(void)rep;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t
doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks)
{
	(void)comch_server;
	(void)task_completion_cb;
	(void)task_error_cb;
	(void)num_send_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	(void)comch_server;
	(void)peer;
	(void)msg;
	(void)len;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	(void)comch_server;
	(void)recv_event_cb;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t
doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
					  doca_comch_event_consumer_cb_t new_consumer_event_cb,
					  doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	(void)comch_server;
	(void)new_consumer_event_cb;
	(void)expired_consumer_event_cb;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server,
	doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
	(void)comch_server;
	(void)connect_event_cb;
	(void)disconnect_event_cb;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
					  struct doca_comch_connection *connection)
{
	(void)comch_server;
	(void)connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection)
{
	(void)connection;
	return NULL;
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client)
{
	(void)comch_client;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client)
{
	(void)comch_client;
	return NULL;
}

doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client,
						uint32_t max_msg_size)
{
	(void)comch_client;
	(void)max_msg_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client,
						uint32_t *max_msg_size)
{
	(void)comch_client;
	(void)max_msg_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client,
						   uint32_t queue_size)
{
	(void)comch_client;
	(void)queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
						   uint32_t *queue_size)
{
	(void)comch_client;
	(void)queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
					  struct doca_dev **dev)
{
	(void)comch_client;
	(void)dev;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t
doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks)
{
	(void)comch_client;
	(void)task_completion_cb;
	(void)task_error_cb;
	(void)num_send_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	(void)comch_client;
	(void)peer;
	(void)msg;
	(void)len;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	(void)comch_client;
	(void)recv_event_cb;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t
doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
					  doca_comch_event_consumer_cb_t new_consumer_event_cb,
					  doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	(void)comch_client;
	(void)new_consumer_event_cb;
	(void)expired_consumer_event_cb;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection)
{
	(void)comch_client;
	(void)connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
	(void)connection;
	return NULL;
}

struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	(void)task;
	return NULL;
}

doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
						 union doca_data user_data)
{
	(void)connection;
	(void)user_data;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection)
{
	(void)connection;
	return (union doca_data){.u64 = 0};
}

doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *connection)
{
	(void)connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *connection,
					       enum doca_comch_counter counter_type,
					       uint64_t *counter_value)
{
	(void)connection;
	(void)counter_type;
	(void)counter_value;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}
