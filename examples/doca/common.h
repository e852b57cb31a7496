/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Code that the example programs share: arguments, devices, the files that pass a descriptor and an
 * address from the exporter to the importer, and copies of any length with a polled DMA context.
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
#define MAX_NAME_LEN 64
#define MAX_ADDR_LEN 64
#define MAX_PORT_LEN 8

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char rep_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	char file[MAX_PATH_LEN];       /* the file to send, or the file to write */
	char descriptor[MAX_PATH_LEN]; /* holds the export descriptor */
	char buffer[MAX_PATH_LEN];     /* holds the exporter's address and length, as text */
	char name[MAX_NAME_LEN];       /* of the server on the DPU */
	char address[MAX_ADDR_LEN];    /* of the server; empty: be the server */
	char port[MAX_PORT_LEN];       /* of the server */
};

/*
 * Parse the arguments. flags are the short names of those that the program takes: -p PCI-ADDRESS,
 * -r PCI-ADDRESS of the host's function, -f FILE, -d DESCRIPTOR-FILE, -b BUFFER-FILE, -n NAME,
 * -a ADDRESS, -o PORT.
 */
doca_error_t parse_arguments(int argc, char **argv, const char *flags, struct config *config);

/* Log the program's messages to stdout and stderr, and the library's warnings to stderr. */
doca_error_t start_logs(void);

/* Return DOCA_SUCCESS if the device supports what the program needs. */
typedef doca_error_t (*device_check)(const struct doca_devinfo *devinfo);
doca_error_t can_export(const struct doca_devinfo *devinfo);
doca_error_t can_copy(const struct doca_devinfo *devinfo);

doca_error_t open_device(const char *pci_addr, device_check check, struct doca_dev **dev);
/* Open the representor of the host's function at this address, which is on the same card. */
doca_error_t open_representor(struct doca_dev *dev, const char *pci_addr,
			      struct doca_dev_rep **rep);

/* Memory and the started map that covers it. */
struct memory {
	char *bytes;
	size_t len;
	struct doca_mmap *mmap;
};
doca_error_t create_memory(struct doca_dev *dev, size_t len, uint32_t permissions,
			   struct memory *memory);
void destroy_memory(struct memory *memory);

/* Read a whole file. The caller frees the bytes with free(). */
doca_error_t read_file(const char *path, char **bytes, size_t *len);
/* Write a file that only its owner may read. It appears under its name once it is complete. */
doca_error_t write_file(const char *path, const void *bytes, size_t len);

/* Keep the first error of two results. Unlike DOCA_ERROR_PROPAGATE(), it evaluates both. */
static inline doca_error_t keep_first(doca_error_t first, doca_error_t second)
{
	return first == DOCA_SUCCESS ? second : first;
}

/* Export memory and write both files for the importer; read them there and import the memory. */
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
	struct copy *now; /* the copy that the tasks work on */
};
doca_error_t open_copier(struct doca_dev *dev, struct copier *copier);
void close_copier(struct copier *copier);

/* Copy in pieces that the device accepts. Return when the whole copy has completed. */
struct place {
	struct doca_mmap *mmap;
	char *addr;
};
doca_error_t copy(struct copier *copier, struct place dst, struct place src, size_t len);

#endif
