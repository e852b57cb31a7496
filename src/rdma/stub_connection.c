/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of contexts and connections that are not implemented. */
#include <doca_rdma.h>

#include "log/log.h"

doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						   uint32_t *max_recv_queue_size)
{
	(void)devinfo;
	(void)max_recv_queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo,
						   uint32_t *max_send_queue_size)
{
	(void)devinfo;
	(void)max_send_queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo,
					      uint32_t *gid_table_size)
{
	(void)devinfo;
	(void)gid_table_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index,
				   uint32_t num_entries, struct doca_rdma_gid *gid_array)
{
	(void)devinfo;
	(void)start_index;
	(void)num_entries;
	(void)gid_array;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
						       enum doca_rdma_transport_type transport_type)
{
	(void)devinfo;
	(void)transport_type;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_rdma_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
						    enum doca_rdma_transport_type transport_type,
						    uint32_t *max_buf_list_len)
{
	(void)devinfo;
	(void)transport_type;
	(void)max_buf_list_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
{
	(void)rdma;
	(void)send_queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size)
{
	(void)rdma;
	(void)send_queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
{
	(void)rdma;
	(void)recv_queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size)
{
	(void)rdma;
	(void)recv_queue_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma,
						 uint32_t max_send_buf_list_len)
{
	(void)rdma;
	(void)max_send_buf_list_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma,
						 uint32_t *max_send_buf_list_len)
{
	(void)rdma;
	(void)max_send_buf_list_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
	(void)rdma;
	(void)sl;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl)
{
	(void)rdma;
	(void)sl;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
	(void)rdma;
	(void)mtu;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu)
{
	(void)rdma;
	(void)mtu;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled)
{
	(void)rdma;
	(void)grh_enabled;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled)
{
	(void)rdma;
	(void)grh_enabled;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count)
{
	(void)rdma;
	(void)rnr_retry_count;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma, uint8_t *rnr_retry_count)
{
	(void)rdma;
	(void)rnr_retry_count;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma,
						      uint16_t connection_request_timeout)
{
	(void)rdma;
	(void)connection_request_timeout;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma,
						      uint16_t *connection_request_timeout)
{
	(void)rdma;
	(void)connection_request_timeout;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma)
{
	(void)rdma;
	(void)dpa_rdma;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma)
{
	(void)rdma;
	(void)gpu_rdma;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma,
					     struct doca_dpa_completion *dpa_comp)
{
	(void)rdma;
	(void)dpa_comp;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t
doca_rdma_set_connection_state_callbacks(struct doca_rdma *rdma,
					 doca_rdma_connection_request_cb_t request_cb,
					 doca_rdma_connection_established_cb_t established_cb,
					 doca_rdma_connection_failure_cb_t failure_cb,
					 doca_rdma_connection_disconnection_cb_t disconnection_cb)
{
	(void)rdma;
	(void)request_cb;
	(void)established_cb;
	(void)failure_cb;
	(void)disconnection_cb;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address,
				   uint16_t port, struct doca_rdma_addr **addr)
{
	(void)addr_type;
	(void)address;
	(void)port;
	(void)addr;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr)
{
	(void)addr;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr,
				       enum doca_rdma_addr_type *addr_type, const char **address,
				       uint16_t *port)
{
	(void)addr;
	(void)addr_type;
	(void)address;
	(void)port;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	(void)rdma;
	(void)port;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	(void)rdma;
	(void)port;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
				       union doca_data connection_user_data)
{
	(void)rdma;
	(void)addr;
	(void)connection_user_data;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection,
					 void *private_data, uint8_t private_data_len)
{
	(void)rdma_connection;
	(void)private_data;
	(void)private_data_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection)
{
	(void)rdma_connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection)
{
	(void)rdma_connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data)
{
	(void)rdma_connection;
	(void)connection_user_data;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
						union doca_data *connection_user_data)
{
	(void)rdma_connection;
	(void)connection_user_data;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection,
					   struct doca_rdma_addr **addr)
{
	(void)rdma_connection;
	(void)addr;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection,
					 uint32_t *connection_id)
{
	(void)rdma_connection;
	(void)connection_id;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
						 struct doca_rdma_connection **rdma_connection)
{
	(void)rdma;
	(void)cm_id;
	(void)rdma_connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data,
				     uint8_t private_data_len,
				     struct doca_rdma_connection *rdma_connection)
{
	(void)rdma;
	(void)private_data;
	(void)private_data_len;
	(void)rdma_connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma,
					  struct doca_rdma_connection *rdma_connection)
{
	(void)rdma;
	(void)rdma_connection;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}
