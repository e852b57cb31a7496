/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/hca_priv.h"
#include "log/log.h"

/*
 * libibverbs frees a list with all its devices, except open ones. So the entries share the list,
 * and the last one frees it.
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

static doca_error_t fail_list(int err)
{
	if (err == ENOMEM)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for the list of devices");
	if (err == ENOSYS)
		return dpumap_fail(
			DOCA_ERROR_NOT_FOUND,
			"this machine has no RDMA device: its kernel has no RDMA driver "
			"loaded, or a container hides it; load the driver of the card "
			"(modprobe mlx5_ib), pass /dev/infiniband through to the container, "
			"or see `dpumap doctor`");
	return dpumap_fail(DOCA_ERROR_NOT_FOUND, "listing the RDMA devices failed: %s",
			   strerror(err));
}

static doca_error_t open_set(struct hca_set **set, int *n)
{
	struct hca_set *opened = calloc(1, sizeof(*opened));
	int err;

	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for the list of devices");
	opened->devices = ibv_get_device_list(n);
	if (!opened->devices) {
		err = errno;
		free(opened);
		return fail_list(err);
	}
	atomic_init(&opened->refs, 1);
	*set = opened;
	return DOCA_SUCCESS;
}

bool dpumap_ibdev_is_mlx5(struct ibv_device *ibdev)
{
	return mlx5dv_is_supported(ibdev);
}

/* iWARP devices are excluded: connections need InfiniBand or RoCE addresses. */
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
		/* The most capable devices first: many programs take the first that fits. */
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

doca_error_t dpumap_hca_find(const struct ibv_device *ibdev, struct dpumap_hca **hca)
{
	struct dpumap_hca **list = NULL;
	struct dpumap_hca *found = NULL;
	doca_error_t result;
	uint32_t n = 0;

	result = dpumap_hca_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < n; i++) {
		if (!found && list[i]->ibdev == ibdev)
			found = list[i];
		else
			dpumap_hca_put(list[i]);
	}
	free(list);
	*hca = found;
	return DOCA_SUCCESS;
}

bool dpumap_hca_same(const struct dpumap_hca *a, const struct dpumap_hca *b)
{
	/* libibverbs keeps one object for each device while it is referenced. */
	return a->ibdev == b->ibdev;
}

const char *dpumap_hca_name(const struct dpumap_hca *hca)
{
	return ibv_get_device_name(hca->ibdev);
}

const char *dpumap_hca_sysfs_path(const struct dpumap_hca *hca)
{
	return hca->ibdev->ibdev_path;
}

static struct ibv_context *open_context(struct ibv_device *ibdev, bool *devx)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_context *context = NULL;

	if (dpumap_ibdev_is_mlx5(ibdev))
		context = mlx5dv_open_device(ibdev, &attr);
	*devx = context != NULL;
	return context ? context : ibv_open_device(ibdev);
}

struct ibv_context *dpumap_hca_open_context(const struct dpumap_hca *hca, bool *devx)
{
	struct ibv_context *context = open_context(hca->ibdev, devx);

	if (!context)
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_NOT_CONNECTED,
				"%s: opening the device failed: %s", dpumap_hca_name(hca),
				strerror(errno));
	return context;
}

void dpumap_hca_set_caps(struct dpumap_hca *hca, const struct dpumap_caps *caps)
{
	pthread_mutex_lock(&hca->lock);
	hca->caps = *caps;
	hca->has_caps = true;
	pthread_mutex_unlock(&hca->lock);
}

static bool find_caps(struct dpumap_hca *hca, struct dpumap_caps *caps)
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

	if (find_caps(hca, caps))
		return DOCA_SUCCESS;
	context = dpumap_hca_open_context(hca, &devx);
	if (!context)
		return DOCA_ERROR_DRIVER;
	result = dpumap_caps_query(context, devx, &found, &attr);
	ibv_close_device(context);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_hca_set_caps(hca, &found);
	*caps = found;
	return DOCA_SUCCESS;
}
