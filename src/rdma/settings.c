/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/rdma.h"

#include <inttypes.h>

#include "log/log.h"

#define PEER_FLAGS                                                                   \
	((uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | \
		    DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))

#define SEND_QUEUE_SIZE	   128
#define REQUEST_TIMEOUT_MS 2000
#define MAX_SERVICE_LEVEL  15
#define RNR_RETRIES	   7 /* without end */
#define MTU_LOG_BASE	   8 /* enum doca_mtu_size counts from 256 bytes as 0 */

static uint32_t max_send_list(const struct dpumap_caps *caps)
{
	return caps->max_send_pieces < DPUMAP_MAX_LIST_LEN ? caps->max_send_pieces
							   : DPUMAP_MAX_LIST_LEN;
}

void dpumap_rdma_settings_init(struct rdma_settings *settings, const struct dpumap_caps *caps)
{
	*settings = (struct rdma_settings){
		.access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
		.gid_index = DPUMAP_GID_ANY,
		.send_queue_size = SEND_QUEUE_SIZE,
		.max_send_list = max_send_list(caps),
		.max_receive_list = 1,
		.max_connections = 1,
		.request_timeout_ms = REQUEST_TIMEOUT_MS,
		.rnr_retries = RNR_RETRIES,
	};
}

static const struct dpumap_caps *caps_of(const struct doca_rdma *rdma)
{
	return dpumap_device_caps(rdma->ctx.dev->device);
}

/* For setters: the object must exist and its context be IDLE. */
static doca_error_t check(const struct doca_rdma *rdma, const char *function)
{
	return rdma ? dpumap_ctx_check_idle(&rdma->ctx, function) : dpumap_fail_null(function);
}

/* For getters, which answer in each state. */
#define GET(rdma, out, value)                              \
	do {                                               \
		if (!(rdma) || !(out))                     \
			return dpumap_fail_null(__func__); \
		*(out) = (value);                          \
		return DOCA_SUCCESS;                       \
	} while (0)

/* --- what peers may do, and how they are reached ---------------------------------------------- */

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (permissions & ~PEER_FLAGS)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"RDMA context %p: permissions 0x%x: 0x%x cannot be granted to peers",
			(void *)rdma, permissions, permissions & ~PEER_FLAGS);
	rdma->settings.access = permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
{
	GET(rdma, permissions, rdma->settings.access);
}

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	/* ibv_ah_attr has 8 bits for it. */
	if (gid_index > UINT8_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: invalid GID index %" PRIu32 ", at most 255",
				   (void *)rdma, gid_index);
	if (dpumap_gid_check(rdma->ctx.dev->device, (int)gid_index) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	rdma->settings.gid_index = (int)gid_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
{
	if (!rdma || !gid_index)
		return dpumap_fail_null(__func__);
	*gid_index =
		rdma->settings.gid_index == DPUMAP_GID_ANY ? 0 : (uint32_t)rdma->settings.gid_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
					  enum doca_rdma_transport_type transport_type)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC)
		return DOCA_SUCCESS;
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"RDMA context %p: this library creates no initiators and targets of "
			"the dynamically connected transport (DC): use "
			"DOCA_RDMA_TRANSPORT_TYPE_RC",
			(void *)rdma);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "RDMA context %p: invalid transport type %d",
			   (void *)rdma, (int)transport_type);
}

doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
					  enum doca_rdma_transport_type *transport_type)
{
	GET(rdma, transport_type, DOCA_RDMA_TRANSPORT_TYPE_RC);
}

/* --- queues ----------------------------------------------------------------------------------- */

static uint32_t round_up(uint32_t size)
{
	uint32_t power = 1;

	while (power < size)
		power <<= 1;
	return power;
}

doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
{
	doca_error_t result = check(rdma, __func__);
	uint32_t max;

	if (result != DOCA_SUCCESS)
		return result;
	max = caps_of(rdma)->max_queue_depth;
	if (!send_queue_size)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: the size of the send queue must not be 0",
				   (void *)rdma);
	if (send_queue_size > max)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "RDMA context %p: a send queue of %" PRIu32
				   " is too long, the device supports at most %" PRIu32,
				   (void *)rdma, send_queue_size, max);
	rdma->settings.send_queue_size =
		round_up(send_queue_size) < max ? round_up(send_queue_size) : max;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size)
{
	GET(rdma, send_queue_size, rdma->settings.send_queue_size);
}

static doca_error_t refuse_recv_queue(const struct doca_rdma *rdma, const char *function)
{
	doca_error_t result = check(rdma, function);

	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "RDMA context %p: its connections share one receive queue, which is as "
			   "long as there are receive tasks",
			   (const void *)rdma);
}

doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
{
	(void)recv_queue_size;
	return refuse_recv_queue(rdma, __func__);
}

doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size)
{
	return recv_queue_size ? refuse_recv_queue(rdma, __func__) : dpumap_fail_null(__func__);
}

static doca_error_t check_list_len(const struct doca_rdma *rdma, uint32_t len, uint32_t max)
{
	if (len && len <= max)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "RDMA context %p: invalid list length %" PRIu32
			   ", must be 1 to %" PRIu32,
			   (const void *)rdma, len, max);
}

doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma,
						 uint32_t max_send_buf_list_len)
{
	doca_error_t result = check(rdma, __func__);

	if (result == DOCA_SUCCESS)
		result = check_list_len(rdma, max_send_buf_list_len, max_send_list(caps_of(rdma)));
	if (result == DOCA_SUCCESS)
		rdma->settings.max_send_list = max_send_buf_list_len;
	return result;
}

doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma,
						 uint32_t *max_send_buf_list_len)
{
	GET(rdma, max_send_buf_list_len, rdma->settings.max_send_list);
}

doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma,
							 uint32_t dst_buf_list_len)
{
	doca_error_t result = check(rdma, __func__);
	uint32_t max;

	if (result != DOCA_SUCCESS)
		return result;
	max = caps_of(rdma)->max_recv_pieces;
	result = check_list_len(rdma, dst_buf_list_len,
				max < DPUMAP_MAX_LIST_LEN ? max : DPUMAP_MAX_LIST_LEN);
	if (result == DOCA_SUCCESS)
		rdma->settings.max_receive_list = dst_buf_list_len;
	return result;
}

doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma,
							 uint32_t *dst_buf_list_len)
{
	GET(rdma, dst_buf_list_len, rdma->settings.max_receive_list);
}

/* --- packets ---------------------------------------------------------------------------------- */

static doca_error_t refuse_mtu(const struct doca_rdma *rdma, unsigned int log_mtu)
{
	return dpumap_fail(
		DOCA_ERROR_NOT_SUPPORTED,
		"RDMA context %p: the port does not support an MTU of %u bytes, at most %u",
		(const void *)rdma, 1u << log_mtu, 1u << caps_of(rdma)->log_max_mtu);
}

doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (mtu == DOCA_MTU_SIZE_RAW_ETHERNET)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "RDMA context %p: connections do not have a raw Ethernet MTU",
				   (void *)rdma);
	if ((int)mtu < DOCA_MTU_SIZE_256_BYTES || mtu > DOCA_MTU_SIZE_RAW_ETHERNET)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "RDMA context %p: invalid MTU %d",
				   (void *)rdma, (int)mtu);
	if (mtu + MTU_LOG_BASE > caps_of(rdma)->log_max_mtu)
		return refuse_mtu(rdma, mtu + MTU_LOG_BASE);
	rdma->settings.log_mtu = (uint8_t)(mtu + MTU_LOG_BASE);
	return DOCA_SUCCESS;
}

static enum doca_mtu_size mtu_of(const struct doca_rdma *rdma)
{
	uint8_t log_mtu = rdma->settings.log_mtu ? rdma->settings.log_mtu : rdma->log_mtu;

	if (!log_mtu)
		log_mtu = caps_of(rdma)->log_max_mtu;
	return log_mtu > MTU_LOG_BASE ? (enum doca_mtu_size)(log_mtu - MTU_LOG_BASE)
				      : DOCA_MTU_SIZE_256_BYTES;
}

doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu)
{
	GET(rdma, mtu, mtu_of(rdma));
}

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (sl > MAX_SERVICE_LEVEL)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: invalid service level %" PRIu32 ", at most %d",
				   (void *)rdma, sl, MAX_SERVICE_LEVEL);
	rdma->settings.service_level = (uint8_t)sl;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl)
{
	GET(rdma, sl, rdma->settings.service_level);
}

/* Packets have a global header (GRH) on Ethernet, and none on InfiniBand. */
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (grh_enabled > 1)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: invalid value %u for the GRH, must be 0 or 1",
				   (void *)rdma, grh_enabled);
	if (grh_enabled == caps_of(rdma)->is_ethernet)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "RDMA context %p: connections %s a global header (GRH)", (void *)rdma,
			   caps_of(rdma)->is_ethernet ? "on Ethernet need"
						      : "on InfiniBand do not have");
}

doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled)
{
	GET(rdma, grh_enabled, caps_of(rdma)->is_ethernet);
}

doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (rnr_retry_count > RNR_RETRIES)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"RDMA context %p: invalid number of retries %u, at most 7 (without end)",
			(void *)rdma, rnr_retry_count);
	rdma->settings.rnr_retries = rnr_retry_count;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma, uint8_t *rnr_retry_count)
{
	GET(rdma, rnr_retry_count, rdma->settings.rnr_retries);
}

/* --- connections ------------------------------------------------------------------------------ */

doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma,
						      uint16_t connection_request_timeout)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (!connection_request_timeout)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"RDMA context %p: the timeout of connection requests must not be 0",
			(void *)rdma);
	rdma->settings.request_timeout_ms = connection_request_timeout;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma,
						      uint16_t *connection_request_timeout)
{
	GET(rdma, connection_request_timeout, rdma->settings.request_timeout_ms);
}

doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections)
{
	doca_error_t result = check(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (!max_num_connections)
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"RDMA context %p: the maximum number of connections must be at least 1",
			(void *)rdma);
	rdma->settings.max_connections = max_num_connections;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma,
					       uint16_t *max_num_connections)
{
	GET(rdma, max_num_connections, rdma->settings.max_connections);
}

/* --- other data paths ------------------------------------------------------------------------- */

static doca_error_t refuse_handle(const struct doca_rdma *rdma, const void *out,
				  const char *function)
{
	if (!rdma || !out)
		return dpumap_fail_null(function);
	return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: contexts are driven by the CPU only",
			   function);
}

doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma)
{
	return refuse_handle(rdma, dpa_rdma, __func__);
}

doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma)
{
	return refuse_handle(rdma, gpu_rdma, __func__);
}

doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma,
					     struct doca_dpa_completion *dpa_comp)
{
	return refuse_handle(rdma, dpa_comp, __func__);
}
