/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device.h"
#include "device/domain.h"
#include "log/log.h"

/*
 * libibverbs frees the devices of a list together unless they are open. Entries therefore share the
 * list and the last one frees it.
 */
struct hca_set {
	struct ibv_device **devices;
	atomic_uint refs;
};

struct dpumap_hca {
	struct hca_set *set;
	struct ibv_device *ibdev;
	atomic_uint refs;
	pthread_mutex_t lock; /* guards what follows */
	bool has_caps;
	struct dpumap_caps caps;
};

static void put_set(struct hca_set *set)
{
	if (atomic_fetch_sub(&set->refs, 1) != 1)
		return;
	ibv_free_device_list(set->devices);
	free(set);
}

static struct dpumap_hca *create_hca(struct hca_set *set, struct ibv_device *ibdev)
{
	struct dpumap_hca *hca = calloc(1, sizeof(*hca));

	if (!hca)
		return NULL;
	if (pthread_mutex_init(&hca->lock, NULL)) {
		free(hca);
		return NULL;
	}
	atomic_fetch_add(&set->refs, 1);
	hca->set = set;
	hca->ibdev = ibdev;
	atomic_init(&hca->refs, 1);
	return hca;
}

struct dpumap_hca *dpumap_hca_get(struct dpumap_hca *hca)
{
	atomic_fetch_add(&hca->refs, 1);
	return hca;
}

void dpumap_hca_put(struct dpumap_hca *hca)
{
	if (!hca || atomic_fetch_sub(&hca->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&hca->lock);
	put_set(hca->set);
	free(hca);
}

static doca_error_t open_set(struct hca_set **set, int *n)
{
	struct hca_set *opened = calloc(1, sizeof(*opened));

	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for the list of devices");
	opened->devices = ibv_get_device_list(n);
	if (!opened->devices) {
		free(opened);
		return dpumap_fail(DOCA_ERROR_NOT_FOUND, "no list of RDMA devices: %s",
				   strerror(errno));
	}
	atomic_init(&opened->refs, 1);
	*set = opened;
	return DOCA_SUCCESS;
}

bool dpumap_ibdev_is_mlx5(struct ibv_device *ibdev)
{
	return mlx5dv_is_supported(ibdev);
}

/* Connections are made by addresses of InfiniBand or RoCE; iWARP's are not like that. */
static bool is_channel_adapter(const struct ibv_device *ibdev)
{
	return ibdev->node_type == IBV_NODE_CA && ibdev->transport_type == IBV_TRANSPORT_IB;
}

static doca_error_t collect(struct hca_set *set, uint32_t n, bool mlx5, struct dpumap_hca **hcas,
			    uint32_t *found)
{
	for (uint32_t i = 0; i < n; i++) {
		if (dpumap_ibdev_is_mlx5(set->devices[i]) != mlx5)
			continue;
		if (!mlx5 && !is_channel_adapter(set->devices[i]))
			continue;
		hcas[*found] = create_hca(set, set->devices[i]);
		if (!hcas[*found])
			return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for device %s",
					   ibv_get_device_name(set->devices[i]));
		(*found)++;
	}
	return DOCA_SUCCESS;
}

doca_error_t dpumap_hca_list(struct dpumap_hca ***list, uint32_t *n)
{
	struct dpumap_hca **hcas = NULL;
	struct hca_set *set = NULL;
	uint32_t found = 0;
	doca_error_t result;
	int listed = 0;

	result = open_set(&set, &listed);
	if (result != DOCA_SUCCESS)
		return result;
	if (listed > 0) {
		hcas = calloc((size_t)listed, sizeof(struct dpumap_hca *));
		if (!hcas) {
			result = dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for %d devices",
					     listed);
			goto put_set;
		}
		/* Who takes the first one that will do gets the one that can do most. */
		result = collect(set, (uint32_t)listed, true, hcas, &found);
		if (result == DOCA_SUCCESS)
			result = collect(set, (uint32_t)listed, false, hcas, &found);
		if (result != DOCA_SUCCESS)
			goto put_hcas;
	}
	put_set(set);
	*list = hcas;
	*n = found;
	return DOCA_SUCCESS;

put_hcas:
	while (found)
		dpumap_hca_put(hcas[--found]);
	free(hcas);
put_set:
	put_set(set);
	return result;
}

bool dpumap_hca_same(const struct dpumap_hca *a, const struct dpumap_hca *b)
{
	/* libibverbs keeps one object per device for as long as anybody refers to it. */
	return a->ibdev == b->ibdev;
}

bool dpumap_hca_has(const struct dpumap_hca *hca, const struct ibv_device *ibdev)
{
	return hca->ibdev == ibdev;
}

const char *dpumap_hca_name(const struct dpumap_hca *hca)
{
	return ibv_get_device_name(hca->ibdev);
}

const char *dpumap_hca_sysfs_path(const struct dpumap_hca *hca)
{
	return hca->ibdev->ibdev_path;
}

struct ibv_context *dpumap_context_open(struct ibv_device *ibdev, bool *devx)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_context *context = NULL;

	if (dpumap_ibdev_is_mlx5(ibdev))
		context = mlx5dv_open_device(ibdev, &attr);
	*devx = context != NULL;
	return context ? context : ibv_open_device(ibdev);
}

static doca_error_t fail_open(const struct dpumap_hca *hca)
{
	return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: opening the device failed: %s",
			   dpumap_hca_name(hca), strerror(errno));
}

struct ibv_context *dpumap_hca_open_context(const struct dpumap_hca *hca, bool *devx)
{
	struct ibv_context *context = dpumap_context_open(hca->ibdev, devx);

	if (!context)
		fail_open(hca);
	return context;
}

