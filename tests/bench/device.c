/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device.h"

#include <stdio.h>

int bench_fail(const char *what, doca_error_t error)
{
	fprintf(stderr, "bench: %s: %s\n", what, doca_error_get_name(error));
	return -1;
}

bool bench_is_ok(doca_error_t error, const char *what)
{
	return error == DOCA_SUCCESS || bench_fail(what, error) == 0;
}

static struct doca_dev *open_first(struct doca_devinfo **list, uint32_t n, bench_cap *cap)
{
	struct doca_dev *dev = NULL;
	uint8_t supported = 0;

	for (uint32_t i = 0; i < n && !dev; i++) {
		if (cap && (cap(list[i], &supported) != DOCA_SUCCESS || !supported))
			continue;
		if (doca_dev_open(list[i], &dev) != DOCA_SUCCESS)
			dev = NULL;
	}
	return dev;
}

struct doca_dev *bench_open_device(bench_cap *cap)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	doca_error_t error;
	uint32_t n;

	error = doca_devinfo_create_list(&list, &n);
	if (error != DOCA_SUCCESS) {
		bench_fail("the devices cannot be listed", error);
		return NULL;
	}
	dev = open_first(list, n, cap);
	if (!dev)
		bench_fail("no suitable device", DOCA_ERROR_NOT_FOUND);
	doca_devinfo_destroy_list(list);
	return dev;
}

struct doca_mmap *bench_map(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *map;
	doca_error_t error;

	error = doca_mmap_create(&map);
	if (error != DOCA_SUCCESS) {
		bench_fail("a map cannot be created", error);
		return NULL;
	}
	error = doca_mmap_set_memrange(map, addr, len);
	if (error == DOCA_SUCCESS)
		error = doca_mmap_set_permissions(map, permissions);
	if (error == DOCA_SUCCESS)
		error = doca_mmap_add_dev(map, dev);
	if (error == DOCA_SUCCESS)
		error = doca_mmap_start(map);
	if (error != DOCA_SUCCESS) {
		bench_fail("the map cannot be started", error);
		doca_mmap_destroy(map);
		return NULL;
	}
	return map;
}
