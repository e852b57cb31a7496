/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Helpers of the test programs of host agents: open a device, create a channel, copy from a map. */
#ifndef DPUMAP_TESTS_IMPORTER_H
#define DPUMAP_TESTS_IMPORTER_H

#include <stdbool.h>

#include <dpumap/channel.h>
#include <dpumap/dma.h>

/* Print what failed and exit, unless the result is DOCA_SUCCESS. */
void importer_must(doca_error_t result, const char *what);

/* Open the nth device. */
struct doca_dev *importer_open_device(uint32_t nth);

/* Create a channel, not yet connected. cert: path of a certificate without .crt; NULL for a Unix socket. */
struct dpumap_channel *importer_create_channel(const char *address, const char *cert,
					       const char *ca);

/* A queue, and local memory as the destination of its copies. */
struct importer {
	struct dpumap_dma *dma;
	struct doca_mmap *local;
	uint8_t *bytes;
	size_t len;
	bool failed; /* the queue has failed: reset it before its next use */
};

void importer_open(struct importer *importer, struct doca_dev *dev, size_t len);
void importer_close(struct importer *importer);
/* Copy the first bytes of the map to importer->bytes, at most as many as fit. */
doca_error_t importer_read(struct importer *importer, struct doca_mmap *remote);

#endif
