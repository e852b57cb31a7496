/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of contexts and connections that are not implemented. */
#include <doca_rdma.h>

#include "log/log.h"

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

doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection,
					   struct doca_rdma_addr **addr)
{
	(void)rdma_connection;
	(void)addr;
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
