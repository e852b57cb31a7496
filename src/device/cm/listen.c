/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/cm.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "device/cm/cm_priv.h"
#include "device/cm/own.h"
#include "device/errno.h"
#include "log/log.h"

static doca_error_t fail_to_listen(const struct dpumap_cm *cm,
				   const struct sockaddr_storage *address, int err)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];

	dpumap_cm_address_print(address, text);
	if (err == EADDRINUSE)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "%s: another listener uses %s: choose another port",
				   dpumap_cm_name(cm), text);
	if (err == EADDRNOTAVAIL || err == ENODEV)
		return dpumap_fail_info(DOCA_ERROR_NOT_FOUND,
					"%s: %s is not an address of this device: %s",
					dpumap_cm_name(cm), text, strerror(err));
	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_PERMITTED),
		"%s: listening at %s failed: %s", dpumap_cm_name(cm), text, strerror(err));
}

/* 0 or an errno */
static int bind_and_listen(const struct dpumap_cm *cm, struct rdma_cm_id *rdma,
			   struct sockaddr *address, int backlog)
{
	if (rdma_bind_addr(rdma, address))
		return errno;
	if (!dpumap_cm_is_on_device(cm, rdma))
		return EADDRNOTAVAIL;
	return rdma_listen(rdma, backlog) ? errno : 0;
}

static doca_error_t listen_at(struct dpumap_cm_id *id, const struct sockaddr_storage *address,
			      int backlog)
{
	struct sockaddr_storage at = *address;
	struct rdma_cm_id *rdma;
	doca_error_t result = dpumap_cm_id_add(id);
	int err;

	if (result != DOCA_SUCCESS)
		return result;
	rdma = id->rdma[id->num_rdma - 1];
	err = bind_and_listen(id->cm, rdma, (struct sockaddr *)&at, backlog);
	if (!err)
		return DOCA_SUCCESS;
	rdma_destroy_id(id->rdma[--id->num_rdma]);
	return fail_to_listen(id->cm, address, err);
}

/* An address of the port may be one that the machine does not have, such as that of RoCE v1. */
static doca_error_t listen_at_all(struct dpumap_cm_id *id, const struct dpumap_cm_own *own,
				  uint16_t port, int backlog)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < own->num_addresses; i++) {
		struct sockaddr_storage address = own->addresses[i];

		dpumap_cm_address_set_port(&address, id->num_rdma ? dpumap_cm_id_port(id) : port);
		result = listen_at(id, &address, backlog);
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_FOUND)
			return result;
	}
	if (id->num_rdma > 0)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_FOUND,
			   "%s: its port has no IP address to listen at: see "
			   "rdma link and ip address",
			   dpumap_cm_name(id->cm));
}

static doca_error_t listen_at_own(struct dpumap_cm *cm, int gid_index, uint16_t port, int backlog,
				  struct dpumap_cm_id **id)
{
	struct dpumap_cm_own own;
	doca_error_t result = dpumap_cm_own_query(cm->device, gid_index, &own);

	if (result != DOCA_SUCCESS)
		return result;
	*id = dpumap_cm_id_new(cm, DPUMAP_CM_IS_LISTENING, own.num_addresses);
	result = *id ? listen_at_all(*id, &own, port, backlog) : dpumap_cm_fail_id(cm);
	dpumap_cm_own_free(&own);
	return result;
}

doca_error_t dpumap_cm_listen(struct dpumap_cm *cm, const struct sockaddr_storage *address,
			      int gid_index, uint16_t port, int backlog, struct dpumap_cm_id **id)
{
	struct sockaddr_storage at;
	struct dpumap_cm_id *created = NULL;
	doca_error_t result;

	if (address) {
		at = *address;
		dpumap_cm_address_set_port(&at, port);
		created = dpumap_cm_id_new(cm, DPUMAP_CM_IS_LISTENING, 1);
		result = created ? listen_at(created, &at, backlog) : dpumap_cm_fail_id(cm);
	} else {
		result = listen_at_own(cm, gid_index, port, backlog, &created);
	}
	if (result != DOCA_SUCCESS) {
		dpumap_cm_id_destroy(created);
		return result;
	}
	*id = created;
	return DOCA_SUCCESS;
}
