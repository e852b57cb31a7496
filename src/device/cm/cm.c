/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/cm.h"

#include "log/log.h"

struct dpumap_cm_end dpumap_cm_end_default(void)
{
	return (struct dpumap_cm_end){0};
}

doca_error_t dpumap_cm_create(const struct dpumap_device *device, struct dpumap_cm **cm)
{
	(void)device;
	(void)cm;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

void dpumap_cm_destroy(struct dpumap_cm *cm)
{
	(void)cm;
}

int dpumap_cm_fd(const struct dpumap_cm *cm)
{
	(void)cm;
	return -1;
}

doca_error_t dpumap_cm_poll(struct dpumap_cm *cm, struct dpumap_cm_event *event)
{
	(void)cm;
	(void)event;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

doca_error_t dpumap_cm_listen(struct dpumap_cm *cm, const struct sockaddr_storage *address,
			      int gid_index, uint16_t port, int backlog, struct dpumap_cm_id **id)
{
	(void)cm;
	(void)address;
	(void)gid_index;
	(void)port;
	(void)backlog;
	(void)id;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

uint16_t dpumap_cm_id_port(const struct dpumap_cm_id *id)
{
	(void)id;
	return 0;
}

void dpumap_cm_id_peer(const struct dpumap_cm_id *id, struct sockaddr_storage *address)
{
	(void)id;
	(void)address;
}

doca_error_t dpumap_cm_connect(struct dpumap_cm *cm, const struct sockaddr_storage *peer,
			       int gid_index, const struct dpumap_cm_end *end,
			       struct dpumap_cm_id **id)
{
	(void)cm;
	(void)peer;
	(void)gid_index;
	(void)end;
	(void)id;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

doca_error_t dpumap_cm_accept(struct dpumap_cm_id *id, const struct dpumap_cm_end *end)
{
	(void)id;
	(void)end;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

doca_error_t dpumap_cm_reject(struct dpumap_cm_id *id, const void *data, uint8_t data_len)
{
	(void)id;
	(void)data;
	(void)data_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

doca_error_t dpumap_cm_disconnect(struct dpumap_cm_id *id)
{
	(void)id;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

void dpumap_cm_id_destroy(struct dpumap_cm_id *id)
{
	(void)id;
}

void dpumap_cm_id_set_user(struct dpumap_cm_id *id, void *user)
{
	(void)id;
	(void)user;
}

void *dpumap_cm_id_user(const struct dpumap_cm_id *id)
{
	(void)id;
	return NULL;
}

doca_error_t dpumap_cm_adopt(struct dpumap_cm *cm, struct rdma_cm_id *request,
			     struct dpumap_cm_id **id)
{
	(void)cm;
	(void)request;
	(void)id;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "connections by address are not supported yet");
}

void dpumap_cm_set_established(struct dpumap_cm_id *id)
{
	(void)id;
}
