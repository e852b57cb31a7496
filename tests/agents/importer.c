/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "importer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <doca_dev.h>
#include <doca_mmap.h>

void importer_must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_name(result));
	exit(1);
}

struct doca_dev *importer_open_device(uint32_t nth)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;

	importer_must(doca_devinfo_create_list(&list, &num), "devices");
	importer_must(nth < num ? doca_dev_open(list[nth], &dev) : DOCA_ERROR_NOT_FOUND, "device");
	doca_devinfo_destroy_list(list);
	return dev;
}

struct dpumap_channel *importer_create_channel(const char *address, const char *cert,
					       const char *ca)
{
	struct dpumap_channel *channel;
	char crt[256], key[256];

	importer_must(dpumap_channel_create(&channel), "channel");
	importer_must(dpumap_channel_set_address(channel, address), "address");
	if (!cert)
		return channel;
	snprintf(crt, sizeof(crt), "%s.crt", cert);
	snprintf(key, sizeof(key), "%s.key", cert);
	importer_must(dpumap_channel_set_certificate(channel, crt, key, ca, NULL), "certificate");
	return channel;
}

void importer_open(struct importer *importer, struct doca_dev *dev, size_t len)
{
	importer->len = len;
	importer->failed = false;
	importer->bytes = calloc(1, len);
	importer_must(importer->bytes ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "memory");
	importer_must(doca_mmap_create(&importer->local), "map");
	importer_must(doca_mmap_add_dev(importer->local, dev), "map");
	importer_must(doca_mmap_set_memrange(importer->local, importer->bytes, len), "map");
	importer_must(doca_mmap_start(importer->local), "map");
	importer_must(dpumap_dma_create(dev, 1, &importer->dma), "queue");
}

void importer_close(struct importer *importer)
{
	importer_must(dpumap_dma_destroy(importer->dma), "queue");
	importer_must(doca_mmap_destroy(importer->local), "map");
	free(importer->bytes);
}

static doca_error_t finish(struct importer *importer)
{
	struct dpumap_dma_completion done;
	uint32_t n = 0;

	for (;;) {
		importer_must(dpumap_dma_poll(importer->dma, &done, 1, &n), "poll");
		if (n)
			return done.status;
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
}

doca_error_t importer_read(struct importer *importer, struct doca_mmap *remote)
{
	doca_error_t result;
	size_t len;
	void *addr;

	if (importer->failed)
		importer_must(dpumap_dma_reset(importer->dma), "reset");
	importer->failed = false;
	result = doca_mmap_get_memrange(remote, &addr, &len);
	if (result != DOCA_SUCCESS)
		return result;
	if (len > importer->len)
		len = importer->len;
	result = dpumap_dma_memcpy(importer->dma, importer->local, importer->bytes, remote, addr,
				   len, (union doca_data){0});
	if (result != DOCA_SUCCESS)
		return result;
	result = finish(importer);
	importer->failed = result != DOCA_SUCCESS;
	return result;
}
