/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the example programs share: arguments, devices, files by which the two sides find each
 * other's memory, and copies of any length by a DMA context that is polled.
 */
#ifndef EXAMPLES_DOCA_COMMON_H
#define EXAMPLES_DOCA_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define MAX_PATH_LEN 4096

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char file[MAX_PATH_LEN];       /* whose bytes go over, or where they end */
	char descriptor[MAX_PATH_LEN]; /* what doca_mmap_export_pci() gave */
	char buffer[MAX_PATH_LEN];     /* address and length of the exporter's memory, as text */
};

/* Parse the arguments: -p PCI-ADDRESS, -f FILE, -d DESCRIPTOR-FILE, -b BUFFER-FILE. */
doca_error_t parse_arguments(int argc, char **argv, struct config *config);

/* Messages of the program on stdout and stderr, warnings of the library on stderr. */
doca_error_t start_logs(void);

/* Can this device do what the program is about? */
typedef doca_error_t (*device_check)(const struct doca_devinfo *devinfo);
doca_error_t can_export(const struct doca_devinfo *devinfo);
doca_error_t can_copy(const struct doca_devinfo *devinfo);

doca_error_t open_device(const char *pci_addr, device_check check, struct doca_dev **dev);

/* Memory with a started map on a device. */
struct memory {
	char *bytes;
	size_t len;
	struct doca_mmap *mmap;
};
doca_error_t create_memory(struct doca_dev *dev, size_t len, uint32_t permissions,
			   struct memory *memory);
void destroy_memory(struct memory *memory);

/* The bytes are the caller's to free(). */
doca_error_t read_file(const char *path, char **bytes, size_t *len);
/* The file appears under its name when it is complete; nobody else may read it. */
doca_error_t write_file(const char *path, const void *bytes, size_t len);

/* For what is to be done in any case; DOCA_ERROR_PROPAGATE() does nothing after an error. */
static inline doca_error_t keep_first(doca_error_t first, doca_error_t second)
{
	return first == DOCA_SUCCESS ? second : first;
}

/* Tell the other side of memory that is exported, and learn of it there. */
doca_error_t publish(const struct config *config, const struct memory *memory,
		     struct doca_dev *dev);
doca_error_t import(const struct config *config, struct doca_dev *dev, struct doca_mmap **mmap,
		    char **remote_addr, size_t *len);
void wait_for_enter(void);

struct copier {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	uint64_t max_piece;
	struct copy *now; /* the copy that its tasks are busy with */
};
doca_error_t open_copier(struct doca_dev *dev, struct copier *copier);
void close_copier(struct copier *copier);

/* Copies, in as many pieces as the device demands; returns when all of it is done. */
struct place {
	struct doca_mmap *mmap;
	char *addr;
};
doca_error_t copy(struct copier *copier, struct place dst, struct place src, size_t len);

#endif
