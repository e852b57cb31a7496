/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the test programs of host agents share: a device, a connection, and one copy. */
#ifndef DPUMAP_TESTS_IMPORTER_H
#define DPUMAP_TESTS_IMPORTER_H

#include <stdbool.h>

#include <dpumap/channel.h>
#include <dpumap/dma.h>

/* Ends the program, saying what failed, unless the result is DOCA_SUCCESS. */
void importer_must(doca_error_t result, const char *what);

/* The nth device. */
struct doca_dev *importer_open_device(uint32_t nth);

/* CERT is the path of a certificate without its .crt, NULL on a Unix socket. Not connected. */
struct dpumap_channel *importer_create_channel(const char *address, const char *cert,
					       const char *ca);

/* A queue, and memory of our own that it copies to. */
struct importer {
	struct dpumap_dma *dma;
	struct doca_mmap *local;
	uint8_t *bytes;
	size_t len;
	bool failed; /* the queue: it is reset before its next use */
};

void importer_open(struct importer *importer, struct doca_dev *dev, size_t len);
void importer_close(struct importer *importer);
/* Copies the first bytes of the map, at most what there is room for, to importer->bytes. */
doca_error_t importer_read(struct importer *importer, struct doca_mmap *remote);

#endif