static void keep_caps(struct dpumap_hca *hca, const struct dpumap_caps *caps)
{
	pthread_mutex_lock(&hca->lock);
	hca->caps = *caps;
	hca->has_caps = true;
	pthread_mutex_unlock(&hca->lock);
}

static bool recall_caps(struct dpumap_hca *hca, struct dpumap_caps *caps)
{
	bool has_caps;

	pthread_mutex_lock(&hca->lock);
	has_caps = hca->has_caps;
	if (has_caps)
		*caps = hca->caps;
	pthread_mutex_unlock(&hca->lock);
	return has_caps;
}

doca_error_t dpumap_hca_get_caps(struct dpumap_hca *hca, struct dpumap_caps *caps)
{
	struct ibv_device_attr attr;
	struct ibv_context *context;
	struct dpumap_caps found;
	doca_error_t result;
	bool devx;

	if (recall_caps(hca, caps))
		return DOCA_SUCCESS;
	context = dpumap_hca_open_context(hca, &devx);
	if (!context)
		return DOCA_ERROR_DRIVER;
	result = dpumap_caps_query(context, devx, &found, &attr);
	ibv_close_device(context);
	if (result != DOCA_SUCCESS)
		return result;
	keep_caps(hca, &found);
	*caps = found;
	return DOCA_SUCCESS;
}

static uint64_t lane_rate(uint8_t speed)
{
	static const uint32_t mbps[] = {2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000};

	for (unsigned int i = 0; i < sizeof(mbps) / sizeof(mbps[0]); i++)
		if (speed == 1u << i)
			return mbps[i] * UINT64_C(1000000);
	return 0;
}

static uint64_t lanes(uint8_t width)
{
	static const uint8_t count[] = {1, 4, 8, 12, 2};

	for (unsigned int i = 0; i < sizeof(count); i++)
		if (width == 1u << i)
			return count[i];
	return 0;
}

doca_error_t dpumap_hca_query_port(struct dpumap_hca *hca, struct dpumap_port *port)
{
	struct ibv_port_attr attr = {0};
	struct ibv_context *context;
	bool devx;
	int err;

	context = dpumap_hca_open_context(hca, &devx);
	if (!context)
		return DOCA_ERROR_DRIVER;
	err = ibv_query_port(context, DPUMAP_DEVICE_PORT, &attr);
	ibv_close_device(context);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying port %d failed: %s",
				   dpumap_hca_name(hca), DPUMAP_DEVICE_PORT, strerror(err));
	port->rate = lane_rate(attr.active_speed) * lanes(attr.active_width);
	port->lid = attr.lid;
	port->is_infiniband = attr.link_layer != IBV_LINK_LAYER_ETHERNET;
	return DOCA_SUCCESS;
}

static doca_error_t learn_pdn(struct dpumap_device *device)
{
	struct mlx5dv_pd pd = {0};
	struct mlx5dv_obj obj = {.pd.in = device->pd, .pd.out = &pd};
	int err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: protection domain has no number: %s",
				   dpumap_hca_name(device->hca), strerror(err));
	device->pdn = pd.pdn;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_adopt_pd(struct dpumap_device *device)
{
	doca_error_t result = device->caps.is_mlx5 ? learn_pdn(device) : DOCA_SUCCESS;

	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_domain_create_default(device, &device->domain);
	return result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY ? result
									: DOCA_ERROR_DRIVER;
}

static doca_error_t alloc_pd(struct dpumap_device *device)
{
	doca_error_t result;

	device->pd = ibv_alloc_pd(device->context);
	if (!device->pd)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no protection domain: %s",
				   dpumap_hca_name(device->hca), strerror(errno));
	result = dpumap_device_adopt_pd(device);
	if (result != DOCA_SUCCESS)
		ibv_dealloc_pd(device->pd);
	return result;
}

doca_error_t dpumap_device_set_up(struct dpumap_hca *hca, struct ibv_context *context, bool devx,
				  struct dpumap_device **device)
{
	struct dpumap_device *opened = calloc(1, sizeof(*opened));
	doca_error_t result;

	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory to open the device",
				   dpumap_hca_name(hca));
	opened->hca = hca;
	opened->context = context;
	result = dpumap_caps_query(context, devx, &opened->caps, &opened->attr);
	if (result != DOCA_SUCCESS)
		result = DOCA_ERROR_NOT_CONNECTED;
	else
		result = alloc_pd(opened);
	if (result != DOCA_SUCCESS) {
		free(opened);
		return result;
	}
	dpumap_hca_get(hca);
	keep_caps(hca, &opened->caps);
	*device = opened;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_open(struct dpumap_hca *hca, struct dpumap_device **device)
{
	struct ibv_context *context;
	doca_error_t result;
	bool devx;

	context = dpumap_context_open(hca->ibdev, &devx);
	if (!context)
		return fail_open(hca);
	result = dpumap_device_set_up(hca, context, devx, device);
	if (result != DOCA_SUCCESS)
		ibv_close_device(context);
	return result;
}

static void close_own(const struct dpumap_device *device)
{
	int err = ibv_dealloc_pd(device->pd);

	if (err)
		dpumap_log(DPUMAP_LOG_WARNING, "%s: protection domain is still in use: %s",
			   dpumap_hca_name(device->hca), strerror(err));
	if (ibv_close_device(device->context))
		dpumap_log(DPUMAP_LOG_WARNING, "%s: closing the device failed: %s",
			   dpumap_hca_name(device->hca), strerror(errno));
}

void dpumap_device_close(struct dpumap_device *device)
{
	dpumap_domain_destroy(device->domain);
	if (!device->borrowed)
		close_own(device);
	dpumap_hca_put(device->hca);
	free(device);
}

const struct dpumap_caps *dpumap_device_caps(const struct dpumap_device *device)
{
	return &device->caps;
}
