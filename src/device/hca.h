/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Devices: the list of them, what each can do, and one of them opened. Those of the mlx5 driver are
 * driven by what only that has; others, such as the kernel's rdma_rxe, by plain verbs, which is
 * enough for RDMA.
 */
#ifndef DPUMAP_DEVICE_HCA_H
#define DPUMAP_DEVICE_HCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

struct dpumap_hca;    /* a device as libibverbs lists it; reference counted */
struct dpumap_device; /* the same with a context and a protection domain */

struct dpumap_caps {
	uint64_t card_guid; /* sys_image_guid: equal for all functions of a card */
	uint64_t max_dm_len;
	uint64_t dm_granularity;  /* what a piece of device memory is rounded up to */
	uint64_t max_memcpy_len;  /* of the DMA engine; 0 without */
	uint64_t max_copy_len;	  /* of that, or of an RDMA message where there is none; or 0 */
	uint32_t max_message_len; /* of RDMA; 0 without a port */
	uint32_t max_queue_depth;
	uint32_t max_dm_log_align;
	uint16_t vhca_id;
	bool is_mlx5;	  /* the driver, without which nothing of mlx5dv may be called */
	bool has_vhca_id; /* the firmware answers queries: DEVX */
	bool can_export;
	bool can_import;
};

struct dpumap_port {
	uint64_t rate; /* bits per second */
	uint16_t lid;
	bool is_infiniband;
};

#define DPUMAP_GID_SIZE 16

/* Where peers find a port. */
struct dpumap_address {
	bool is_told; /* the rest is zero if not: a port may have no address yet */
	bool is_infiniband;
	uint16_t lid; /* 0 on Ethernet, and while a subnet manager has not given one */
	uint8_t gid[DPUMAP_GID_SIZE];
};

/*
 * One reference to each device of the system. The array is the caller's to free; NULL when there is
 * none.
 */
doca_error_t dpumap_hca_list(struct dpumap_hca ***list, uint32_t *n);
struct dpumap_hca *dpumap_hca_get(struct dpumap_hca *hca);
void dpumap_hca_put(struct dpumap_hca *hca); /* NULL is allowed */

bool dpumap_hca_same(const struct dpumap_hca *a, const struct dpumap_hca *b);
const char *dpumap_hca_name(const struct dpumap_hca *hca);
const char *dpumap_hca_sysfs_path(const struct dpumap_hca *hca);
doca_error_t dpumap_hca_get_caps(struct dpumap_hca *hca, struct dpumap_caps *caps);
doca_error_t dpumap_hca_query_port(struct dpumap_hca *hca, struct dpumap_port *port);

doca_error_t dpumap_device_open(struct dpumap_hca *hca, struct dpumap_device **device);
void dpumap_device_close(struct dpumap_device *device);

/*
 * In import.c: the device's kernel context as a file descriptor, which the caller closes, and a
 * device on the kernel context of one, which stays the caller's. *hca is a reference.
 */
doca_error_t dpumap_device_export_fd(const struct dpumap_device *device, int *fd);
doca_error_t dpumap_device_import_fd(int fd, struct dpumap_hca **hca,
				     struct dpumap_device **device);

/* In queue_link.c. */
doca_error_t dpumap_device_get_address(const struct dpumap_device *device,
				       struct dpumap_address *address);

const struct dpumap_caps *dpumap_device_caps(const struct dpumap_device *device);

#endif
